//! What a home directory keeps that the host obeys: protected when the home lies in a writable tree (docs/decisions/0008).

use std::path::{Path, PathBuf};

/// Besides the names of every tree: what is read at login, by git, by editors and by other tools, relative to the home.
const NAMES: &[&str] = &[
    "bin",
    ".bash_aliases",
    ".bashrc.d",
    ".profile.d",
    ".zshrc.d",
    ".zsh",
    ".shrc",
    ".yashrc",
    ".xonshrc",
    ".elvish",
    ".bash_completion",
    ".bash_env",
    ".fzf.bash",
    ".fzf.zsh",
    ".p10k.zsh",
    ".mkshrc",
    ".inputrc",
    ".pam_environment",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".xinitrc",
    ".xbindkeysrc",
    ".xserverrc",
    ".vnc/xstartup",
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
    ".config/VSCodium",
    ".config/Cursor",
    ".config/JetBrains",
    ".config/zed",
    ".config/helix",
    ".config/emacs",
    ".config/vim",
    ".config/lesskey",
    ".config/bat",
    ".config/gdb",
    ".config/alacritty",
    ".config/wezterm",
    ".config/ghostty",
    ".config/bspwm",
    ".config/sxhkd",
    ".config/awesome",
    ".config/qtile",
    ".config/pip",
    ".config/opencode",
    ".config/xonsh",
    ".config/elvish",
    ".config/atuin",
    ".vscode-server",
    ".vscode-server-insiders",
    ".cursor-server",
    ".windsurf-server",
    ".local/share/bash-completion",
    ".local/share/zsh",
    ".local/share/fish",
    ".local/share/nvim/site",
    ".local/share/dbus-1",
    ".local/share/kservices5",
    ".local/share/nautilus/scripts",
    ".selected_editor",
    ".lesskey",
    ".less",
    ".lessfilter",
    ".nanorc",
    ".exrc",
    ".gvimrc",
    ".ideavimrc",
    ".pythonrc",
    ".pythonrc.py",
    ".pythonstartup",
    ".pdbrc",
    ".ghci",
    ".lldbinit",
    ".gdbearlyinit",
    ".mailrc",
    ".muttrc",
    ".mailcap",
    ".mavenrc",
    ".bazelrc",
    ".terraformrc",
    ".jjconfig.toml",
    ".shinit",
    ".bash_functions",
    ".bash_completion.d",
    ".wezterm.lua",
    ".docker/cli-plugins",
    ".config/jj",
    ".config/hg",
    ".config/nano",
    ".config/niri",
    ".config/labwc",
    ".config/river",
    ".config/zellij",
    ".config/xfce4",
    ".config/ranger",
    ".config/yazi",
    ".config/mc",
    ".config/uv",
    ".config/dbus-1",
    ".local/share/gnome-shell",
    ".Xresources",
    ".Xdefaults",
    ".xmonad",
    ".pnpmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".bunfig.toml",
    ".condarc",
    ".pydistutils.cfg",
    ".m2/settings.xml",
    ".gradle/init.gradle",
    ".gradle/init.d",
    ".gradle/gradle.properties",
    ".asdfrc",
    ".tool-versions",
    ".mise.toml",
    ".erlang",
    ".aider.conf.yml",
    ".continue",
    ".windsurf",
    ".config/plasma-workspace/env",
    ".config/i3",
    ".config/sway",
    ".config/hypr",
    ".config/openbox",
    ".config/lxsession",
    ".config/nushell",
    ".config/powershell",
    ".config/kitty",
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
    ".hgrc",
    ".ipython/profile_default/startup",
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

/// What is protected because the home lies in a writable tree.
///
/// `secrets` are hidden if they are there, so only those that are not are named here: they must not be planted. Toolchains
/// stay as they are: the host runs what lies there, and a link in their place would open what it leads to in every later run.
pub(super) fn names<'a>(home: &Path, trees: &[PathBuf], secrets: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
    if !trees.iter().any(|tree| home.starts_with(tree)) {
        return Vec::new();
    }
    let absent = secrets
        .map(|name| home.join(name))
        .filter(|path| path.symlink_metadata().is_err());
    // A directory is not forbidden for the sake of a file in it; but `.config` is, for `.config/glee`.
    let near = |path: &PathBuf| {
        let mut below = path.strip_prefix(home).unwrap_or(path).components();
        let first = below.next().map(|name| home.join(name));
        below.next().is_none() || first.is_some_and(|dir| dir.is_dir())
    };
    let tools = toolchains().map(|name| home.join(name));
    let always = NAMES.iter().map(|name| home.join(name));
    always.chain(absent.filter(near)).chain(tools.filter(near)).collect()
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
