//! Where a report, or a policy that was learned, goes, and how it gets there whole.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use glee_sandbox::sys::opened::{Opened, Purpose};
use glee_sandbox::sys::{fd, path};

use super::Report;
use super::named::{DestinationError, Named, Way};
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
    pub fn write(&self, to: &Destination) -> io::Result<()> {
        to.put(&self.text())
    }
}

/// The longest name that a directory holds.
const NAME_MAX: usize = 255;
/// How long the reader of a pipe may take to open it, started in the same breath (`cat pipe & …`).
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(10);

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
    /// Finds out whether something can be put there. Follows no link of the project's, and does not wait for long.
    pub fn open(named: &Named<'_>) -> Result<Self, DestinationError> {
        let way = named.way()?;
        let found = path::open_path(way.descriptor().unwrap_or(&way.whole)).map(fs::File::from);
        // What cannot be looked at is a file to be, or its directory says why not.
        let Ok(held) = found else {
            return Self::file(named, &way);
        };
        let kind = held.metadata().map_err(|error| named.failed(error))?.file_type();
        if kind.is_dir() {
            return Err(named.failed(io::ErrorKind::IsADirectory.into()));
        }
        if !kind.is_file() && !kind.is_socket() {
            return Self::stream(named, &way, &held, kind);
        }
        match way.stdio() {
            // Somebody else's names in `/dev` are not for a report to replace. It follows what the command has printed.
            Some(raw) => {
                let own = fd::borrow(raw).try_clone_to_owned();
                own.map(|own| Self::Stream(own.into()))
                    .map_err(|error| named.failed(error))
            }
            None => Self::file(named, &way),
        }
    }

    /// A pipe or a device, by a handle on it.
    fn stream(named: &Named<'_>, way: &Way, held: &fs::File, kind: fs::FileType) -> Result<Self, DestinationError> {
        let (flag, to) = (named.flag, named.to.to_owned());
        if way.descriptor().is_none() {
            if way.ends_in_the_project() {
                return Err(DestinationError::Special { flag, to });
            }
            let place = place_of(held).map_err(|error| named.failed(error))?;
            if !way.ends_at(&place) {
                return Err(named.led(place));
            }
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        let end = Instant::now() + PATIENCE;
        let lacks_a_reader = |error: &io::Error| kind.is_fifo() && error.raw_os_error() == Some(libc::ENXIO);
        let stream = loop {
            match options.open(by_number(held)) {
                Ok(stream) => break stream,
                Err(error) if lacks_a_reader(&error) && Instant::now() < end => thread::sleep(PAUSE),
                Err(error) if lacks_a_reader(&error) => return Err(DestinationError::NoReader { flag, to }),
                Err(error) => return Err(named.failed(error)),
            }
        };
        fd::set_blocking(stream.as_fd()).map_err(|error| named.failed(error))?;
        Ok(Self::Stream(stream))
    }

    /// A file that takes the place of what is there.
    fn file(named: &Named<'_>, way: &Way) -> Result<Self, DestinationError> {
        let name = named.to.file_name();
        let name = name.ok_or_else(|| named.failed(io::ErrorKind::IsADirectory.into()))?;
        let mut options = fs::OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_DIRECTORY);
        let opened = options.open(&way.parent).and_then(|dir| Ok((place_of(&dir)?, dir)));
        let (real, dir) = opened.map_err(|error| named.failed(error))?;
        if !way.passes(&real) {
            return Err(named.led(real.join(name)));
        }
        let asked = way.parent.clone();
        let draft = in_dir(&dir, &beside(name, "tmp"));
        let mut options = fs::OpenOptions::new();
        options
            .create_new(true)
            .write(true)
            .mode(0o644)
            .open(&draft)
            .and_then(|_| fs::remove_file(&draft))
            .map_err(|error| named.failed(error))?;
        let name = name.to_owned();
        Ok(Self::File { dir, name, asked, real })
    }

    /// Writes it: whole or not at all. An error also if somebody else's file is where it was asked for.
    pub fn put(&self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Stream(stream) => (&*stream).write_all(text),
            Self::File { dir, name, asked, real } => {
                // The command may have closed it. What cannot be opened up fails below.
                let _opened = dir
                    .try_clone()
                    .and_then(|dir| Opened::held(dir.into(), Purpose::Change));
                let (draft, target) = (in_dir(dir, &beside(name, "tmp")), in_dir(dir, name));
                let put = || -> io::Result<()> {
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
                Err(io::Error::other(Moved(now)))
            }
        }
    }
}

/// A file that is held open, whatever became of its path.
fn by_number(held: &fs::File) -> PathBuf {
    Path::new("/proc/self/fd").join(held.as_raw_fd().to_string())
}

/// A name in a directory that is held open.
fn in_dir(dir: &fs::File, name: &OsStr) -> PathBuf {
    by_number(dir).join(name)
}

/// Where a file is that is held open.
fn place_of(held: &fs::File) -> io::Result<PathBuf> {
    fs::read_link(by_number(held))
}

/// A name beside the report that nobody can have guessed, and that is not too long where the report's is not.
fn beside(name: &OsStr, what: &str) -> OsString {
    let end = format!(".{what}.{}", run_id());
    let room = NAME_MAX.saturating_sub(end.len());
    let mut other = OsStr::from_bytes(name.as_bytes().get(..room).unwrap_or(name.as_bytes())).to_owned();
    other.push(end);
    other
}

#[cfg(test)]
#[path = "destination_tests.rs"]
mod tests;
