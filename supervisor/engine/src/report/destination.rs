//! Where a report, or a policy that was learned, goes, and how it gets there whole.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use glee_sandbox::sys::opened::{Opened, Purpose};

use super::Report;
use crate::run_id::run_id;
use crate::text::plain_json;

impl Report {
    /// The report as it is written and stored.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        // Strings, numbers and lists of them: serialising them cannot fail.
        let mut text = plain_json(serde_json::to_string_pretty(self).unwrap_or_default());
        text.push('\n');
        text.into_bytes()
    }

    /// Writes the report where the caller wants it: whole or not at all.
    pub fn write(&self, to: &Destination) -> std::io::Result<()> {
        to.put(&self.text())
    }
}

/// Where a report goes, opened before the command starts: what it renames or links meanwhile leads nowhere else.
#[derive(Debug)]
pub enum Destination {
    /// A pipe, a terminal or a device: it cannot be replaced, only written to.
    Stream(fs::File),
    File {
        dir: fs::File,
        name: OsString,
        /// Where the directory was asked for, and where it really was.
        asked: PathBuf,
        real: PathBuf,
    },
}

/// The report is not where it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("its directory was moved while the command ran: it is in `{}`, and what is in its place is not from here", .0.display())]
struct Moved(PathBuf);

impl Destination {
    /// Finds out whether a report can be put there.
    pub fn open(to: &Path) -> std::io::Result<Self> {
        let is_stream = |kind: fs::FileType| !kind.is_file() && !kind.is_dir() && !kind.is_socket();
        if fs::metadata(to).is_ok_and(|meta| is_stream(meta.file_type())) {
            return fs::OpenOptions::new().write(true).open(to).map(Self::Stream);
        }
        let name = to.file_name().filter(|_| !to.is_dir());
        let name = name.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::IsADirectory))?;
        let parent = to
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let dir = fs::File::open(parent)?;
        let draft = in_dir(&dir, &beside(name, "tmp"));
        fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o644)
            .open(&draft)?;
        fs::remove_file(&draft)?;
        Ok(Self::File {
            asked: std::path::absolute(parent)?,
            real: place_of(&dir)?,
            dir,
            name: name.to_owned(),
        })
    }

    /// Writes it: whole or not at all. An error also if somebody else's file is where it was asked for.
    pub fn put(&self, text: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Stream(stream) => (&*stream).write_all(text),
            Self::File { dir, name, asked, real } => {
                // The command may have closed it. What cannot be opened up fails below.
                let _opened = dir
                    .try_clone()
                    .and_then(|dir| Opened::held(dir.into(), Purpose::Change));
                let (draft, target) = (in_dir(dir, &beside(name, "tmp")), in_dir(dir, name));
                let put = || -> std::io::Result<()> {
                    let mut options = fs::OpenOptions::new();
                    options
                        .create_new(true)
                        .write(true)
                        .mode(0o644)
                        .open(&draft)?
                        .write_all(text)?;
                    if fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir()) {
                        // The command's doing: there was none when this was opened.
                        fs::rename(&target, in_dir(dir, &beside(name, "set-aside")))?;
                    }
                    fs::rename(&draft, &target)
                };
                put().inspect_err(|_| {
                    // What could not be put in place is of no use to anybody.
                    let _ = fs::remove_file(&draft);
                })?;
                // Where a copy lies at the project's path, what is asked for may not be there to be looked at.
                let now = place_of(dir)?;
                let led = fs::canonicalize(asked).unwrap_or_else(|_| real.clone());
                if now == *real && led == *real {
                    return Ok(());
                }
                Err(std::io::Error::other(Moved(now)))
            }
        }
    }
}

/// A name in a directory that is held open, whatever became of its path.
fn in_dir(dir: &fs::File, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}

/// Where a directory is that is held open.
fn place_of(dir: &fs::File) -> std::io::Result<PathBuf> {
    fs::read_link(Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()))
}

/// A name beside the report that nobody can have guessed.
fn beside(name: &OsStr, what: &str) -> OsString {
    let mut other = name.to_owned();
    other.push(format!(".{what}.{}", run_id()));
    other
}
