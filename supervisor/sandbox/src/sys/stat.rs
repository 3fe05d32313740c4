//! What an inode is.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

use super::done;
use super::path::READABLE;

/// The mode, owner and device-inode pair of a name, without following a link.
pub fn lstat_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Stat> {
    let name = CStrOrEmpty::new(name)?;
    let mut stat = std::mem::MaybeUninit::<libc::stat>::zeroed();
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH;
    // SAFETY: `name` is NUL-terminated and `stat` has room for the kernel's answer.
    done(unsafe { libc::fstatat(dir.as_raw_fd(), name.0.as_ptr(), stat.as_mut_ptr(), flags) })?;
    // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
    let stat = unsafe { stat.assume_init() };
    Ok(Stat {
        mode: stat.st_mode,
        uid: stat.st_uid,
        gid: stat.st_gid,
        dev: stat.st_dev,
        ino: stat.st_ino,
        rdev: stat.st_rdev,
        names: stat.st_nlink,
    })
}

struct CStrOrEmpty(std::ffi::CString);

impl CStrOrEmpty {
    fn new(name: &OsStr) -> io::Result<Self> {
        std::ffi::CString::new(name.as_bytes())
            .map(Self)
            .map_err(|_| io::Error::from_raw_os_error(libc::EINVAL))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stat {
    pub mode: u32,
    pub uid: u32,
    pub gid: u32,
    pub dev: u64,
    pub ino: u64,
    /// Of a device, which one it is.
    pub rdev: u64,
    /// Hard links.
    pub names: libc::nlink_t,
}

impl Stat {
    #[must_use]
    pub fn kind(&self) -> u32 {
        self.mode & libc::S_IFMT
    }
    #[must_use]
    pub fn is_dir(&self) -> bool {
        self.kind() == libc::S_IFDIR
    }
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind() == libc::S_IFREG
    }
    #[must_use]
    pub fn is_socket(&self) -> bool {
        self.kind() == libc::S_IFSOCK
    }
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        self.kind() == libc::S_IFIFO
    }
    /// A device that holds nothing and belongs to nobody: `null`, `zero`, `full`, `random`, `urandom`.
    #[must_use]
    pub fn is_plain_device(&self) -> bool {
        let plain = [3, 5, 7, 8, 9].map(|minor| libc::makedev(1, minor));
        self.kind() == libc::S_IFCHR && plain.contains(&self.rdev)
    }
    #[must_use]
    pub fn is_unwritable_file(&self) -> bool {
        self.kind() == libc::S_IFREG && self.mode & 0o222 == 0
    }
    /// A file that can be written under another name, wherever that is.
    #[must_use]
    pub fn has_other_names(&self) -> bool {
        self.is_file() && self.names > 1
    }

    /// Nobody may connect to it; some may see that, as far as the caller's mask let them.
    #[must_use]
    pub fn is_placeholder_socket(&self) -> bool {
        self.mode & !READABLE == libc::S_IFSOCK
    }
}
