//! Thin, safe wrappers around the kernel calls the sandbox is made of.
//!
//! The only place in the workspace where `unsafe` compiles. One call per block; nothing here decides anything.
//! INVARIANT: every wrapper returns the kernel's own error (`io::Error` from `errno`) and keeps no global state. (`heap` is the
//! program's one allocator.)
#![allow(unsafe_code)]

pub mod audit;
pub mod canary;
pub mod caps;
pub mod dir;
pub mod entry;
pub mod errand;
pub mod event;
pub mod fanotify;
pub mod fd;
pub mod heap;
pub mod inotify;
pub mod landlock;
pub mod limits;
pub mod look;
pub mod memory;
pub mod mount;
pub mod net;
pub mod opened;
pub mod path;
pub mod process;
pub mod processors;
pub mod seccomp;
pub mod socket;
#[cfg(own_start)]
pub mod start;
pub mod stat;
pub mod term;

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Turns the `-1` convention into a `Result`.
fn check(ret: libc::c_long) -> io::Result<libc::c_long> {
    if ret < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(ret)
    }
}

/// As `check`, for calls whose value does not matter.
fn done(ret: libc::c_int) -> io::Result<()> {
    check(libc::c_long::from(ret)).map(drop)
}

/// A path for the kernel. A NUL inside is reported as `EINVAL`, as the kernel would for a path it cannot name.
fn cpath(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
}
