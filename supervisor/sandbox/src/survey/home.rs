//! What a home directory keeps that the host obeys: protected when the home lies in a writable tree (docs/decisions/0008).

use std::path::{Path, PathBuf};

/// Besides the names of every tree: what is read at login, by git, by editors and by other tools, relative to the home.
const NAMES: &[&str] = &[
    "bin",
    ".bash_aliases",
    ".bash_completion",
    ".inputrc",
    ".pam_environment",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    ".oh-my-zsh",
    ".gitconfig",
    ".gitconfig.lock",
    ".config/git",
    ".config/glee",
    ".config/fish",
    ".config/zsh",
    ".config/environment.d",
    ".config/systemd",
    ".config/autostart",
    ".config/direnv",
    ".config/mise",
    ".config/nvim",
    ".config/tmux",
    ".config/Code",
    ".direnvrc",
    ".local/bin",
    ".local/share/systemd",
    ".local/share/applications",
    ".cargo/config",
    ".cargo/config.toml",
    ".cargo/env",
    ".vimrc",
    ".vim",
    ".emacs",
    ".emacs.d",
    ".tmux.conf",
    ".screenrc",
    ".gdbinit",
    ".forward",
    ".procmailrc",
    ".rhosts",
    ".k5login",
    ".curlrc",
    ".wgetrc",
    ".psqlrc",
    ".sqliterc",
    ".irbrc",
    ".Rprofile",
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
];

/// What is protected because the home, or this program's own configuration or state, lies in a writable tree.
///
/// `secrets` are hidden if they are there, so only those that are not are named here: they must not be planted. Toolchains
/// stay as they are: the host runs what lies there, and a link in their place would open what it leads to in every later run.
pub(super) fn names<'a>(
    home: Option<&Path>,
    own: [Option<&Path>; 2],
    trees: &[PathBuf],
    secrets: impl Iterator<Item = &'a str>,
) -> Vec<PathBuf> {
    let in_a_tree = |path: &&Path| trees.iter().any(|tree| path.starts_with(tree));
    let mut found: Vec<PathBuf> = own.into_iter().flatten().map(Path::to_owned).collect();
    if let Some(home) = home.filter(in_a_tree) {
        found.extend(NAMES.iter().map(|name| home.join(name)));
        let absent = secrets
            .map(|name| home.join(name))
            .filter(|path| path.symlink_metadata().is_err());
        // A directory is not forbidden for the sake of a file in it; but `.config` is, for `.config/glee`.
        let near = |path: &PathBuf| {
            let mut below = path.strip_prefix(home).unwrap_or(path).components();
            let first = below.next().map(|name| home.join(name));
            below.next().is_none() || first.is_some_and(|dir| dir.is_dir())
        };
        found.extend(absent.filter(near));
        found.extend(toolchains().map(|name| home.join(name)).filter(near));
    }
    found
}

/// What the built-in `workspace` grants of a home for reading. Its own words: a policy in force may have dropped them as
/// implied by the home.
fn toolchains() -> impl Iterator<Item = &'static str> {
    let text = glee_policy::builtin::text("workspace").unwrap_or_default();
    let reading = text.split_once("\n  write:").map_or(text, |(before, _)| before);
    reading
        .lines()
        .filter_map(|line| line.split_once("path: ~/")?.1.split_once([',', '}']))
        .map(|(path, _)| path.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_toolchains_are_those_of_the_profile() {
        let found: Vec<&str> = toolchains().collect();
        assert!(
            found.len() > 30
                && [".cargo", ".nvm", "go", ".local/pipx"]
                    .iter()
                    .all(|name| found.contains(name))
        );
    }
}
