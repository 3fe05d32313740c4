//! What the command can read of init's own command line: the command, and nothing else.
//!
//! Init is a copy of the supervisor, and `/proc/1/cmdline` is open to everybody: it would show the paths of the policy and
//! the report, and the flags.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::sys::process;

/// Overwrites the arguments this process was started with.
pub(super) fn hide_arguments(command: &[OsString]) {
    let mut text = b"glee-init".to_vec();
    for argument in command {
        text.push(0);
        text.extend(argument.as_bytes());
    }
    process::overwrite_arguments(&text);
}
