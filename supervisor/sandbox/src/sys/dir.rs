//! What a directory holds: listed many names at a time, and looked at without following or opening anything.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::time::Duration;

use super::{check, cpath, done};

/// One call lists some thousand names.
const BUFFER: usize = 128 * 1024;

/// What an inode is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FileKind {
    File,
    Dir,
    Symlink,
    Fifo,
    Socket,
    CharDevice,
    BlockDevice,
}

impl FileKind {
    /// As a directory says it. Some filesystems do not.
    fn of_entry(code: u8) -> Option<Self> {
        match code {
            libc::DT_REG => Some(Self::File),
            libc::DT_DIR => Some(Self::Dir),
            libc::DT_LNK => Some(Self::Symlink),
            libc::DT_FIFO => Some(Self::Fifo),
            libc::DT_SOCK => Some(Self::Socket),
            libc::DT_CHR => Some(Self::CharDevice),
            libc::DT_BLK => Some(Self::BlockDevice),
            _ => None,
        }
    }

    fn of_mode(mode: u32) -> Self {
        match mode & libc::S_IFMT {
            libc::S_IFDIR => Self::Dir,
            libc::S_IFLNK => Self::Symlink,
            libc::S_IFIFO => Self::Fifo,
            libc::S_IFSOCK => Self::Socket,
            libc::S_IFCHR => Self::CharDevice,
            libc::S_IFBLK => Self::BlockDevice,
            _ => Self::File,
        }
    }
}

/// A name in a directory, as the directory says it.
#[derive(Debug, Clone, Copy)]
pub struct Entry<'a> {
    pub name: &'a OsStr,
    pub ino: u64,
    pub kind: Option<FileKind>,
}

/// Room for the names of a directory, used again for the next one.
#[derive(Debug)]
pub struct Listing {
    buffer: Vec<u8>,
}

impl Default for Listing {
    fn default() -> Self {
        Self {
            buffer: vec![0; BUFFER],
        }
    }
}

impl Listing {
    /// Calls `each` for every name but `.` and `..`. The directory must be freshly opened for reading.
    pub fn read(&mut self, dir: BorrowedFd<'_>, each: &mut dyn FnMut(Entry<'_>)) -> io::Result<()> {
        loop {
            let (at, room) = (self.buffer.as_mut_ptr(), self.buffer.len());
            // SAFETY: `at` points to `room` writable bytes, which live as long as `self`.
            let got = check(unsafe { libc::syscall(libc::SYS_getdents64, dir.as_raw_fd(), at, room) })?;
            let Some(filled) = usize::try_from(got).ok().filter(|got| *got > 0) else {
                return Ok(());
            };
            let mut rest = self.buffer.get(..filled).unwrap_or_default();
            while let Some((entry, length)) = record(rest) {
                if !matches!(entry.name.as_bytes(), b"." | b"..") {
                    each(entry);
                }
                rest = rest.get(length..).unwrap_or_default();
            }
        }
    }
}

/// Inode (8 bytes), offset (8), length of the record (2), kind (1), name and at least one NUL.
fn record(bytes: &[u8]) -> Option<(Entry<'_>, usize)> {
    let ino = u64::from_ne_bytes(bytes.get(..8)?.try_into().ok()?);
    let length = usize::from(u16::from_ne_bytes(bytes.get(16..18)?.try_into().ok()?));
    let kind = FileKind::of_entry(*bytes.get(18)?);
    let padded = bytes.get(19..length)?;
    let name = padded.get(..padded.iter().position(|b| *b == 0)?)?;
    let name = OsStr::from_bytes(name);
    Some((Entry { name, ino, kind }, length))
}

/// What an inode says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts {
    pub kind: FileKind,
    /// Permissions and the three bits above them.
    pub mode: u32,
    pub ino: u64,
    pub size: u64,
    /// When it was last changed in any way, since 1970. Nobody can set this.
    pub changed: Duration,
}

