//! The supervisor itself acts on the host after and beside the command: what it writes, removes, walks and locks must not be
//! turned against its caller.

use std::time::Duration;

use glee_tests::{Attempt, Caller, Leak, Policy, Run, World, attempt};

/// The report goes to a file that the command can reach; the command puts something else in its place. Bare, a caller's shell
/// writes a report the same way.
fn report(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n")
        .workspace()
        .flags(&["--report", "@PROJECT/report.json"])
        .through(&[
            "/bin/sh",
            "-c",
            "\"$@\"; case \"$1\" in */glee-supervisor) ;; *) echo {} > report.json;; esac",
            "sh",
        ])
}

claims! {
    report_is_not_written_through_a_link => report("ln -sf @OUT/file report.json"),
    report_is_not_written_through_a_hard_link => report("ln -f @OUT/file report.json"),
    report_is_not_written_through_a_linked_directory => attempt("mv reports x; ln -s @OUT reports",
        Leak::Changed("@OUT/report.json"))
        .file("@OUT/report.json", "old\n").workspace().given(|w| { w.dir("@PROJECT/reports"); })
        .flags(&["--report", "@PROJECT/reports/report.json"])
        .through(&["/bin/sh", "-c", "\"$@\"; case \"$1\" in */glee-supervisor) ;; *) echo {} > reports/report.json;; \
        esac", "sh"]),
    denied_name_in_a_directory_that_was_moved_stays_denied => attempt("mv conf x; mkdir conf; \
        echo evil > conf/later.key",
        Leak::Changed("@PROJECT/conf/later.key")).given(|w| { w.dir("@PROJECT/conf"); })
        .yaml("extends: workspace\nfs: {deny: ['conf/later.key']}\n"),
}

/// Even on a busy machine no run needs longer for its own work.
const QUICK: Duration = Duration::from_secs(40);

/// After a run that left this in the project, the end of the run and the start of the next must not hang on it.
fn leaves_no_obstacle(caller: Caller, script: &str) {
    let world = World::new(caller);
    world.git_init();
    let policy = || Policy::Yaml("extends: workspace\nfs: {deny: ['**/*.env', 'later.key']}\n".to_owned());
    for (script, what) in [(script, "the run that leaves it"), ("true", "the next run")] {
        let outcome = Run::sandboxed(&world, policy())
            .flags(["--report", "@OUT/report.json"])
            .script(script)
            .limit(QUICK)
            .go();
        assert!(outcome.left(), "{what}: {}", outcome.describe());
    }
}

/// One run must not keep another of the same project from starting.
fn locks_nobody_out(caller: Caller) {
    let world = World::new(caller);
    world.git_init();
    let script =
        "for d in . .git .git/hooks; do flock -x $d @A sleep 20 @ID & done; sleep 0.3; @A mark ready @ID; wait";
    let first = Run::sandboxed(&world, Policy::Named("workspace"))
        .script(script)
        .spawn();
    assert!(first.wait_for_mark("ready"), "the first run did not start");
    let second = Run::sandboxed(&world, Policy::Named("workspace"))
        .limit(QUICK)
        .script("true")
        .go();
    first.signal("KILL");
    assert!(
        second.left(),
        "a run that holds locks kept the second from running: {}",
        second.describe()
    );
}

macro_rules! for_both {
    ($($claim:ident => $proof:expr;)*) => {
        $(mod $claim {
            #[test]
            fn as_root() { ($proof)(glee_tests::Caller::Root); }
            #[test]
            fn as_user() { ($proof)(glee_tests::Caller::User); }
        })*
    };
}

for_both! {
    locks_of_one_run_do_not_keep_another_out => super::locks_nobody_out;
    pipe_files_are_no_obstacle => |c| super::leaves_no_obstacle(c, "mkfifo a.env report.json later COMMIT_EDITMSG .git/x sub.env");
    circles_of_links_are_no_obstacle => |c| super::leaves_no_obstacle(c, "mkdir -p a/b; ln -s ../.. a/b/c; ln -s self self; ln -s . dot");
    deep_directories_are_no_obstacle => |c| super::leaves_no_obstacle(c,
        "@A deep 2400");
    many_files_are_no_obstacle => |c| super::leaves_no_obstacle(c, "mkdir m; cd m; seq 3000 | xargs touch");
    names_that_are_no_text_are_no_obstacle => |c| super::leaves_no_obstacle(c,
        "touch \"$(printf '\\377\\376.env')\" \"$(printf 'a\\nb')\" \"$(printf '\\033[2J')\"; mkdir \"$(printf 'd\\377')\"");
    closed_directories_are_no_obstacle => |c| super::leaves_no_obstacle(c, "mkdir -p shut/in; touch shut/in/a.env; chmod 0 shut");
}
