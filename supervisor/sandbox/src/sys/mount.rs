//! The mount API: detached trees with their attributes set before anyone can see them, and the switch of the root.
//!
//! `open_tree`, `move_mount`, `fsopen` are Linux 5.2, `mount_setattr` 5.12 (id maps too). Without them there is no
//! namespace sandbox: `doctor` says so.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use super::fd::own;
use super::{check, done};

pub const RDONLY: u64 = libc::MOUNT_ATTR_RDONLY;
pub const NOSUID: u64 = libc::MOUNT_ATTR_NOSUID;
pub const NODEV: u64 = libc::MOUNT_ATTR_NODEV;
pub const NOEXEC: u64 = libc::MOUNT_ATTR_NOEXEC;
const IDMAP: u64 = libc::MOUNT_ATTR_IDMAP;
const AT_RECURSIVE: libc::c_uint = 0x8000;
const EMPTY: &CStr = c"";

/// A detached copy of the mount tree at `fd`, submounts included.
pub fn open_tree_clone(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_EMPTY_PATH.unsigned_abs() | AT_RECURSIVE;
    // SAFETY: the path is a NUL-terminated literal.
    check(unsafe { libc::syscall(libc::SYS_open_tree, fd.as_raw_fd(), EMPTY.as_ptr(), flags) }).map(own)
}

/// As `open_tree_clone`, the one mount at `fd` without those below it.
pub fn open_mount_clone(fd: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    let flags = libc::OPEN_TREE_CLONE | libc::OPEN_TREE_CLOEXEC | libc::AT_EMPTY_PATH.unsigned_abs();
    // SAFETY: the path is a NUL-terminated literal.
    check(unsafe { libc::syscall(libc::SYS_open_tree, fd.as_raw_fd(), EMPTY.as_ptr(), flags) }).map(own)
}

/// Sets attributes on a whole tree and cuts its propagation ties to the host.
pub fn set_attr(tree: BorrowedFd<'_>, set: u64) -> io::Result<()> {
    setattr(
        tree,
        libc::mount_attr {
            attr_set: set,
            attr_clr: 0,
            propagation: libc::MS_PRIVATE,
            userns_fd: 0,
        },
        AT_RECURSIVE,
    )
}

/// Sets attributes on the one mount at `fd`, leaving its children as they are.
pub fn set_attr_here(mount: BorrowedFd<'_>, set: u64) -> io::Result<()> {
    setattr(
        mount,
        libc::mount_attr {
            attr_set: set,
            attr_clr: 0,
            propagation: 0,
            userns_fd: 0,
        },
        0,
    )
}

/// Maps the owners of a detached tree through the id map of a user namespace.
pub fn set_idmap(tree: BorrowedFd<'_>, userns: BorrowedFd<'_>) -> io::Result<()> {
    let userns_fd = u64::from(userns.as_raw_fd().unsigned_abs());
    setattr(
        tree,
        libc::mount_attr {
            attr_set: IDMAP,
            attr_clr: 0,
            propagation: 0,
            userns_fd,
        },
        AT_RECURSIVE,
    )
}

fn setattr(fd: BorrowedFd<'_>, attr: libc::mount_attr, flags: libc::c_uint) -> io::Result<()> {
    let flags = flags | libc::AT_EMPTY_PATH.unsigned_abs();
    let size = size_of::<libc::mount_attr>();
    // SAFETY: `attr` is a live, fully initialised local of the size given; the path is a NUL-terminated literal.
    let ret = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            fd.as_raw_fd(),
            EMPTY.as_ptr(),
            flags,
            &raw const attr,
            size,
        )
    };
    check(ret).map(drop)
}

/// Attaches a detached tree on top of what `target` refers to.
pub fn attach(tree: BorrowedFd<'_>, target: BorrowedFd<'_>) -> io::Result<()> {
    let flags = libc::MOVE_MOUNT_F_EMPTY_PATH | libc::MOVE_MOUNT_T_EMPTY_PATH;
    let (from, to) = (tree.as_raw_fd(), target.as_raw_fd());
    // SAFETY: both paths are NUL-terminated literals.
    check(unsafe { libc::syscall(libc::SYS_move_mount, from, EMPTY.as_ptr(), to, EMPTY.as_ptr(), flags) }).map(drop)
}

