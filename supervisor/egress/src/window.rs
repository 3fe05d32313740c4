//! The bytes of a connection that have come and not gone on, and the buffers that hold them.
//!
//! INVARIANT (bounded): a window holds at most 64 KiB, and a window without bytes holds no buffer while it waits, so
//! that quiet connections cost nothing.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use tokio::io::AsyncReadExt;
use tokio::net::tcp::ReadHalf;

/// The size of every buffer: a whole request head fits.
pub const BUFFER: usize = 64 * 1024;
/// Free buffers that are kept for the next connection.
const MOST_FREE: usize = 64;

/// Buffers that are not in use.
#[derive(Debug, Default)]
pub struct Pool {
    free: RefCell<Vec<Box<[u8]>>>,
}

impl Pool {
    #[must_use]
    pub fn new() -> Rc<Self> {
        Rc::default()
    }

    fn take(&self) -> Box<[u8]> {
        let free = self.free.borrow_mut().pop();
        free.unwrap_or_else(|| vec![0; BUFFER].into_boxed_slice())
    }

    fn give(&self, buffer: Box<[u8]>) {
        let mut free = self.free.borrow_mut();
        if free.len() < MOST_FREE {
            free.push(buffer);
        }
    }
}

/// A window on one direction of one connection.
#[derive(Debug)]
pub struct Window {
    pool: Rc<Pool>,
    buffer: Option<Box<[u8]>>,
    start: usize,
    end: usize,
}

impl Window {
    #[must_use]
    pub fn new(pool: &Rc<Pool>) -> Self {
        Self {
            pool: Rc::clone(pool),
            buffer: None,
            start: 0,
            end: 0,
        }
    }

    /// What has come and not gone on.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let buffer = self.buffer.as_deref().unwrap_or_default();
        buffer.get(self.start..self.end).unwrap_or_default()
    }

    /// The first `count` bytes have gone on.
    pub fn consume(&mut self, count: usize) {
        self.start = (self.start + count).min(self.end);
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
    }

    /// Waits for bytes and takes as many as there are and fit. 0 at the end of the stream, or when there is no room.
    ///
    /// # Errors
    /// When the stream is broken.
    pub async fn fill(&mut self, reader: &mut ReadHalf<'_>) -> io::Result<usize> {
        if self.bytes().is_empty() {
            self.release();
            reader.readable().await?;
        }
        let mut buffer = self.buffer.take().unwrap_or_else(|| self.pool.take());
        if self.start > 0 {
            buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        let buffer = self.buffer.insert(buffer);
        let count = reader.read(buffer.get_mut(self.end..).unwrap_or_default()).await?;
        self.end += count;
        Ok(count)
    }

    fn release(&mut self) {
        if let Some(buffer) = self.buffer.take() {
            self.pool.give(buffer);
        }
        (self.start, self.end) = (0, 0);
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.release();
    }
}
