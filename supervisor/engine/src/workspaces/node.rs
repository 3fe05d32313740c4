//! What lies at a name: as much of it as can be compared and put back.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use glee_sandbox::sys::dir::{self, Facts, FileKind};
use glee_sandbox::sys::path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::PathBytes;
use crate::hex::hex;

const BUFFER: usize = 128 * 1024;
/// Permissions. No bit above them is ever kept or set.
const MODE: u32 = 0o777;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Node {
    Dir {
        mode: u32,
    },
    File {
        mode: u32,
        size: u64,
        /// `None` if it could not be read: it is like no other.
        sha256: Option<String>,
    },
    Symlink {
        target: PathBytes,
    },
    /// A pipe, a socket, a device.
    Other,
}

impl Node {
    /// Is it known to be the same?
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        let unknown = matches!(self, Self::Other | Self::File { sha256: None, .. });
        !unknown && self == other
    }
}

impl Node {
    pub(super) fn file_kind(&self) -> FileKind {
        match self {
            Self::Dir { .. } => FileKind::Dir,
            Self::File { .. } => FileKind::File,
            Self::Symlink { .. } => FileKind::Symlink,
            Self::Other => FileKind::Socket,
        }
    }
}

/// What lies at a name now, and its facts; `None` if there is nothing.
pub(super) fn look(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<(Node, Facts)>> {
    let facts = match dir::facts_at(dir, name) {
        Ok(facts) => facts,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mode = facts.mode & MODE;
    let node = match facts.kind {
        FileKind::Dir => Node::Dir { mode },
        FileKind::File => {
            let read = open(dir, name).and_then(|mut file| digest(&mut file, &mut io::sink()));
            let (size, sha256) = read.map_or((facts.size, None), |(size, sum)| (size, Some(sum)));
            Node::File { mode, size, sha256 }
        }
        FileKind::Symlink => Node::Symlink {
            target: dir::read_link_at(dir, name)?.into(),
        },
        FileKind::Fifo | FileKind::Socket | FileKind::CharDevice | FileKind::BlockDevice => Node::Other,
    };
    Ok(Some((node, facts)))
}

/// A regular file for reading, by its name alone. Nothing else is opened.
pub(super) fn open(dir: BorrowedFd<'_>, name: &OsStr) -> io::Result<File> {
    let held = path::open_on_mount(dir, name)?;
    if !path::lstat_at(held.as_fd(), OsStr::new(""))?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    path::open_file_at(dir, name).map(File::from)
}

/// Copies to the end, and tells how much there was and its sum.
pub(super) fn digest(from: &mut File, to: &mut dyn io::Write) -> io::Result<(u64, String)> {
    let mut sum = Sha256::new();
    let mut buffer = vec![0_u8; BUFFER];
    let mut size = 0;
    loop {
        let got = match from.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        let Some(part) = buffer.get(..got).filter(|part| !part.is_empty()) else {
            return Ok((size, hex(&sum.finalize())));
        };
        sum.update(part);
        to.write_all(part)?;
        size += u64::try_from(got).unwrap_or(0);
    }
}
