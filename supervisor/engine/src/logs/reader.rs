//! Reading: the newest lines, those of one run, and what is being written.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use glee_sandbox::sys::path;

use super::line::{Line, Stream, day_of, numbers};
use super::{DIRECTORY, LogError};
use crate::clock::Moment;
use crate::folder::Folder;
use crate::label::Label;

/// A file that was followed by another one may still get a line of a writer that was slow.
const SLOW: Duration = Duration::from_secs(60);
/// No line of ours is longer. What is, is no line.
const MOST_LINE: usize = 1 << 18;
const MOST_NUMBERS: usize = 8 << 20;

/// A line, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub stream: Stream,
    pub run: Option<Label>,
    pub line: Line,
}

/// The logs of a project, for reading.
#[derive(Debug)]
pub struct LogReader {
    folder: Folder,
}

impl LogReader {
    /// `None` if nothing was ever logged.
    pub fn find(project: &Path) -> Result<Option<Self>, LogError> {
        let folder = Folder::find_beneath(project, Path::new(DIRECTORY));
        let folder = folder.map_err(|error| LogError {
            path: project.join(DIRECTORY),
            error,
        })?;
        Ok(folder.map(|folder| Self { folder }))
    }

    /// The newest lines, at most so many, in the order of time.
    pub fn read(&self, streams: &[Stream], run: Option<&Label>, most: usize) -> Result<Vec<Shown>, LogError> {
        let read = || self.before(&self.days()?, streams, run, most);
        read().map_err(|error| self.wrong(error))
    }

    fn days(&self) -> io::Result<BTreeSet<String>> {
        let names = self.folder.names()?;
        let days = names.iter().filter_map(|name| day_of(name.to_str()?));
        Ok(days.map(str::to_owned).collect())
    }

    /// The newest lines of these days.
    fn before(
        &self,
        days: &BTreeSet<String>,
        streams: &[Stream],
        run: Option<&Label>,
        most: usize,
    ) -> io::Result<Vec<Shown>> {
        let mut shown: Vec<Shown> = Vec::new();
        for day in days.iter().rev() {
            let left = most.saturating_sub(shown.len());
            if left == 0 {
                break;
            }
            let mut earlier = self.of_day(day, streams, run, left)?;
            earlier.append(&mut shown);
            shown = earlier;
        }
        Ok(shown)
    }

    fn of_day(&self, day: &str, streams: &[Stream], run: Option<&Label>, most: usize) -> io::Result<Vec<Shown>> {
        let mut runs = Runs::default();
        runs.load(&self.folder, day)?;
        let mut all: Vec<Shown> = Vec::new();
        for stream in streams {
            let mut newest: VecDeque<Shown> = VecDeque::new();
            for name in [stream.older(day), stream.file(day)] {
                let Some(file) = self.open(&name)? else { continue };
                let mut lines = BufReader::new(file);
                while let Some(text) = next_line(&mut lines)? {
                    newest.extend(runs.show(*stream, day, &text, run));
                    if newest.len() > most {
                        newest.pop_front();
                    }
                }
            }
            all.extend(newest);
        }
        // Stable: lines of one second and one stream stay as they are.
        all.sort_by_key(|shown| shown.line.at);
        let surplus = all.len().saturating_sub(most);
        all.drain(..surplus);
        Ok(all)
    }

