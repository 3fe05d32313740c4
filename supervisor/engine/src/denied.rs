//! Which rule hides a path: by its own name, by that of a link which leads to it, or by holding a link or a name on the way.

use std::path::{Path, PathBuf};

use glee_policy::resolved::{Deny, DenyTarget, ResolvedPolicy};
use glee_sandbox::answer::{Look, OnHost, Seen};
use glee_sandbox::plan::{Response, SandboxPlan, Watch};

pub(crate) fn by<'a>(policy: &'a ResolvedPolicy, plan: &SandboxPlan, at: &Path) -> Option<&'a Deny> {
    let by_link = || {
        let linked = plan.glob_watches.iter().find(|watch| watch.hides_by_link(at))?;
        policy.deny.iter().find(|deny| match &deny.target {
            DenyTarget::Glob { base, pattern } => base.as_path() == linked.base && *pattern == linked.pattern,
            DenyTarget::Literal(_) => false,
        })
    };
    let by_way = || {
        let held = |watch: &&Watch| watch.response == Response::Hold && watch.path == at;
        let clause = &plan.watches.iter().find(held)?.clause;
        let mut rules = policy.deny.iter();
        rules.find(|deny| *clause == format!("fs.deny: {} ({})", deny.written, deny.origin))
    };
    let by_held_name = || below(policy, &held(plan).find(|name| at.starts_with(name))?);
    let by_name = policy.denied_by(at).or_else(by_link);
    by_name.or_else(by_way).or_else(by_held_name)
}

/// The rule that hides one path below this one. Where that lacks directories, the first of them is held in its place.
pub(crate) fn below<'a>(policy: &'a ResolvedPolicy, at: &Path) -> Option<&'a Deny> {
    policy.deny.iter().find(|deny| match &deny.target {
        DenyTarget::Literal(denied) => denied.as_path().starts_with(at),
        DenyTarget::Glob { .. } => false,
    })
}

/// Names that must not come into being.
fn held(plan: &SandboxPlan) -> impl Iterator<Item = PathBuf> {
    plan.placeholders.iter().map(|held| held.dir.join(&held.name))
}

/// Why something is covered that leads to a program of the host.
pub(crate) fn leads_out(at: &Path) -> Option<&'static str> {
    match OnHost.look(at)? {
        Seen::Socket => Some("a socket of the host leads to a program outside, and stays out of reach"),
        Seen::Pipe => Some("a pipe of the host leads to a program outside: it is covered where the tree is only read"),
        Seen::File | Seen::Dir | Seen::Device | Seen::Link(_) => None,
    }
}
