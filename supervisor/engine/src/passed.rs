//! Variables that a command gets besides those that the policy passes.

use std::env;
use std::ffi::OsString;
use std::os::fd::AsFd;

use glee_sandbox::sys::term;

/// Adds variables, where the caller's own word has not set them. A home of the run's own takes the place of the caller's.
pub(crate) fn add(env: &mut Vec<(OsString, OsString)>, more: Option<Vec<(OsString, OsString)>>) {
    for (name, value) in more.into_iter().flatten() {
        if name == "HOME" {
            env.retain(|(known, _)| *known != name);
        }
        if !env.iter().any(|(known, _)| *known == name) {
            env.push((name, value));
        }
    }
}

/// A program on a terminal must know which one: TERM passes when the command gets a terminal of ours.
pub(crate) fn add_terminal(env: &mut Vec<(OsString, OsString)>) {
    let on_terminal = [
        std::io::stdin().as_fd(),
        std::io::stdout().as_fd(),
        std::io::stderr().as_fd(),
    ]
    .into_iter()
    .any(term::is_terminal);
    if on_terminal
        && !env.iter().any(|(name, _)| name == "TERM")
        && let Some(term) = env::var_os("TERM")
    {
        env.push(("TERM".into(), term));
    }
}
