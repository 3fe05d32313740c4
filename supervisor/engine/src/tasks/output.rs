//! Keeps the beginning and the end of a text of any length.
//!
//! Pure. INVARIANT (bounded): never more than `limit` bytes and a note are held, however much is written.

use std::collections::VecDeque;

#[derive(Debug)]
pub struct HeadTail {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    /// All that was written.
    written: u64,
}

impl HeadTail {
    /// Two thirds for the beginning: an answer usually says first what it is about.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let tail_limit = limit / 3;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit: limit - tail_limit,
            tail_limit,
            written: 0,
        }
    }

    /// A text of at most so many bytes and a note.
    #[must_use]
    pub fn of(text: &str, limit: usize) -> String {
        let mut kept = Self::new(limit);
        kept.write(text.as_bytes());
        kept.text()
    }

    pub fn write(&mut self, bytes: &[u8]) {
        self.written += bytes.len() as u64;
        let room = self.head_limit - self.head.len();
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        // Of what does not fit, only the end can stay.
        let rest = rest
            .get(rest.len().saturating_sub(self.tail_limit)..)
            .unwrap_or_default();
        let too_many = (self.tail.len() + rest.len()).saturating_sub(self.tail_limit);
        self.tail.drain(..too_many);
        self.tail.extend(rest);
    }

    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.omitted() == 0
    }

    fn omitted(&self) -> u64 {
        self.written - (self.head.len() + self.tail.len()) as u64
    }

    /// The text, with a note where something is missing. What is no UTF-8 is replaced.
    #[must_use]
    pub fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let omitted = self.omitted();
        if omitted == 0 {
            let whole = [self.head.as_slice(), &tail].concat();
            return String::from_utf8_lossy(&whole).into_owned();
        }
        // A character that was cut in two is left out rather than shown as two broken ones.
        let head = self.head.get(..whole_characters(&self.head)).unwrap_or_default();
        let start = tail.iter().take(3).take_while(|byte| (**byte & 0xc0) == 0x80).count();
        let end = tail.get(start..).unwrap_or_default();
        format!(
            "{}\n[… {omitted} bytes left out …]\n{}",
            String::from_utf8_lossy(head),
            String::from_utf8_lossy(end)
        )
    }
}

/// How many bytes there are up to the end of the last whole character.
fn whole_characters(bytes: &[u8]) -> usize {
    let cut = (1..=3.min(bytes.len())).find_map(|back| {
        let at = bytes.len() - back;
        let width = match bytes.get(at)? {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            0x80..=0xbf => return None,
            _ => 1,
        };
        Some(if width > back { at } else { bytes.len() })
    });
    cut.unwrap_or(bytes.len())
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
