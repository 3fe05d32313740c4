//! What the filter says about a call before its arguments are known, for people who ask.

use super::filter::{Denial, FilterSpec, Verdict};
use super::rules::Body;
use super::table::{Action, Arch, Table};

/// How much of a call is allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Always,
    Never(Denial),
    /// Refused with some arguments, for these reasons.
    Sometimes(Vec<Denial>),
    /// As if the kernel did not have it.
    Missing,
}

impl Table {
    /// `None` for a name that is not in the list, or that this architecture does not have.
    pub fn scope(&self, name: &str, spec: &FilterSpec, arch: Arch) -> Option<Scope> {
        let syscall = self.iter().find(|syscall| syscall.name == name)?;
        syscall.nr(arch)?;
        Some(match syscall.action {
            Action::Allow => Scope::Always,
            Action::Enosys | Action::Kill => Scope::Missing,
            Action::Deny => Scope::Never(Denial {
                errno: libc::EPERM as u16,
                why: syscall.reason,
            }),
            Action::Absent => Scope::Never(Denial {
                errno: libc::ENOSYS as u16,
                why: syscall.reason,
            }),
            Action::Rule(rule) => rule.body(spec).scope(),
        })
    }
}

impl Body {
    fn scope(&self) -> Scope {
        let verdicts = self.clauses.iter().map(|clause| clause.then).chain([self.otherwise]);
        let mut denials = Vec::new();
        let mut allowed = false;
        for verdict in verdicts {
            let denial = match verdict {
                Verdict::Allow | Verdict::Observe => {
                    allowed = true;
                    continue;
                }
                Verdict::Deny(denial) => denial,
                Verdict::Errno(errno) => Denial { errno, why: "" },
                Verdict::Kill => Denial {
                    errno: libc::EPERM as u16,
                    why: "ends the program",
                },
            };
            if !denials.contains(&denial) {
                denials.push(denial);
            }
        }
        match denials.first() {
            None => Scope::Always,
            Some(denial) if !allowed => Scope::Never(*denial),
            Some(_) => Scope::Sometimes(denials),
        }
    }
}
