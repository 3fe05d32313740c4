//! Writing: a line at a time, from any number of processes.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_sandbox::sys::path;
use glee_sandbox::sys::process::geteuid;

use super::DIRECTORY;
use super::line::{Cutter, Line, Stream, day_of, numbers};
use crate::clock::Moment;
use crate::folder::{Folder, give};
use crate::label::Label;

/// A file that reaches this size makes room: with the one before it a stream takes at most twice this a day.
const MOST_FILE: u64 = 32 << 20;
/// All files together. The oldest days go first.
const MOST_ALL: u64 = 1 << 30;
/// Days that are kept.
const DAYS: u64 = 14;
const MOST_NUMBERS: usize = 8 << 20;

#[derive(Debug, thiserror::Error)]
#[error("cannot use the log `{}`: {error}", .path.display())]
pub struct LogError {
    pub path: PathBuf,
    pub error: io::Error,
}

impl LogError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        "check what lies there, and its permissions; links are not followed"
    }
}

/// The logs of a project.
#[derive(Debug)]
pub struct Logs {
    folder: Folder,
    most_file: u64,
}

impl Logs {
    /// Opens the place, makes it if it is not there yet, and removes what is too old or too much.
    pub fn open(project: &Path, now: Moment) -> Result<Self, LogError> {
        let open = || -> io::Result<Self> {
            let folder = Folder::make_beneath(project, Path::new(DIRECTORY))?;
            folder.ignore_in_git()?;
            let logs = Self {
                folder,
                most_file: MOST_FILE,
            };
            logs.tidy(now, MOST_ALL)?;
            Ok(logs)
        };
        open().map_err(|error| LogError {
            path: project.join(DIRECTORY),
            error,
        })
    }

