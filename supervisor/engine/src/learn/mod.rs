//! `policy learn`: from what a run was denied to the smallest policy that would have let it pass.
//!
//! Pure but for [`Yard`]. What the policy would not or should not grant is listed as comments, with the reason.
//! INVARIANT: no secret is granted: not by its own path, not through a link, not within a directory, and not from a cloud's
//! metadata service.
//! INVARIANT: the text parses, and means what its clauses say.

mod content;
pub mod run;
pub mod secrets;
mod text;
mod way;
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

use crate::report::{Denial, What};
use way::{Objection, beyond, homes, is_secret_at, judge};
use wish::{Wish, Wishes, Yard, secrets_in, still};

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
    /// Where directories led that were granted to write, after they had been looked through.
    written: BTreeSet<PathBuf>,
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
        let about = match denial.program.as_str() {
            "" => format!("{path} ({verb})"),
            program => format!("{path} ({verb} by {program})"),
        };
        if is_secret_at(&wanted, &homes(place, yard)) {
            return self.list(Objection::Secret.text(), about);
        }
        // The report has found that something else than a missing grant is in the way.
        if !denial.hint.starts_with(access.key()) {
            return self.list("a grant does not allow this", format!("{about}: {}", denial.rule));
        }
        let judged = targets(&wanted, access, &denial.syscall, place, yard).and_then(|mut targets| {
            targets.extend(hidden_links(&wanted, access, &denial.hint, place, yard));
            let mut all = targets
                .iter()
                .map(|(target, access)| judge(target, *access, place, yard));
            all.find(Result::is_err).unwrap_or(Ok(())).map(|()| targets)
        });
        match judged {
            Ok(targets) => {
                for (target, access) in targets {
                    wishes.add(target, access, &denial.program, denial.count);
                }
            }
            Err(objection) => self.list(objection.text(), about),
        }
    }

    fn host(&mut self, denial: &Denial, host: &str) {
        let about = match denial.program.as_str() {
            "" => host.to_owned(),
            program => format!("{host} (by {program})"),
        };
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
        let known = self.written.clone();
        for (path, access, wish) in wishes.settle(place, yard) {
            let end = match still(&path, access, place, yard) {
                Ok(end) => end,
                Err(objection) => {
                    self.list(objection.text(), path.display().to_string());
                    continue;
                }
            };
            if !yard.is_dir(&end) {
                self.grants.push((path, access, wish));
                continue;
            }
            match secrets_in(&end, &known, place, yard) {
                Some(secrets) if secrets.iter().all(|secret| hint::written(secret, place).is_some()) => {
                    if access == FsAccess::ReadWrite {
                        self.written.insert(end);
                    }
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

/// Calls that may change a link itself. If it was followed after all, the next run is denied what it leads to by its own path.
const OF_A_LINK: &[&str] = &[
    "lchown",
    "fchownat",
    "fchmodat2",
    "utimensat",
    "lsetxattr",
    "setxattrat",
    "lremovexattr",
    "removexattrat",
];

/// What must be granted: the path itself, or for what is made or removed the directory in which that happens. A link that leads to
/// nothing yet needs the directory that it leads into, and to be seen.
fn targets(
    wanted: &Path,
    access: FsAccess,
    syscall: &str,
    place: Place<'_>,
    yard: &dyn Yard,
) -> Result<Vec<(PathBuf, FsAccess)>, Objection> {
    // The report writes what is no text with a sign in its place.
    if wanted.to_string_lossy().contains(char::REPLACEMENT_CHARACTER) && !yard.exists(wanted) {
        return Err(Objection::Nameless);
    }
    let name = access == FsAccess::ReadWrite && is_of_a_name(syscall, wanted, yard);
    let from = if name {
        wanted.parent().unwrap_or(wanted)
    } else {
        wanted
    };
    let there = from.ancestors().find(|path| yard.exists(path)).unwrap_or(from);
    let path = beyond(there, &[place.project.to_owned()], yard)?;
    let walk = yard.walk(&path);
    if walk.exists {
        return Ok(vec![(path, access)]);
    }
    if access == FsAccess::Read {
        return Err(Objection::Nothing);
    }
    let into = walk.path.ancestors().find(|path| yard.exists(path));
    let into = into.ok_or(Objection::Nothing)?.to_owned();
    let around = walk.links.iter().filter_map(|(at, _)| at.parent());
    let around = around.filter(|dir| !dir.starts_with(place.project) && !dir.starts_with(&into));
    let seen = around.map(|dir| (dir.to_owned(), FsAccess::Read));
    Ok(seen.chain([(into.clone(), access)]).collect())
}

/// Directories of links that are hidden themselves: so the report says, and without them what a link leads to is of no use.
fn hidden_links(
    wanted: &Path,
    access: FsAccess,
    hint: &str,
    place: Place<'_>,
    yard: &dyn Yard,
) -> Option<(PathBuf, FsAccess)> {
    let links = yard.walk(wanted).links;
    let mut around = links.iter().filter_map(|(at, _)| at.parent());
    let named = |dir: &&Path| hint::path(dir, access, place).is_some_and(|named| named == hint);
    around.find(named).map(|dir| (dir.to_owned(), FsAccess::Read))
}

/// Does the call change what the directory says of this name, and not what the name leads to?
fn is_of_a_name(syscall: &str, wanted: &Path, yard: &dyn Yard) -> bool {
    OF_A_NAME.contains(&syscall) || (OF_A_LINK.contains(&syscall) && is_link(wanted, yard))
}

fn is_link(path: &Path, yard: &dyn Yard) -> bool {
    let (Some(dir), Some(name)) = (path.parent(), path.file_name()) else {
        return false;
    };
    let itself = yard.walk(dir).path.join(name);
    yard.walk(path).links.iter().any(|(at, _)| *at == itself)
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
