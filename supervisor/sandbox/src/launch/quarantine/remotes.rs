//! Places to which the host pushes, and from which it fetches, that came during the run: directories in the trees.
//!
//! Git tries several names for one remote. Those that were there before the run were covered all the time.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::Path;

use super::reach::tree_of;
use super::{Disarmed, disarm, links, settled};
use crate::launch::changes::Since;
use crate::plan::{Remote, RemoteWas, SandboxPlan};
use crate::survey::{links as ways, looks_like_git};
use crate::sys::path;

/// How the file begins by which git goes elsewhere.
const POINTER: &[u8] = b"gitdir: ";

/// Disarms what git would find at their names, and in git directories: to one as a remote, git looks for a `.git` in it first.
pub(super) fn after(plan: &SandboxPlan, since: Option<Since>, out: &mut Disarmed) {
    for git in links::places(&plan.git.repositories, &plan.git.trees) {
        // The working tree of another one is looked at as such.
        let is_known = plan.git.known.contains(&git.join(".git")) || plan.git.fresh.iter().any(|tree| tree == git);
        if let Some(tree) = tree_of(plan, git).filter(|_| !is_known) {
            let inside = git.strip_prefix(tree).unwrap_or(Path::new(""));
            disarm::dot_git(tree, inside, out);
        }
    }
    for remote in &plan.git.remotes {
        named(plan, remote, since, out);
    }
}

fn named(plan: &SandboxPlan, remote: &Remote, since: Option<Since>, out: &mut Disarmed) {
    let ways::Way { links, end, .. } = ways::follow(&remote.at);
    let Some(end) = end else { return };
    let is_same = remote.end.as_ref() == Some(&end);
    let Some((tree, dir, name)) = place(plan, &end) else {
        return;
    };
    let is_as_before = || match remote.was {
        RemoteWas::There => true,
        RemoteWas::Pointer => since.is_some_and(|since| {
            settled::is_old_file(&end, since) && settled::way_is_old(tree, &dir.join(name), since)
        }),
        RemoteWas::Missing => false,
    };
    if is_same && is_as_before() {
        return;
    }
    if !leads_git(&end) {
        return;
    }
    // What the link leads to may be somebody's own.
    let last = links
        .iter()
        .rev()
        .find_map(|link| place(plan, link))
        .filter(|_| !is_same);
    if let Some((tree, dir, name)) = last {
        out.note(tree.join(dir).join(name), disarm::rename_in(tree, dir, name));
    } else if name == ".git" {
        disarm::dot_git(tree, dir, out);
    } else if end.is_dir() {
        disarm::git_dir(tree, &dir.join(name), out);
        links::aside(&end, |_, _| false, out);
    } else {
        out.note(end.clone(), disarm::rename_in(tree, dir, name));
    }
}

/// The tree that a path lies in, the directory relative to it, and the name.
fn place<'p>(plan: &'p SandboxPlan, path: &'p Path) -> Option<(&'p Path, &'p Path, &'p OsStr)> {
    let tree = tree_of(plan, path)?;
    let inside = path.strip_prefix(tree).ok()?;
    Some((tree, inside.parent()?, inside.file_name()?))
}

/// Would git take it for a repository, or for the way to one? What cannot be looked into counts.
fn leads_git(at: &Path) -> bool {
    let Ok(meta) = at.symlink_metadata() else { return false };
    if meta.is_dir() {
        return at.ends_with(".git") || looks_like_git(at) || at.read_dir().is_err();
    }
    let mut text = [0; POINTER.len()];
    let read = path::open_held(at)
        .and_then(|held| path::open_regular(held.as_fd()))
        .and_then(|mut file| file.read_exact(&mut text));
    meta.is_file() && (read.is_err_and(|error| error.kind() == std::io::ErrorKind::PermissionDenied) || text == POINTER)
}
