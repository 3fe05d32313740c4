//! What a home directory keeps that no agent needs: hidden when it lies in the project, which is the home directory then, or
//! lies above it, or is a directory in it such as `.config`.
//!
//! A policy that grants the project for reading then grants the home with everything in it, and nobody who types `run`
//! in their home means that. Who really wants one of these names it (`--read ~/.ssh/config`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::resolved::{Isolation, Mode};

use super::{Hidden, kind, links};

/// Entries of one of these that are looked at for links.
const ENTRIES: usize = 1024;

/// Keys, tokens, passwords, histories, browsers and mail, relative to the home directory.
pub const SECRETS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".pki",
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".config/sops",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/glee",
    ".local/state/glee",
    ".mozilla",
    ".thunderbird",
    ".kube",
    ".docker",
    ".oci",
    ".terraform.d",
    ".vault-token",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".git-credentials",
    ".config/git/credentials",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pip/pip.conf",
    ".pip/pip.conf",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".password-store",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".pgpass",
    ".my.cnf",
    ".s3cfg",
    ".env",
];

/// This program's own state, unless a grant names it or something in it: the arguments of every run are there.
pub(super) fn of_ours(state: &Path, policy: &ResolvedPolicy, cover: &Cover<'_>) -> Option<Hidden> {
    // Landlock alone cannot hide; it refuses to write there.
    if policy.mode == Mode::Inherit || policy.isolation == Isolation::Landlock {
        return None;
    }
    let path = links::follow(state).end?;
    let (_, grant) = cover.at(&path)?;
    let meta = std::fs::symlink_metadata(&path).ok()?;
    let kind = kind(&meta);
    (!grant.path.as_path().starts_with(&path)).then_some(Hidden::Present { path, kind })
}

/// The keys by which the supervisor knows its own writing again: no grant shows them, not even one that names them.
pub(super) fn keys(state: &Path, policy: &ResolvedPolicy, cover: &Cover<'_>) -> Option<Hidden> {
    if policy.mode == Mode::Inherit || policy.isolation == Isolation::Landlock {
        return None;
    }
    let path = links::follow(&state.join("keys")).end?;
    cover.at(&path)?;
    let meta = std::fs::symlink_metadata(&path).ok()?;
    let kind = kind(&meta);
    Some(Hidden::Present { path, kind })
}

/// Those that are there and that only the project's own grant would show, by every name: a link that ends in the project hides
/// nothing if what it leads to can be read beside it. No link hides where the command works.
pub(super) fn find([project, cwd]: [&Path; 2], home: &Path, cover: &Cover<'_>) -> Vec<Hidden> {
    let by_the_project = |path: &PathBuf| cover.at(path).is_some_and(|(_, grant)| grant.path.as_path() == project);
    let here = |path: &PathBuf| path != project && path.starts_with(project);
    let names = SECRETS.iter().map(|name| home.join(name)).filter(here);
    let mut places = BTreeSet::new();
    for path in names.filter(by_the_project) {
        let (plain, ends) = look(&path);
        places.extend(plain);
        places.extend(
            ends.into_iter()
                .filter(|end| !cwd.starts_with(end) && by_the_project(end)),
        );
    }
    let hidden = places.into_iter().filter_map(|path| {
        let meta = std::fs::symlink_metadata(&path).ok()?;
        let kind = kind(&meta);
        Some(Hidden::Present { path, kind })
    });
    hidden.collect()
}

/// Where a secret lies: at its name, unless a link leads there; and where links end that are on its way or in it.
fn look(path: &Path) -> (Option<PathBuf>, Vec<PathBuf>) {
    let way = links::follow(path);
    let plain = way.links.is_empty() || way.links.iter().any(|link| link == path);
    let entries = way.end.iter().flat_map(std::fs::read_dir).flatten();
    let linked = entries
        .take(ENTRIES)
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    let mut ends: Vec<PathBuf> = linked.filter_map(|entry| links::follow(&entry.path()).end).collect();
    if !way.links.is_empty() {
        ends.extend(way.end);
    }
    (plain.then(|| path.to_owned()), ends)
}