/// Looks at a name (or, if it is empty, at the directory itself) without following or opening it.
pub fn facts_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Facts> {
    let name = cpath(Path::new(name))?;
    let mut found = std::mem::MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_SYMLINK_NOFOLLOW | libc::AT_EMPTY_PATH | libc::AT_NO_AUTOMOUNT;
    let mask = libc::STATX_TYPE | libc::STATX_MODE | libc::STATX_INO | libc::STATX_SIZE | libc::STATX_CTIME;
    // SAFETY: `name` is NUL-terminated and `found` has room for the kernel's answer.
    done(unsafe { libc::statx(dir.as_raw_fd(), name.as_ptr(), flags, mask, found.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
    let found = unsafe { found.assume_init() };
    let mode = u32::from(found.stx_mode);
    Ok(Facts {
        kind: FileKind::of_mode(mode),
        mode: mode & 0o7777,
        ino: found.stx_ino,
        size: found.stx_size,
        changed: Duration::new(
            u64::try_from(found.stx_ctime.tv_sec).unwrap_or(0),
            found.stx_ctime.tv_nsec,
        ),
    })
}

/// Where a link leads, as it says itself.
pub fn read_link_at(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<OsString> {
    let name = cpath(Path::new(name))?;
    let mut target = vec![0_u8; 4096];
    let (to, room) = (target.as_mut_ptr(), target.len());
    // SAFETY: `name` is NUL-terminated, and `to` points to `room` writable bytes.
    let got = unsafe { libc::readlinkat(dir.as_raw_fd(), name.as_ptr(), to.cast(), room) };
    let got = check(i64::try_from(got).unwrap_or(-1))?;
    target.truncate(usize::try_from(got).unwrap_or(0));
    Ok(OsString::from_vec(target))
}

/// How far the times of a filesystem's inodes can be relied on to tell a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Times {
    /// Every change shows.
    Tell,
    /// In memory: a write through a mapping leaves no trace.
    MissMappings,
    /// Another machine or program sets them, or (FAT) whoever sets the time of the last writing. Or nobody here knows.
    Elsewhere,
}

/// Does a directory keep its inode number as long as it exists?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirNumbers {
    Kept,
    /// An overlay invents them, and again after the kernel has forgotten the directory for want of memory.
    Invented,
}

/// What the filesystem of an open file is like.
pub fn habits_of(file: BorrowedFd<'_>) -> io::Result<(Times, DirNumbers)> {
    const OVERLAY: u32 = 0x794c_7630;
    const TELL: [u32; 11] = [
        0x0000_ef53, // ext2, ext3, ext4
        0x5846_5342, // xfs
        0x9123_683e, // btrfs
        0xf2f5_2010, // f2fs
        0x2fc1_2fc1, // zfs
        0xca45_1a4e, // bcachefs
        OVERLAY,
        0x3153_464a, // jfs
        0x5265_4973, // reiserfs
        0x0000_3434, // nilfs
        0x2405_1905, // ubifs
    ];
    const MEMORY: [u32; 3] = [
        0x0102_1994, // tmpfs
        0x8584_58f6, // ramfs
        0x9584_58f6, // hugetlbfs
    ];
    let kind = filesystem(file)?;
    let times = if TELL.contains(&kind) {
        Times::Tell
    } else if MEMORY.contains(&kind) {
        Times::MissMappings
    } else {
        Times::Elsewhere
    };
    let numbers = if kind == OVERLAY {
        DirNumbers::Invented
    } else {
        DirNumbers::Kept
    };
    Ok((times, numbers))
}

/// Is an open file, or a mere handle on one, seen through a mount that is only for reading?
pub fn is_read_only(file: BorrowedFd<'_>) -> io::Result<bool> {
    let mut facts = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `facts` has room for the kernel's answer.
    done(unsafe { libc::fstatvfs(file.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so the structure was filled (and zeroed before).
    let flags = unsafe { facts.assume_init() }.f_flag;
    Ok(flags & libc::ST_RDONLY != 0)
}

/// The number by which the kernel knows the kind of filesystem an open file is in (statfs(2)).
pub fn filesystem(file: BorrowedFd<'_>) -> io::Result<u32> {
    let mut facts = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `facts` has room for the kernel's answer.
    done(unsafe { libc::fstatfs(file.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: the call succeeded, so the kernel filled the structure (which was zeroed before).
    let kind = unsafe { facts.assume_init() }.f_type;
    // The number has 32 bits, whatever the width of the field.
    Ok(u32::try_from(kind & 0xffff_ffff).unwrap_or(0))
}
