//! What was refused, as the report lists it: by which clause, and the smallest change that would allow it.

use std::net::SocketAddr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use glee_egress::book::Book;
use glee_egress::host::Host;
use glee_egress::record::Attempt;
use glee_egress::refusal::NOT_ALLOWED;
use glee_egress::rules::{self, Rules, Verdict as Ruling};
use glee_policy::decide::{Question, Verdict as Decision};
use glee_policy::hint;
use glee_policy::names::NamePattern;
use glee_policy::origin::Origin;
use glee_policy::resolved::ResolvedPolicy;
use glee_sandbox::launch::{Because, Denied, DeniedKind, Subject};
use glee_sandbox::plan::SandboxPlan;
use serde::Serialize;

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

const DNS_PORT: u16 = 53;

const ONLY_TCP: &str = "no policy key allows datagrams: use TCP";

const NO_NAME: &str = "no policy can name this host";

pub(super) const NOTHING: &str = "no policy key allows this";

/// What the policy of a run says to its refusals.
pub(super) struct Explainer<'a> {
    pub(super) policy: &'a ResolvedPolicy,
    pub(super) plan: &'a SandboxPlan,
    pub(super) project: &'a Path,
    pub(super) home: Option<&'a Path>,
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
}

/// A clause with its place.
pub(super) fn written(verdict: &Decision) -> String {
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
