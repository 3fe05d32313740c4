//! The same profiles as settings of a container engine, and the table of `docs/backends.md`, from both ledgers.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use glee_container::facts::Rights;
use glee_container::lower::{Refused, lower};
use glee_container::plan::ContainerPlan;
use glee_container::{Engine, Facts};
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Network};
use glee_sandbox::cgroup::Controller;
use glee_sandbox::plan::Coverage;
use glee_sandbox::receipt::{Attempt, Canary};

use crate::machine::{Machine, Who};
use crate::{blessing, compare};

fn facts(rights: Rights) -> Facts {
    Facts {
        engine: match rights {
            Rights::Root | Rights::User => Engine::Podman,
            Rights::Daemon => Engine::Docker,
        },
        rights,
        controllers: match rights {
            Rights::Root | Rights::Daemon => Controller::ALL.into_iter().collect(),
            Rights::User => BTreeSet::new(),
        },
        has_runsc: true,
        mount_points: ["/", "/proc", "/root/app/data", "/home/ada/app/data"]
            .map(PathBuf::from)
            .into(),
    }
}

fn who(rights: Rights) -> Who {
    match rights {
        Rights::Root => Who::Root,
        Rights::User | Rights::Daemon => Who::User,
    }
}

fn container(policy: &ResolvedPolicy, rights: Rights) -> Result<ContainerPlan, Refused> {
    lower(&Machine::of(who(rights)).plan_of(policy), policy, &facts(rights))
}

/// As `container`, of a plan in which nothing must be covered when it appears.
fn if_nothing_appears(policy: &ResolvedPolicy, rights: Rights) -> Result<ContainerPlan, Refused> {
    let mut plan = Machine::of(who(rights)).plan_of(policy);
    plan.watches.clear();
    plan.glob_watches.clear();
    lower(&plan, policy, &facts(rights))
}

fn of_profile(profile: &str, rights: Rights) -> ContainerPlan {
    let policy = Machine::of(who(rights)).policy(profile);
    container(&policy, rights).expect("a built-in profile can be lowered")
}

#[test]
fn container_settings_are_golden() {
    for profile in ["restricted", "workspace"] {
        for (rights, name) in [(Rights::Root, "root"), (Rights::User, "user")] {
            let plan = of_profile(profile, rights);
            assert_eq!(plan, of_profile(profile, rights), "the same inputs give other settings");
            compare(&format!("{profile}-podman-{name}"), &plan.to_string());
        }
    }
}

/// An engine's `/sys` is there, and covered: to open it proves nothing.
#[test]
fn canaries_of_a_container_look_below_what_the_engine_covers() {
    let plan = of_profile("restricted", Rights::Root);
    let native = Machine::of(Who::Root).plan("restricted").canaries;
    let read = |canary: &Canary| {
        if let Attempt::Read(path) = &canary.attempt {
            Some(path.clone())
        } else {
            None
        }
    };
    let below: Vec<PathBuf> = plan.inside.canaries.iter().filter_map(read).collect();
    assert_eq!(below, [PathBuf::from("/sys/kernel")]);
    assert!(plan.masked.contains(&PathBuf::from("/sys")));
    assert_eq!(plan.inside.canaries.len(), native.len());
}

/// A policy in which every kind of clause stands, so that every row of the ledgers is written.
fn everything(who: Who) -> ResolvedPolicy {
    let mut policy = Machine::of(who).policy("workspace");
    policy.network = Network::Names {
        allow: ["example.org".to_owned()].into(),
        deny: ["ads.example.org".to_owned()].into(),
    };
    policy
}

fn rows(ledger: &[Coverage]) -> BTreeMap<String, String> {
    let mut rows = BTreeMap::new();
    for row in ledger {
        let key = row.clause.split(": ").next().unwrap_or_default().to_owned();
        let by = if row.enforced_by.is_empty() {
            "not enforced; reported".to_owned()
        } else {
            row.enforced_by.join(", ")
        };
        rows.entry(key).or_insert(by);
    }
    rows
}

fn table() -> String {
    let native = rows(&Machine::of(Who::User).plan_of(&everything(Who::User)).ledger);
    let off = |who| {
        let mut policy = everything(who);
        policy.network = Network::Off;
        policy
    };
    let column = |rights| {
        let policy = off(who(rights));
        let mut all = rows(&if_nothing_appears(&policy, rights).expect("lowered").ledger);
        if container(&policy, rights).is_err() {
            for (key, words) in [
                ("fs.deny", "the name may appear later"),
                ("fs.write", "names in it are protected"),
            ] {
                all.entry(key.to_owned())
                    .and_modify(|by| by.push_str(&format!("; refused where {words}")));
            }
        }
        match if_nothing_appears(&everything(who(rights)), rights) {
            Ok(plan) => all.extend(rows(&plan.ledger)),
            Err(refused) => {
                all.insert("network.allow".to_owned(), "refused".to_owned());
                all.insert("network.deny".to_owned(), "refused".to_owned());
                assert!(refused.to_string().contains("network."), "{refused}");
            }
        }
        all
    };
    let mut native_all = rows(&Machine::of(Who::User).plan_of(&off(Who::User)).ledger);
    native_all.extend(native);
    let columns = [
        native_all,
        column(Rights::Root),
        column(Rights::User),
        column(Rights::Daemon),
    ];
    let keys: BTreeSet<&String> = columns.iter().flat_map(BTreeMap::keys).collect();
    let mut text = "| clause | native | podman, root | podman, ordinary user | docker, ordinary user |\n".to_owned();
    text.push_str("|---|---|---|---|---|\n");
    for key in keys {
        let cells = columns.iter().map(|column| column.get(key).map_or("-", String::as_str));
        let cells: Vec<&str> = cells.collect();
        text.push_str(&format!("| `{key}` | {} |\n", cells.join(" | ")));
    }
    text
}

