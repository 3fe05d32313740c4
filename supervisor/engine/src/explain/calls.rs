//! Questions about system calls.

use std::str::FromStr;

use glee_policy::suggest::nearest;
use glee_sandbox::seccomp::{Arch, Scope, Table};
use glee_sandbox::steps::Step;

use super::Explained;
use crate::run::Prepared;

const MISSING: &str = "programs see a kernel that does not have it (ENOSYS)";
const LIST: &str = "seccomp: the list of system calls";

/// A system call that Linux has, as the list writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallName(&'static str);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallProblem {
    #[error("`{text}` is not a system call; did you mean `{meant}`?")]
    Meant { text: String, meant: &'static str },
    #[error("`{0}` is not a system call: write its name as `strace` does")]
    Unknown(String),
}

impl FromStr for CallName {
    type Err = CallProblem;

    fn from_str(text: &str) -> Result<Self, CallProblem> {
        let unknown = || CallProblem::Unknown(text.to_owned());
        let table = Table::builtin().map_err(|_| unknown())?;
        let listed = |name: &str| table.iter().map(|call| call.name).find(|known| *known == name);
        if let Some(name) = listed(text) {
            return Ok(Self(name));
        }
        // A number, or the name of the kernel's own function: `__x64_sys_mount`.
        let small = text.to_ascii_lowercase();
        let bare = small.rsplit_once("sys_").map_or(small.as_str(), |(_, name)| name);
        let by_number = text.parse().ok().and_then(|nr| table.name_of(nr, Arch::NATIVE));
        let near = || nearest(bare, table.iter().map(|call| call.name)).and_then(listed);
        match by_number.or_else(|| listed(bare)).or_else(near) {
            Some(meant) => Err(CallProblem::Meant {
                text: text.to_owned(),
                meant,
            }),
            None => Err(unknown()),
        }
    }
}

pub(super) fn explain(prepared: &Prepared, CallName(name): CallName) -> Explained {
    let said = |allowed, clause: String| Explained::new("syscall", name.to_owned(), allowed, clause);
    let policy = &prepared.selected.policy;
    let Some(spec) = &prepared.plan.seccomp else {
        return said(true, "mode: inherit".to_owned()).from(policy.origins.get("mode"));
    };
    let scope = Table::builtin()
        .ok()
        .and_then(|table| table.scope(name, spec, Arch::NATIVE));
    let because = |why: &str| {
        if why.is_empty() {
            LIST.to_owned()
        } else {
            format!("seccomp: {why}")
        }
    };
    let answer = match scope {
        Some(Scope::Always) => said(true, LIST.to_owned()),
        Some(Scope::Never(denial)) if i32::from(denial.errno) == libc::ENOSYS => {
            said(false, because(denial.why)).note(MISSING)
        }
        Some(Scope::Never(denial)) => said(false, because(denial.why)),
        Some(Scope::Sometimes(denials)) => {
            let whys: Vec<&str> = denials.iter().map(|d| d.why).filter(|why| !why.is_empty()).collect();
            let note = if whys.is_empty() {
                "some arguments are answered as if the kernel did not know them".to_owned()
            } else {
                format!("only with some arguments; refused: {}", whys.join("; "))
            };
            said(true, LIST.to_owned()).note(note)
        }
        Some(Scope::Missing) => said(false, LIST.to_owned()).note(format!("{MISSING}; not reported")),
        None => said(false, LIST.to_owned()).note(format!("not in the list: {MISSING}; not reported")),
    };
    answer.by(Some(Step::Seccomp))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_named_as_the_list_names_it_and_what_was_meant_is_told() {
        assert_eq!("mount".parse(), Ok(CallName("mount")));
        let meant = |text: &str| match text.parse::<CallName>() {
            Err(CallProblem::Meant { meant, .. }) => Some(meant),
            Ok(_) | Err(CallProblem::Unknown(_)) => None,
        };
        let number = Table::builtin()
            .ok()
            .and_then(|table| table.nr_of("mount", Arch::NATIVE));
        let number = number.map(|number| number.to_string()).unwrap_or_default();
        let near = ["MOUNT", "sys_mount", "__x64_sys_mount", "mont", &number];
        assert_eq!(near.map(meant), [Some("mount"); 5]);
        let unknown = ["", "nosuch", " ", "99999", "mount umount2"];
        let refused = unknown.map(|text| text.parse::<CallName>() == Err(CallProblem::Unknown(text.to_owned())));
        assert_eq!(refused, [true; 5]);
    }
}
