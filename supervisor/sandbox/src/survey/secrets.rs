//! What a home directory keeps that no agent needs: hidden when the project is the home directory, or lies above it.
//!
//! A policy that grants the project for reading then grants the home with everything in it, and nobody who types `run`
//! in their home means that. Who really wants one of these names it (`--read ~/.ssh/config`).

use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::resolved::{Isolation, Mode};

use super::{Hidden, kind, links};

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

/// Those that are there and that only the project's own grant would show.
pub(super) fn find(project: &Path, home: &Path, cover: &Cover<'_>) -> Vec<Hidden> {
    if !home.starts_with(project) {
        return Vec::new();
    }
    let by_the_project = |path: &PathBuf| cover.at(path).is_some_and(|(_, grant)| grant.path.as_path() == project);
    SECRETS
        .iter()
        .map(|name| home.join(name))
        .filter(by_the_project)
        .filter_map(|path| {
            std::fs::symlink_metadata(&path).ok().map(|meta| Hidden::Present {
                path,
                kind: kind(&meta),
            })
        })
        .collect()
}
