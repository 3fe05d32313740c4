//! Could the caller have done it without the sandbox? Asked of the host, after the call has gone on.
//!
//! Nothing is opened but handles on paths. INVARIANT (nothing is set going): a path that leads through a mount that somebody else
//! serves (automounts, FUSE, network filesystems) is not looked at: the command must not be able to make the host fetch things.

use std::ffi::OsStr;
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::want::Want;
use crate::sys::look::{self, Last};

/// Filesystems whose answers come from elsewhere.
const SERVED: &[&str] = &[
    "autofs", "nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "afs", "fuse", "fuseblk",
];

#[derive(Debug)]
pub(super) struct Host {
    served: Vec<PathBuf>,
}

impl Host {
    pub(super) fn new() -> Self {
        let mounts = fs::read("/proc/self/mountinfo").unwrap_or_default();
        Self {
            served: mounts.split(|byte| *byte == b'\n').filter_map(served).collect(),
        }
    }

    pub(super) fn could(&self, path: &Path, want: Want) -> bool {
        if self.served.iter().any(|mount| path.starts_with(mount)) || is_about_a_process(path) {
            return false;
        }
        let there = |last| look::on_host(path, last).ok();
        let may = |mode| there(Last::Follow).is_some_and(|handle| look::may(handle.as_fd(), mode));
        match want {
            Want::Read | Want::ReadOrMake => may(libc::R_OK),
            Want::Execute => kind(path) == Some(libc::S_IFREG) && may(libc::X_OK),
            Want::Look => there(Last::Itself).is_some(),
            Want::Connect => kind(path) == Some(libc::S_IFSOCK) && may(libc::W_OK),
            Want::Write => kind(path) != Some(libc::S_IFDIR) && may(libc::W_OK),
            Want::Change => may(libc::W_OK),
            Want::WriteOrMake => match kind(path) {
                Some(libc::S_IFDIR) => false,
                Some(_) => may(libc::W_OK),
                None => self.takes_names(path),
            },
            Want::Make | Want::MakeDir => there(Last::Itself).is_none() && self.takes_names(path),
            Want::Replace => self.takes_names(path),
            Want::Remove => there(Last::Itself).is_some() && self.takes_names(path),
        }
    }

    fn takes_names(&self, path: &Path) -> bool {
        let above = path.parent().and_then(|dir| look::on_host(dir, Last::Follow).ok());
        above.is_some_and(|dir| look::may(dir.as_fd(), libc::W_OK | libc::X_OK))
    }

    /// Does a socket of this name without a file exist in our network namespace?
    pub(super) fn has_abstract(&self, name: &[u8]) -> bool {
        let shown: Vec<u8> = name.iter().map(|byte| if *byte == 0 { b'@' } else { *byte }).collect();
        let wanted = [b" @".as_slice(), &shown].concat();
        let sockets = fs::read("/proc/self/net/unix").unwrap_or_default();
        sockets.split(|byte| *byte == b'\n').any(|line| line.ends_with(&wanted))
    }
}

/// Type of what a path leads to.
fn kind(path: &Path) -> Option<u32> {
    let handle = look::on_host(path, Last::Follow).ok()?;
    look::facts(handle.as_fd()).ok().map(|facts| facts.mode & libc::S_IFMT)
}

/// Directories of processes have the same names on both sides, and are not the same.
fn is_about_a_process(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let first = rest.components().next().map(|name| name.as_os_str().as_bytes());
    first.is_none_or(|name| {
        name.first().is_some_and(u8::is_ascii_digit) || [&b"self"[..], b"thread-self"].contains(&name)
    })
}

/// The mount point of a line of mountinfo, if somebody else serves it.
fn served(line: &[u8]) -> Option<PathBuf> {
    let mut fields = line.split(|byte| *byte == b' ');
    let at = fields.nth(4)?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let kind = std::str::from_utf8(kind).ok()?;
    let first = kind.split('.').next().unwrap_or(kind);
    (SERVED.contains(&kind) || SERVED.contains(&first)).then(|| PathBuf::from(OsStr::from_bytes(&unescape(at))))
}

/// `\040` and its kin.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((byte, tail)) = rest.split_first() {
        let code = tail.get(..3).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 8).ok()) {
            Some(value) if *byte == b'\\' => {
                out.push(value);
                rest = tail.get(3..).unwrap_or_default();
            }
            Some(_) | None => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
