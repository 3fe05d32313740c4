//! How long a request's body is, and where in it we are.
//!
//! Pure. INVARIANT: a size line, the end of a chunk or a trailer is passed only when it is whole and well formed.

use super::Bad;
use super::head::Version;
use super::line::{Field, first};

const MOST_SIZE_DIGITS: usize = 15;
const LONGEST_EXTENSION: usize = 256;
const LONGEST_TRAILERS: usize = 8 * 1024;
const MOST_LENGTH_DIGITS: usize = 18;

/// How a body's end is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    None,
    Sized(u64),
    Chunked,
}

impl Body {
    /// # Errors
    /// When the fields leave room for two opinions.
    pub fn of(version: Version, fields: &[Field<'_>]) -> Result<Self, Bad> {
        let mut lengths = fields.iter().filter(|field| field.is("content-length"));
        let mut encodings = fields.iter().filter(|field| field.is("transfer-encoding"));
        match (lengths.next(), encodings.next()) {
            (None, None) => Ok(Self::None),
            (Some(_), Some(_)) => Err(Bad::LengthAndEncoding),
            (Some(_), None) if lengths.next().is_some() => Err(Bad::LengthDoubled),
            (Some(length), None) => parse_length(length.value).map(Self::Sized),
            (None, Some(encoding)) => {
                let plain = encoding.value == b"chunked" && encodings.next().is_none() && version == Version::Http11;
                plain.then_some(Self::Chunked).ok_or(Bad::Encoding)
            }
        }
    }
}

fn parse_length(digits: &[u8]) -> Result<u64, Bad> {
    if digits.is_empty() || digits.len() > MOST_LENGTH_DIGITS || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Bad::LengthOdd);
    }
    let text = str::from_utf8(digits).map_err(|_| Bad::LengthOdd)?;
    text.parse().map_err(|_| Bad::LengthOdd)
}

/// How far a body's reader came with a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// So many bytes are in order; the body goes on.
    Pass(usize),
    /// The next piece is not whole yet.
    More,
    /// So many bytes are in order, and the body ends behind them.
    End(usize),
}

/// Where in a body we are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Sized(u64),
    ChunkSize,
    ChunkData(u64),
    ChunkEnd,
    /// How many bytes of trailers have passed.
    Trailers(usize),
}

impl Place {
    /// Where a body starts. `None` when there is no body.
    #[must_use]
    pub fn start(body: Body) -> Option<Self> {
        match body {
            Body::None | Body::Sized(0) => None,
            Body::Sized(length) => Some(Self::Sized(length)),
            Body::Chunked => Some(Self::ChunkSize),
        }
    }

    /// Judges the piece at the front of `window`.
    ///
    /// # Errors
    /// When it breaks the framing.
    pub fn step(&mut self, window: &[u8]) -> Result<Step, Bad> {
        match *self {
            Self::Sized(left) => Ok(match take(left, window) {
                (0, _) => Step::More,
                (taken, 0) => Step::End(taken),
                (taken, left) => {
                    *self = Self::Sized(left);
                    Step::Pass(taken)
                }
            }),
            Self::ChunkData(left) => Ok(match take(left, window) {
                (0, _) => Step::More,
                (taken, left) => {
                    *self = if left == 0 {
                        Self::ChunkEnd
                    } else {
                        Self::ChunkData(left)
                    };
                    Step::Pass(taken)
                }
            }),
            Self::ChunkSize => {
                let limit = MOST_SIZE_DIGITS + LONGEST_EXTENSION;
                let Some(line) = first(window, limit, Bad::ChunkExtension)? else {
                    return Ok(Step::More);
                };
                *self = match parse_chunk_size(line)? {
                    0 => Self::Trailers(0),
                    size => Self::ChunkData(size),
                };
                Ok(Step::Pass(line.len() + 2))
            }
            Self::ChunkEnd => match window {
                [] | [b'\r'] => Ok(Step::More),
                [b'\r', b'\n', ..] => {
                    *self = Self::ChunkSize;
                    Ok(Step::Pass(2))
                }
                _ => Err(Bad::Chunk),
            },
            Self::Trailers(passed) => {
                let Some(line) = first(window, LONGEST_TRAILERS.saturating_sub(passed), Bad::Trailer)? else {
                    return Ok(Step::More);
                };
                if line.is_empty() {
                    return Ok(Step::End(2));
                }
                check_trailer(line)?;
                *self = Self::Trailers(passed + line.len() + 2);
                Ok(Step::Pass(line.len() + 2))
            }
        }
    }
}

/// How much of `window` belongs to the `left` bytes, and how many are left after that.
fn take(left: u64, window: &[u8]) -> (usize, u64) {
    let taken = usize::try_from(left).unwrap_or(usize::MAX).min(window.len());
    (taken, left.saturating_sub(u64::try_from(taken).unwrap_or(left)))
}

fn parse_chunk_size(line: &[u8]) -> Result<u64, Bad> {
    let end = line
        .iter()
        .position(|byte| !byte.is_ascii_hexdigit())
        .unwrap_or(line.len());
    let (digits, extension) = line.split_at_checked(end).ok_or(Bad::Chunk)?;
    if digits.is_empty() || digits.len() > MOST_SIZE_DIGITS {
        return Err(Bad::Chunk);
    }
    match extension {
        [] => {}
        [b';', ..] if extension.len() <= LONGEST_EXTENSION && extension.is_ascii() => {}
        [b';', ..] => return Err(Bad::ChunkExtension),
        _ => return Err(Bad::Chunk),
    }
    let text = str::from_utf8(digits).map_err(|_| Bad::Chunk)?;
    u64::from_str_radix(text, 16).map_err(|_| Bad::Chunk)
}

/// A trailer must be a field, and none that frames or routes.
fn check_trailer(line: &[u8]) -> Result<(), Bad> {
    const NEVER: [&str; 4] = ["host", "content-length", "transfer-encoding", "connection"];
    let field = Field::parse(line).map_err(|_| Bad::Trailer)?;
    match NEVER.iter().any(|name| field.is(name)) {
        true => Err(Bad::Trailer),
        false => Ok(()),
    }
}
