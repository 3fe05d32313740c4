//! The bytes of a prompt back to what they were made of, if every one of them is the supervisor's own.
//!
//! Pure. Strict to the byte: what parses is exactly what `render` would write for it.

use super::block::{Block, Label, Prompt, Trust};
use super::encode::decode;
use super::render::{CONTEXT, Nonce, PREAMBLE, TASK, render};
use crate::keyring::Key;

/// More parts than a prompt ever has.
const MOST: usize = 1000;

/// Why a text is not a prompt of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    #[error("it does not begin with a header and the text that belongs to it")]
    Header,
    #[error("part {0} does not open as it should")]
    Open(usize),
    #[error("part {0} has a source that does not exist")]
    Source(usize),
    #[error("part {0} has text that was not encoded, or does not end")]
    Text(usize),
    #[error("something stands after the task")]
    Trailing,
    #[error("a digest or a signature is not that of the text")]
    Forged,
}

/// Reads a prompt that `render` wrote with the same key.
pub fn parse(written: &str, key: &Key) -> Result<(Prompt, Nonce), ParseError> {
    let (first, rest) = written.split_once('\n').ok_or(ParseError::Header)?;
    let (nonce, of) = opening(first).ok_or(ParseError::Header)?;
    let mut rest = rest
        .strip_prefix(PREAMBLE)
        .and_then(|rest| rest.strip_prefix('\n'))
        .ok_or(ParseError::Header)?;
    let mut blocks = Vec::new();
    for number in 1..of {
        let (open, after) = opened(rest, CONTEXT).ok_or(ParseError::Open(number))?;
        let (source, trust) = labels(open).ok_or(ParseError::Open(number))?;
        let label = Label::parse(source).ok_or(ParseError::Source(number))?;
        let (text, after) = closed(after, CONTEXT).ok_or(ParseError::Text(number))?;
        blocks.push(Block::new(label, trust, text));
        rest = after;
    }
    let (_, after) = opened(rest, TASK).ok_or(ParseError::Open(of))?;
    let (task, after) = closed(after, TASK).ok_or(ParseError::Text(of))?;
    if !after.is_empty() {
        return Err(ParseError::Trailing);
    }
    let prompt = Prompt { blocks, task };
    verify(&prompt, &nonce, written, key)?;
    Ok((prompt, nonce))
}

fn opening(line: &str) -> Option<(Nonce, usize)> {
    let rest = line.strip_prefix("<glee:prompt id=\"")?;
    let (nonce, rest) = rest.split_once("\" blocks=\"")?;
    let (of, _) = rest.split_once('"')?;
    let of: usize = of.parse().ok().filter(|of| (1..=MOST).contains(of))?;
    Some((Nonce::parse(nonce)?, of))
}

/// What stands in the tag that opens the next part, and what follows it.
fn opened<'a>(rest: &'a str, tag: &str) -> Option<(&'a str, &'a str)> {
    let rest = rest.strip_prefix("\n<")?.strip_prefix(tag)?.strip_prefix(' ')?;
    rest.split_once(">\n")
}

fn labels(open: &str) -> Option<(&str, Trust)> {
    let (source, rest) = open.strip_prefix("source=\"")?.split_once("\" trusted=\"")?;
    let trust = match rest.split_once('"')?.0 {
        "true" => Trust::Trusted,
        "false" => Trust::Untrusted,
        _ => return None,
    };
    Some((source, trust))
}

/// The text up to the first `<`, which must be the tag that closes.
fn closed<'a>(rest: &'a str, tag: &str) -> Option<(String, &'a str)> {
    let at = rest.find('<')?;
    let (text, rest) = rest.split_at(at);
    let rest = rest.strip_prefix("</")?.strip_prefix(tag)?.strip_prefix(">\n")?;
    Some((decode(text.strip_suffix('\n')?)?, rest))
}

/// Are all digests and signatures those of this prompt, and every byte as it would be written?
fn verify(prompt: &Prompt, nonce: &Nonce, written: &str, key: &Key) -> Result<(), ParseError> {
    const WHOLE: &str = "glee.context.whole.1";
    // Written again and compared through signatures, which tells nobody how much of a forgery was right.
    let ours = key.sign(WHOLE, &[render(prompt, nonce, key).as_bytes()]);
    if key.verify(WHOLE, &[written.as_bytes()], &ours) {
        Ok(())
    } else {
        Err(ParseError::Forged)
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
