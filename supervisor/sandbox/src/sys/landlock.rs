//! Landlock: the three system calls, and the rights of each ABI.
//!
//! ABI 1 is Linux 5.13; 2 adds REFER (5.19), 3 TRUNCATE (6.2), 4 TCP (6.7), 5 IOCTL_DEV (6.10), 6 scopes (6.12),
//! 7 log flags (6.15).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::check;
use super::fd::own;

pub const EXECUTE: u64 = 1;
pub const WRITE_FILE: u64 = 1 << 1;
pub const READ_FILE: u64 = 1 << 2;
pub const READ_DIR: u64 = 1 << 3;
/// To make directories and regular files.
pub const MAKE_DIR: u64 = 1 << 7;
pub const MAKE_REG: u64 = 1 << 8;
pub const REFER: u64 = 1 << 13;
pub const TRUNCATE: u64 = 1 << 14;
pub const IOCTL_DEV: u64 = 1 << 15;
/// Every filesystem right of ABI 5.
pub const ALL_FS: u64 = (1 << 16) - 1;
/// Rights that make sense on something that is not a directory.
pub const FILE_RIGHTS: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV;
pub const BIND_TCP: u64 = 1;
pub const CONNECT_TCP: u64 = 1 << 1;
pub const SCOPE_ABSTRACT_UNIX: u64 = 1;
pub const SCOPE_SIGNAL: u64 = 1 << 1;
/// ABI 7: log denials also after the exec that follows.
pub const LOG_NEW_EXEC_ON: u32 = 1 << 1;

#[repr(C)]
struct RulesetAttr {
    handled_fs: u64,
    handled_net: u64,
    scoped: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed: u64,
    parent: i32,
}

/// The newest ABI this kernel speaks, by asking it. 0: none.
pub fn abi() -> u32 {
    let none = std::ptr::null::<RulesetAttr>();
    // SAFETY: with the version flag the kernel reads no attributes.
    let ret = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0usize, 1u32) };
    u32::try_from(ret).unwrap_or(0)
}

pub fn create(handled_fs: u64, handled_net: u64, scoped: u64) -> io::Result<OwnedFd> {
    let attr = RulesetAttr {
        handled_fs,
        handled_net,
        scoped,
    };
    // An older kernel refuses a larger structure only if the part it does not know is not zero.
    let size = size_of::<RulesetAttr>();
    // SAFETY: `attr` is a live, fully initialised local of the size given.
    check(unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const attr, size, 0u32) }).map(own)
}

pub fn allow_beneath(ruleset: BorrowedFd<'_>, path: BorrowedFd<'_>, allowed: u64) -> io::Result<()> {
    let rule = PathBeneath {
        allowed,
        parent: path.as_raw_fd(),
    };
    // SAFETY: rule type 1 (path beneath) reads one `PathBeneath`, a live local.
    check(unsafe {
        libc::syscall(
            libc::SYS_landlock_add_rule,
            ruleset.as_raw_fd(),
            1,
            &raw const rule,
            0u32,
        )
    })
    .map(drop)
}

pub fn restrict_self(ruleset: BorrowedFd<'_>, flags: u32) -> io::Result<()> {
    // SAFETY: takes two integers.
    check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), flags) }).map(drop)
}

/// The filesystem rights that an ABI can handle. What it cannot, the mount namespace still decides.
#[must_use]
pub fn handled_fs(abi: u32) -> u64 {
    match abi {
        0 => 0,
        1 => (1 << 13) - 1,
        2 => (1 << 14) - 1,
        3 | 4 => (1 << 15) - 1,
        _ => ALL_FS,
    }
}
