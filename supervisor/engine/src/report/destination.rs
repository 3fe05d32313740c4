//! Where a report, or a policy that was learned, goes, and how it gets there whole.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt, PermissionsExt};
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
    /// A file of the caller's in a directory in which the caller can make no other.
    InPlace(fs::File),
    File {
        dir: fs::File,
        name: OsString,
        /// Where the directory was asked for, and where it really was.
        asked: PathBuf,
        real: PathBuf,
        /// Of the file that was there: who could not read it shall not read the new one.
        mode: Option<u32>,
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
        match way.own_descriptor() {
            // Somebody else's names in `/dev` are not for a report to replace. It follows what was written there before.
            Some(raw) => {
                let own = fd::borrow(raw).try_clone_to_owned();
                own.map(|own| Self::Stream(own.into()))
                    .map_err(|error| named.failed(error))
            }
            // Read-only, or of another process: what it leads to is not what was named.
            None if way.descriptor().is_some() => Err(named.failed(io::Error::from_raw_os_error(libc::EBADF))),
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

    /// A file that takes the place of what is there, or of what a link of the caller's own leads to.
    fn file(named: &Named<'_>, way: &Way) -> Result<Self, DestinationError> {
        let (asked, name) = way
            .place()
            .ok_or_else(|| named.failed(io::ErrorKind::IsADirectory.into()))?;
        let mut options = fs::OpenOptions::new();
        let options = options.read(true).custom_flags(libc::O_DIRECTORY);
        let opened = options.open(&asked).and_then(|dir| Ok((place_of(&dir)?, dir)));
        let (real, dir) = opened.map_err(|error| named.failed(error))?;
        if !way.passes(&real) {
            return Err(named.led(real.join(name)));
        }
        let target = in_dir(&dir, &name);
        let there = fs::symlink_metadata(&target).ok().filter(fs::Metadata::is_file);
        let draft = in_dir(&dir, &beside(&name, "tmp"));
        let drafted = draft_at(&draft, None).and_then(|_| fs::remove_file(&draft));
        match drafted {
            Ok(()) => {}
            // Not in a project, where a command may have made the file a second name of another.
            Err(_) if there.is_some() && !way.ends_in_the_project() => {
                let mut options = fs::OpenOptions::new();
                let options = options.write(true).custom_flags(libc::O_NOFOLLOW);
                let file = options.open(&target).map_err(|error| named.failed(error))?;
                return Ok(Self::InPlace(file));
            }
            Err(error) => return Err(named.failed(error)),
        }
        let mode = there.map(|meta| meta.permissions().mode() & 0o777);
        Ok(Self::File {
            dir,
            name,
            asked,
            real,
            mode,
        })
    }

    /// Takes a directory out of the way that the command made under the report's name. Where it was, and where it is now.
    pub fn set_aside(&self) -> io::Result<Option<(PathBuf, PathBuf)>> {
        let Self::File { dir, name, real, .. } = self else {
            return Ok(None);
        };
        let target = in_dir(dir, name);
        if !fs::symlink_metadata(&target).is_ok_and(|meta| meta.is_dir()) {
            return Ok(None);
        }
        let _opened = opened(dir);
        let other = beside(name, "set-aside");
        fs::rename(&target, in_dir(dir, &other))?;
        Ok(Some((real.join(name), real.join(other))))
    }

    /// Writes it: whole or not at all, but for what can only be written in place. An error also if somebody else's file is where it was asked for.
    pub fn put(&self, text: &[u8]) -> io::Result<()> {
        match self {
            Self::Stream(stream) => (&*stream).write_all(text),
            Self::InPlace(file) => {
                file.set_len(0)?;
                (&*file).write_all(text)
            }
            Self::File {
                dir,
                name,
                asked,
                real,
                mode,
            } => {
                let _opened = opened(dir);
                let (draft, target) = (in_dir(dir, &beside(name, "tmp")), in_dir(dir, name));
                let put = || -> io::Result<()> {
                    draft_at(&draft, *mode)?.write_all(text)?;
                    self.set_aside()?;
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

/// The command may have closed the directory. What cannot be opened up fails later.
fn opened(dir: &fs::File) -> io::Result<Opened> {
    Opened::held(dir.try_clone()?.into(), Purpose::Change)
}

/// A new file, with the mode of the one whose place it will take.
fn draft_at(draft: &Path, mode: Option<u32>) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    let first = mode.map_or(0o644, |mode| mode & 0o644);
    let file = options.create_new(true).write(true).mode(first).open(draft)?;
    if let Some(mode) = mode {
        file.set_permissions(fs::Permissions::from_mode(mode))?;
    }
    Ok(file)
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
