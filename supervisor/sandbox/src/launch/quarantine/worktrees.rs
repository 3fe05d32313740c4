//! What linked worktrees that came during the run are told of their repository.
//!
//! Those that were there are covered. The host, or another run, may add one meanwhile, and a command that can write the git
//! directory can write that one's part of it, too: git works there with whatever configuration it is led to.

use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::Path;

use super::Disarmed;
use super::harmless::harmless_part;
use super::{disarm, links, settled};
use crate::launch::changes::Since;
use crate::launch::placeholders::is_placeholder;
use crate::plan::SandboxPlan;
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// As git writes it.
const ABOVE: &[u8] = b"../..";
/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;

/// Sets aside what leads a new one elsewhere than to the repository it lies in.
pub(super) fn after(plan: &SandboxPlan, since: Option<Since>, out: &mut Disarmed) {
    for git in links::places(&plan.git.repositories, &plan.git.trees) {
        let all = Path::new("worktrees");
        let Ok(root) = Opened::exact(git, Purpose::List) else {
            continue;
        };
        let Ok(entries) = Opened::beneath(root.as_fd(), all, Purpose::List) else {
            continue;
        };
        for entry in entries.entries() {
            let inside = all.join(entry.file_name());
            for name in ["commondir", "config.worktree"] {
                let at = git.join(&inside).join(name);
                let is_old = since.is_some_and(|since| settled::is_old_file(&at, since));
                if !is_old && leads_elsewhere(git, &inside, name) && is_placeholder(&at).is_none() {
                    out.note(at, disarm::rename_in(git, &inside, OsStr::new(name)));
                }
            }
        }
    }
}

/// What cannot be read does.
fn leads_elsewhere(git: &Path, inside: &Path, name: &str) -> bool {
    let root = path::open_exact(git);
    let Ok(entry) = root.and_then(|root| Opened::beneath(root.as_fd(), inside, Purpose::List)) else {
        // No directory, or not the caller's own.
        return false;
    };
    if path::lstat_at(entry.as_fd(), OsStr::new(name)).is_err() {
        return false;
    }
    let Ok(text) = path::read_at(entry.as_fd(), OsStr::new(name), LARGEST) else {
        return true;
    };
    match name {
        "commondir" => text.trim_ascii() != ABOVE,
        _ => String::from_utf8(text).map_or(true, |text| harmless_part(&text) != text),
    }
}
