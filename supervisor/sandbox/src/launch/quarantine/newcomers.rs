//! Repositories that came during the run where people look first: directly below the directories that were listed at its start.
//!
//! The command may have made them, or the host, who clones beside it and works there without suspicion. Both are left as git
//! makes them: only what could make git run something is set aside. INVARIANT (cheap): nothing but those directories is listed.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use super::harmless::is_harmless_but;
use super::reach::tree_of;
use super::{Disarmed, disarm, links};
use crate::plan::SandboxPlan;
use crate::survey::{back_of, git_dir_of, local_remote, modules};
use crate::sys::opened::{Opened, Purpose};
use crate::sys::path;

/// A configuration larger than this was not written by git.
const LARGEST: usize = 64 * 1024;

/// Disarms them.
pub(super) fn after(plan: &SandboxPlan, out: &mut Disarmed) {
    for dir in &plan.git.watched {
        let Some(tree) = tree_of(plan, dir) else { continue };
        let Ok(opened) = Opened::exact(dir, Purpose::List) else {
            continue;
        };
        let names = opened
            .entries()
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        for work in names.map(|entry| dir.join(entry.file_name())).chain([dir.clone()]) {
            let came = !plan.git.known.contains(&work.join(".git")) && !plan.git.fresh.contains(&work);
            if came && work.file_name() != Some(OsStr::new(".git")) {
                repository(plan, tree, &work, out);
            }
        }
    }
}

/// Disarms what came at `work`, if that is a repository.
pub(super) fn repository(plan: &SandboxPlan, tree: &Path, work: &Path, out: &mut Disarmed) {
    let Ok(inside) = work.strip_prefix(tree) else { return };
    let opened = path::open_exact(tree).and_then(|root| Opened::beneath(root.as_fd(), inside, Purpose::List));
    let Ok(opened) = opened else { return };
    let git = work.join(".git");
    match path::lstat_at(opened.as_fd(), OsStr::new(".git")) {
        Ok(stat) if stat.is_dir() => directory(plan, (tree, &git), out),
        Ok(stat) if stat.is_placeholder_socket() => {}
        Ok(_) => pointer(plan, (tree, inside), out),
        Err(_) => {}
    }
}

fn pointer(plan: &SandboxPlan, (tree, inside): (&Path, &Path), out: &mut Disarmed) {
    let work = tree.join(inside);
    let Some(git) = git_dir_of(&work) else { return };
    // What leads out of the trees leads to nothing of the command's making.
    let Some(other) = tree_of(plan, &git) else { return };
    let known: BTreeSet<&Path> = links::places(&plan.git.repositories, &plan.git.trees)
        .into_iter()
        .collect();
    let new = plan.git.fresh.iter().any(|tree| git.starts_with(tree.join(".git")));
    // A worktree of one that was there, which is looked at by its own; or the project's.
    let is_part = git.parent().is_some_and(|all| all.ends_with("worktrees"))
        && back_of(&git).is_some_and(|back| git.join(back) == work.join(".git"));
    let above = |known: &&&Path| git.starts_with(known) && git != **known;
    // A module of the one in whose working tree it lies.
    let is_module = || {
        let around = known.iter().filter(above).filter_map(|known| known.parent());
        around.into_iter().any(|around| work.starts_with(around))
    };
    if new || plan.git.own.contains(&git) || known.iter().any(|known| above(&known) && is_part) || is_module() {
        return;
    }
    match known.contains(git.as_path()) {
        true => disarm::dot_git(tree, inside, out),
        false => directory(plan, (other, &git), out),
    }
}

/// Takes the arms of a git directory, as far as it has any, and leaves what git writes for a clone.
fn directory(plan: &SandboxPlan, (tree, git): (&Path, &Path), out: &mut Disarmed) {
    let Ok(inside) = git.strip_prefix(tree) else { return };
    let modules = modules(git);
    for dir in modules.iter().map(PathBuf::as_path).chain([git]) {
        let Ok(inside) = dir.strip_prefix(tree) else { continue };
        if is_plain(plan, dir, git) {
            for name in disarm::arms(tree, inside) {
                // Those in it are looked at one by one.
                if name != "modules" {
                    out.note(dir.join(name), disarm::rename_in(tree, inside, OsStr::new(name)));
                }
            }
        } else {
            disarm::git_dir(tree, inside, out);
        }
    }
    if inside.file_name().is_some() {
        links::aside(git, |_, _| false, out);
    }
}

/// Does its configuration say no more than git writes there for a clone? That of a module also says where it works.
fn is_plain(plan: &SandboxPlan, dir: &Path, whole: &Path) -> bool {
    let opened = Opened::exact(dir, Purpose::List);
    let Ok(git) = opened else { return false };
    let name = OsStr::new("config");
    match path::lstat_at(git.as_fd(), name) {
        Err(error) => return error.kind() == std::io::ErrorKind::NotFound,
        Ok(stat) if stat.has_other_names() => return false,
        Ok(_) => {}
    }
    let text = path::read_at(git.as_fd(), name, LARGEST).ok();
    let Some(text) = text.and_then(|bytes| String::from_utf8(bytes).ok()) else {
        return false;
    };
    is_harmless_but(&text, |key, value| match key {
        "remote.url" | "submodule.url" => is_out_of_reach(plan, value),
        "core.worktree" => {
            let work = std::fs::canonicalize(dir.join(value)).ok();
            let around = whole.parent();
            let within = |work: &PathBuf| around.is_some_and(|around| work.starts_with(around));
            dir != whole
                && work
                    .filter(within)
                    .is_some_and(|work| git_dir_of(&work).as_deref() == Some(dir))
        }
        _ => false,
    })
}

/// Is the address a directory of this machine in which the command could write nothing that git runs?
fn is_out_of_reach(plan: &SandboxPlan, address: &str) -> bool {
    let path = local_remote(address.as_bytes(), None).filter(|path| path.is_absolute() && !address.contains('%'));
    let Some(path) = path else { return false };
    let real = std::fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
    let is_apart = |path: &Path| tree_of(plan, path).is_none();
    let apart = is_apart(&path) && is_apart(&real) && path.components().all(|part| part.as_os_str() != "..");
    apart || git_dir_of(&real).is_some_and(|git| path == real && plan.git.own.contains(&git))
}
