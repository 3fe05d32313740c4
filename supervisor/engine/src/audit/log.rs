//! Appending: one writer at a time, one write for an entry, the head afterwards.
//!
//! INVARIANT: the log is only ever appended to, and a writer that is killed at any moment leaves either nothing, a whole entry
//! that the next writer adopts, or an unfinished line that it closes and names. What else is there is named as foreign.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime};

use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::path::Own;

use super::entry::{Event, Hash, Mark, Repair};
use super::head::{self, Found, Head, file_name};
use super::place::{PlaceError, State};
use super::settle::{MOST, Settled, resume, settle};
use crate::report::rfc3339;

/// A file that has become this long is followed by another.
const ROTATE_AT: u64 = 4 << 20;
/// How long another writer may hold the log. They need microseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_micros(200);

#[derive(Debug, thiserror::Error)]
pub enum LogError {
    #[error(transparent)]
    Place(#[from] PlaceError),
    #[error("cannot write to `{}`: {error}", .path.display())]
    Write { path: PathBuf, error: io::Error },
    #[error("another process has locked `{}` for {} seconds", .path.display(), PATIENCE.as_secs())]
    Locked { path: PathBuf },
    #[error("`{}` has grown by {bytes} bytes that no writer of this program left", .path.display())]
    Overgrown { path: PathBuf, bytes: u64 },
}

impl LogError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Place(error) => error.help(),
            Self::Write { .. } => "make room on the disk, or set XDG_STATE_HOME to another directory",
            Self::Locked { .. } => "a stopped `glee-supervisor` may hold it: continue or end that one",
            Self::Overgrown { .. } => {
                "`glee-supervisor audit verify` says where; move the directory away to begin anew"
            }
        }
    }
}

/// Adds an entry to the chain.
pub fn append(state: &State, event: &Event<'_>) -> Result<Mark, LogError> {
    append_rotating(state, event, ROTATE_AT)
}

pub(super) fn append_rotating(state: &State, event: &Event<'_>, rotate_at: u64) -> Result<Mark, LogError> {
    let (head_file, _) = state.own(head::NAME, Own::ReadWrite)?;
    let failed = |name: &str, error| LogError::Write {
        path: state.path.join(name),
        error,
    };
    lock(state, &head_file, Lock::TryExclusive)?;
    let mut found = Head::read(&head_file).map_err(|error| failed(head::NAME, error))?;
    let last = match found {
        Found::Head(_) => None,
        Found::Empty | Found::Damaged => state.names()?.iter().filter_map(|name| head::file_number(name)).max(),
    };
    if found == Found::Empty && last.is_none() {
        // Before the log: a log without a head is one whose head was taken away.
        found = Found::Head(Head::FIRST);
        Head::FIRST
            .write(&head_file)
            .map_err(|error| failed(head::NAME, error))?;
    }
    let mut end = match found {
        Found::Head(head) => End::find(state, head, rotate_at)?,
        Found::Empty | Found::Damaged => End::without_head(state, last.unwrap_or(1))?,
    };
    let name = file_name(end.head.file);
    end.add(event).map_err(|error| failed(&name, error))?;
    end.log.write_all(&end.batch).map_err(|error| failed(&name, error))?;
    end.head.write(&head_file).map_err(|error| failed(head::NAME, error))?;
    Ok(end.head.mark())
}

/// Waits for other writers, but not for one that will never come back.
pub(super) fn lock(state: &State, head: &File, how: Lock) -> Result<(), LogError> {
    let begin = Instant::now();
    loop {
        match flock(head.as_fd(), how) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => {
                return Err(LogError::Write {
                    path: state.path.join(head::NAME),
                    error,
                });
            }
            Err(_) if begin.elapsed() > PATIENCE => {
                return Err(LogError::Locked {
                    path: state.path.join(head::NAME),
                });
            }
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// Where the next entry goes, and what must be written before it.
struct End {
    head: Head,
    log: File,
    at: String,
    batch: Vec<u8>,
}

impl End {
    /// After the last entry that the head knows, and what a killed writer added to it.
    fn find(state: &State, known: Head, rotate_at: u64) -> Result<Self, LogError> {
        let mut start = known;
        loop {
            let (log, length) = state.own(&file_name(start.file), Own::Append)?;
            if length < start.bytes {
                let content = read_from(state, &log, start.file, 0, length)?;
                let settled = resume(start.file, &content, known.entries);
                return Self::new(state, log, settled, Some(Repair::Truncated), known);
            }
            let settled = settle(start, &read_from(state, &log, start.file, start.bytes, length)?);
            if settled.head.bytes >= rotate_at && settled.torn.is_none() && !settled.is_open {
                start = settled.head.rotated();
                continue;
            }
            let is_begun = start.bytes > 0 || settled.adopted > 0;
            let found = if settled.is_foreign {
                Repair::Foreign
            } else {
                Repair::Torn
            };
            let repair = settled.torn.map(|_| found);
            let mut end = Self::new(state, log, settled, repair, known)?;
            if let Some(previous) = start.file.checked_sub(1).filter(|number| *number > 0 && !is_begun) {
                let previous = file_name(previous);
                end.add(&Event::Rotated { previous })
                    .map_err(|error| cannot(state, start.file, error))?;
            }
            return Ok(end);
        }
    }

    fn without_head(state: &State, last: u64) -> Result<Self, LogError> {
        let (log, length) = state.own(&file_name(last), Own::Append)?;
        let settled = resume(last, &read_from(state, &log, last, 0, length)?, 0);
        Self::new(state, log, settled, Some(Repair::HeadLost), Head::FIRST)
    }

    /// Closes what was left open, and says what was found.
    fn new(state: &State, log: File, settled: Settled, repair: Option<Repair>, known: Head) -> Result<Self, LogError> {
        let mut end = Self {
            head: settled.head,
            log,
            at: rfc3339(SystemTime::now()),
            batch: Vec::new(),
        };
        if settled.is_open {
            end.batch.push(b'\n');
            end.head.bytes += 1;
        }
        if let Some(repair) = repair {
            let event = Event::Repaired {
                repair,
                torn: settled.torn,
                expected: (repair == Repair::Truncated).then(|| known.mark()),
            };
            end.add(&event)
                .map_err(|error| cannot(state, settled.head.file, error))?;
        }
        Ok(end)
    }

    fn add(&mut self, event: &Event<'_>) -> io::Result<()> {
        let line = event.line(self.head.entries + 1, self.head.sha256, &self.at)?;
        self.head.entries += 1;
        self.head.sha256 = Hash::of(&line);
        self.head.bytes += line.len() as u64 + 1;
        self.batch.extend(line);
        self.batch.push(b'\n');
        Ok(())
    }
}

fn cannot(state: &State, file: u64, error: io::Error) -> LogError {
    let path = state.path.join(file_name(file));
    LogError::Write { path, error }
}

/// What lies between the two places. Nothing is read if there is nothing.
fn read_from(state: &State, log: &File, file: u64, from: u64, to: u64) -> Result<Vec<u8>, LogError> {
    let length = to.saturating_sub(from);
    if length > MOST {
        let path = state.path.join(file_name(file));
        return Err(LogError::Overgrown { path, bytes: length });
    }
    let mut bytes = vec![0; usize::try_from(length).unwrap_or(0)];
    log.read_exact_at(&mut bytes, from)
        .map_err(|error| cannot(state, file, error))?;
    Ok(bytes)
}
