//! Reads what an answer cost, out of the stream, without keeping it.
//!
//! Pure. Follows JSON's structure and nothing else: a counter counts only at its own path, so neither text that quotes
//! one nor a tool call's arguments that are shaped like one are believed. What the vendor says last is what counts.
//! INVARIANT (bounded): its size does not depend on the stream.

use super::api::{Total, Usage};

/// Deeper levels are counted, not named.
pub(super) const DEPTH: usize = 4;
pub(super) const COUNTERS: usize = 6;
/// No name of a counter is longer.
const WORD: usize = 32;

/// How JSON lies in the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// One value, or an array of them.
    Json,
    /// A value on each `data:` line of an event stream.
    Events,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tokens {
    /// All of it, from a cache or not.
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) cached: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Outside of strings and numbers.
    Between,
    Text,
    Escape,
    /// After a colon, before its value.
    Value,
    Number(u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    /// So many bytes of `data:` were seen.
    Prefix(usize),
    Data,
    Other,
}

/// A name, or one that is too long to be known.
#[derive(Debug, Clone, Copy)]
struct Word {
    bytes: [u8; WORD],
    len: usize,
}

pub(super) struct Scanner {
    usage: &'static Usage,
    framing: Framing,
    line: Line,
    state: State,
    depth: usize,
    word: Word,
    path: [Word; DEPTH],
    values: [Option<u64>; COUNTERS],
}

impl Word {
    const EMPTY: Self = Self {
        bytes: [0; WORD],
        len: 0,
    };

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
        }
        self.len = self.len.saturating_add(1);
    }

    fn is(&self, name: &str) -> bool {
        self.bytes.get(..self.len) == Some(name.as_bytes())
    }
}

impl Scanner {
    pub(super) fn new(usage: &'static Usage, framing: Framing) -> Self {
        Self {
            usage,
            framing,
            line: Line::Prefix(0),
            state: State::Between,
            depth: 0,
            word: Word::EMPTY,
            path: [Word::EMPTY; DEPTH],
            values: [None; COUNTERS],
        }
    }

    pub(super) fn read(&mut self, chunk: &[u8]) {
        for byte in chunk {
            match self.framing {
                Framing::Json => self.json(*byte),
                Framing::Events => self.event(*byte),
            }
        }
    }

    fn event(&mut self, byte: u8) {
        const DATA: &[u8] = b"data:";
        if matches!(byte, b'\n' | b'\r') {
            self.json(b' ');
            (self.line, self.state, self.depth) = (Line::Prefix(0), State::Between, 0);
            return;
        }
        match self.line {
            Line::Prefix(seen) if DATA.get(seen) != Some(&byte) => self.line = Line::Other,
            Line::Prefix(seen) if seen + 1 == DATA.len() => self.line = Line::Data,
            Line::Prefix(seen) => self.line = Line::Prefix(seen + 1),
            Line::Data => self.json(byte),
            Line::Other => {}
        }
    }

    fn json(&mut self, byte: u8) {
        match (self.state, byte) {
            (State::Text, b'"') => self.state = State::Between,
            (State::Text, b'\\') => {
                self.word.push(byte);
                self.state = State::Escape;
            }
            (State::Text | State::Escape, _) => {
                self.word.push(byte);
                self.state = State::Text;
            }
            (State::Value, b'0'..=b'9') => self.state = State::Number(u64::from(byte - b'0')),
            (State::Number(value), b'0'..=b'9') => {
                let more = value.saturating_mul(10).saturating_add(u64::from(byte - b'0'));
                self.state = State::Number(more);
            }
            (State::Number(_), b'.' | b'e' | b'E') => self.state = State::Between,
            (State::Number(value), _) => {
                self.counted(value);
                self.state = State::Between;
                self.structure(byte);
            }
            (State::Value, b' ' | b'\t' | b'\n' | b'\r') => {}
            (State::Between | State::Value, _) => {
                self.state = State::Between;
                self.structure(byte);
            }
        }
    }

    fn structure(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.word = Word::EMPTY;
                self.state = State::Text;
            }
            b':' => {
                if let Some(level) = self.depth.checked_sub(1).and_then(|at| self.path.get_mut(at)) {
                    *level = self.word;
                }
                self.state = State::Value;
            }
            // A list around everything is how one API streams: its elements are read as if they stood alone.
            b'[' if self.depth == 0 => {}
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                if let Some(level) = self.path.get_mut(self.depth - 1) {
                    *level = Word::EMPTY;
                }
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn counted(&mut self, value: u64) {
        let Some(path) = self.path.get(..self.depth) else {
            return;
        };
        let is = |names: &[&str], words: &[Word]| {
            names.len() == words.len() && names.iter().zip(words).all(|(name, word)| word.is(name))
        };
        for root in self.usage.roots {
            let Some((head, tail)) = path.split_at_checked(root.len()) else {
                continue;
            };
            if !is(root, head) {
                continue;
            }
            for (counter, place) in self.usage.counters.iter().zip(&mut self.values) {
                if is(counter.path, tail) {
                    *place = Some(value);
                }
            }
        }
    }

    pub(super) fn tokens(&self) -> Tokens {
        let mut tokens = Tokens::default();
        for (counter, value) in self.usage.counters.iter().zip(self.values) {
            let value = value.unwrap_or(0);
            let add = |total: &mut u64| *total = total.saturating_add(value);
            match counter.adds_to {
                Total::Input => add(&mut tokens.input),
                Total::Output => add(&mut tokens.output),
                Total::Cached => add(&mut tokens.cached),
                Total::InputFromCache => {
                    add(&mut tokens.input);
                    add(&mut tokens.cached);
                }
            }
        }
        tokens
    }
}

#[cfg(test)]
#[path = "usage_tests.rs"]
mod tests;
