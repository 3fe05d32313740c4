//! What a file of settings says of itself: a key, a token or a password with a value.
//!
//! Pure but for [`Yard`]. Only what lies hidden in a home is looked at, and of that only the beginning. It comes besides the names of
//! secrets, which nobody has to open: a program that is not in their table keeps its login in a file of some such name.

use std::path::{Component, Path, PathBuf};

use super::wish::Yard;

/// What files of settings end in; a name without an end may be one too.
const ENDS: &str = "json json5 jsonc yaml yml toml ini conf cfg config rc xml properties dhall txt cookie dirs lua env";

/// A word that names a secret, at the end of a key.
const WORDS: &str =
    "token secret password passwd passphrase apikey credential credentials authtoken accesstoken cookie";

/// What comes before `key` if that is a secret.
const KEYS: &str = "api access private secret auth account application signing encryption license";

const MARK: &str = "PRIVATE KEY-----";

/// The shortest value that is taken for a secret.
const SHORTEST: usize = 6;

/// Is this a file of settings in a home that holds a secret?
pub(super) fn holds_secret(file: &Path, homes: &[PathBuf], yard: &dyn Yard) -> bool {
    is_of_settings(file, homes)
        && yard
            .head(file)
            .is_some_and(|head| says_secret(&String::from_utf8_lossy(&head)))
}

pub(super) fn is_of_settings(file: &Path, homes: &[PathBuf]) -> bool {
    let hidden = homes.iter().any(|home| {
        let first = file
            .strip_prefix(home)
            .ok()
            .and_then(|inside| inside.components().next());
        matches!(first, Some(Component::Normal(name)) if name.as_encoded_bytes().starts_with(b"."))
    });
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let end = name.trim_start_matches('.').rsplit_once('.').map(|(_, end)| end);
    hidden && end.is_none_or(|end| has(ENDS, end))
}

fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

/// Does the text give a value to something that is named like a secret?
fn says_secret(text: &str) -> bool {
    // A program, not settings.
    if text.contains('\0') {
        return false;
    }
    text.contains(MARK) || text.lines().any(|line| has_login(line) || gives_value(line))
}

/// `ftp://me:word@host`
fn has_login(line: &str) -> bool {
    line.split("://").skip(1).any(|rest| {
        let host = rest
            .split(|c: char| c == '/' || c.is_whitespace())
            .next()
            .unwrap_or(rest);
        let login = host.rsplit_once('@').and_then(|(login, _)| login.split_once(':'));
        login.is_some_and(|(_, word)| !word.is_empty() && !is_reference(word))
    })
}

/// `token: x`, `"api_key":"x"`, `<password>x`
fn gives_value(line: &str) -> bool {
    line.match_indices([':', '=', '>']).any(|(at, _)| {
        let (before, after) = (
            line.get(..at).unwrap_or_default(),
            line.get(at + 1..).unwrap_or_default(),
        );
        let quotes = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ']' | '[' | '>');
        let before = before.trim_end_matches(quotes);
        let start = before.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        let key = before.get(start.map_or(0, |start| start + 1)..).unwrap_or_default();
        let value = after.trim_start_matches(quotes);
        let value = value.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '<' | '}'));
        is_named_so(key) && value.into_iter().next().is_some_and(is_value)
    })
}

fn is_value(value: &str) -> bool {
    let plain = matches!(value, "undefined" | "required" | "optional");
    value.len() >= SHORTEST && !plain && !is_reference(value)
}

/// The name of a variable or a command, or a place to fill in.
fn is_reference(value: &str) -> bool {
    value.starts_with(['$', '<', '{', '%', '*'])
}

/// `apiKey`, `auth-token`, `DB_PASSWORD`; not `max_tokens`, `tokenizer` or `key`.
fn is_named_so(key: &str) -> bool {
    let mut words: Vec<String> = vec![String::new()];
    let mut small = false;
    for c in key.chars() {
        if !c.is_ascii_alphanumeric() || (small && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        small = c.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    let mut last = words.iter().rev().filter(|word| !word.is_empty());
    let (Some(word), above) = (last.next(), last.next()) else {
        return false;
    };
    has(WORDS, word)
        || word.ends_with("token")
        || word.ends_with("password")
        || (word == "key" && above.is_some_and(|above| has(KEYS, above)))
}

#[cfg(test)]
#[path = "content_tests.rs"]
mod tests;
