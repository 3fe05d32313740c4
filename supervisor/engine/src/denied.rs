//! Which rule hides a path: by its own name, or by that of a link which leads to it.

use std::path::Path;

use glee_policy::resolved::{Deny, DenyTarget, ResolvedPolicy};
use glee_sandbox::answer::{Look, OnHost, Seen};
use glee_sandbox::plan::SandboxPlan;

pub(crate) fn by<'a>(policy: &'a ResolvedPolicy, plan: &SandboxPlan, at: &Path) -> Option<&'a Deny> {
    policy.denied_by(at).or_else(|| {
        let linked = plan.glob_watches.iter().find(|watch| watch.hides_by_link(at))?;
        policy.deny.iter().find(|deny| match &deny.target {
            DenyTarget::Glob { base, pattern } => base.as_path() == linked.base && *pattern == linked.pattern,
            DenyTarget::Literal(_) => false,
        })
    })
}

/// Why something is covered that leads to a program of the host.
pub(crate) fn leads_out(at: &Path) -> Option<&'static str> {
    match OnHost.look(at)? {
        Seen::Socket => Some("a socket of the host leads to a program outside, and stays out of reach"),
        Seen::Pipe => Some("a pipe of the host leads to a program outside: it is covered where the tree is only read"),
        Seen::File | Seen::Dir | Seen::Device | Seen::Link(_) => None,
    }
}
