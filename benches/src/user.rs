//! Measuring as another user: this program runs itself again under that user's ids.
//!
//! Switching once, and not at every start, keeps each timed start on the cheap `posix_spawn` path.

use crate::BenchError;
use crate::args::{Args, USER};
use crate::place::{self, Place};
use std::env;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug, PartialEq, Eq)]
pub struct User {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
    pub home: String,
}

/// Whether this process goes on, or has been replaced by a finished one.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    Ours,
    Done,
}

/// Is this process root's?
#[must_use]
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs this program again as `--user`, if that was asked for, and waits for it.
pub fn switch(args: &Args) -> Result<Turn, BenchError> {
    let Some(name) = args.value(USER) else {
        return Ok(Turn::Ours);
    };
    let passwd = Path::new("/etc/passwd");
    let text = fs::read_to_string(passwd).map_err(BenchError::io("read", passwd))?;
    let user = find(&text, name).ok_or_else(|| BenchError::NoSuchUser { name: name.to_string() })?;

    // The build directory may lie where that user may not look, so the programs are copied to where anyone may.
    let stage = Place::new("as-user")?;
    let me = env::current_exe().map_err(BenchError::io("find", Path::new("/proc/self/exe")))?;
    let program = copy_program(&me, stage.root())?;
    let mut command = Command::new(&program);
    if let Ok(supervisor) = place::supervisor() {
        command.env("GLEE_BIN", copy_program(&supervisor, stage.root())?);
    }
    let status = command
        .args(without_user(env::args().skip(1)))
        .env("HOME", &user.home)
        .env("USER", &user.name)
        .env("LOGNAME", &user.name)
        .current_dir("/")
        .uid(user.uid)
        .gid(user.gid)
        .status()
        .map_err(BenchError::io("run", &program))?;
    if status.success() {
        return Ok(Turn::Done);
    }
    Err(BenchError::Failed {
        subject: format!("this measurement as {name}"),
        how: status.to_string(),
    })
}

fn copy_program(from: &Path, dir: &Path) -> Result<PathBuf, BenchError> {
    let to = dir.join(from.file_name().unwrap_or_default());
    fs::copy(from, &to).map_err(BenchError::io("copy", from))?;
    fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).map_err(BenchError::io("open to all", &to))?;
    Ok(to)
}

fn without_user(words: impl Iterator<Item = String>) -> Vec<String> {
    let mut words = words;
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == USER.name {
            words.next();
        } else {
            kept.push(word);
        }
    }
    kept
}

/// The entry of `name` in the text of a passwd file.
pub fn find(passwd: &str, name: &str) -> Option<User> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        let entry = fields.next()?;
        let _password = fields.next()?;
        let uid = fields.next()?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        let _comment = fields.next()?;
        let home = fields.next()?;
        (entry == name).then(|| User {
            name: name.to_string(),
            uid,
            gid,
            home: home.to_string(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_whole_name_only() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nbroken\nworker:x:1000:100:,,,:/home/worker:/bin/sh\n";
        let worker = User {
            name: "worker".to_string(),
            uid: 1000,
            gid: 100,
            home: "/home/worker".to_string(),
        };
        assert_eq!(find(passwd, "worker"), Some(worker));
        assert_eq!(find(passwd, "work"), None);
        assert_eq!(find(passwd, "broken"), None);
    }

    #[test]
    fn the_second_run_gets_every_flag_but_the_user() {
        let words = ["--starts", "9", "--user", "worker", "--json"].map(str::to_string);
        assert_eq!(without_user(words.into_iter()), ["--starts", "9", "--json"]);
    }
}
