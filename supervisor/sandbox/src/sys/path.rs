//! Paths: opened without following links, made below a directory that is already held open.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::OnceLock;

use super::fd::own;
pub use super::stat::{Stat, lstat_at};
use super::{check, cpath, done};

#[repr(C)]
struct OpenHow {
    flags: u64,
    mode: u64,
    resolve: u64,
}

/// Times that a lookup is tried which something on the machine moved under.
const TRIES: usize = 256;

/// A lookup of `..` that must stay below its start cannot tell where it is if anything was renamed or mounted meanwhile, anywhere
/// on the machine: the kernel then says `EAGAIN`, and it is tried again.
pub(super) fn openat2(dir: libc::c_int, path: &Path, flags: libc::c_int, resolve: u64) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    let how = OpenHow {
        flags: u64::from((flags | libc::O_CLOEXEC).unsigned_abs()),
        mode: 0,
        resolve,
    };
    let size = size_of::<OpenHow>();
    let mut left = TRIES;
    loop {
        // SAFETY: `path` is NUL-terminated and `how` is a live, fully initialised local of the size given.
        let raw = unsafe { libc::syscall(libc::SYS_openat2, dir, path.as_ptr(), &raw const how, size) };
        left -= 1;
        match check(raw) {
            Err(error) if error.raw_os_error() == Some(libc::EAGAIN) && left > 0 => {}
            other => return other.map(own),
        }
    }
}

/// A handle on an absolute path of which no component may be a symlink.
pub fn open_exact(path: &Path) -> io::Result<OwnedFd> {
    openat2(
        libc::AT_FDCWD,
        path,
        libc::O_PATH | libc::O_NOFOLLOW,
        libc::RESOLVE_NO_SYMLINKS,
    )
}

/// A directory opened for reading (and locking), of which no component may be a symlink.
pub fn open_dir_exact(path: &Path) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    openat2(libc::AT_FDCWD, path, flags, libc::RESOLVE_NO_SYMLINKS)
}

/// A handle on `path` below `root`: no symlink is followed, nothing above `root` can be reached.
pub fn open_beneath(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH;
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    openat2(root.as_raw_fd(), path, libc::O_PATH | libc::O_NOFOLLOW, resolve)
}

/// As `open_beneath`, a directory opened for reading.
pub fn open_dir_beneath(root: BorrowedFd<'_>, path: &Path) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH;
    openat2(
        root.as_raw_fd(),
        path,
        libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW,
        resolve,
    )
}

/// As `open_beneath`, one name, not across a mount (`EXDEV`).
pub fn open_on_mount(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH | libc::RESOLVE_NO_XDEV;
    openat2(
        dir.as_raw_fd(),
        Path::new(name),
        libc::O_PATH | libc::O_NOFOLLOW,
        resolve,
    )
}

/// As `open_on_mount`, a directory opened for reading.
pub fn open_dir_on_mount(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let resolve = libc::RESOLVE_NO_SYMLINKS | libc::RESOLVE_BENEATH | libc::RESOLVE_NO_XDEV;
    let flags = libc::O_RDONLY | libc::O_DIRECTORY | libc::O_NOFOLLOW;
    openat2(dir.as_raw_fd(), Path::new(name), flags, resolve)
}

/// The directory above an open one. The caller checks that it is the one expected.
pub fn open_parent(dir: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::O_RDONLY | libc::O_DIRECTORY;
    openat2(dir.as_raw_fd(), Path::new(".."), flags, libc::RESOLVE_NO_XDEV)
}

/// Removes the file capabilities. True if there were any. Follows links: for paths below `/proc/self/fd`.
pub fn remove_capability(path: &Path) -> io::Result<bool> {
    let path = cpath(path)?;
    // SAFETY: both strings are NUL-terminated.
    match done(unsafe { libc::removexattr(path.as_ptr(), c"security.capability".as_ptr()) }) {
        Ok(()) => Ok(true),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODATA | libc::EOPNOTSUPP)) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Has a file capabilities? `file` may be a mere handle on a path.
pub fn has_capability(file: BorrowedFd<'_>) -> io::Result<bool> {
    let path = cpath(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())))?;
    let name = c"security.capability";
    // SAFETY: both strings are NUL-terminated; without room for it the kernel only says how long the value is.
    let got = unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) };
    match check(i64::try_from(got).unwrap_or(-1)) {
        Ok(_) => Ok(true),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODATA | libc::EOPNOTSUPP)) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Does an extended attribute of an open file have this value? `false` if there is none.
pub fn has_attribute(file: BorrowedFd<'_>, name: &std::ffi::CStr, value: &[u8]) -> io::Result<bool> {
    let mut found = [0_u8; 16];
    let (to, room) = (found.as_mut_ptr(), found.len());
    // SAFETY: `name` is NUL-terminated, and `to` points to `room` writable bytes.
    let got = unsafe { libc::fgetxattr(file.as_raw_fd(), name.as_ptr(), to.cast(), room) };
    match check(i64::try_from(got).unwrap_or(-1)) {
        Ok(length) => Ok(usize::try_from(length).ok().and_then(|length| found.get(..length)) == Some(value)),
        Err(e) if matches!(e.raw_os_error(), Some(libc::ENODATA | libc::EOPNOTSUPP | libc::ERANGE)) => Ok(false),
        Err(e) => Err(e),
    }
}

