//! What the command can read of init's own command line: the command, and nothing else.
//!
//! Init is a copy of the supervisor, and `/proc/1/cmdline` is open to everybody: it would show the paths of the policy and
//! the report, and the flags.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;

/// The fields of `/proc/self/stat` after the command's name in which the arguments' addresses stand.
const ARG_START: usize = 45;

/// Overwrites the arguments this process was started with. Must come before it stops being dumpable.
pub(super) fn hide_arguments(command: &[OsString]) -> io::Result<()> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit(')').next().unwrap_or_default();
    let mut fields = after.split_ascii_whitespace().skip(ARG_START);
    let mut address = || fields.next().and_then(|field| field.parse::<u64>().ok());
    let (Some(start), Some(end)) = (address(), address()) else {
        return Err(io::Error::from(io::ErrorKind::InvalidData));
    };
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
    let mut text = b"glee-init".to_vec();
    for argument in command {
        text.push(0);
        text.extend(argument.as_bytes());
    }
    text.resize(length, 0);
    if let Some(last) = text.last_mut() {
        *last = 0;
    }
    fs::OpenOptions::new()
        .write(true)
        .open("/proc/self/mem")?
        .write_all_at(&text, start)
}
