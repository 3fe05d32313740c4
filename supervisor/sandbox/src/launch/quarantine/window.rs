//! A file of which only a stretch is in memory: what is read once from its beginning to its end needs no room for all of it.
//!
//! Pages that were never touched before cost more than the reading itself: of an index of 8 MiB two thirds of the time.

use std::io;

/// What is read of the file at once.
const STRETCH: usize = 1 << 16;
/// What can be asked for at once.
const MOST: usize = 1 << 24;

/// Fills the bytes from a place in the file, as far as it goes: `pread(2)`.
pub(super) trait ReadAt: Fn(&mut [u8], u64) -> io::Result<usize> {}
impl<F: Fn(&mut [u8], u64) -> io::Result<usize>> ReadAt for F {}

pub(super) struct Window<R> {
    read: R,
    /// Of the whole file, when it was opened. What is shorter by now ends early, and nothing beyond is seen.
    size: usize,
    begin: usize,
    filled: usize,
    bytes: Vec<u8>,
}

impl<R: ReadAt> Window<R> {
    pub(super) fn new(read: R, size: usize) -> Self {
        Self {
            read,
            size,
            begin: 0,
            filled: 0,
            bytes: Vec::new(),
        }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// So many bytes from there, or nothing if the file ends before.
    pub(super) fn get(&mut self, at: usize, length: usize) -> Option<&[u8]> {
        let end = at.checked_add(length).filter(|end| *end <= self.size)?;
        if at < self.begin || end > self.begin + self.filled {
            self.fill(at, length)?;
        }
        self.bytes.get(at - self.begin..end - self.begin)
    }

    /// So many bytes from there, or as many as there are.
    pub(super) fn up_to(&mut self, at: usize, most: usize) -> Option<&[u8]> {
        self.get(at, most.min(self.size.checked_sub(at)?))
    }

    fn fill(&mut self, at: usize, length: usize) -> Option<()> {
        let wanted = length.max(STRETCH).min(self.size - at);
        if length > MOST {
            return None;
        }
        if self.bytes.len() < wanted {
            self.bytes.resize(wanted, 0);
        }
        (self.begin, self.filled) = (at, 0);
        while self.filled < wanted {
            let place = u64::try_from(at + self.filled).ok()?;
            match (self.read)(self.bytes.get_mut(self.filled..wanted)?, place) {
                Ok(0) => break,
                Ok(more) => self.filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        (self.filled >= length).then_some(())
    }
}
