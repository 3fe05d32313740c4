//! What was refused, as the report lists it: by which clause, and the smallest change that would allow it.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use glee_egress::book::Book;
use glee_egress::host::Host;
use glee_egress::record::Attempt;
use glee_egress::refusal::NOT_ALLOWED;
use glee_egress::rules::{self, Rules, Verdict as Ruling};
use glee_policy::decide::{Question, Verdict as Decision};
use glee_policy::hint::{self, Place};
use glee_policy::names::NamePattern;
use glee_policy::origin::Origin;
use glee_policy::resolved::{FsAccess, ResolvedPolicy};
use glee_sandbox::launch::{Because, Denied, DeniedKind, Subject};
use glee_sandbox::plan::{MountStep, Response, SandboxPlan};
use serde::Serialize;

use crate::denied;
use crate::egress::Egress;
use crate::hex::hex;
use crate::run::Prepared;

#[derive(Debug, Serialize)]
pub struct Denial {
    pub kind: &'static str,
    pub syscall: String,
    #[serde(flatten)]
    pub what: What,
    /// The bytes of the path in hexadecimal, where they are not UTF-8 and `path` can only come near them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    pub pid: u32,
    pub program: String,
    pub rule: String,
    pub hint: String,
    pub count: u64,
}

/// What was refused: exactly one of `path`, `host` and `name`.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    Path(String),
    Host(String),
    Name(String),
}

/// Places of which every sandbox has its own, whatever a policy grants.
const OWN: &[&str] = &["/proc", "/dev"];

const DNS_PORT: u16 = 53;

const ONLY_TCP: &str = "no policy key allows datagrams: use TCP";

const NO_NAME: &str = "no policy can name this host";

/// Names that one hint has at most: who would have to take more of them away takes the protection away.
const MOST_NAMES: usize = 32;

const GRANTED: &str = "granted already: name it by this path";

pub(super) const NOTHING: &str = "no policy key allows this";

/// What the policy of a run says to its refusals.
pub(super) struct Explainer<'a> {
    pub(super) policy: &'a ResolvedPolicy,
    plan: &'a SandboxPlan,
    project: &'a Path,
    home: Option<&'a Path>,
    /// Which name has which address inside.
    book: Option<Book>,
    rules: Option<&'a Rules>,
}

impl<'a> Explainer<'a> {
    /// `named`: names that were given an address during the run.
    pub(super) fn new(prepared: &'a Prepared, named: &[String]) -> Self {
        Self {
            policy: &prepared.selected.policy,
            plan: &prepared.plan,
            project: &prepared.project,
            home: prepared.home.as_deref(),
            book: prepared.egress.as_ref().and_then(|egress| egress.book_after(named)),
            rules: prepared.egress.as_ref().and_then(Egress::rules),
        }
    }