/// A new filesystem of type `kind` with its options, detached. An option without a value is a flag.
pub fn new_filesystem(kind: &CStr, options: &[(&CStr, &CStr)], attr: u64) -> io::Result<OwnedFd> {
    // SAFETY: `kind` is NUL-terminated.
    let fs = check(unsafe { libc::syscall(libc::SYS_fsopen, kind.as_ptr(), libc::FSOPEN_CLOEXEC) }).map(own)?;
    let fsfd = fs.as_raw_fd();
    for (key, value) in options {
        let (cmd, value) = if value.is_empty() {
            (libc::FSCONFIG_SET_FLAG, std::ptr::null())
        } else {
            (libc::FSCONFIG_SET_STRING, value.as_ptr())
        };
        // SAFETY: key and value are NUL-terminated, and a flag takes no value; both commands ignore the last argument.
        check(unsafe { libc::syscall(libc::SYS_fsconfig, fsfd, cmd, key.as_ptr(), value, 0) })?;
    }
    let null = std::ptr::null::<libc::c_char>();
    // SAFETY: FSCONFIG_CMD_CREATE takes neither key nor value.
    check(unsafe { libc::syscall(libc::SYS_fsconfig, fsfd, libc::FSCONFIG_CMD_CREATE, null, null, 0) })?;
    // SAFETY: fsmount takes three integers.
    check(unsafe { libc::syscall(libc::SYS_fsmount, fsfd, libc::FSMOUNT_CLOEXEC, attr as libc::c_uint) }).map(own)
}

/// How many files a tmpfs of so many bytes may have, as its option says it.
///
/// The kernel takes extended attributes from the same account, 1 KiB for each: they come to half of the size at the most.
pub fn inodes_for(bytes: u64) -> CString {
    const FEWEST: u64 = 4096;
    CString::new((bytes / 2048).max(FEWEST).to_string()).unwrap_or_default()
}

/// Takes the topmost mount at `path` away, with what is mounted below it. No link is followed at its end.
pub fn detach(path: &std::path::Path) -> io::Result<()> {
    let invalid = || io::Error::from_raw_os_error(libc::EINVAL);
    let path = super::process::cstring(path.as_os_str().to_owned()).ok_or_else(invalid)?;
    // SAFETY: the path is NUL-terminated and lives until the call returns.
    done(unsafe { libc::umount2(path.as_ptr(), libc::MNT_DETACH | libc::UMOUNT_NOFOLLOW) })
}

/// Cuts the propagation ties of the whole current tree, so that nothing done here is seen outside.
pub fn make_all_private() -> io::Result<()> {
    let none = std::ptr::null::<libc::c_char>();
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    // SAFETY: for a change of propagation the kernel reads only the target, a NUL-terminated literal.
    done(unsafe { libc::mount(none, c"/".as_ptr(), none, flags, none.cast()) })
}

/// Makes `new` the root. The old one ends up mounted *on top of* it, where even `/..` leads into it, until it is let go.
pub fn switch_root(new: BorrowedFd<'_>) -> io::Result<()> {
    super::path::fchdir(new)?;
    // SAFETY: both paths are NUL-terminated literals.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, c".".as_ptr(), c".".as_ptr()) }).map(|_| ())
}

/// Lets go of the old root and of what was laid over it (`layers` mounts in all). The kernel waits for all processors.
///
/// It is entered and detached by its own handle, topmost layer first; that `/..` is the new root afterwards is checked, not
/// assumed.
pub fn leave_root(new: BorrowedFd<'_>, old: BorrowedFd<'_>, layers: u32) -> io::Result<()> {
    super::path::fchdir(old)?;
    for _ in 0..layers {
        // SAFETY: the path is a NUL-terminated literal; the current directory is the old root.
        done(unsafe { libc::umount2(c".".as_ptr(), libc::MNT_DETACH) })?;
    }
    // SAFETY: the path is a NUL-terminated literal.
    done(unsafe { libc::chdir(c"/".as_ptr()) })?;
    let above = super::path::open_path(std::path::Path::new("/.."))?;
    let identity = |fd: BorrowedFd<'_>| super::path::lstat_at(fd, std::ffi::OsStr::new("")).map(|s| (s.dev, s.ino));
    if identity(std::os::fd::AsFd::as_fd(&above))? == identity(new)? {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EBUSY))
    }
}
