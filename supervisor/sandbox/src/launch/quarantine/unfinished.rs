//! What git keeps of an operation that is not finished: a rebase, a series of patches, a cherry-pick, a conflict.
//!
//! Pure. Git runs or writes what stands there when the operation goes on, and shells show the numbers in their prompt, some without
//! quoting. INVARIANT: what git writes itself passes, but for commands to be run that were not there before.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Directories of operations, in a git directory.
pub(super) const ROOMS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// Lists of steps that are still to be done.
pub(super) const STEPS: [&str; 4] = [
    "rebase-merge/git-rebase-todo",
    "rebase-merge/git-rebase-todo.backup",
    "rebase-merge/done",
    "sequencer/todo",
];

/// Merge strategies that are git's own. Any other name is a program to be run.
const STRATEGIES: [&[u8]; 7] = [b"ort", b"recursive", b"resolve", b"octopus", b"ours", b"subtree", b""];

/// Of the options that a series of patches is applied with, those that only say how.
const HOW: [&[u8]; 11] = [
    b"--whitespace=",
    b"--ignore-whitespace",
    b"--ignore-space-change",
    b"--exclude=",
    b"--include=",
    b"--directory=",
    b"--reject",
    b"--recount",
    b"-C",
    b"-p",
    b"-3",
];

/// May a file in one of the `ROOMS` be left as it is? `known`: commands that stood there before.
pub(super) fn is_harmless(room: &str, name: &OsStr, text: &[u8], known: &BTreeSet<Vec<u8>>) -> bool {
    let line = text.trim_ascii();
    match name.as_bytes() {
        b"msgnum" | b"end" | b"next" | b"last" => line.iter().all(u8::is_ascii_digit),
        b"head-name" => is_ref(line) || line == b"detached HEAD" || line.is_empty(),
        b"strategy" => STRATEGIES.contains(&line),
        b"update-refs" => text
            .split(|b| *b == b'\n')
            .step_by(3)
            .all(|l| l.is_empty() || is_ref(l)),
        b"refs-to-delete" => lines(text).all(is_ref),
        b"author-script" => lines(text).all(|line| line.starts_with(b"GIT_AUTHOR_")),
        b"apply-opt" => words(line)
            .iter()
            .all(|word| HOW.iter().any(|how| word.starts_with(how))),
        b"opts" if room == "sequencer" => options_are_harmless(text),
        _ if is_list(room, name) => orders(text).all(|order| known.contains(order)),
        _ => true,
    }
}

/// Is this the name of such a list?
pub(super) fn is_list(room: &str, name: &OsStr) -> bool {
    STEPS.iter().any(|steps| Path::new(steps) == Path::new(room).join(name))
}

/// The lines of a list of steps by which git runs something, or writes another reference than one of `refs/`.
pub(super) fn orders(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(text).map(<[u8]>::trim_ascii).filter(|line| {
        let ends = |b: &u8| matches!(b, b' ' | b'\t' | b'\r' | 0);
        let length = line.iter().position(ends).unwrap_or(line.len());
        let (word, rest) = line.split_at_checked(length).unwrap_or((line, b""));
        match word {
            b"exec" | b"x" => true,
            b"update-ref" | b"u" => !is_ref(rest.trim_ascii()),
            _ => false,
        }
    })
}

/// A reference as every one begins but those that lie in the git directory itself, beside its configuration.
fn is_ref(name: &[u8]) -> bool {
    let odd = |b: &u8| b.is_ascii_control() || b" ~^:?*[\\$`\"'();|&<>".contains(b);
    name.starts_with(b"refs/") && !name.windows(2).any(|two| two == b"..") && !name.iter().any(odd)
}

/// Settings of a cherry-pick or revert, in the form of git's configuration.
fn options_are_harmless(text: &[u8]) -> bool {
    lines(&text.to_ascii_lowercase()).all(|line| {
        let line = line.trim_ascii();
        let line = line.strip_prefix(b"[options]").unwrap_or(line).trim_ascii();
        let Some(value) = line.strip_prefix(b"strategy") else {
            return !line.windows(8).any(|at| at == b"strategy");
        };
        // `strategy-option` is for one of git's own.
        value.starts_with(b"-option")
            || value
                .trim_ascii()
                .strip_prefix(b"=")
                .is_some_and(|v| STRATEGIES.contains(&v.trim_ascii()))
    })
}

/// Quoted as for a shell: git's quotes hold no others here.
fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let words = line.split(|b| *b == b' ').filter(|word| !word.is_empty());
    words
        .map(|word| word.iter().copied().filter(|b| *b != b'\'').collect())
        .collect()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| *b == b'\n').filter(|line| !line.is_empty())
}

/// The files of which git will keep a copy when a conflict is solved (`MERGE_RR`). `None`: git did not write this.
pub(super) fn remembered(text: &[u8]) -> Option<Vec<&Path>> {
    let records = text.split(|b| *b == 0).filter(|record| !record.is_empty());
    let path = |record: &'_ [u8]| record.iter().position(|b| *b == b'\t');
    records
        .map(|record| {
            let name = record.get(path(record)? + 1..)?;
            let path = Path::new(OsStr::from_bytes(name));
            let plain =
                |part: Component<'_>| matches!(part, Component::Normal(name) if !name.eq_ignore_ascii_case(".git"));
            (!name.is_empty() && path.components().all(plain)).then_some(path)
        })
        .collect()
}

#[cfg(test)]
#[path = "unfinished_tests.rs"]
mod tests;
