//! Questions about variables.

use std::ffi::OsStr;
use std::str::FromStr;

use glee_policy::decide::Question;
use glee_policy::env::is_env_name;
use glee_policy::hint;
use glee_sandbox::steps::Step;

use super::Explained;
use crate::run::Prepared;

/// The name of a variable, as a policy can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VariableProblem {
    #[error("`{0}` is not the name of a variable: write letters, digits and `_`, and no value")]
    Syntax(String),
    #[error("`{0}` is not the name of a variable: ask for one that it would match")]
    Pattern(String),
}

impl FromStr for Variable {
    type Err = VariableProblem;

    fn from_str(text: &str) -> Result<Self, VariableProblem> {
        match text {
            name if is_env_name(name) => Ok(Self(name.to_owned())),
            pattern if pattern.contains('*') => Err(VariableProblem::Pattern(pattern.to_owned())),
            other => Err(VariableProblem::Syntax(other.to_owned())),
        }
    }
}

/// The value is never looked at, let alone shown.
pub(super) fn explain(prepared: &Prepared, Variable(name): &Variable) -> Explained {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_named_without_a_value_and_without_a_star() {
        assert_eq!("LC_ALL".parse(), Ok(Variable("LC_ALL".into())));
        for text in ["", "A=B", "A B", "1A", "Ä", "A\0"] {
            assert_eq!(text.parse::<Variable>(), Err(VariableProblem::Syntax(text.into())));
        }
        assert_eq!("LC_*".parse::<Variable>(), Err(VariableProblem::Pattern("LC_*".into())));
    }
}
