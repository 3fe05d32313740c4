//! Questions about variables.

use std::ffi::OsStr;

use glee_policy::decide::Question;
use glee_policy::hint;
use glee_sandbox::steps::Step;

use super::Explained;
use crate::run::Prepared;

/// The value is never looked at, let alone shown.
pub(super) fn explain(prepared: &Prepared, name: &str) -> Explained {
    let policy = &prepared.selected.policy;
    let verdict = policy.decide(&Question::Env(name));
    let given = prepared
        .plan
        .command
        .env
        .iter()
        .any(|(known, _)| known == OsStr::new(name));
    let said = |allowed, clause: String| {
        let mut answer = Explained::new("env", name.to_owned(), allowed, clause).by(Some(Step::Exec));
        answer.exists = Some(given);
        answer
    };
    if given && !verdict.allowed {
        return said(true, "set for the run by the sandbox itself".to_owned());
    }
    if !verdict.allowed {
        return said(false, verdict.clause)
            .from(verdict.origin.as_ref())
            .hint(hint::env(name));
    }
    let set = std::env::var_os(name).is_some();
    if !given && set {
        return said(
            false,
            "its value looks like a shell function, and such values never pass".to_owned(),
        );
    }
    let mut answer = said(true, verdict.clause).from(verdict.origin.as_ref());
    answer.why = why(prepared, name);
    if given {
        answer
    } else {
        answer.note("not set in your environment")
    }
}

fn why(prepared: &Prepared, name: &str) -> Option<String> {
    let policy = &prepared.selected.policy;
    let pattern = policy.env.allow.iter().find(|pattern| pattern.matches(name.as_bytes()));
    let allowed = pattern.map(|pattern| format!("env.allow.{pattern}"));
    let keys = [Some(format!("env.set.{name}")), allowed];
    keys.into_iter()
        .flatten()
        .find_map(|key| policy.whys.get(&key).cloned())
}