/// A handle on an absolute path inside the (already switched) root.
pub fn open_path(path: &Path) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC) }.into()).map(own)
}

pub fn open_read_write(path: &Path) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::open(path.as_ptr(), libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) }.into()).map(own)
}

/// Makes a directory. That it is there already is not an error.
pub fn mkdir_at(dir: BorrowedFd<'_>, path: &Path, mode: u32) -> io::Result<()> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated.
    match done(unsafe { libc::mkdirat(dir.as_raw_fd(), path.as_ptr(), mode) }) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}

/// Makes a directory that must not be there yet.
pub fn mkdir_new_at(dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<()> {
    let name = cpath(Path::new(name))?;
    // SAFETY: `name` is NUL-terminated.
    done(unsafe { libc::mkdirat(dir.as_raw_fd(), name.as_ptr(), mode) })
}

pub fn symlink_at(target: &Path, dir: BorrowedFd<'_>, path: &Path) -> io::Result<()> {
    let (target, path) = (cpath(target)?, cpath(path)?);
    // SAFETY: both paths are NUL-terminated.
    done(unsafe { libc::symlinkat(target.as_ptr(), dir.as_raw_fd(), path.as_ptr()) })
}

/// A new regular file, open for writing.
pub fn create_at(dir: BorrowedFd<'_>, path: &Path, mode: u32) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), path.as_ptr(), flags, mode) }.into()).map(own)
}

/// One without a name, for `link_held_at`; it is gone with its last descriptor. Not every filesystem can.
pub fn create_unnamed_at(dir: BorrowedFd<'_>, mode: u32) -> io::Result<OwnedFd> {
    let flags = libc::O_WRONLY | libc::O_TMPFILE | libc::O_CLOEXEC;
    // SAFETY: the path is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), c".".as_ptr(), flags, mode) }.into()).map(own)
}

/// As `create_at`; every write goes to the end, wherever another writer has moved it.
pub fn create_append_at(dir: BorrowedFd<'_>, path: &Path, mode: u32) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), path.as_ptr(), flags, mode) }.into()).map(own)
}

/// A file opened for reading (and locking), without following a link and without waiting for a pipe's writer.
pub fn open_file_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OwnedFd> {
    let name = cpath(Path::new(name))?;
    let flags = libc::O_RDONLY | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: `name` is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), flags) }.into()).map(own)
}

/// How a file of the caller's own is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Own {
    Read,
    /// Made if it is not there.
    ReadWrite,
    /// The same; what is written goes to the end, wherever another writer has moved it.
    Append,
}

/// A file of the caller's own, for nobody else, without following a link and without waiting for a pipe.
pub fn open_own_at(dir: BorrowedFd<'_>, name: &OsStr, how: Own) -> io::Result<OwnedFd> {
    let name = cpath(Path::new(name))?;
    let flags = match how {
        Own::Read => libc::O_RDONLY,
        Own::ReadWrite => libc::O_RDWR | libc::O_CREAT,
        Own::Append => libc::O_RDWR | libc::O_CREAT | libc::O_APPEND,
    };
    let flags = flags | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: `name` is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), flags, 0o600) }.into()).map(own)
}

/// The permissions that a placeholder may have.
pub(super) const READABLE: u32 = 0o444;

/// Who may watch a socket inode, and is told that it can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    All,
    Nobody,
}

/// A socket inode, which nothing can open and to which nobody may connect: the mark of a placeholder.
pub fn mksock_at(dir: BorrowedFd<'_>, name: &OsStr, readers: Readers) -> io::Result<()> {
    let mode = match readers {
        Readers::All => libc::S_IFSOCK | READABLE,
        Readers::Nobody => libc::S_IFSOCK,
    };
    let name = cpath(Path::new(name))?;
    // SAFETY: `name` is NUL-terminated.
    done(unsafe { libc::mknodat(dir.as_raw_fd(), name.as_ptr(), mode, 0) })
}

pub fn chmod_at(dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<()> {
    let name = cpath(Path::new(name))?;
    // SAFETY: `name` is NUL-terminated.
    done(unsafe { libc::fchmodat(dir.as_raw_fd(), name.as_ptr(), mode, 0) })
}

pub fn unlink_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let name = cpath(Path::new(name))?;
    // SAFETY: `name` is NUL-terminated.
    done(unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), 0) })
}

/// One more name for what is held open, which must be on the same filesystem.
pub fn link_held_at(held: BorrowedFd<'_>, dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let from = cpath(Path::new(&format!("/proc/self/fd/{}", held.as_raw_fd())))?;
    let name = cpath(Path::new(name))?;
    let follow = libc::AT_SYMLINK_FOLLOW;
    // SAFETY: both names are NUL-terminated.
    done(unsafe { libc::linkat(libc::AT_FDCWD, from.as_ptr(), dir.as_raw_fd(), name.as_ptr(), follow) })
}

