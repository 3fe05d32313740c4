//! Questions about system calls.

use glee_sandbox::seccomp::{Arch, Scope, Table};
use glee_sandbox::steps::Step;

use super::Explained;
use crate::run::Prepared;

const LIST: &str = "seccomp: the list of system calls";

pub(super) fn explain(prepared: &Prepared, name: &str) -> Explained {
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
        Some(Scope::Never(denial)) => said(false, because(denial.why)),
        Some(Scope::Sometimes(denials)) => {
            let whys: Vec<&str> = denials.iter().map(|d| d.why).filter(|why| !why.is_empty()).collect();
            said(true, LIST.to_owned()).note(format!("only with some arguments; refused: {}", whys.join("; ")))
        }
        Some(Scope::Missing) => {
            said(false, LIST.to_owned()).note("programs see a kernel that does not have it (ENOSYS)")
        }
        None => {
            said(false, LIST.to_owned()).note("not in the list: programs see a kernel that does not have it (ENOSYS)")
        }
    };
    answer.by(Some(Step::Seccomp))
}