    pub(super) fn denial(&self, denied: &Denied) -> Denial {
        let kind = match denied.kind {
            DeniedKind::Syscall => "syscall",
            DeniedKind::Read => "fs.read",
            DeniedKind::Write => "fs.write",
            DeniedKind::Execute => "fs.exec",
            DeniedKind::Hidden => "fs.hidden",
            DeniedKind::Unix => "unix",
            DeniedKind::Network => "network",
            DeniedKind::Limit => return self.limit_of(denied),
        };
        let (what, rule, hint) = match &denied.subject {
            Subject::Call => (
                What::Name(denied.syscall.clone()),
                match denied.because {
                    Because::Filter => format!("seccomp: {}", denied.why),
                    Because::Absent
                    | Because::ReadOnly
                    | Because::Pinned
                    | Because::Covered
                    | Because::NotGranted
                    | Because::Owner
                    | Because::Unreachable
                    | Because::NoDoor
                    | Because::Full => denied.why.clone(),
                },
                "no policy key allows this call".to_owned(),
            ),
            Subject::Path(path) => {
                let (rule, hint) = self.path(path, denied);
                (What::Path(path.to_string_lossy().into_owned()), rule, hint)
            }
            Subject::Abstract(name) => (
                What::Name(format!("@{}", String::from_utf8_lossy(name))),
                "sockets of the host without a file cannot be reached from a sandbox".to_owned(),
                NOTHING.to_owned(),
            ),
            Subject::Host(name) => {
                let verdict = self.policy.decide(&Question::Net { host: name, port: 443 });
                let possible = name.parse::<NamePattern>().ok().and_then(|_| hint::network(name, 443));
                let hint = possible.unwrap_or_else(|| NO_NAME.to_owned());
                (What::Host(name.clone()), written(&verdict), hint)
            }
            Subject::Address(address) if denied.because == Because::NoDoor => self.no_door(*address),
            Subject::Datagram(address) if address.port() != DNS_PORT => self.datagram(*address),
            Subject::Address(address) | Subject::Datagram(address) => {
                let (host, port) = (address.ip().to_string(), address.port());
                let verdict = self.policy.decide(&Question::Net { host: &host, port });
                let rule = if verdict.allowed {
                    "only names that were looked up inside lead out".to_owned()
                } else {
                    written(&verdict)
                };
                let hint = match port {
                    // Whoever asks for names wants to reach one of them.
                    DNS_PORT => "network: {allow: [\"NAME\"]}, with the name that was to be looked up".to_owned(),
                    0 => rules::NO_PORT.to_owned(),
                    _ => hint::address(&host, port),
                };
                (What::Host(address.to_string()), rule, hint)
            }
        };
        Denial {
            kind,
            syscall: denied.syscall.clone(),
            what,
            path_hex: match &denied.subject {
                Subject::Path(path) if path.to_str().is_none() => Some(hex(path.as_os_str().as_bytes())),
                Subject::Path(_)
                | Subject::Call
                | Subject::Abstract(_)
                | Subject::Address(_)
                | Subject::Datagram(_)
                | Subject::Host(_) => None,
            },
            pid: denied.pid,
            program: denied.program.clone(),
            rule,
            hint,
            count: denied.count,
        }
    }

    /// The clause by which a connection was refused outside.
    pub(super) fn clause(&self, attempt: &Attempt) -> String {
        let origin = |key: &str| self.policy.origins.get(key);
        match (&attempt.rule, &attempt.reason) {
            (Some(rule), _) => placed(
                &format!("network.deny `{rule}`"),
                origin(&format!("network.deny.{rule}")),
            ),
            (None, Some(reason)) if reason != NOT_ALLOWED => reason.clone(),
            (None, _) => placed("network.allow does not name it", origin("network")),
        }
    }

    /// The name that an address was given for, or itself.
    fn host_at(&self, address: SocketAddr) -> Host {
        let name = self.book.as_ref().and_then(|book| book.name_of(address.ip()));
        name.map_or(Host::Addr(address.ip()), Host::Name)
    }

    /// Datagrams, to anybody but a resolver.
    fn datagram(&self, address: SocketAddr) -> (What, String, String) {
        let (host, port) = (self.host_at(address), address.port());
        let verdict = self.policy.decide(&Question::Net {
            host: &host.to_string(),
            port,
        });
        let but = if verdict.allowed { "but" } else { "and" };
        let rule = format!("{}, {but} only TCP leads out", written(&verdict));
        (What::Host(host.with_port(port)), rule, ONLY_TCP.to_owned())
    }

    /// An address that leads out, at a port that nothing carries: the name that it was given for, or itself.
    fn no_door(&self, address: SocketAddr) -> (What, String, String) {
        let (host, port) = (self.host_at(address), address.port());
        let what = What::Host(host.with_port(port));
        let verdict = self.policy.decide(&Question::Net {
            host: &host.to_string(),
            port,
        });
        match self.rules.map(|rules| rules.decide(&host, port)) {
            Some(Ruling::Refused { hint, .. }) => (what, written(&verdict), hint),
            Some(Ruling::Allowed { .. }) | None => {
                let rule = format!(
                    "{}, but only TCP and no more doors than fit lead out",
                    written(&verdict)
                );
                (what, rule, "connect through the proxy".to_owned())
            }
        }
    }

