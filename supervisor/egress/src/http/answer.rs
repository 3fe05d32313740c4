//! Listens to a server's first answer: did it switch protocols?
//!
//! Pure; changes nothing and keeps twelve bytes. Interim answers (100, 103…) are skipped. What is not an HTTP/1 answer
//! counts as no switch, which keeps the guard in place.

/// The most bytes of interim answers before the final one.
const LONGEST_INTERIM: usize = 64 * 1024;
const STATUS: usize = "HTTP/1.1 101".len();

/// What the server said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Switched,
    Other,
}

/// Follows the answer as it comes in.
#[derive(Debug, Default)]
pub struct Answer {
    status: Vec<u8>,
    /// Inside an interim answer: how many bytes of its closing CRLFCRLF have come.
    closing: Option<u8>,
    interim: usize,
}

impl Answer {
    /// Takes the next bytes. `Some` once the server has decided.
    pub fn hear(&mut self, bytes: &[u8]) -> Option<Said> {
        for byte in bytes.iter().copied() {
            if let Some(closing) = self.closing {
                self.interim += 1;
                if self.interim > LONGEST_INTERIM {
                    return Some(Said::Other);
                }
                self.closing = match (closing, byte) {
                    (0 | 2, b'\r') => Some(closing + 1),
                    (1, b'\n') => Some(2),
                    (3, b'\n') => None,
                    (_, b'\r') => Some(1),
                    _ => Some(0),
                };
                continue;
            }
            self.status.push(byte);
            if self.status.len() == STATUS {
                match status(&self.status) {
                    Some(101) => return Some(Said::Switched),
                    Some(100..=199) => self.closing = Some(0),
                    Some(_) | None => return Some(Said::Other),
                }
                self.status.clear();
            }
        }
        None
    }
}

fn status(line: &[u8]) -> Option<u16> {
    match line.strip_prefix(b"HTTP/1.")? {
        [b'0' | b'1', b' ', digits @ ..] => str::from_utf8(digits).ok()?.parse().ok(),
        _ => None,
    }
}