pub fn rmdir_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<()> {
    let name = cpath(Path::new(name))?;
    // SAFETY: `name` is NUL-terminated.
    done(unsafe { libc::unlinkat(dir.as_raw_fd(), name.as_ptr(), libc::AT_REMOVEDIR) })
}

pub fn umask(mask: u32) -> u32 {
    // SAFETY: umask only changes a process attribute.
    unsafe { libc::umask(mask) }
}

static CALLERS_UMASK: OnceLock<u32> = OnceLock::new();

/// Leaves us every right to what we make: a mask that takes them would make the state directory useless to its owner.
pub fn keep_own_rights() {
    let callers = umask(0o077);
    umask(callers & 0o077);
    CALLERS_UMASK.get_or_init(|| callers);
}

/// The mask that is the command's, if ours may be another.
#[must_use]
pub fn callers_umask() -> Option<u32> {
    CALLERS_UMASK.get().copied()
}

pub fn fchdir(dir: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: fchdir touches no memory.
    done(unsafe { libc::fchdir(dir.as_raw_fd()) })
}

pub fn chdir(path: &Path) -> io::Result<()> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated.
    done(unsafe { libc::chdir(path.as_ptr()) })
}

/// The first bytes of a regular file, without following a link and without waiting for a pipe's writer.
pub fn read_small_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Vec<u8>> {
    read_at(dir, name, 64)
}

/// As `read_small_at`, up to `most` bytes. More than that is an error.
pub fn read_at(dir: BorrowedFd<'_>, name: &OsStr, most: usize) -> io::Result<Vec<u8>> {
    let name = cpath(Path::new(name))?;
    // Looked at before it is opened: opening a device can set something off.
    // SAFETY: `name` is NUL-terminated.
    let held = check(unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), libc::O_PATH | HELD) }.into()).map(own)?;
    read_held(std::os::fd::AsFd::as_fd(&held), most)
}

/// A handle on a path of which the last component may be a link, which is not followed.
pub fn open_held(path: &Path) -> io::Result<OwnedFd> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated.
    check(unsafe { libc::open(path.as_ptr(), libc::O_PATH | HELD) }.into()).map(own)
}

/// A regular file by its path, of which the last component is no link, up to `most` bytes. More than that is an error.
pub fn read_file(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    read_held(std::os::fd::AsFd::as_fd(&open_held(path)?), most)
}

const HELD: libc::c_int = libc::O_NOFOLLOW | libc::O_CLOEXEC;

/// A regular file by a handle on it, open for reading.
pub fn open_regular(held: BorrowedFd<'_>) -> io::Result<std::fs::File> {
    if !lstat_at(held, OsStr::new(""))?.is_file() {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    let again = cpath(Path::new(&format!("/proc/self/fd/{}", held.as_raw_fd())))?;
    let flags = libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: `again` is NUL-terminated.
    let file = check(unsafe { libc::open(again.as_ptr(), flags) }.into()).map(own)?;
    Ok(std::fs::File::from(file))
}

/// A regular file by a handle on it, up to `most` bytes. More than that is an error.
pub fn read_held(held: BorrowedFd<'_>, most: usize) -> io::Result<Vec<u8>> {
    let file = open_regular(held)?;
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, limit), &mut bytes)?;
    if bytes.len() > most {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    Ok(bytes)
}

/// Renames within a directory, never over something that is there.
pub fn rename_new_at(dir: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let (from, to) = (cpath(Path::new(from))?, cpath(Path::new(to))?);
    let raw = dir.as_raw_fd();
    // SAFETY: both names are NUL-terminated.
    done(unsafe { libc::renameat2(raw, from.as_ptr(), raw, to.as_ptr(), libc::RENAME_NOREPLACE) })
}

/// Renames within a directory, over whatever is there: who looks sees the old content or the new one.
pub fn rename_at(dir: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> io::Result<()> {
    let (from, to) = (cpath(Path::new(from))?, cpath(Path::new(to))?);
    let raw = dir.as_raw_fd();
    // SAFETY: both names are NUL-terminated.
    done(unsafe { libc::renameat(raw, from.as_ptr(), raw, to.as_ptr()) })
}

/// A file that every write extends, made if missing, without following a link and without waiting for a pipe's reader.
pub fn open_append_at(dir: BorrowedFd<'_>, name: &OsStr, mode: u32) -> io::Result<OwnedFd> {
    let name = cpath(Path::new(name))?;
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT | libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let flags = flags | libc::O_NOCTTY | libc::O_CLOEXEC;
    // SAFETY: `name` is NUL-terminated.
    check(unsafe { libc::openat(dir.as_raw_fd(), name.as_ptr(), flags, mode) }.into()).map(own)
}

/// May this process (by its effective ids) write the file, or create and remove names in the directory?
pub fn is_writable(at: &Path) -> bool {
    let Ok(path) = cpath(at) else { return false };
    let may = |how| {
        // SAFETY: `path` is NUL-terminated.
        let ret = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), how, libc::AT_EACCESS) };
        ret == 0
    };
    // Most are directories, which are not looked at twice.
    may(libc::W_OK | libc::X_OK) || (may(libc::W_OK) && !at.is_dir())
}
