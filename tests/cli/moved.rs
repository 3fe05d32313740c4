//! What the host does with the project while a command runs: what is done at the end is done in what the command worked on.

use std::time::Duration;

use glee_tests::wait_until;

use crate::claims::claims;
use crate::seen::told;
use crate::support::Place;

const REPOSITORY: &str = "git -C @PROJECT init -q";
/// The host moves the project away and makes another one in its place, with a link of its own.
const REPLACE: &str =
    "rm -rf @PROJECT-old; mv @PROJECT @PROJECT-old; git init -q @PROJECT; ln -s /etc/hosts @PROJECT/.git/mine";

/// The names that matter in both.
fn names(at: &Place) -> String {
    at.host("cd @PROJECT; ls .git | grep mine; cd @PROJECT-old; ls -A | grep -v -x -e .git -e .glee -e given || :; ls .git | grep -e lock -e common -e left -e config || :")
}

claims! {
    fn moved_project_is_cleaned_where_it_is_and_its_successor_left_alone(at) {
        at.host(REPOSITORY);
        let script = "ln -s config .git/left; echo ready; sleep 1";
        let running = at.call(["run", "--policy", "workspace", "--", "sh", "-c", script]).spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        at.host(REPLACE);
        let seen = running.finish();
        assert_eq!(told(&seen), 0);
        assert_eq!(names(at), "mine\nconfig\nleft.set-aside\n");
    }

    fn moved_project_is_cleaned_after_kill_9(at) {
        at.host(REPOSITORY);
        let script = "ln -s config .git/left; echo ready; sleep 100";
        let running = at.call(["run", "--policy", "workspace", "--", "sh", "-c", script]).spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        at.host(REPLACE);
        running.signal("KILL");
        assert_eq!(told(&running.finish()), 137);
        let clean = || names(at) == "mine\nconfig\nleft.set-aside\n";
        assert!(wait_until(Duration::from_secs(10), clean), "{}", names(at));
    }

    fn name_that_the_host_removed_is_judged_after_kill_9(at) {
        at.host(&format!("{REPOSITORY}; echo ours > @PROJECT/.envrc"));
        let script = "echo theirs > e; echo ready; while [ -e .envrc ]; do :; done; mv e .envrc; echo moved; sleep 100";
        let running = at.call(["run", "--policy", "workspace", "--", "sh", "-c", script]).spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        at.host("rm @PROJECT/.envrc");
        assert!(running.wait_for("moved"), "the command could not take the name");
        running.signal("KILL");
        assert_eq!(told(&running.finish()), 137);
        let aside = || at.host("cat @PROJECT/.envrc.set-aside 2> /dev/null || :") == "theirs\n";
        assert!(wait_until(Duration::from_secs(10), aside), "it stays");
    }
}
