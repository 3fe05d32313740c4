//! HOME, the temporary directories, sessions and IPC objects: private to one run.

use std::fs;
use std::time::Duration;

use glee_tests::{Attempt, Caller, Leak, Policy, Run, World, attempt};

/// Writes where the sandbox has a directory of its own: the host must not see it.
fn leaving(script: &'static str, at: &'static str) -> Attempt {
    attempt(script, Leak::Changed(at)).given(move |w| {
        // Registers the path, so that what a bare run leaves is removed.
        w.file(at, "");
        fs::remove_file(w.path(at)).expect("remove");
    })
}

fn session(script: &'static str, path: &'static str) -> Attempt {
    attempt(script, Leak::Secret).secret_at(path)
}

pub(crate) fn shared_memory(w: &World) {
    w.secret_at("@OUT/secret");
    w.victim("@A", &["shm_victim", "@OUT/secret", "@OUT/shmid", "@ID"], &[]);
    glee_tests::wait_until(Duration::from_secs(5), || {
        fs::read(w.path("@OUT/shmid")).is_ok_and(|t| !t.is_empty())
    });
    w.define(
        "SHMID",
        fs::read_to_string(w.path("@OUT/shmid"))
            .expect("the id of the segment")
            .trim(),
    );
}

claims! {
    home_is_not_the_hosts => leaving("echo evil > @HOME/new; echo evil > ~/new", "@HOME/new"),
    tmp_is_not_the_hosts => leaving("echo evil > /tmp/glee-@ID", "/tmp/glee-@ID"),
    var_tmp_is_not_the_hosts => leaving("mkdir -p /var/tmp; echo evil > /var/tmp/glee-@ID", "/var/tmp/glee-@ID"),
    dev_shm_is_not_the_hosts => leaving("echo evil > /dev/shm/glee-@ID", "/dev/shm/glee-@ID"),
    home_is_not_the_hosts_under_workspace => leaving("mkdir -p ~/.config; echo evil > ~/.config/new",
        "@HOME/.config/new").workspace(),

    sessions_of_other_runs_are_not_readable => session("cat .glee/agent_sessions/*; ls .glee/agent_sessions",
        "@PROJECT/.glee/agent_sessions/other.json"),
    sessions_of_other_runs_are_not_readable_under_workspace => session("cat .glee/agent_sessions/*",
        "@PROJECT/.glee/agent_sessions/other.json").workspace(),
    logs_of_other_runs_are_not_readable => session("cat .glee/stream_logs/*", "@PROJECT/.glee/stream_logs/stdout.log"),
    names_of_other_sessions_are_not_listed => attempt("ls -aR .glee", Leak::Secret)
        .given(|w| { w.file(&format!("@PROJECT/.glee/agent_sessions/{}", w.secret()), ""); }),
    session_of_another_run_is_not_overwritten => attempt("echo evil > .glee/agent_sessions/other.json",
        Leak::Changed("@PROJECT/.glee/agent_sessions/other.json")).file("@PROJECT/.glee/agent_sessions/other.json", "{}\n"),
    session_of_another_run_is_not_overwritten_under_workspace => attempt("echo evil > .glee/agent_sessions/other.json",
        Leak::Changed("@PROJECT/.glee/agent_sessions/other.json")).file("@PROJECT/.glee/agent_sessions/other.json", "{}\n").workspace(),
    session_of_another_run_is_not_removed => attempt("rm -rf .glee/agent_sessions; mv .glee/agent_sessions .glee/x; \
        mv .glee x",
        Leak::Changed("@PROJECT/.glee/agent_sessions/other.json")).file("@PROJECT/.glee/agent_sessions/other.json", "{}\n").workspace(),
    log_of_another_run_is_not_overwritten => attempt("echo evil > .glee/stream_logs/stdout.log",
        Leak::Changed("@PROJECT/.glee/stream_logs/stdout.log")).file("@PROJECT/.glee/stream_logs/stdout.log", "log\n"),

    shared_memory_of_the_host_is_not_readable => attempt("@A shm_read @SHMID", Leak::Secret).given(shared_memory),
    shared_memory_of_the_host_is_not_listed => attempt("@A shm_list @SHMID; \
        grep -w @SHMID /proc/sysvipc/shm && @A escaped list",
        Leak::Claimed).given(shared_memory),
    keyring_of_the_user_is_not_readable => attempt("@A read_key glee:@ID", Leak::Secret).secret_at("@OUT/secret")
        .given(|w| {
            let name = w.fill("glee:@ID");
            let status = w.host_command("@A").args(["plant_key", &name, &w.fill("@OUT/secret")]).output()
            .expect("plant a key");
            assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
        }),
}

/// What one run leaves in its private places, the next must not find. The bare control is the same pair of runs, bare.
fn two_runs(caller: Caller, write: &str, read: &str) {
    for bare in [true, false] {
        let world = World::new(caller);
        world.secret_at("@PROJECT/secret");
        let run = || {
            if bare {
                Run::bare(&world)
            } else {
                Run::sandboxed(&world, Policy::Named("restricted"))
            }
        };
        let first = run().script(write).go();
        assert!(first.left(), "the first run did not end well: {}", first.describe());
        let second = run().script(read).go();
        assert!(second.left(), "the second run did not end well: {}", second.describe());
        assert_eq!(second.says(world.secret()), bare, "bare: {bare}; {}", second.describe());
        let _ = fs::remove_file(world.path("/tmp/glee-@ID"));
        let _ = fs::remove_file(world.path("/dev/shm/glee-@ID"));
    }
}

macro_rules! pairs {
    ($($claim:ident($write:expr, $read:expr);)*) => {
        $(mod $claim {
            #[test]
            fn as_root() { super::two_runs(glee_tests::Caller::Root, $write, $read); }
            #[test]
            fn as_user() { super::two_runs(glee_tests::Caller::User, $write, $read); }
        })*
    };
}

pairs! {
    home_of_one_run_is_gone_in_the_next("cp secret ~/left; cat ~/left > /dev/null", "rm -f nothing; cat ~/left");
    tmp_of_one_run_is_gone_in_the_next("cp secret /tmp/glee-@ID", "cat /tmp/glee-@ID");
    dev_shm_of_one_run_is_gone_in_the_next("cp secret /dev/shm/glee-@ID", "cat /dev/shm/glee-@ID");
}
