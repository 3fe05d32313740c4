//! Limits that the caller's own shell has set (`ulimit`) and that the supervisor meets itself.

use glee_tests::Run;

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// `run --policy POLICY -- sh -c SCRIPT` from a shell that has said this first.
fn under(at: &Place, ulimit: &str, policy: &str, script: &str) -> Seen {
    let words = format!("{ulimit}; exec @BIN run --policy {policy} -- sh -c \"$1\"");
    let words = at.world.fill(&words);
    let run = Run::bare(&at.world).command(["sh", "-c", &words, "sh", script]);
    Seen::of(
        &run.env("PATH", crate::support::PATH)
            .env("XDG_CONFIG_HOME", "@CONFIG")
            .env("TMPDIR", "@TMP")
            .go(),
    )
}

/// The run is refused, with what to raise, and the project is as it was.
fn is_refused(at: &Place, ulimit: &str, hint: &str) {
    at.world.git_init();
    let before = at.contents();
    for policy in ["restricted", "workspace"] {
        let seen = under(at, ulimit, policy, "echo started");
        assert_eq!(
            (seen.status, seen.stdout.as_str()),
            (125, ""),
            "{policy}: {}",
            seen.stderr
        );
        assert!(
            seen.stderr.contains(hint),
            "{policy}: `{hint}` is not told: {}",
            seen.stderr
        );
        assert!(!seen.stderr.contains("must be writable"), "{policy}: {}", seen.stderr);
        assert_eq!(at.contents(), before, "{policy}: something was left");
    }
}

claims! {
    fn a_size_of_files_too_small_for_the_sandbox_is_an_error_and_no_signal(at) {
        is_refused(at, "ulimit -f 0", "`ulimit -f`");
    }

    fn too_few_open_files_for_the_sandbox_are_told_of_as_such(at) {
        is_refused(at, "ulimit -n 8", "`ulimit -n`");
    }

    // 512 bytes each.
    fn a_size_of_files_that_is_enough_holds_for_the_command_as_bare(at) {
        let script = "head -c 900000 /dev/zero > fits && echo fits; head -c 2000000 /dev/zero > large; echo $?; wc -c < large; rm -f fits large";
        let seen = under(at, "ulimit -f 2048", "workspace", script);
        let bare = Run::bare(&at.world).command(["sh", "-c", &format!("ulimit -f 2048; {script}")]).go();
        assert_eq!((seen.status, seen.stdout.as_str()), (0, bare.out().as_str()), "{}", seen.stderr);
        assert!(seen.stdout.contains("153\n"), "{}", seen.stdout);
    }
}