    fn open(&self, name: &str) -> io::Result<Option<File>> {
        match path::open_file_at(self.folder.fd(), &OsString::from(name)) {
            Ok(file) => Ok(Some(File::from(file)).filter(|file| file.metadata().is_ok_and(|meta| meta.is_file()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The newest lines, at most so many, and everything that is written after them.
    pub fn follow(
        self,
        streams: &[Stream],
        run: Option<Label>,
        most: usize,
        now: Moment,
    ) -> Result<(Vec<Shown>, Follow), LogError> {
        let mut follow = Follow {
            reader: self,
            streams: streams.to_vec(),
            run,
            runs: Runs::default(),
            tails: Vec::new(),
        };
        // Today's files from their beginning, so that no line is missed between looking back and looking on.
        let mut today = follow.look(most, now).map_err(|error| follow.reader.wrong(error))?;
        today.sort_by_key(|shown| shown.line.at);
        today.drain(..today.len().saturating_sub(most));
        let earlier = || -> io::Result<Vec<Shown>> {
            let mut days = follow.reader.days()?;
            days.split_off(&now.day());
            let left = most.saturating_sub(today.len());
            follow.reader.before(&days, streams, follow.run.as_ref(), left)
        };
        let mut shown = earlier().map_err(|error| follow.reader.wrong(error))?;
        shown.append(&mut today);
        Ok((shown, follow))
    }

    fn wrong(&self, error: io::Error) -> LogError {
        LogError {
            path: self.folder.path().to_owned(),
            error,
        }
    }
}

/// The ends of the files of today, and of those that were the newest until a moment ago.
#[derive(Debug)]
pub struct Follow {
    reader: LogReader,
    streams: Vec<Stream>,
    run: Option<Label>,
    runs: Runs,
    tails: Vec<Tail>,
}

/// Device and inode: held open, they are no other file's.
type Node = (u64, u64);

#[derive(Debug)]
struct Tail {
    stream: Stream,
    day: String,
    node: Node,
    file: File,
    rest: Vec<u8>,
    /// When another file took its place.
    left: Option<Moment>,
}

impl Follow {
    /// What is new since the last time, in the order in which it was written to each file.
    pub fn poll(&mut self, now: Moment) -> Result<Vec<Shown>, LogError> {
        self.look(usize::MAX, now).map_err(|error| self.reader.wrong(error))
    }

    fn look(&mut self, most: usize, now: Moment) -> io::Result<Vec<Shown>> {
        let day = now.day();
        let mut current = BTreeSet::new();
        for stream in self.streams.clone() {
            // A file may have come and been set aside since the last look: so that one first.
            for name in [stream.older(&day), stream.file(&day)] {
                let Some(file) = self.reader.open(&name)? else {
                    continue;
                };
                let this = node(&file)?;
                current.insert(this);
                if self.tails.iter().any(|tail| tail.node == this) {
                    continue;
                }
                for tail in self.tails.iter_mut().filter(|tail| tail.stream == stream) {
                    tail.left.get_or_insert(now);
                }
                self.tails.push(Tail {
                    stream,
                    day: day.clone(),
                    node: this,
                    file,
                    rest: Vec::new(),
                    left: None,
                });
            }
        }
        let mut shown = Vec::new();
        let (runs, reader, wanted) = (&mut self.runs, &self.reader, self.run.as_ref());
        for tail in &mut self.tails {
            let (stream, day) = (tail.stream, tail.day.clone());
            let mut newest = VecDeque::new();
            tail.read(|text| {
                if runs.is_unknown(&day, text) {
                    runs.load(&reader.folder, &day)?;
                }
                newest.extend(runs.show(stream, &day, text, wanted));
                if newest.len() > most {
                    newest.pop_front();
                }
                Ok(())
            })?;
            shown.extend(newest);
        }
        // A file is known as long as its name leads to it.
        let stays = |tail: &Tail| {
            tail.left
                .is_none_or(|left| left.age(now) < SLOW || current.contains(&tail.node))
        };
        self.tails.retain(stays);
        Ok(shown)
    }
}

impl Tail {
    /// Takes the lines that are complete now.
    fn read(&mut self, mut take: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        let mut buffer = [0; 1 << 16];
        loop {
            let count = self.file.read(&mut buffer)?;
            for part in buffer.get(..count).unwrap_or_default().split_inclusive(|b| *b == b'\n') {
                self.rest.extend_from_slice(part);
                if self.rest.ends_with(b"\n") || self.rest.len() > MOST_LINE {
                    let line = std::mem::take(&mut self.rest);
                    take(String::from_utf8_lossy(&line).trim_end_matches('\n'))?;
                }
            }
            if count == 0 {
                return Ok(());
            }
        }
    }
}

/// Which number was which run's on which day.
#[derive(Debug, Default)]
struct Runs {
    of: BTreeMap<(String, u64), Label>,
}

impl Runs {
    fn load(&mut self, folder: &Folder, day: &str) -> io::Result<()> {
        let text = folder
            .read(&OsString::from(numbers(day)), MOST_NUMBERS)?
            .unwrap_or_default();
        for (n, line) in (0..).zip(String::from_utf8_lossy(&text).lines().filter(|line| !line.is_empty())) {
            if let Ok(run) = line.parse() {
                self.of.insert((day.to_owned(), n), run);
            }
        }
        Ok(())
    }

    fn is_unknown(&self, day: &str, text: &str) -> bool {
        Line::parse(text).is_some_and(|line| !self.of.contains_key(&(day.to_owned(), line.subagent)))
    }

    /// The line, if it is one and of the wanted run.
    fn show(&self, stream: Stream, day: &str, text: &str, wanted: Option<&Label>) -> Option<Shown> {
        let line = Line::parse(text)?;
        let run = self.of.get(&(day.to_owned(), line.subagent)).cloned();
        let fits = wanted.is_none_or(|wanted| run.as_ref() == Some(wanted));
        fits.then_some(Shown { stream, run, line })
    }
}

fn node(file: &File) -> io::Result<Node> {
    let meta = file.metadata()?;
    Ok((meta.dev(), meta.ino()))
}

/// The next line without its end. One that is longer than any of ours is cut into pieces, which are no lines.
fn next_line(from: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MOST_LINE).unwrap_or(u64::MAX);
    from.take(most).read_until(b'\n', &mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned();
    Ok((!bytes.is_empty()).then_some(text))
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
