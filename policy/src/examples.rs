//! A profile's own proof: the `examples:` of a policy, asked of what it resolved to.
//!
//! Pure but for the `Host`. Built-in profiles are checked by a test; `policy check` checks a user's.

use std::ffi::OsStr;

use crate::decide::{Question, Verdict};
use crate::origin::Origin;
use crate::paths::absolute;
use crate::policy::{Asked, Policy};
use crate::resolve::Host;
use crate::resolved::ResolvedPolicy;

/// An example whose verdict is not the one expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub asked: Asked,
    pub origin: Origin,
    pub verdict: Verdict,
}

/// The examples of `policy` that do not hold for `resolved`. One below an unknown home is not asked.
pub fn check(policy: &Policy, resolved: &ResolvedPolicy, host: &dyn Host) -> Vec<Failure> {
    let ask = |asked: &Asked| match asked {
        Asked::Path { written, access } => {
            let home = host.home().filter(|home| home.is_absolute());
            let path = host.walk(&absolute(OsStr::new(written), host.project(), home)?).path;
            Some(resolved.decide(&Question::Path {
                path: &path,
                access: *access,
            }))
        }
        Asked::Net { host, port } => Some(resolved.decide(&Question::Net { host, port: *port })),
        Asked::Env(name) => Some(resolved.decide(&Question::Env(name))),
    };
    let examples = policy.examples.iter();
    examples
        .filter_map(|example| Some((example, ask(&example.asks)?)))
        .filter(|(example, verdict)| example.allowed != verdict.allowed)
        .map(|(example, verdict)| Failure {
            asked: example.asks.clone(),
            origin: example.origin.clone(),
            verdict,
        })
        .collect()
}
