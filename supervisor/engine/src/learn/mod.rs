//! `policy learn`: from what a run was denied to the smallest policy that would have let it pass.
//!
//! Pure but for [`Yard`]. What the policy would not or should not grant is listed as comments, with the reason.
//! INVARIANT: no secret is granted: not by its own path, not within a directory, and not from a cloud's metadata service.
//! INVARIANT: the text parses, and means what its clauses say.

pub mod run;
pub mod secrets;
mod text;
pub mod wish;
pub mod yard;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use glee_egress::special;
use glee_policy::ResolvedPolicy;
use glee_policy::hint::{self, Place};
use glee_policy::names::{HostPattern, NamePattern, WEB_PORTS};
use glee_policy::resolved::{FsAccess, Network};

use crate::host::walk;
use crate::report::{Denial, What};
use secrets::is_secret;
use wish::{Wish, Wishes, Yard, is_too_wide, secrets_in};

/// The policy that the run had.
#[derive(Debug, Clone, Copy)]
pub struct Base<'a> {
    /// What to extend.
    pub name: &'a str,
    pub policy: &'a ResolvedPolicy,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// A policy file.
    pub text: String,
    /// Clauses that the base does not have.
    pub proposed: Vec<String>,
    /// What was denied and is not proposed.
    pub listed: usize,
}

/// What is proposed, and what is only listed.
#[derive(Debug, Default)]
struct Lesson {
    grants: Vec<(PathBuf, FsAccess, Wish)>,
    deny: BTreeSet<PathBuf>,
    hosts: BTreeMap<String, Wish>,
    /// A reason, and what it is about.
    listed: BTreeSet<(&'static str, String)>,
}

/// What runs of one command taught, one after the other.
///
/// INVARIANT (never narrower): what must be granted is settled with the run that was denied it. A later run may have made what was
/// not there, and filled what was empty.
#[derive(Debug, Default)]
pub struct Course {
    lesson: Lesson,
    wishes: Wishes,
}

impl Course {
    /// Takes the denials of one run that has just ended.
    pub fn take(&mut self, denials: &[Denial], place: Place<'_>, yard: &dyn Yard) {
        for denial in denials {
            self.lesson.take(denial, &mut self.wishes, place, yard);
        }
        self.lesson.settle(&mut self.wishes, place, yard);
    }

    /// What came of it so far. `withheld` are names of variables.
    #[must_use]
    pub fn learned(&self, withheld: &[String], program: &str, base: Base<'_>, place: Place<'_>) -> Learned {
        let lesson = &self.lesson;
        let paths = lesson
            .grants
            .iter()
            .filter_map(|(path, access, _)| hint::path(path, *access, place));
        let hosts = lesson.hosts.keys().map(|host| format!("network.allow: {host}"));
        Learned {
            text: text::write(lesson, withheld, program, base, place),
            proposed: paths.chain(hosts).collect(),
            listed: lesson.listed.len(),
        }
    }
}

impl Lesson {
    fn list(&mut self, why: &'static str, what: impl Into<String>) {
        self.listed.insert((why, what.into()));
    }

    fn take(&mut self, denial: &Denial, wishes: &mut Wishes, place: Place<'_>, yard: &dyn Yard) {
        match (&denial.what, denial.kind) {
            (What::Path(path), "fs.write") => self.path(denial, path, FsAccess::ReadWrite, wishes, place, yard),
            (What::Path(path), "fs.read" | "fs.hidden" | "fs.exec") => {
                self.path(denial, path, FsAccess::Read, wishes, place, yard);
            }
            (What::Host(host), "network") => self.host(denial, host),
            (What::Path(what) | What::Name(what) | What::Host(what), kind) => {
                self.list("no grant allows this", format!("{kind} {what}: {}", denial.rule));
            }
        }
    }

    fn path(
        &mut self,
        denial: &Denial,
        path: &str,
        access: FsAccess,
        wishes: &mut Wishes,
        place: Place<'_>,
        yard: &dyn Yard,
    ) {
        let wanted = PathBuf::from(path);
        let verb = if access == FsAccess::Read { "read" } else { "written" };
        let about = format!("{path} ({verb} by {})", denial.program);
        if is_secret(&wanted, place.home) {
            return self.list("looks like a secret", about);
        }
        // The report has found that something else than a missing grant is in the way.
        if !denial.hint.starts_with(access.key()) {
            return self.list("a grant does not allow this", format!("{about}: {}", denial.rule));
        }
        let target = target(&wanted, access, &denial.syscall, place, yard);
        if is_secret(&target, place.home) {
            return self.list("looks like a secret", about);
        }
        if is_too_wide(&target, place, yard) {
            return self.list("too wide to be granted", about);
        }
        if hint::written(&target, place).is_none() {
            return self.list("no policy can name this", about);
        }
        wishes.add(target, access, &denial.program, denial.count);
    }

