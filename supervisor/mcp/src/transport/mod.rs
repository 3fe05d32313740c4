//! Ways in: standard streams, and HTTP on a loopback address.
//!
//! INVARIANT: what a client sends or does not read is held within fixed bounds, whatever it is.

pub mod http;
pub mod lines;
pub mod token;

/// The largest message that is read.
pub const MOST_MESSAGE: usize = 4 << 20;