    /// The log of one run.
    #[must_use]
    pub fn of_run(&self, run: Label, cli: Label) -> RunLog<'_> {
        RunLog {
            logs: self,
            run,
            cli,
            today: None,
            stdout: Cutter::default(),
            stderr: Cutter::default(),
        }
    }

    fn tidy(&self, now: Moment, most_all: u64) -> io::Result<()> {
        let oldest = Moment::from_seconds(now.seconds().saturating_sub(DAYS * 86_400)).day();
        let today = now.day();
        let mut files: Vec<(String, OsString, u64)> = Vec::new();
        for name in self.folder.names()? {
            if let Some(day) = name.to_str().and_then(day_of) {
                let size = self.folder.metadata(&name)?.len();
                files.push((day.to_owned(), name.clone(), size));
            }
        }
        files.sort();
        let mut all: u64 = files.iter().map(|(_, _, size)| size).sum();
        let mut gone = files
            .into_iter()
            .filter(|(day, _, size)| {
                let goes = *day < oldest || (all > most_all && *day < today);
                all = if goes { all.saturating_sub(*size) } else { all };
                goes
            })
            .peekable();
        if gone.peek().is_some() {
            let locked = self.folder.lock()?;
            for (_, name, _) in gone {
                locked.remove(&name)?;
            }
        }
        Ok(())
    }

    /// Opens a file for appending. One that is not what we would have made is not written to.
    fn append(&self, name: &OsStr) -> io::Result<File> {
        let file = File::from(path::open_append_at(self.folder.fd(), name, 0o600)?);
        let meta = file.metadata()?;
        let folder = path::lstat_at(self.folder.fd(), OsStr::new(""))?;
        let owners = [geteuid(), folder.uid];
        if !meta.is_file() || meta.nlink() != 1 || !owners.contains(&meta.uid()) {
            return Err(io::Error::other("it is no plain file of this user's alone"));
        }
        if meta.uid() == 0 {
            give(file.as_fd(), &folder)?;
        }
        Ok(file)
    }

    /// The number of a run on a day. The first one is 0.
    fn number(&self, day: &str, run: &Label) -> io::Result<u64> {
        let name = OsString::from(numbers(day));
        let _locked = self.folder.lock()?;
        let text = self.folder.read(&name, MOST_NUMBERS)?.unwrap_or_default();
        let runs = text.split(|b| *b == b'\n').filter(|line| !line.is_empty());
        for (n, line) in (0..).zip(runs.clone()) {
            if line == run.as_str().as_bytes() {
                return Ok(n);
            }
        }
        self.append(&name)?.write_all(format!("{run}\n").as_bytes())?;
        Ok(runs.count() as u64)
    }

    /// Makes room, if the file is still the one that is full.
    fn rotate(&self, stream: Stream, day: &str, full: &File) -> io::Result<()> {
        let (name, older) = (OsString::from(stream.file(day)), OsString::from(stream.older(day)));
        let _locked = self.folder.lock()?;
        if self.is_current(&name, full)? {
            path::rename_at(self.folder.fd(), &name, &older)?;
        }
        Ok(())
    }

    fn is_current(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        let meta = file.metadata()?;
        match path::lstat_at(self.folder.fd(), name) {
            Ok(found) => Ok((found.dev, found.ino) == (meta.dev(), meta.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// The log of one run, in the files of the day on which something happens.
#[derive(Debug)]
pub struct RunLog<'a> {
    logs: &'a Logs,
    run: Label,
    cli: Label,
    today: Option<Today>,
    stdout: Cutter,
    stderr: Cutter,
}

#[derive(Debug)]
struct Today {
    day: String,
    number: u64,
    files: Vec<(Stream, File)>,
}

impl RunLog<'_> {
    /// Something that happened to the subagent: `Starting: …`, `Output: …`, `Completed in 3200ms`.
    pub fn event(&mut self, text: &str, now: Moment) -> Result<(), LogError> {
        // A line has room for so much; the whole of it is in the session.
        let end = text.floor_char_boundary(super::line::MOST_TEXT);
        let cut = if end < text.len() { "…" } else { "" };
        let text = format!("{}{cut}", text.get(..end).unwrap_or_default());
        self.line(Stream::Subagents, &text, now)
    }

    /// What the subagent printed, as it arrives.
    pub fn printed(&mut self, stream: Stream, bytes: &[u8], now: Moment) -> Result<(), LogError> {
        let lines = match stream {
            Stream::Stdout => self.stdout.feed(bytes),
            Stream::Stderr => self.stderr.feed(bytes),
            Stream::Subagents => return self.event(&String::from_utf8_lossy(bytes), now),
        };
        lines.iter().try_for_each(|line| self.line(stream, line, now))
    }

    /// Nothing more comes: what had no end of line becomes one.
    pub fn end(&mut self, now: Moment) -> Result<(), LogError> {
        let rest = [(Stream::Stdout, self.stdout.end()), (Stream::Stderr, self.stderr.end())];
        let mut rest = rest.into_iter().filter_map(|(stream, text)| Some((stream, text?)));
        rest.try_for_each(|(stream, text)| self.line(stream, &text, now))
    }

    fn line(&mut self, stream: Stream, text: &str, now: Moment) -> Result<(), LogError> {
        self.write(stream, text, now).map_err(|error| LogError {
            path: self.logs.folder.path().join(stream.file(&now.day())),
            error,
        })
    }

    fn write(&mut self, stream: Stream, text: &str, now: Moment) -> io::Result<()> {
        let day = now.day();
        let mut today = match self.today.take().filter(|today| today.day == day) {
            Some(today) => today,
            None => Today {
                number: self.logs.number(&day, &self.run)?,
                files: Vec::new(),
                day,
            },
        };
        let line = Line::new(now, today.number, &self.cli, text);
        let done = today.append(self.logs, stream, format!("{line}\n").as_bytes());
        self.today = Some(today);
        done
    }
}

impl Today {
    fn append(&mut self, logs: &Logs, stream: Stream, line: &[u8]) -> io::Result<()> {
        let name = OsString::from(stream.file(&self.day));
        let mut file = match self.files.iter().position(|(s, _)| *s == stream) {
            Some(n) => self.files.swap_remove(n).1,
            None => logs.append(&name)?,
        };
        // Another process may have made room meanwhile.
        if !logs.is_current(&name, &file)? {
            file = logs.append(&name)?;
        }
        if file.metadata()?.len() >= logs.most_file {
            logs.rotate(stream, &self.day, &file)?;
            file = logs.append(&name)?;
        }
        // One write: a line is never mixed with another one.
        let written = file.write(line)?;
        self.files.push((stream, file));
        if written == line.len() {
            Ok(())
        } else {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
