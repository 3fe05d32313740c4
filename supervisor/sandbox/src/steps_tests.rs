use super::*;

/// What each step looks like in the sources, in three stretches: the supervisor, pid 1, the second process.
const LAUNCH: &[(Step, &str)] = &[
    (Step::Janitor, "janitor.hire("),
    (Step::Companion, "companion::start("),
    (Step::Cgroup, "Groups::make("),
    (Step::Placeholders, "Placeholders::make("),
];
const START: &[(Step, &str)] = &[
    (Step::Namespaces, "process::clone_into("),
    (Step::IdMaps, "idmap::write_maps("),
    (Step::Watch, "Warden::start("),
    (Step::Sources, "Trees::prepare("),
];
const ENTER: &[(Step, &str)] = &[
    (Step::Identity, "process::become_ids("),
    (Step::Mounts, "root::build("),
    (Step::Hostname, "process::set_hostname("),
    (Step::Loopback, "network.finish("),
    (Step::Doors, "doors::open("),
];
const ROOT: &[(Step, &str)] = &[(Step::Mounts, "build.apply("), (Step::PivotRoot, "mount::switch_root(")];
const PREPARE: &[(Step, &str)] = &[
    (Step::Doors, "enter(inheritance,"),
    (Step::CgroupNamespace, "join_groups("),
    (Step::Session, "process::setsid("),
    (Step::PseudoTerminal, "term::open_master("),
];
const MAIN: &[(Step, &str)] = &[
    (Step::PseudoTerminal, "prepare("),
    (Step::SecondProcess, "process::clone_into("),
];
const CONFINE: &[(Step, &str)] = &[
    (Step::WorkingDirectory, "chdir(plan)"),
    (Step::Rlimits, "limits::lower("),
    (Step::BoundingSet, "caps::drop_bounding("),
    (Step::Capabilities, "caps::drop_all("),
    (Step::NoNewPrivs, "process::no_new_privs("),
    (Step::Landlock, "restrict(rules,"),
    (Step::Seccomp, "seccomp::install"),
    (Step::CloseRange, "fd::close_on_exec_from_3("),
];
const AGENT: &[(Step, &str)] = &[
    (Step::CloseRange, "confine("),
    (Step::Receipt, "take_receipt("),
    (Step::Exec, "process::exec("),
];

/// The marks stand in the source from `start` on, each after the one before, and in the order of `Step::ORDER`.
fn assert_order(source: &str, start: &str, marks: &[(Step, &str)]) {
    let (_, mut rest) = source.split_once(start).unwrap_or_else(|| panic!("`{start}` is gone"));
    let mut before = None;
    for (step, mark) in marks {
        let (_, after) = rest
            .split_once(mark)
            .unwrap_or_else(|| panic!("{}: no `{mark}` here in {start}", step.name()));
        rest = after;
        let place = Step::ORDER.iter().position(|s| s == step);
        assert!(before < place, "{} stands too late in the stated order", step.name());
        before = place;
    }
}

#[test]
fn the_code_takes_the_steps_in_the_stated_order() {
    assert_order(include_str!("launch/mod.rs"), "pub fn run(", LAUNCH);
    assert_order(include_str!("launch/start.rs"), "fn start(", START);
    let init = include_str!("init/mod.rs");
    assert_order(init, "fn main(", MAIN);
    assert_order(init, "fn prepare(", PREPARE);
    assert_order(init, "fn enter(", ENTER);
    assert_order(include_str!("init/root.rs"), "fn build(", ROOT);
    let agent = include_str!("init/agent.rs");
    assert_order(agent, "fn main(", AGENT);
    assert_order(agent, "fn confine(", CONFINE);
}

#[test]
fn every_step_stands_in_the_order_once_and_each_process_takes_a_stretch_of_it() {
    let mut sorted = Step::ORDER;
    sorted.sort();
    assert_eq!(sorted, Step::ORDER);
    assert!(Step::ORDER.windows(2).all(|pair| pair[0] < pair[1]));
    assert!(Step::ORDER.map(Step::who).is_sorted());
}

/// Readers and tests look for the first line with such a word.
#[test]
fn no_reason_names_a_lock_that_comes_later() {
    let locks = [Step::PivotRoot, Step::Landlock, Step::Seccomp, Step::Exec];
    for step in Step::ORDER {
        for later in locks.into_iter().filter(|lock| *lock > step) {
            let named = step.reason().to_lowercase().contains(&later.name().to_lowercase());
            assert!(!named, "the reason of {} names {}", step.name(), later.name());
        }
    }
}
