//! What a home directory keeps that the host obeys: protected when the home lies in a writable tree (docs/decisions/0008).

use std::path::{Path, PathBuf};

/// Besides the names of every tree: what is read at login, by git, by editors and by other tools, relative to the home.
const NAMES: &[&str] = &[
    ".bash_aliases",
    ".inputrc",
    ".pam_environment",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    ".oh-my-zsh",
    ".gitconfig",
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

/// What is protected because the home, or this program's own configuration, lies in a writable tree.
///
/// `secrets` are hidden if they are there, so only those that are not are named here: they must not be planted. The same
/// holds for the toolchains that a policy grants (`granted`): a link there would open what it leads to in every later run.
pub(super) fn names<'a>(
    home: Option<&Path>,
    config: Option<&Path>,
    trees: &[PathBuf],
    secrets: impl Iterator<Item = &'a str>,
    granted: impl Iterator<Item = &'a Path>,
) -> Vec<PathBuf> {
    let in_a_tree = |path: &&Path| trees.iter().any(|tree| path.starts_with(tree));
    let mut found: Vec<PathBuf> = config.map(Path::to_owned).into_iter().collect();
    if let Some(home) = home.filter(in_a_tree) {
        found.extend(NAMES.iter().map(|name| home.join(name)));
        let absent = secrets
            .map(|name| home.join(name))
            .filter(|path| path.symlink_metadata().is_err());
        // A directory is not forbidden for the sake of a file in it; `.config` is, for `.config/glee`.
        found.extend(absent.filter(|path| path.parent().is_some_and(Path::is_dir)));
        found.extend(granted.filter(|path| path.starts_with(home)).map(Path::to_owned));
    }
    found
}
