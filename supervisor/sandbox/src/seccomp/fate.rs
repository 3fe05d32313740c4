//! What the list says about each call, for a filter that somebody else compiles and that knows fewer tests.
//!
//! Pure.

use std::collections::BTreeMap;

use super::filter::{FilterSpec, Verdict};
use super::rules::{Body, Test};
use super::table::{Action, Arch, Table};

/// What becomes of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Allowed,
    /// Allowed while none of these bits is set, by argument.
    WithoutBits(BTreeMap<u8, u32>),
    /// Decided by tests that only our own filter knows.
    ByArguments,
    Refused,
    /// As if the kernel did not have it.
    Unknown,
}

impl Table {
    /// Every call that this architecture has, by name.
    pub fn fates<'a>(&'a self, spec: &'a FilterSpec, arch: Arch) -> impl Iterator<Item = (&'static str, Fate)> + 'a {
        self.iter()
            .filter(move |syscall| syscall.nr(arch).is_some())
            .map(|syscall| {
                let fate = match syscall.action {
                    Action::Allow => Fate::Allowed,
                    Action::Enosys | Action::Kill => Fate::Unknown,
                    // Given to a tracer that is not there a call is unknown to its caller, and still reported.
                    Action::Deny | Action::Absent => Fate::Refused,
                    Action::Rule(rule) => of_rule(&rule.body(spec)),
                };
                (syscall.name, fate)
            })
    }
}

fn of_rule(body: &Body) -> Fate {
    match (body.clauses, body.otherwise) {
        ([], Verdict::Allow | Verdict::Observe) => return Fate::Allowed,
        ([], Verdict::Errno(_) | Verdict::Deny(_) | Verdict::Kill) => return Fate::Refused,
        (_, Verdict::Allow | Verdict::Observe) => {}
        (_, Verdict::Errno(_) | Verdict::Deny(_) | Verdict::Kill) => return Fate::ByArguments,
    }
    let mut bits: BTreeMap<u8, u32> = BTreeMap::new();
    for clause in body.clauses {
        let ([Test::AnyBit { arg, mask }], Verdict::Deny(_)) = (clause.when, clause.then) else {
            return Fate::ByArguments;
        };
        *bits.entry(*arg).or_default() |= mask;
    }
    Fate::WithoutBits(bits)
}
