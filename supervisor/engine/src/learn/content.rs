//! What a file says of itself: a private key or a token anywhere; in settings also a key, a token or a password with a value.
//!
//! Pure but for [`Yard`]. Only the beginning is looked at, and for values only what lies hidden in a home. It comes besides the names of
//! secrets, which nobody has to open: a program that is not in their table keeps its login in a file of some such name.

use std::path::{Component, Path, PathBuf};

use super::wish::Yard;

/// What files of settings end in; a name without an end may be one too.
const ENDS: &str = "json json5 jsonc yaml yml toml ini conf cfg config rc xml properties dhall txt cookie dirs lua env vars \
    clj edn gradle kts sbt nu fish sh zsh bash hcl dcf py local plist el key id";

/// A word that names a secret, at the end of a key.
const WORDS: &str = "token secret password passwd passphrase apikey credential credentials authtoken accesstoken cookie pass \
    macaroon mnemonic pat";

/// Words that name many things; with a value that nobody thinks up, they name a secret.
const LOOSE: &str = "key auth ak sk data phrase session";

/// What comes before `key` if that is a secret.
const KEYS: &str = "api access private secret auth account application signing encryption license";

/// What private keys begin with: as text, of PGP, of SSH2, of PuTTY.
const MARKS: &[&str] = &[
    "PRIVATE KEY-----",
    "PRIVATE KEY BLOCK-----",
    "PRIVATE KEY ----",
    "PuTTY-User-Key-File-",
];

/// How tokens begin, and how many letters and digits follow at the least.
const TOKENS: &[(&str, usize)] = &[
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xoxa-", 16),
    ("xoxs-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("npm_", 30),
    ("hf_", 20),
    ("pypi-", 20),
    ("dop_v1_", 20),
    ("shpat_", 20),
    ("ya29.", 20),
    ("AGE-SECRET-KEY-", 20),
];

/// The shortest value that is taken for a secret.
const SHORTEST: usize = 6;

/// The shortest value that nobody thinks up.
const DRAWN: usize = 16;

/// Does this file hold a secret?
pub(super) fn holds_secret(file: &Path, homes: &[PathBuf], yard: &dyn Yard) -> bool {
    let Some(head) = yard.head(file) else { return false };
    let text = String::from_utf8_lossy(&head);
    is_secret_itself(&text) || (is_of_settings(file, homes) && says_secret(&text))
}

/// A private key or a token, whatever the file is for.
fn is_secret_itself(text: &str) -> bool {
    !text.contains('\0')
        && (MARKS.iter().any(|mark| text.contains(mark)) || TOKENS.iter().any(|token| has_token(text, *token)))
}

fn has_token(text: &str, (start, least): (&str, usize)) -> bool {
    text.match_indices(start).any(|(at, _)| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        let rest = text.get(at + start.len()..).unwrap_or_default();
        let letters = || {
            rest.chars()
                .take_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        };
        // Some begin with numbers.
        let numbers = letters().take_while(|c| c.is_ascii_digit() || *c == '-').count();
        let value: String = letters().take(numbers + least).collect();
        let drawn = value.chars().any(|c| c.is_ascii_digit()) && value.chars().any(|c| c.is_ascii_alphabetic());
        before.is_none_or(|c| !c.is_ascii_alphanumeric()) && value.len() >= least && drawn
    })
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
    let says = |line: &str| has_login(line) || gives_value(line) || (!is_comment(line) && says_pair(line));
    is_secret_itself(text) || is_one_word(text) || text.lines().any(says)
}

fn is_comment(line: &str) -> bool {
    let starts = ["#", "//", ";", "-- ", "%"];
    starts.iter().any(|start| line.trim_start().starts_with(start))
}

/// Nothing but one word that nobody thinks up.
fn is_one_word(text: &str) -> bool {
    let text = text.trim();
    !text.contains(char::is_whitespace) && is_drawn(text)
}

/// Letters and digits without a sense: long, both kinds, and no path, name or number.
fn is_drawn(value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/' | '=' | ':' | '|');
    value.len() >= DRAWN
        && value.chars().all(fits)
        && value.chars().filter(char::is_ascii_digit).count() >= 2
        && value.chars().any(|c| c.is_ascii_alphabetic())
        && !value.starts_with('/')
        && !value.contains("://")
}

/// `password x`, `--token x`, `set -gx API_KEY x`; and `user = "me:word"`.
fn says_pair(line: &str) -> bool {
    let trim = |word: &'_ str| -> String { word.trim_matches(['"', '\'', ',', ':', '(', ')', '-', '=']).to_owned() };
    let words: Vec<String> = line
        .split_whitespace()
        .map(trim)
        .filter(|word| !word.is_empty())
        .collect();
    words.windows(2).any(|pair| match pair {
        [key, value] => {
            let login = key == "user" && value.split_once(':').is_some_and(|(_, word)| !word.is_empty());
            login || (is_named_so(key) && is_value(value) && value.chars().any(|c| !c.is_ascii_lowercase()))
        }
        _ => false,
    })
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
        value.into_iter().next().is_some_and(|value| {
            (is_named_so(key) && is_value(value)) || (has(LOOSE, &last_word(key)) && is_drawn(value))
        })
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

/// The words of a name, in small letters: `apiKey`, `auth-token`, `DB_PASSWORD`.
fn words(key: &str) -> Vec<String> {
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
    words.retain(|word| !word.is_empty());
    words
}

fn last_word(key: &str) -> String {
    words(key).pop().unwrap_or_default()
}

/// Not `max_tokens`, `tokenizer` or `key`.
fn is_named_so(key: &str) -> bool {
    let words = words(key);
    let mut last = words.iter().rev();
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