    fn path(&self, path: &Path, denied: &Denied) -> (String, String) {
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
        let verdict = self.policy.decide(&Question::Path { path, access });
        let names = self.protected(path);
        if let Some(name) = names.first()
            && access == FsAccess::ReadWrite
        {
            let rule = format!("`{name}` stays as it is: programs outside obey it");
            return (rule, unprotect(&names));
        }
        let rule = match (&verdict.allowed, access) {
            (true, _) => format!("{}, but not inside this sandbox", written(&verdict)),
            (false, FsAccess::ReadWrite) if verdict.origin.is_some() => format!("{} only reads", written(&verdict)),
            (false, FsAccess::Read | FsAccess::ReadWrite) => written(&verdict),
        };
        // What makes, moves or removes a name needs the directory.
        let about_the_name = ["unlink", "rmdir", "rename", "link", "symlink", "mkdir", "mknod", "bind"];
        let about_the_name = about_the_name.iter().any(|call| denied.syscall.starts_with(call));
        let place = match path.parent() {
            Some(dir) if access == FsAccess::ReadWrite && (about_the_name || is_about_a_link(path, denied)) => dir,
            // A link that leads to nothing yet is hidden by its directory, and no policy can name it.
            Some(dir) if access == FsAccess::ReadWrite && path.is_symlink() && !path.exists() => dir,
            Some(_) | None => path,
        };
        // It came by another way, through a link or a directory that is not shown.
        let hint = match verdict.allowed && place == path && denied.because == Because::Absent {
            true => GRANTED.to_owned(),
            false => self.grant(place, access),
        };
        (rule, hint)
    }

    /// The names by which a policy opts out of protecting a path: the nearest that it lies in, or all that lie below it and hold it.
    fn protected(&self, path: &Path) -> Vec<String> {
        let islands = || {
            let watches = self.plan.watches.iter();
            watches.filter(|watch| watch.response == Response::Protect && !self.is_held(&watch.path))
        };
        let around = islands().filter(|watch| path.starts_with(&watch.path));
        let around = around.max_by_key(|watch| watch.path.as_os_str().len());
        let tree = |path: &&Path| self.policy.grants.iter().any(|grant| grant.path.as_path() == *path);
        let name = |island: &Path| {
            let top = island.ancestors().skip(1).find(tree).unwrap_or(self.project);
            let name = island.strip_prefix(top).unwrap_or(island);
            name.to_string_lossy().into_owned()
        };
        if let Some(island) = around {
            return vec![name(&island.path)];
        }
        let below = islands().filter(|watch| watch.path.starts_with(path));
        let names: BTreeSet<String> = below.map(|watch| name(&watch.path)).collect();
        names.into_iter().collect()
    }

    /// Does a directory stay only because of what lies in it?
    fn is_held(&self, path: &Path) -> bool {
        let pins = |step: &MountStep| matches!(step, MountStep::Pin { at } if at == path);
        let protects = |step: &MountStep| matches!(step, MountStep::Protect { at } if at == path);
        let mounts = &self.plan.mounts;
        mounts.iter().any(pins) && !mounts.iter().any(protects)
    }

    /// The clause that would grant a path: itself if it is there, else the nearest directory that is.
    fn grant(&self, path: &Path, access: FsAccess) -> String {
        let exists = |path: &&Path| path.symlink_metadata().is_ok();
        let there = path.ancestors().find(exists).unwrap_or(path);
        if there == Path::new("/") {
            return NOTHING.to_owned();
        }
        let place = Place {
            project: self.project,
            home: self.home,
        };
        // What no policy can name is granted with its directory, unless that is all of a home.
        let narrow = |dir: &&Path| dir.parent().is_some() && self.home.is_none_or(|home| !home.starts_with(dir));
        let mut above = there.ancestors().skip(1).take_while(narrow);
        hint::path(there, access, place)
            .or_else(|| above.find_map(|dir| hint::path(dir, access, place)))
            .unwrap_or_else(|| NOTHING.to_owned())
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

/// A clause with its place.
fn written(verdict: &Decision) -> String {
    placed(&verdict.clause, verdict.origin.as_ref())
}

fn placed(clause: &str, origin: Option<&Origin>) -> String {
    match origin {
        Some(origin) => format!("{clause} ({origin})"),
        None => clause.to_owned(),
    }
}

/// Rows that say the same are one: a name has an address of each family.
pub(super) fn counted(rows: impl Iterator<Item = Denial>) -> Vec<Denial> {
    let mut all: Vec<Denial> = Vec::new();
    for row in rows {
        let same = |known: &&mut Denial| {
            row.kind == "network"
                && (known.kind, &known.what) == (row.kind, &row.what)
                && known.program == row.program
                && (known.hint == ONLY_TCP) == (row.hint == ONLY_TCP)
        };
        match all.iter_mut().find(same) {
            Some(known) => known.count += row.count,
            None => all.push(row),
        }
    }
    all
}
