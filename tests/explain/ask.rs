//! Asks `policy explain`, and reads what it says.

use std::path::{Path, PathBuf};

use glee_tests::{Run, World, binary};
use serde_json::Value;

/// What is to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    Read,
    Write,
    Exec,
}

impl Use {
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Exec, Self::Write];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Exec => "exec",
        }
    }

    fn flag(self) -> Option<&'static str> {
        match self {
            Self::Read => None,
            Self::Write => Some("--write"),
            Self::Exec => Some("--exec"),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) allowed: bool,
    pub(crate) exists: Option<bool>,
    pub(crate) hint: Option<String>,
    pub(crate) later: bool,
    pub(crate) all: Value,
}

/// What the variables of every run are besides the harness's own.
pub(crate) const VARIABLES: &[(&str, &str)] = &[
    ("FOO", "theirs"),
    ("BAR_ONE", "1"),
    ("LC_ALL", "C.UTF-8"),
    ("SECRET_TOKEN", "x"),
    ("LD_BIND_NOW", "1"),
    ("FUNCTION", "() { :; }"),
];

/// A run of any command of the supervisor's, in the same surroundings as the sandbox.
pub(crate) fn around<'w>(mut run: Run<'w>) -> Run<'w> {
    for (name, value) in VARIABLES {
        run = run.env(name, value);
    }
    run
}

/// The answers in the order of the questions; `None` if the policy is refused (125).
pub(crate) fn explain(world: &World, policy: &Path, asked: &[String], command: &[&str]) -> Option<Vec<Said>> {
    let fixed = [
        binary().display().to_string(),
        "policy".into(),
        "explain".into(),
        policy.display().to_string(),
    ];
    let after = ["--json".to_owned(), "--".to_owned()];
    let command = command.iter().map(|word| (*word).to_owned());
    let words = fixed
        .into_iter()
        .chain(asked.iter().cloned())
        .chain(after)
        .chain(command);
    let outcome = around(Run::bare(world)).raw_command(words.map(Into::into)).go();
    if outcome.code() == Some(125) {
        return None;
    }
    let answers: Vec<Value> =
        serde_json::from_str(&outcome.out()).unwrap_or_else(|e| panic!("{e}: {}", outcome.describe()));
    let said: Vec<Said> = answers.into_iter().map(said).collect();
    let expected = i32::from(said.iter().any(|answer| !answer.allowed));
    assert_eq!(outcome.code(), Some(expected), "{}", outcome.describe());
    Some(said)
}

fn said(all: Value) -> Said {
    let text = |key: &str| all.get(key).and_then(Value::as_str).map(str::to_owned);
    let by = text("enforced_by");
    Said {
        allowed: all["allowed"].as_bool().expect("a verdict"),
        exists: all.get("exists").and_then(Value::as_bool),
        hint: text("hint"),
        later: by.as_deref() == Some("watch"),
        all,
    }
}

/// The flags that ask about paths.
pub(crate) fn about(usage: Use, paths: &[PathBuf]) -> Vec<String> {
    let mut flags: Vec<String> = usage.flag().into_iter().map(str::to_owned).collect();
    for path in paths {
        flags.extend(["--path".to_owned(), path.display().to_string()]);
    }
    flags
}
