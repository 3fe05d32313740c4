//! The terminal: nothing typed into it, nothing read from another one, nothing left changed. A small shell on a
//! pseudo-terminal plays the host; it says afterwards what it found.

use std::fs;
use std::time::Duration;

use glee_tests::{Attempt, Bare, Leak, Outcome, World, attempt};

/// stdin, stdout and stderr are the terminal.
fn interactive(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).through(&["@A", "pty", "ttt"])
}

/// Only stderr is: `glee-supervisor run … < file > file`.
fn only_stderr(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).through(&["@A", "pty", "--t"])
}

/// None is, but the terminal still controls the session: in a pipeline.
fn only_controlling(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).through(&["@A", "pty", "---"])
}

fn typed(world: &World, outcome: &Outcome) -> Option<String> {
    let out = outcome.out();
    let after = out.split("someone typed:").nth(1)?;
    after
        .contains(world.nonce())
        .then(|| "the host's shell found typed text".into())
}

fn modes(_: &World, outcome: &Outcome) -> Option<String> {
    outcome
        .says("modes of my terminal were changed")
        .then(|| "the modes of the terminal were left changed".into())
}

fn size(_: &World, outcome: &Outcome) -> Option<String> {
    outcome
        .says("size of my terminal was changed")
        .then(|| "the size of the terminal was left changed".into())
}

/// Another terminal of the caller's, in which the secret has been typed. Its name becomes `@TTY`.
fn other_terminal(w: &World) {
    w.secret_at("@OUT/secret");
    w.victim(
        "@A",
        &["terminal_victim", "@OUT/tty", "@OUT/secret", "@OUT/heard", "@ID"],
        &[],
    );
    glee_tests::wait_until(Duration::from_secs(5), || {
        fs::read(w.path("@OUT/tty")).is_ok_and(|t| t.ends_with(b"\n"))
    });
    w.define(
        "TTY",
        fs::read_to_string(w.path("@OUT/tty"))
            .expect("the name of the terminal")
            .trim(),
    );
}

fn heard_on_terminal(w: &World, _: &Outcome) -> Option<String> {
    let heard = || fs::read_to_string(w.path("@OUT/heard")).unwrap_or_default();
    glee_tests::wait_until(Duration::from_millis(200), || heard().contains(w.nonce()));
    heard()
        .contains(w.nonce())
        .then(|| "text appeared on another terminal".into())
}

/// Pushing characters back is a setting of the kernel; without it only root may.
const PUSHING: Bare = Bare::Where("this kernel lets nobody push input back", || {
    fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti").map_or(true, |v| v.trim() == "1")
});

claims! {
    nothing_is_typed_into_the_terminal => interactive("@A tiocsti 0 @ID", Leak::Seen(typed)).bare(PUSHING),
    nothing_is_typed_into_the_terminal_under_workspace => interactive("@A tiocsti 0 @ID", Leak::Seen(typed))
        .bare(PUSHING).workspace(),
    nothing_is_typed_by_a_command_number_of_64_bits => interactive("@A tiocsti_wide 0 @ID", Leak::Seen(typed))
        .bare(PUSHING),
    nothing_is_typed_through_stderr => interactive("@A tiocsti 2 @ID", Leak::Seen(typed)).bare(PUSHING),
    nothing_is_typed_through_dev_tty => interactive("@A tiocsti_dev @ID", Leak::Seen(typed)).bare(PUSHING),
    nothing_is_typed_where_only_stderr_is_a_terminal => only_stderr("@A tiocsti 2 @ID; @A tiocsti_dev @ID",
        Leak::Seen(typed)).bare(PUSHING),
    nothing_is_typed_by_number_where_only_stderr_is_a_terminal => only_stderr("@A tiocsti_wide 2 @ID",
        Leak::Seen(typed)).bare(PUSHING),
    nothing_is_typed_through_the_controlling_terminal => only_controlling("@A tiocsti_dev @ID", Leak::Seen(typed))
        .bare(PUSHING),
    nothing_is_pasted_into_the_console => interactive("@A tioclinux 0", Leak::Claimed),
    nothing_is_pasted_into_the_console_through_stderr => only_stderr("@A tioclinux 2", Leak::Claimed),
    modes_of_the_terminal_are_restored => interactive("@A wreck 0 modes", Leak::Seen(modes)),
    modes_of_the_terminal_are_restored_after_a_kill => interactive("@A wreck 0 modes; kill -9 $$", Leak::Seen(modes))
        .only_started(),
    modes_of_the_terminal_are_restored_after_the_deadline => interactive("@A wreck 0 modes; @A sleep 4 @ID",
        Leak::Seen(modes))
        .flags(&["--timeout", "1s"]).only_started(),
    modes_are_restored_where_only_stderr_is_a_terminal => only_stderr("@A wreck 2 modes", Leak::Seen(modes)),
    modes_are_not_changed_through_the_controlling_terminal => only_controlling("stty -F /dev/tty raw",
        Leak::Seen(modes)),
    size_of_the_terminal_is_not_changed => interactive("@A wreck 0 size", Leak::Seen(size)),
    other_terminal_is_not_read => attempt("@A listen_on @TTY", Leak::Secret).given(other_terminal),
    other_terminal_is_not_written => attempt("@A say_on @TTY @ID", Leak::Seen(heard_on_terminal)).given(other_terminal),
    other_terminal_is_not_written_from_a_terminal => interactive("@A say_on @TTY @ID", Leak::Seen(heard_on_terminal))
        .given(other_terminal),
    daemon_on_the_terminal_ends_with_the_run => interactive("@A daemon 20 @ID; setsid @A stubborn 20 @ID & sleep 0.2",
        Leak::Survived),
}