const START: &str = "<!-- generated from the ledgers: GLEE_BLESS=1 writes it -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn the_table_of_backends_is_the_ledgers() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/backends.md");
    let text = fs::read_to_string(&file).expect("docs/backends.md");
    let (before, rest) = text.split_once(START).expect("the table's start");
    let (found, after) = rest.split_once(END).expect("the table's end");
    if blessing() {
        fs::write(&file, format!("{before}{START}{}{END}{after}", table())).expect("write docs/backends.md");
        return;
    }
    assert_eq!(found, table(), "GLEE_BLESS=1 writes it");
}

#[test]
fn every_clause_of_the_native_ledger_has_a_row_in_a_container() {
    for rights in [Rights::Root, Rights::User] {
        let policy = everything(who(rights));
        let native = Machine::of(who(rights)).plan_of(&policy).ledger;
        let plan = container(&policy, rights).expect("lowered");
        let clauses = |ledger: &[Coverage]| ledger.iter().map(|row| row.clause.clone()).collect::<Vec<_>>();
        assert_eq!(clauses(&native), clauses(&plan.ledger));
    }
}

#[test]
fn a_clause_that_no_setting_enforces_is_refused_by_name() {
    let policy = Machine::of(Who::User).policy("restricted");
    let mut sandbox = Machine::of(Who::User).plan_of(&policy);
    let mut row = sandbox.ledger.first().expect("a clause").clone();
    row.clause = "limits.moonshine: 3".to_owned();
    sandbox.ledger.push(row);
    let refused = lower(&sandbox, &policy, &facts(Rights::Root)).expect_err("nothing enforces it");
    assert!(refused.to_string().contains("`limits.moonshine: 3`"), "{refused}");
}

#[test]
fn a_cpu_limit_of_the_users_own_is_refused_where_the_engine_would_ignore_it() {
    let mut policy = Machine::of(Who::User).policy("restricted");
    policy
        .origins
        .insert("limits.cpus".to_owned(), glee_policy::Origin::flag("--limit"));
    let refused = container(&policy, Rights::User).expect_err("an ordinary user's engine has no such group");
    assert!(refused.to_string().contains("`limits.cpus: 2`"), "{refused}");
}

#[test]
fn names_through_a_daemon_are_refused_for_an_ordinary_user() {
    let refused = if_nothing_appears(&everything(Who::User), Rights::Daemon).expect_err("no door can be opened");
    assert!(refused.to_string().contains("network.allow"), "{refused}");
}

/// Only root can mount something in it while it runs.
#[test]
fn what_may_appear_later_is_refused_for_an_ordinary_user_of_a_daemon() {
    let mut policy = Machine::of(Who::User).policy("workspace");
    policy.network = Network::Off;
    let refused = container(&policy, Rights::Daemon).expect_err("nothing can be covered");
    assert!(
        refused.to_string().contains("while a daemon's container runs"),
        "{refused}"
    );
    assert!(container(&policy, Rights::User).is_ok() && container(&policy, Rights::Root).is_ok());
}

#[test]
fn an_image_without_a_digest_is_refused() {
    let mut policy = Machine::of(Who::User).policy("restricted");
    policy.image = Some("debian:12".to_owned());
    let refused = container(&policy, Rights::User).expect_err("not pinned");
    assert!(refused.to_string().contains("debian:12"), "{refused}");
}

#[test]
fn the_weaker_isolation_is_refused_in_a_container() {
    let mut policy = Machine::of(Who::User).policy("restricted");
    policy.isolation = Isolation::Landlock;
    assert!(container(&policy, Rights::User).is_err());
}

#[test]
fn private_places_together_are_no_more_than_the_policy_says() {
    for rights in [Rights::Root, Rights::User] {
        let policy = Machine::of(who(rights)).policy("workspace");
        let limit = policy.limits.disk_mb.expect("a bound") << 20;
        let plan = container(&policy, rights).expect("lowered");
        let sum: u64 = plan
            .mounts
            .values()
            .map(|mount| match mount {
                glee_container::plan::Mount::Private { bytes } => *bytes,
                glee_container::plan::Mount::Bind { .. } => 0,
            })
            .sum();
        assert!(sum > 0 && sum <= limit, "{sum} of {limit}");
    }
}

/// Each verdict that differs is named with words that stand in the document.
#[test]
fn what_differs_stands_in_the_document() {
    let read = |path: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()))
    };
    let document = read("../docs/backends.md");
    let list = read("backends/differs.txt");
    let lines: Vec<&str> = list.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(!lines.is_empty());
    for line in lines {
        let (test, words) = line
            .split_once(" | ")
            .unwrap_or_else(|| panic!("`{line}` has no words"));
        // A star is all of a module.
        let name = test.rsplit("::").next().filter(|name| *name != "*").unwrap_or_default();
        assert!(document.contains(words), "`{words}` does not stand in docs/backends.md");
        let suites = ["escape", "compat", "agents", "denials", "changes", "cli"];
        let files: Vec<String> = match test.split_once("::") {
            Some((module, _)) => suites.map(|suite| format!("{suite}/{module}.rs")).to_vec(),
            None => ["main", "records"].map(|file| format!("denials/{file}.rs")).to_vec(),
        };
        let there = |file: &&String| Path::new(env!("CARGO_MANIFEST_DIR")).join(file).is_file();
        assert!(
            files.iter().filter(there).any(|file| read(file).contains(name)),
            "there is no claim `{test}`"
        );
    }
}
