//! Bytes that nobody can guess.

use std::fs::File;
use std::io::{self, Read};

/// From the kernel. A machine without them is refused: a guessable key is none.
pub fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}
