//! The machine as the policy language sees it: a project, a home, and where paths really lead.
//!
//! Reads the filesystem; changes nothing.

use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use glee_policy::{Host, Walk};
use glee_sandbox::survey::Caller;
use glee_sandbox::sys::process;

/// Symlinks followed in one path before it counts as endless: the kernel's own number.
const MOST_LINKS: u32 = 40;

/// Users that people are, besides root; the last is nobody.
const PEOPLE: std::ops::Range<u32> = 1000..65534;

/// Who called, by the name that the machine knows, and the homes of everybody.
pub(crate) fn people() -> (Caller, Vec<PathBuf>) {
    let uid = process::geteuid();
    let (user, homes) = table(&fs::read_to_string("/etc/passwd").unwrap_or_default(), uid);
    let caller = Caller {
        uid,
        gid: process::getegid(),
        user: user.unwrap_or_else(|| uid.to_string()),
    };
    (caller, homes)
}

/// A user's name in the table of users, and the homes of people there: as written, and where that leads.
fn table(passwd: &str, uid: u32) -> (Option<String>, Vec<PathBuf>) {
    let (mut user, mut homes) = (None, Vec::new());
    for line in passwd.lines() {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, id, _, _, home, ..] = fields.as_slice() else {
            continue;
        };
        let Ok(id) = id.parse::<u32>() else { continue };
        if id == uid && user.is_none() {
            user = Some((*name).to_owned());
        }
        let home = PathBuf::from(home);
        if (id == 0 || PEOPLE.contains(&id)) && home.is_absolute() {
            // The project is known by a path without links.
            let end = walk(&home).path;
            homes.extend([home, end].into_iter().filter(|home| home.parent().is_some()));
        }
    }
    homes.sort();
    homes.dedup();
    (user, homes)
}

/// This machine, for one project.
#[derive(Debug, Clone)]
pub struct RealHost {
    pub project: PathBuf,
    pub home: Option<PathBuf>,
}

impl Host for RealHost {
    fn project(&self) -> &Path {
        &self.project
    }

    fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    fn walk(&self, path: &Path) -> Walk {
        walk(path)
    }
}

/// Follows every link of an absolute path and notes it. What does not exist is appended as it is written.
#[must_use]
pub fn walk(path: &Path) -> Walk {
    let mut rest: Vec<OsString> = parts(path);
    let mut here = PathBuf::from("/");
    let mut links = Vec::new();
    let mut exists = true;
    let mut budget = MOST_LINKS;
    while let Some(part) = rest.pop() {
        if part == ".." {
            here.pop();
            continue;
        }
        let next = here.join(&part);
        match fs::symlink_metadata(&next) {
            Ok(meta) if meta.is_symlink() => {
                let target = fs::read_link(&next).unwrap_or_default();
                let Some(left) = budget.checked_sub(1) else {
                    exists = false;
                    here = next;
                    continue;
                };
                budget = left;
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                rest.extend(parts(&target));
                links.push((next, target));
            }
            Ok(_) => here = next,
            Err(_) => {
                exists = false;
                here = next;
            }
        }
    }
    Walk {
        path: here,
        exists,
        links,
    }
}

/// The components in reverse, ready to be popped. `/` and `.` mean nothing here.
fn parts(path: &Path) -> Vec<OsString> {
    let mut parts: Vec<OsString> = path
        .components()
        .filter(|c| matches!(c, Component::Normal(_) | Component::ParentDir))
        .map(|c| c.as_os_str().to_owned())
        .collect();
    parts.reverse();
    parts
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
