//! Git's configuration of the machine and of the caller, wherever the caller's environment says it lies.
//!
//! What git would leave out (`GIT_CONFIG_NOSYSTEM`, the home's own file beside `GIT_CONFIG_GLOBAL`) is read all the same: the
//! next shell may not have the variable.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::git_shown;
use super::gitconfig::{self, Named, Setting};
use super::scan::Reach;

/// More pairs in the environment than this are not read.
const PAIRS: usize = 1024;

/// What the caller's git is told, and whose work it is. Where nothing is written, nobody needs to know.
pub(super) fn needed(reach: Reach, home: Option<&Path>, cwd: &Path) -> (Named, Vec<Setting>) {
    match reach {
        Reach::Listed => (Named::default(), Vec::new()),
        Reach::Unlisted => (configuration(home, cwd), git_shown::identity(home)),
    }
}

/// What the caller's git reads everywhere.
fn configuration(home: Option<&Path>, cwd: &Path) -> Named {
    let mut given = Named::default();
    for (key, value) in pairs(|name| env::var_os(name)) {
        given.add(&key, &value, home);
    }
    let files = machine()
        .chain(of_caller(home))
        .chain(chosen(cwd))
        .chain(given.files.iter().cloned());
    let mut named = gitconfig::read(files, home);
    named.hooks.append(&mut given.hooks);
    named.templates.append(&mut given.templates);
    let template = env::var_os("GIT_TEMPLATE_DIR").filter(|dir| !dir.is_empty());
    named.templates.extend(template.map(|dir| cwd.join(dir)));
    named.files.append(&mut given.files);
    named.files.extend(of_caller(home));
    named.files.extend(chosen(cwd));
    named
}

/// The files that variables of the caller's name in the place of the usual ones.
fn chosen(cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let named = ["GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"]
        .into_iter()
        .filter_map(env::var_os);
    named
        .filter(|file| !file.is_empty() && file != "/dev/null")
        .map(|file| cwd.join(file))
}

/// The machine's. A git that was installed elsewhere has its own beside it.
fn machine() -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = env::split_paths(&path).filter(|dir| dir.is_absolute()).collect();
    let installed = dirs
        .into_iter()
        .filter(|dir| dir.join("git").symlink_metadata().is_ok());
    let beside = installed.filter_map(|dir| dir.parent().map(|prefix| prefix.join("etc/gitconfig")));
    std::iter::once(PathBuf::from("/etc/gitconfig")).chain(beside)
}

/// The home's own file, and the one in the directory for configuration.
pub(super) fn of_caller(home: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let base = env::var_os("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|dir| dir.is_absolute());
    let base = base.or(home.map(|home| home.join(".config")));
    let own = home.map(|home| home.join(".gitconfig"));
    own.into_iter().chain(base.map(|dir| dir.join("git/config")))
}

/// Configuration that is in the environment itself: `GIT_CONFIG_COUNT`, `GIT_CONFIG_KEY_0`, `GIT_CONFIG_VALUE_0`, ….
fn pairs(variable: impl Fn(&str) -> Option<OsString>) -> Vec<(String, Vec<u8>)> {
    let count = variable("GIT_CONFIG_COUNT").and_then(|count| count.to_str()?.trim().parse::<usize>().ok());
    let pair = |number: usize| {
        let key = variable(&format!("GIT_CONFIG_KEY_{number}"))?;
        let value = variable(&format!("GIT_CONFIG_VALUE_{number}"))?;
        Some((String::from_utf8_lossy(key.as_bytes()).into_owned(), value.into_vec()))
    };
    (0..count.unwrap_or(0).min(PAIRS)).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_the_environment_name_hooks_and_files() {
        let variable = |name: &str| {
            let value = match name {
                "GIT_CONFIG_COUNT" => "6",
                "GIT_CONFIG_KEY_0" => "Core.HooksPath",
                "GIT_CONFIG_VALUE_0" => "~/hooks",
                "GIT_CONFIG_KEY_1" => "includeIf.gitdir:/x.y/.path",
                "GIT_CONFIG_VALUE_1" => "/more",
                "GIT_CONFIG_KEY_3" => "user.name",
                "GIT_CONFIG_VALUE_3" => "me",
                "GIT_CONFIG_KEY_4" => "init.templateDir",
                "GIT_CONFIG_VALUE_4" => "~/template",
                "GIT_CONFIG_KEY_5" => "init.templateDir",
                "GIT_CONFIG_VALUE_5" => "",
                _ => return None,
            };
            Some(OsString::from(value))
        };
        let mut named = Named::default();
        for (key, value) in pairs(variable) {
            named.add(&key, &value, Some(Path::new("/home/me")));
        }
        let expected = Named {
            hooks: vec!["/home/me/hooks".into()],
            templates: vec!["/home/me/template".into()],
            files: vec!["/more".into()],
            worktree: None,
        };
        assert_eq!(named, expected);
    }
}
