//! The `/etc/gitconfig` of a sandbox: of the machine's what tells git how to work, and the caller's name and address, without which
//! nobody can commit.
//!
//! INVARIANT: by name, never by exception. Sections that can hold passwords, tokens or addresses with them (`http`, `credential`,
//! `url`, `remote`, …) are not among those shown, nor is what is included from elsewhere.

use std::env;
use std::path::{Path, PathBuf};

use super::gitconfig::{self, Setting};

/// The machine's own file.
pub(super) const FILE: &str = "/etc/gitconfig";

/// Sections without subsections, of plain settings. Of `core` nothing that runs something.
const SHOWN: &[&str] = &[
    "advice",
    "branch",
    "color",
    "column",
    "commit",
    "core",
    "diff",
    "feature",
    "fetch",
    "format",
    "gc",
    "i18n",
    "index",
    "init",
    "log",
    "merge",
    "pack",
    "pull",
    "push",
    "rebase",
    "rerere",
    "safe",
    "stash",
    "status",
    "submodule",
    "tag",
    "user",
];
/// Of those: programs with their arguments, and paths outside.
const NOT_SHOWN: &[&str] = &[
    "askpass",
    "attributesfile",
    "editor",
    "excludesfile",
    "external",
    "fsmonitor",
    "gitproxy",
    "hookspath",
    "pager",
    "signingkey",
    "sshcommand",
    "templatedir",
];

/// What the caller's own files say of who commits. Files that those include are not looked at: which of them counts depends on
/// where git stands.
pub(super) fn identity(home: Option<&Path>) -> Vec<Setting> {
    let of_caller = super::own_git::of_caller(home);
    // Git reads the home's own file last, and what comes last counts.
    let mut files: Vec<PathBuf> = env::var_os("GIT_CONFIG_GLOBAL")
        .map(PathBuf::from)
        .filter(|file| file.is_absolute())
        .map_or_else(|| of_caller.collect(), |file| vec![file]);
    files.reverse();
    let is_ones_own = |setting: &Setting| {
        setting.section == "user" && setting.subsection.is_none() && ["name", "email"].contains(&setting.key.as_str())
    };
    let settings = files.iter().flat_map(|file| gitconfig::settings(file));
    settings.filter(is_ones_own).collect()
}

/// The text, if it has any.
pub(super) fn text(identity: &[Setting]) -> Option<Vec<u8>> {
    let machine = gitconfig::settings(Path::new(FILE));
    let shown = machine.iter().filter(|setting| {
        let (section, key) = (setting.section.as_str(), setting.key.as_str());
        SHOWN.contains(&section) && setting.subsection.is_none() && !NOT_SHOWN.contains(&key)
    });
    let lines: Vec<u8> = shown.chain(identity).flat_map(line).collect();
    (!lines.is_empty()).then_some(lines)
}

fn line(setting: &Setting) -> Vec<u8> {
    let mut line = format!("[{}]\n\t{} = \"", setting.section, setting.key).into_bytes();
    for byte in &setting.value {
        match byte {
            b'\n' => line.extend(b"\\n"),
            b'\t' => line.extend(b"\\t"),
            8 => line.extend(b"\\b"),
            b'"' | b'\\' => line.extend([b'\\', *byte]),
            // Nothing that git's own grammar would have let through.
            0..=31 | 127 => {}
            _ => line.push(*byte),
        }
    }
    line.extend(b"\"\n");
    line
}

#[cfg(test)]
#[path = "git_shown_tests.rs"]
mod tests;
