//! Which of the command's files are really the caller's word.
//!
//! The caller named the first. The others follow from what a script says about its interpreter, and a link of the project's
//! can lead such a name to any file that has an x bit (on some filesystems: every file).

use std::fs;
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::FoundCommand;

/// Without the files that only a link in the project leads to, unless they are programs.
pub(super) fn keep(mut command: FoundCommand, project: &Path) -> FoundCommand {
    let led: Vec<_> = command
        .links
        .iter()
        .filter(|(at, _)| at.starts_with(project))
        .filter_map(|(at, _)| fs::canonicalize(at).ok())
        .collect();
    let mut first = true;
    command.files.retain(|file| {
        let named = std::mem::replace(&mut first, false);
        named || !led.iter().any(|target| file.starts_with(target)) || is_program(file)
    });
    command
}

/// A file that the kernel executes as it is: no script, no text.
fn is_program(path: &Path) -> bool {
    let mut head = [0; 4];
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(path)
        .is_ok_and(|mut file| {
            file.metadata().is_ok_and(|meta| meta.is_file())
                && file.read_exact(&mut head).is_ok()
                && head == *b"\x7fELF"
        })
}
