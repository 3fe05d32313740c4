//! Paths that were refused: by which clause, and the smallest change that would allow it.
//!
//! Reads the host to see what is there; changes nothing.

use std::collections::BTreeSet;
use std::path::Path;

use glee_policy::decide::{Question, Verdict};
use glee_policy::hint::{self, Place};
use glee_policy::resolved::{Deny, FsAccess};
use glee_sandbox::answer::{self, OnHost, Use};
use glee_sandbox::launch::{Because, Denied, DeniedKind};
use glee_sandbox::plan::{MountStep, Response, Watch};

use super::denials::{Explainer, NOTHING, written};
use crate::denied;
use crate::grantable::grantable;

/// Places of which every sandbox has its own, whatever a policy grants.
const OWN: &[&str] = &["/proc", "/dev"];

/// Names that one hint has at most: who would have to take more of them away takes the protection away.
const MOST_NAMES: usize = 32;

const GRANTED: &str = "granted already: name it by this path";

/// What makes, moves or removes a name needs the directory.
const ABOUT_THE_NAME: [&str; 8] = ["unlink", "rmdir", "rename", "link", "symlink", "mkdir", "mknod", "bind"];

impl Explainer<'_> {
    pub(super) fn path(&self, path: &Path, denied: &Denied) -> (String, String) {
        let access = match denied.kind {
            DeniedKind::Write => FsAccess::ReadWrite,
            DeniedKind::Read
            | DeniedKind::Hidden
            | DeniedKind::Execute
            | DeniedKind::Unix
            | DeniedKind::Syscall
            | DeniedKind::Network
            | DeniedKind::Limit => FsAccess::Read,
        };
        if denied.because == Because::Owner {
            let identity = &self.plan.identity;
            let rule = format!("the command runs as uid {}, never as root", identity.uid);
            return (rule, "change its permissions, or run as its owner".to_owned());
        }
        if let Some(deny) = denied::by(self.policy, self.plan, path) {
            let rule = format!("fs.deny `{}` ({})", deny.written, deny.origin);
            return (rule, hint::without("fs.deny", &deny.written));
        }
        if let Some(own) = OWN.iter().find(|own| path.starts_with(own)) {
            return (format!("the sandbox has its own `{own}`"), NOTHING.to_owned());
        }
        if let Some(rule) = denied::leads_out(path).filter(|_| denied.because == Because::Covered) {
            // A pipe is not covered in a tree that is written.
            let dir = path.parent().filter(|_| denied.kind != DeniedKind::Unix);
            let hint = dir.map_or_else(|| NOTHING.to_owned(), |dir| self.grant(dir, FsAccess::ReadWrite));
            return (rule.to_owned(), hint);
        }
        let decide = |path| self.policy.decide(&Question::Path { path, access });
        let place = place(path, access, denied);
        let (verdict, around) = (decide(path), decide(place));
        if access == FsAccess::ReadWrite
            && let Some(words) = self.kept(path, denied, verdict.allowed && around.allowed)
        {
            return words;
        }
        let rule = match (&verdict.allowed, access) {
            (true, FsAccess::ReadWrite) if !around.allowed => outside(&around),
            (true, _) => format!("{}, but not inside this sandbox", written(&verdict)),
            (false, FsAccess::ReadWrite) if verdict.origin.is_some() => format!("{} only reads", written(&verdict)),
            (false, FsAccess::Read | FsAccess::ReadWrite) => written(&verdict),
        };
        let granted = verdict.allowed && place == path && denied.because == Because::Absent;
        let hint = match granted && self.is_there(path, denied.kind) {
            true => GRANTED.to_owned(),
            false => self.grant(place, access),
        };
        (rule, hint)
    }

    /// Could it be done by this very path? Then it came by another way, through a link or a directory that is not shown.
    fn is_there(&self, path: &Path, kind: DeniedKind) -> bool {
        let usage = match kind {
            DeniedKind::Write => Use::Write,
            DeniedKind::Execute => Use::Execute,
            // Nobody opens a socket.
            DeniedKind::Unix => return true,
            DeniedKind::Read | DeniedKind::Hidden | DeniedKind::Syscall | DeniedKind::Network | DeniedKind::Limit => {
                Use::Read
            }
        };
        answer::path(self.plan, path, usage, &OnHost).allowed
    }

    /// What stays as it is although the policy lets its tree be written. `open`: the policy lets this very change be made.
    fn kept(&self, path: &Path, denied: &Denied, open: bool) -> Option<(String, String)> {
        let stays = |names: Vec<String>| {
            let rule = format!("`{}` stays as it is: programs outside obey it", names.first()?);
            Some((rule, unprotect(&names)))
        };
        let islands = self.islands().filter(|watch| path.starts_with(&watch.path));
        if let Some(island) = islands.max_by_key(|watch| watch.path.as_os_str().len()) {
            return stays(vec![self.name(&island.path)]);
        }
        // What lies below says nothing where the path itself is not to be written.
        if !open {
            return None;
        }
        let below = self.islands().filter(|watch| watch.path.starts_with(path));
        let names: BTreeSet<String> = below.map(|watch| self.name(&watch.path)).collect();
        let pinned = || (denied.because == Because::Pinned && self.is_pinned(path)).then(|| self.pinned(path));
        stays(names.into_iter().collect()).or_else(pinned)
    }

    /// Why a directory is not moved that holds nothing which programs outside obey: for what is hidden in it, or for the report.
    fn pinned(&self, path: &Path) -> (String, String) {
        let covers = |step: &&MountStep| matches!(step, MountStep::Hide { .. } | MountStep::Protect { .. });
        let covers = self.plan.mounts.iter().filter(covers).map(MountStep::at);
        let held = self
            .plan
            .watches
            .iter()
            .filter(|watch| watch.response == Response::Hold);
        let covers = covers.chain(held.map(|watch| watch.path.as_path()));
        let below: Vec<&Path> = covers.filter(|at| at.starts_with(path)).collect();
        let denied = |at: &&Path| denied::by(self.policy, self.plan, at).map(|deny| (self.name(at), deny));
        let denied: Vec<(String, &Deny)> = below.iter().filter_map(denied).collect();
        if let Some((name, deny)) = denied.first() {
            let rule = format!("it holds `{name}` for fs.deny `{}` ({})", deny.written, deny.origin);
            let hints = denied.iter().map(|(_, deny)| hint::without("fs.deny", &deny.written));
            let hints: BTreeSet<String> = hints.collect();
            return (rule, hints.into_iter().collect::<Vec<_>>().join(", "));
        }
        // A file, where the denied path would need a directory.
        if let Some(deny) = denied::below(self.policy, path) {
            let rule = format!("fs.deny `{}` ({})", deny.written, deny.origin);
            return (rule, hint::without("fs.deny", &deny.written));
        }
        if let Some(at) = below.first() {
            return (
                format!("it holds `{}`, which is hidden", self.name(at)),
                NOTHING.to_owned(),
            );
        }
        let rule = "the report is written below it".to_owned();
        (rule, "write the report outside of it (`--report`)".to_owned())
    }

    /// Names that a policy can opt out of protecting.
    fn islands(&self) -> impl Iterator<Item = &Watch> {
        let watches = self.plan.watches.iter();
        watches.filter(|watch| watch.response == Response::Protect && !self.is_held(&watch.path))
    }

    /// As a policy names it.
    fn name(&self, island: &Path) -> String {
        let tree = |path: &&Path| self.policy.grants.iter().any(|grant| grant.path.as_path() == *path);
        let top = island.ancestors().skip(1).find(tree).unwrap_or(self.project);
        let name = island.strip_prefix(top).unwrap_or(island);
        name.to_string_lossy().into_owned()
    }

    /// Does a directory stay only because of what lies in it?
    fn is_held(&self, path: &Path) -> bool {
        let protects = |step: &MountStep| matches!(step, MountStep::Protect { at } if at == path);
        self.is_pinned(path) && !self.plan.mounts.iter().any(protects)
    }

    fn is_pinned(&self, path: &Path) -> bool {
        let pins = |step: &MountStep| matches!(step, MountStep::Pin { at } if at == path);
        self.plan.mounts.iter().any(pins)
    }

    /// The clause that would grant a path: itself if it is there, else the nearest directory that is.
    fn grant(&self, path: &Path, access: FsAccess) -> String {
        let exists = |path: &&Path| path.symlink_metadata().is_ok();
        let there = path.ancestors().find(exists).unwrap_or(path);
        if there == Path::new("/") {
            return NOTHING.to_owned();
        }
        let there = grantable(there, self.project);
        let place = Place {
            project: self.project,
            home: self.home,
        };
        // What no policy can name is granted with its directory, unless that is all of a home.
        let narrow = |dir: &&Path| dir.parent().is_some() && self.home.is_none_or(|home| !home.starts_with(dir));
        let mut above = there.ancestors().skip(1).take_while(narrow);
        hint::path(&there, access, place)
            .or_else(|| above.find_map(|dir| hint::path(dir, access, place)))
            .unwrap_or_else(|| NOTHING.to_owned())
    }
}

