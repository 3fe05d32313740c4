//! The names under `unprotect:`, as far as they are known before a project is looked at.
//!
//! Pure. What a project protects cannot be listed here: git's settings, links and the caller's own files name any path. So
//! only what could never be protected is refused, and what is a slip of the pen from a name that always is.
//! INVARIANT: whatever a plan protects can be named.

use crate::suggest::distance;

/// What is always protected of git's.
const OF_GIT: &[&str] = &[".git", ".git/hooks", ".git/config"];

/// Protected at the top of every tree that a command can write.
pub const NAMES: &[&str] = &[
    ".claude",
    ".codex",
    ".gemini",
    ".cursor",
    ".mcp.json",
    ".vscode",
    ".idea",
    ".envrc",
    ".gitmodules",
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".glee",
];

/// Protected in a home, and near to one of those.
const IN_A_HOME: &[&str] = &[
    ".bashrc.d",
    ".profile.d",
    ".zshrc.d",
    ".zsh",
    ".shrc",
    ".yashrc",
    ".mkshrc",
    ".xprofile",
    ".Rprofile",
    ".exrc",
    ".env",
    ".k5login",
    ".logout",
    ".zimrc",
    ".lein",
    ".taskrc",
];

/// Can something be protected by this name, which is compared with paths below a writable tree and with their last part?
pub(crate) fn is_name(name: &str) -> bool {
    !name.contains(['*', '\0'])
        && name != "~"
        && !name.starts_with("~/")
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The name that was probably meant.
pub(crate) fn meant(name: &str) -> Option<String> {
    const LONGEST: usize = 64;
    if name.len() > LONGEST || is_known(name) {
        return None;
    }
    if let Some(near) = nearest(name) {
        return Some(near.to_owned());
    }
    let (above, last) = name.rsplit_once('/')?;
    let near = nearest(last).filter(|_| !is_known(last))?;
    Some(format!("{above}/{near}"))
}

fn is_known(name: &str) -> bool {
    [OF_GIT, NAMES, IN_A_HOME].iter().any(|names| names.contains(&name))
}

/// What lacks the dot may be a file that a link by the right name leads to.
fn nearest(name: &str) -> Option<&'static str> {
    let name = name.starts_with('.').then(|| name.to_lowercase())?;
    // `.githooks` is a name of its own.
    let depth = |name: &str| name.matches('/').count();
    let near = OF_GIT.iter().chain(NAMES).filter(|known| depth(known) == depth(&name));
    near.map(|known| (distance(&name, known), *known))
        .filter(|(edits, known)| *edits <= if known.len() > 5 { 2 } else { 1 })
        .min()
        .map(|(_, known)| known)
}

#[cfg(test)]
#[path = "protected_tests.rs"]
mod tests;
