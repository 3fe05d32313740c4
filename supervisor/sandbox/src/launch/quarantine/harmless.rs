//! What a git configuration may say without making git run or read anything.
//!
//! Pure. An allow-list: a line that is not known to be harmless is left out.

/// The lines of a configuration that cannot make git run or read anything.
pub(super) fn harmless_part(text: &str) -> String {
    let mut kept = String::new();
    let mut keys: &[&str] = &[];
    for line in text.split_inclusive('\n') {
        let bare = line.trim();
        if bare.starts_with('[') {
            keys = if is_plain_header(bare) {
                harmless_keys(bare)
            } else {
                &[]
            };
            if !keys.is_empty() {
                kept.push_str(line);
            }
        } else if let Some((key, value)) = bare.split_once('=')
            && keys.contains(&key.trim().to_ascii_lowercase().as_str())
            && !value.contains(['\\', '"', ';', '#'])
            && !value.contains("::")
            && !value.trim().starts_with('-')
        {
            kept.push_str(line);
        } else if bare.is_empty() {
            kept.push_str(line);
        }
    }
    kept
}

/// `[word]` or `[word "words"]`, and nothing else on the line: what follows a header may be a key.
fn is_plain_header(bare: &str) -> bool {
    let Some(inside) = bare.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) else {
        return false;
    };
    let (word, name) = match inside.split_once(' ') {
        None => (inside, ""),
        Some((word, quoted)) => match quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(name) => (word, name),
            None => return false,
        },
    };
    let plain = |c: char| c.is_alphanumeric() || "-._/ +@".contains(c);
    !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric()) && name.chars().all(plain)
}

fn harmless_keys(header: &str) -> &'static [&'static str] {
    let word = header
        .trim_matches(['[', ']'])
        .split_whitespace()
        .next()
        .unwrap_or_default();
    match word.to_ascii_lowercase().as_str() {
        "core" => &[
            "repositoryformatversion",
            "filemode",
            "bare",
            "logallrefupdates",
            "ignorecase",
            "precomposeunicode",
            "symlinks",
        ],
        "user" => &["name", "email"],
        "remote" => &["url", "fetch"],
        // As `git submodule init` writes them. How to update it (`!command`) is not among them.
        "submodule" => &["url", "active"],
        "branch" => &["remote", "merge", "rebase"],
        "extensions" => &["objectformat", "refstorage"],
        _ => &[],
    }
}

#[cfg(test)]
#[path = "harmless_tests.rs"]
mod tests;
