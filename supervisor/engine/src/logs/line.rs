//! The form of a line and the names of the files.
//!
//! Pure. INVARIANT: `Line::parse(line.to_string()) == line` for every line that was made here.

use std::fmt;

use crate::clock::Moment;
use crate::label::Label;
use crate::text::visible;

/// Bytes of what was printed that fit in one line. A longer one becomes several.
pub(super) const MOST_TEXT: usize = 4096;

/// The three files of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    Stdout,
    Stderr,
    /// What happened to the subagents.
    Subagents,
}

impl Stream {
    pub const ALL: [Self; 3] = [Self::Stdout, Self::Stderr, Self::Subagents];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Subagents => "subagents",
        }
    }

    /// `stdout-20250109.log`.
    pub(super) fn file(self, day: &str) -> String {
        format!("{}-{day}.log", self.as_str())
    }

    /// Where the file goes when it has grown too large. What was there before is gone then.
    pub(super) fn older(self, day: &str) -> String {
        format!("{}-{day}.1.log", self.as_str())
    }
}

/// The file that says which number was which run's on that day.
pub(super) fn numbers(day: &str) -> String {
    format!(".runs-{day}")
}

/// The day of any file of ours.
pub(super) fn day_of(name: &str) -> Option<&str> {
    let rest = match name.strip_prefix(".runs-") {
        Some(rest) => rest,
        None => {
            let (stream, rest) = name.strip_suffix(".log")?.split_once('-')?;
            Stream::ALL.iter().find(|s| s.as_str() == stream)?;
            rest.strip_suffix(".1").unwrap_or(rest)
        }
    };
    (rest.len() == 8 && rest.bytes().all(|b| b.is_ascii_digit())).then_some(rest)
}

/// `[2025-01-09T14:30:00] [subagent:0] [codex] Starting: Read src/api/auth.py...`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    pub at: Moment,
    /// Counted anew every day, over all processes.
    pub subagent: u64,
    pub cli: Label,
    /// Without control characters.
    pub text: String,
}

impl Line {
    /// Anything made one harmless line.
    pub(super) fn new(at: Moment, subagent: u64, cli: &Label, text: &str) -> Self {
        Self {
            at,
            subagent,
            cli: cli.clone(),
            text: visible(text),
        }
    }

    /// `None` for what no supervisor wrote.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (at, rest) = line.strip_prefix('[')?.split_once("] [subagent:")?;
        let (subagent, rest) = rest.split_once("] [")?;
        let (cli, text) = rest.split_once("] ")?;
        Some(Self {
            at: at.parse().ok()?,
            subagent: subagent.parse().ok()?,
            cli: cli.parse().ok()?,
            text: visible(text),
        })
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "[{}] [subagent:{}] [{}] {}",
            self.at, self.subagent, self.cli, self.text
        )
    }
}

/// Cuts what a process prints into lines, however it arrives.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    rest: Vec<u8>,
}

impl Cutter {
    /// The lines that are complete now, or as long as a line can be.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            self.rest.extend_from_slice(part);
            while self.rest.len() > MOST_TEXT {
                let at = boundary(&self.rest);
                let tail = self.rest.split_off(at);
                lines.push(text(&std::mem::replace(&mut self.rest, tail)));
            }
            if self.rest.ends_with(b"\n") {
                self.rest.pop();
                lines.push(text(&std::mem::take(&mut self.rest)));
            }
        }
        lines
    }

    /// What is left when nothing more comes.
    pub(super) fn end(&mut self) -> Option<String> {
        (!self.rest.is_empty()).then(|| text(&std::mem::take(&mut self.rest)))
    }
}

/// The last place before the limit that is not inside a character.
fn boundary(bytes: &[u8]) -> usize {
    let inside = |at: usize| bytes.get(at).is_some_and(|b| b & 0b1100_0000 == 0b1000_0000);
    (MOST_TEXT - 3..=MOST_TEXT)
        .rev()
        .find(|at| !inside(*at))
        .unwrap_or(MOST_TEXT)
}

fn text(bytes: &[u8]) -> String {
    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
