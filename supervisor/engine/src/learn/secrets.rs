//! What is never proposed: keys, tokens, passwords and the files that hold them.
//!
//! Pure; by name alone. INVARIANT: too much rather than too little. What is taken for a secret is listed, and a person who
//! knows better grants it by hand. INVARIANT: what lies below a secret is one.

mod tables;

use std::path::{Component, Path};
use std::sync::LazyLock;

use glee_sandbox::survey::SECRETS;

use crate::shapes::Shapes;
use tables::{ACCOUNTS, DATA, EARLIER, EXAMPLES, NAMES, PLACES, PUBLIC, WORDS, WORDS_OF_DATA};

static KNOWN: LazyLock<Shapes<()>> = LazyLock::new(|| {
    let words = NAMES.iter().flat_map(|group| group.split_ascii_whitespace());
    Shapes::new(words.map(|word| (word, ())))
});

/// Is this a secret, or does it lie in a place of secrets?
#[must_use]
pub fn is_secret(path: &Path, home: Option<&Path>) -> bool {
    let of_the_home = home.is_some_and(|home| SECRETS.iter().any(|name| path.starts_with(home.join(name))));
    let in_a_place = PLACES.iter().any(|place| path.starts_with(place));
    if of_the_home || in_a_place {
        return true;
    }
    let mut above: Vec<String> = Vec::new();
    for part in path.components() {
        let Component::Normal(name) = part else { continue };
        let name = name.to_string_lossy().to_lowercase();
        let now = without_earlier(&name);
        above.push(now.to_owned());
        // A directory that is named like a secret holds secrets.
        if !is_public(&name) && (KNOWN.of(&above).is_some() || is_named_so(now)) {
            return true;
        }
        if let Some(last) = above.last_mut() {
            *last = name;
        }
    }
    false
}

/// The name of a variable that looks like it holds one.
#[must_use]
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_lowercase();
    let words = ["key", "pat", "auth", "pass", "passwd", "pwd"];
    name != "pwd"
        && name
            .split('_')
            .any(|word| words.contains(&word) || WORDS.split_ascii_whitespace().any(|secret| word.contains(secret)))
}

fn has(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|known| known == word)
}

fn is_public(name: &str) -> bool {
    has(PUBLIC, name) || has(EXAMPLES, name)
}

/// `x.key.bak~` is `x.key`. Editors put a dot before the name, or a `#` on both sides.
fn without_earlier(name: &str) -> &str {
    let mut now = name.trim_matches('#');
    while let Some((end, rest)) = EARLIER
        .iter()
        .find_map(|end| Some((*end, now.strip_suffix(end).filter(|rest| !rest.is_empty())?)))
    {
        now = if end == ".swp" {
            rest.strip_prefix('.').filter(|rest| !rest.is_empty()).unwrap_or(rest)
        } else {
            rest
        };
    }
    now
}

/// By the words of its name.
fn is_named_so(name: &str) -> bool {
    let words = || name.split(|c: char| !c.is_alphanumeric());
    let ends_so = |word: &str| WORDS.split_ascii_whitespace().any(|secret| word.ends_with(secret));
    let of_data = match name.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() => {
            has(DATA, end)
                && (words().any(|word| has(WORDS_OF_DATA, word))
                    || ACCOUNTS.iter().any(|account| name.contains(account)))
        }
        // `deploy_key`, but not `key`, which is the name of a directory of many libraries.
        Some(_) | None => ["_key", "-key"].iter().any(|end| name.ends_with(end)),
    };
    of_data || words().any(ends_so)
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