    fn host(&mut self, denial: &Denial, host: &str) {
        let about = format!("{host} (by {})", denial.program);
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) => (name, port.parse::<u16>().unwrap_or(0)),
            None => (host, 0),
        };
        // Whoever asks for names wants to reach one of them, and that one is listed too.
        if port == 53 {
            return self.list("a question for a name server", about);
        }
        if gives_credentials(name) {
            return self.list("may give out the credentials of this machine", about);
        }
        if !denial.hint.starts_with("network:") {
            return self.list("a grant does not allow this", format!("{about}: {}", denial.rule));
        }
        let rule = match port {
            0 => name.to_owned(),
            port if WEB_PORTS.contains(&port) => name.to_owned(),
            _ => host.to_owned(),
        };
        match rule.parse::<NamePattern>() {
            Ok(NamePattern {
                host: HostPattern::Exact(_) | HostPattern::Block(..),
                ..
            }) => {
                let wish = self.hosts.entry(rule).or_default();
                wish.count = wish.count.saturating_add(denial.count);
                if !denial.program.is_empty() {
                    wish.programs.insert(denial.program.clone());
                }
            }
            Ok(_) | Err(_) => self.list("no policy can name this", about),
        }
    }

    /// Directories in place of many files; what they would take along of secrets is denied.
    fn settle(&mut self, wishes: &mut Wishes, place: Place<'_>, yard: &dyn Yard) {
        let given = std::mem::take(&mut self.grants);
        let was_given = |path: &Path| given.iter().any(|(known, _, _)| known == path);
        for (path, access, wish) in wishes.settle(place, yard) {
            if !yard.is_dir(&path) {
                self.grants.push((path, access, wish));
                continue;
            }
            match secrets_in(&path, place, yard) {
                Some(secrets) if secrets.iter().all(|secret| hint::written(secret, place).is_some()) => {
                    self.deny.extend(secrets);
                    self.grants.push((path, access, wish));
                }
                Some(_) => self.list("holds a secret that no policy can name", path.display().to_string()),
                // The command has filled it.
                None if was_given(&path) => self.grants.push((path, access, wish)),
                None => self.list("too large to be looked through for secrets", path.display().to_string()),
            }
        }
    }
}

/// Calls that change a directory, not what lies in it.
const OF_A_NAME: &[&str] = &[
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "symlink",
    "symlinkat",
    "mkdir",
    "mkdirat",
    "rmdir",
    "mknod",
    "mknodat",
    "bind",
];

/// What must be granted: the path itself, or for what is made or removed the directory in which that happens.
fn target(wanted: &Path, access: FsAccess, syscall: &str, place: Place<'_>, yard: &dyn Yard) -> PathBuf {
    let name = access == FsAccess::ReadWrite && OF_A_NAME.contains(&syscall);
    let from = if name {
        wanted.parent().unwrap_or(wanted)
    } else {
        wanted
    };
    let there = from.ancestors().find(|path| yard.exists(path)).unwrap_or(from);
    // A link of the project that leads out of it is shown; what it leads to is what is missing.
    let walked = walk(there);
    if there.starts_with(place.project) && !walked.path.starts_with(place.project) {
        walked.path
    } else {
        there.to_owned()
    }
}

/// Names under which clouds tell a machine who it is, and by which keys.
const METADATA: &[&str] = &["metadata", "instance-data"];

/// The metadata service of a cloud, or an address of which only this link knows what it is.
fn gives_credentials(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let bare = bare.split('%').next().unwrap_or(bare);
    if let Ok(addr) = bare.parse::<IpAddr>() {
        return special::special(addr).is_some_and(|what| [special::METADATA, special::LINK_LOCAL].contains(&what));
    }
    let first = bare.split('.').next().unwrap_or(bare).to_ascii_lowercase();
    METADATA.contains(&first.as_str())
}

/// Names that the base allows already.
fn allowed_names(base: &ResolvedPolicy) -> Vec<&String> {
    match &base.network {
        Network::Names { allow, .. } => allow.iter().collect(),
        Network::Off | Network::Host => Vec::new(),
    }
}

#[cfg(test)]
#[path = "learn_tests.rs"]
mod tests;
