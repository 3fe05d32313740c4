//! The name that a message to a resolver asks for.
//!
//! Pure. The bytes are the caller's: what is not exactly a question for one host is none, and gives no name.

/// Of a message that is looked at: a header, a root name, type and class; and the longest name with EDNS and a cookie.
pub(super) const SHORTEST: usize = 12 + 1 + 4;
pub(super) const LONGEST: usize = 384;

const LONGEST_LABEL: usize = 63;
const LONGEST_NAME: usize = 253;

/// A, AAAA and HTTPS: what is asked for by who wants to connect.
const ADDRESSES: [u16; 3] = [1, 28, 65];
const INTERNET: u16 = 1;

/// In lower case, without the dot at its end.
pub(super) fn name(message: &[u8]) -> Option<String> {
    let (header, mut rest) = message.split_first_chunk::<12>()?;
    let [
        _,
        _,
        flags,
        _,
        one_high,
        one,
        answers_high,
        answers,
        servers_high,
        servers,
        more_high,
        more,
    ] = *header;
    // A query of the ordinary kind with one question; at most EDNS after it.
    let ordinary = flags & 0b1111_1000 == 0 && (one_high, one) == (0, 1);
    let bare = [answers_high, answers, servers_high, servers, more_high] == [0; 5] && more <= 1;
    if !ordinary || !bare {
        return None;
    }
    let mut name = String::new();
    loop {
        let (length, tail) = rest.split_first()?;
        let length = usize::from(*length);
        if length == 0 {
            rest = tail;
            break;
        }
        if length > LONGEST_LABEL {
            return None;
        }
        let (label, tail) = tail.split_at_checked(length)?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        if !label.iter().all(plain) {
            return None;
        }
        if !name.is_empty() {
            name.push('.');
        }
        name.extend(label.iter().map(|byte| char::from(byte.to_ascii_lowercase())));
        rest = tail;
    }
    let (kind, rest) = rest.split_first_chunk()?;
    let (class, _) = rest.split_first_chunk()?;
    let host = ADDRESSES.contains(&u16::from_be_bytes(*kind)) && u16::from_be_bytes(*class) == INTERNET;
    (host && !name.is_empty() && name.len() <= LONGEST_NAME).then_some(name)
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
