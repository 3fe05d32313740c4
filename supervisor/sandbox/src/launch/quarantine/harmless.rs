//! What a git configuration may say without making git run or read anything.
//!
//! Pure. An allow-list: a line that is not known to be harmless is left out.

use std::collections::BTreeSet;

/// The lines of a configuration that cannot make git run or read anything.
pub(super) fn harmless_part(text: &str) -> String {
    let remotes = remotes(text);
    let mut kept = String::new();
    let mut header: Option<Header<'_>> = None;
    for line in text.split_inclusive('\n') {
        let bare = line.trim_matches(BLANK);
        let keep = if bare.starts_with('[') {
            header = Header::read(bare).filter(|header| !header.keys().is_empty());
            header.is_some()
        } else {
            let of = header.as_ref().zip(setting(bare));
            let is_nothing = bare.is_empty() || bare.starts_with(['#', ';']);
            is_nothing || of.is_some_and(|(header, (key, value))| is_harmless(header, &key, value, &remotes))
        };
        if keep {
            kept.push_str(line);
        }
    }
    kept
}

/// What git takes for blank, and nothing else.
const BLANK: [char; 4] = [' ', '\t', '\r', '\n'];

/// A key in small letters, and its value.
fn setting(bare: &str) -> Option<(String, &str)> {
    let (key, value) = bare.split_once('=')?;
    Some((key.trim_matches(BLANK).to_ascii_lowercase(), value.trim_matches(BLANK)))
}

fn is_harmless(header: &Header<'_>, key: &str, value: &str, remotes: &BTreeSet<&str>) -> bool {
    let plain = !value.contains(['\\', '"', ';', '#']) && !value.contains("::") && !value.starts_with('-');
    let by_kind = match (header.word.as_str(), key) {
        ("remote" | "submodule", "url") => is_far(value),
        // What is no remote is the address of one: a name without a slash is a directory here.
        ("branch", "remote") => value == "." || remotes.contains(value),
        ("extensions", _) => value.chars().all(|c| c.is_ascii_alphanumeric()),
        _ => true,
    };
    plain && by_kind && header.keys().contains(&key)
}

/// The remotes whose address stays.
fn remotes(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut header: Option<Header<'_>> = None;
    for bare in text.lines().map(|line| line.trim_matches(BLANK)) {
        if bare.starts_with('[') {
            header = Header::read(bare);
        } else if let (Some(header), Some((key, value))) = (&header, setting(bare))
            && header.word == "remote"
            && key == "url"
            && is_harmless(header, &key, value, &found)
            // Git passes over one of such a name, and takes it for a path.
            && !header.name.is_empty()
            && !header.name.starts_with('/')
        {
            found.insert(header.name);
        }
    }
    found
}

/// Is this the address of another machine? In a repository at a path git runs the hooks that lie there, and what else there is
/// before `://` or `::` is the name of a program.
fn is_far(url: &str) -> bool {
    let by_scheme = FAR.iter().any(|scheme| url.starts_with(scheme));
    // `host:path`, by git's own rule.
    let by_host = url.split_once(':').is_some_and(|(host, path)| {
        !host.is_empty() && !host.contains('/') && !path.starts_with("//") && !path.starts_with(':')
    });
    (by_scheme || by_host) && !url.contains(|c: char| c.is_whitespace() || c.is_control())
}

const FAR: [&str; 4] = ["https://", "http://", "ssh://", "git://"];

/// `[word]` or `[word "name"]`, and nothing else on the line: what follows a header may be a key.
struct Header<'t> {
    /// In small letters.
    word: String,
    name: &'t str,
}

impl<'t> Header<'t> {
    fn read(bare: &'t str) -> Option<Self> {
        let inside = bare.strip_prefix('[')?.strip_suffix(']')?;
        let (word, name) = match inside.split_once(' ') {
            None => (inside, ""),
            Some((word, quoted)) => (word, quoted.strip_prefix('"')?.strip_suffix('"')?),
        };
        let plain = |c: char| c.is_alphanumeric() || "-._/ +@".contains(c);
        let is_plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric()) && name.chars().all(plain);
        is_plain.then(|| Self {
            word: word.to_ascii_lowercase(),
            name,
        })
    }

    fn keys(&self) -> &'static [&'static str] {
        match self.word.as_str() {
            "core" => &[
                "repositoryformatversion",
                "filemode",
                "bare",
                "logallrefupdates",
                "ignorecase",
                "precomposeunicode",
                "symlinks",
                "autocrlf",
                "eol",
                "sparsecheckout",
                "sparsecheckoutcone",
            ],
            "index" => &["sparse"],
            "pull" => &["rebase", "ff"],
            "push" => &["default"],
            "user" => &["name", "email"],
            "remote" => &["url", "fetch", "tagopt", "prune"],
            // As `git submodule init` writes them. How to update it (`!command`) is not among them.
            "submodule" => &["url", "active"],
            "branch" => &["remote", "merge", "rebase"],
            "extensions" => &["objectformat", "refstorage"],
            _ => &[],
        }
    }
}

#[cfg(test)]
#[path = "harmless_tests.rs"]
mod tests;
