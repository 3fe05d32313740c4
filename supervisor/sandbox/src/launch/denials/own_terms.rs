//! What `/proc/self` means is the caller's own: the same name means something else to us. Its root, where it is and what it has
//! open are known.
//!
//! Pure. What is written by way of another name (`/usr/../proc/self`, a link) is not known.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Ways through `/proc/self` in one path.
const MOST: usize = 8;

/// What of a caller leads elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theirs {
    Cwd,
    /// A descriptor.
    Open(i32),
}

/// The same path without it. `led`: where that of the caller leads. `None`: it is about the process itself.
pub(super) fn in_own_terms(path: PathBuf, led: impl Fn(Theirs) -> Option<PathBuf>) -> Option<PathBuf> {
    let mut path = path;
    for _ in 0..MOST {
        let Some((owner, rest)) = of_a_process(path.as_os_str().as_bytes()) else {
            return Some(path);
        };
        let (name, below) = first_name(rest);
        path = match name {
            // The first process lets nobody look into it.
            b"root" if owner == b"1" => return Some(path),
            // A sandbox has one root for all.
            b"root" => at(Path::new("/"), below),
            b".." => match first_name(below) {
                (b"..", below) => at(Path::new("/"), below),
                (_, _) => at(Path::new("/proc"), below),
            },
            b"task" if is_task(below) => {
                let (_, below) = first_name(below);
                at(&Path::new("/proc").join(OsStr::from_bytes(owner)), below)
            }
            // Whose it is only the sandbox knows.
            _ if owner.first().is_some_and(u8::is_ascii_digit) => return Some(path),
            b"cwd" if !below.is_empty() => at(&led(Theirs::Cwd)?, below),
            b"fd" => {
                let (number, below) = first_name(below);
                let number: u32 = std::str::from_utf8(number).ok()?.parse().ok()?;
                // By itself it is the descriptor.
                if below.is_empty() {
                    return None;
                }
                at(&led(Theirs::Open(i32::try_from(number).ok()?))?, below)
            }
            _ => return None,
        };
    }
    None
}

/// The process that a path is about, and what follows.
fn of_a_process(path: &[u8]) -> Option<(&[u8], &[u8])> {
    let (top, rest) = first_name(path);
    if top == b"dev" {
        // A link to the other.
        let is_fd = first_name(rest).0 == b"fd";
        return is_fd.then_some((b"self", rest));
    }
    let (owner, rest) = (top == b"proc").then(|| first_name(rest))?;
    let is_process = [&b"self"[..], b"thread-self"].contains(&owner) || is_number(owner);
    is_process.then_some((owner, rest))
}

fn is_task(below: &[u8]) -> bool {
    is_number(first_name(below).0)
}

fn is_number(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(u8::is_ascii_digit)
}

fn at(dir: &Path, below: &[u8]) -> PathBuf {
    let slashes = below.iter().take_while(|byte| **byte == b'/').count();
    dir.join(OsStr::from_bytes(below.get(slashes..).unwrap_or_default()))
}

/// The first name of a path, and what follows from its slash on. Neither `.` nor an empty name is one.
fn first_name(path: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = path;
    loop {
        let slashes = rest.iter().take_while(|byte| **byte == b'/').count();
        rest = rest.get(slashes..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| **byte != b'/').count();
        let (name, below) = rest.split_at_checked(length).unwrap_or_default();
        if name != b"." {
            return (name, below);
        }
        rest = below;
    }
}

#[cfg(test)]
#[path = "own_terms_tests.rs"]
mod tests;
