//! Looks at paths without opening what lies there: in a sandbox's root from outside, and on the host.
//!
//! Handles are `O_PATH`: no device is opened, no FIFO is waited for, no access time changes.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::fd::own;
use super::path::openat2;
use super::{check, cpath, done};

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Last {
    Follow,
    Itself,
}

fn flags(last: Last) -> libc::c_int {
    match last {
        Last::Follow => libc::O_PATH,
        Last::Itself => libc::O_PATH | libc::O_NOFOLLOW,
    }
}

/// A handle on a path as a process whose root is `root` would find it. Links lead nowhere above that root.
pub fn in_root(root: BorrowedFd<'_>, path: &Path, last: Last) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_MAGICLINKS;
    openat2(root.as_raw_fd(), path, flags(last), resolve)
}

/// As `in_root`, but neither on the way nor at the end may be a link (`ELOOP`).
pub fn plainly_in_root(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_IN_ROOT | libc::RESOLVE_NO_SYMLINKS;
    // With O_NOFOLLOW a link at the end would be opened itself.
    openat2(root.as_raw_fd(), path, flags(Last::Follow), resolve)
}

/// A handle on a path of the host's.
pub fn on_host(path: &Path, last: Last) -> io::Result<OwnedFd> {
    openat2(libc::AT_FDCWD, path, flags(last), libc::RESOLVE_NO_MAGICLINKS)
}

/// Where a handle leads, by the name it has in its own tree.
pub fn name_of(handle: BorrowedFd<'_>) -> io::Result<PathBuf> {
    read_link(Path::new(&format!("/proc/self/fd/{}", handle.as_raw_fd())))
}

/// What a link says. Longer than `PATH_MAX` is an error, as nothing could be done with it.
pub fn read_link(path: &Path) -> io::Result<PathBuf> {
    let path = cpath(path)?;
    for size in [256, 4096] {
        let mut buffer = vec![0u8; size];
        // SAFETY: `path` is NUL-terminated; `buffer` is live and writable for its length.
        let ret = unsafe { libc::readlink(path.as_ptr(), buffer.as_mut_ptr().cast(), buffer.len()) };
        let length = usize::try_from(check(ret as libc::c_long)?).unwrap_or(0);
        if length < size {
            buffer.truncate(length);
            return Ok(PathBuf::from(OsString::from_vec(buffer)));
        }
    }
    Err(io::Error::from_raw_os_error(libc::ENAMETOOLONG))
}

/// What a link that a handle was opened on (`Last::Itself`) says.
pub fn link_of(handle: BorrowedFd<'_>) -> io::Result<PathBuf> {
    let mut buffer = vec![0u8; 4096];
    // SAFETY: an empty path means the handle itself; `buffer` is live and writable for its length.
    let ret = unsafe {
        libc::readlinkat(
            handle.as_raw_fd(),
            c"".as_ptr(),
            buffer.as_mut_ptr().cast(),
            buffer.len(),
        )
    };
    buffer.truncate(usize::try_from(check(ret as libc::c_long)?).unwrap_or(0));
    Ok(PathBuf::from(OsString::from_vec(buffer)))
}

/// May we, with our effective ids, do this (`R_OK`, `W_OK`, `X_OK`) with what the handle is on? Linux 5.8.
pub fn may(handle: BorrowedFd<'_>, mode: libc::c_int) -> bool {
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    let number = handle.as_raw_fd();
    // SAFETY: an empty path means the handle itself; no memory is written.
    check(unsafe { libc::syscall(libc::SYS_faccessat2, number, c"".as_ptr(), mode, flags) }).is_ok()
}

/// The mount that a handle lies on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MountFlags {
    pub read_only: bool,
    pub no_exec: bool,
}

fn filesystem(handle: BorrowedFd<'_>) -> io::Result<libc::statvfs> {
    let mut facts = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `facts` has room for the kernel's answer.
    done(unsafe { libc::fstatvfs(handle.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
    Ok(unsafe { facts.assume_init() })
}

/// Has the filesystem no room left, for bytes or for names?
pub fn is_full(handle: BorrowedFd<'_>) -> io::Result<bool> {
    let facts = filesystem(handle)?;
    Ok((facts.f_blocks > 0 && facts.f_bfree == 0) || (facts.f_files > 0 && facts.f_ffree == 0))
}

pub fn mount_flags(handle: BorrowedFd<'_>) -> io::Result<MountFlags> {
    let flags = filesystem(handle)?.f_flag;
    Ok(MountFlags {
        read_only: flags & libc::ST_RDONLY != 0,
        no_exec: flags & libc::ST_NOEXEC != 0,
    })
}

/// Type, permissions and owners, and whether something is mounted right here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub is_mount: bool,
}

/// `statx` with STATX_ATTR_MOUNT_ROOT: Linux 5.8.
pub fn facts(handle: BorrowedFd<'_>) -> io::Result<Facts> {
    let mut found = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_EMPTY_PATH | libc::AT_NO_AUTOMOUNT;
    let mask = libc::STATX_TYPE | libc::STATX_MODE | libc::STATX_UID | libc::STATX_GID;
    // SAFETY: an empty path means the handle itself; `found` has room for the kernel's answer.
    done(unsafe { libc::statx(handle.as_raw_fd(), c"".as_ptr(), flags, mask, found.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
    let found = unsafe { found.assume_init() };
    Ok(Facts {
        mode: found.stx_mode.into(),
        uid: found.stx_uid,
        gid: found.stx_gid,
        is_mount: found.stx_attributes & (libc::STATX_ATTR_MOUNT_ROOT as u64) != 0,
    })
}

/// Has what a handle is on an extended attribute of this name?
pub fn has_attribute(handle: BorrowedFd<'_>, name: &std::ffi::CStr) -> bool {
    let Ok(path) = cpath(Path::new(&format!("/proc/self/fd/{}", handle.as_raw_fd()))) else {
        return false;
    };
    // SAFETY: both strings are NUL-terminated; without room for it the kernel only says how long the value is.
    let got = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) };
    got >= 0
}

/// A directory handle that other paths can start from.
pub fn directory(path: &Path) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::open(path.as_ptr(), flags) }.into()).map(own)
}