/// What must be granted for it: the path itself, or the directory that it lies in.
fn place<'p>(path: &'p Path, access: FsAccess, denied: &Denied) -> &'p Path {
    let about_the_name = ABOUT_THE_NAME.iter().any(|call| denied.syscall.starts_with(call));
    match path.parent() {
        Some(dir) if access == FsAccess::ReadWrite && (about_the_name || is_about_a_link(path, denied)) => dir,
        // A link that leads to nothing yet is hidden by its directory, and no policy can name it.
        Some(dir) if access == FsAccess::ReadWrite && path.is_symlink() && !path.exists() => dir,
        Some(_) | None => path,
    }
}

/// Why a name cannot be changed that may be written itself.
fn outside(around: &Verdict) -> String {
    match around.origin {
        Some(_) => format!("{} only reads", written(around)),
        None => "no grant covers the directory it lies in".to_owned(),
    }
}

/// Was a link itself to be changed? A grant of it is one of what it leads to. What is there inside has been followed to its end,
/// unless the call does not follow.
fn is_about_a_link(path: &Path, denied: &Denied) -> bool {
    let itself = ["lchown", "lsetxattr", "lremovexattr"].contains(&denied.syscall.as_str());
    (itself || denied.because != Because::Absent) && path.is_symlink()
}

/// What is replaced by way of a lock beside it needs both names.
fn unprotect(names: &[String]) -> String {
    match names {
        [name] => match name.strip_suffix(".lock") {
            Some(meant) => hint::unprotect(&[meant, name]),
            None => hint::unprotect(&[name]),
        },
        names if names.len() <= MOST_NAMES => hint::unprotect(&names.iter().map(String::as_str).collect::<Vec<_>>()),
        _ => NOTHING.to_owned(),
    }
}
