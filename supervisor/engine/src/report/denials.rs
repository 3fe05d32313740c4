//! What was refused, as the report lists it.

use glee_egress::record::{Attempt, Outcome as Verdict};
use glee_sandbox::launch::Denied;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct Denial {
    pub kind: &'static str,
    pub syscall: String,
    #[serde(flatten)]
    pub what: What,
    pub pid: u32,
    pub program: String,
    pub rule: String,
    pub hint: String,
    pub count: u64,
}

/// What was refused: exactly one of `path`, `host` and `name`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    Host(String),
    Name(String),
}

/// Calls that the filter refused.
pub(super) fn of_calls(denied: &[Denied]) -> Vec<Denial> {
    denied
        .iter()
        .map(|denied| Denial {
            kind: "syscall",
            syscall: denied.syscall.clone(),
            what: What::Name(denied.syscall.clone()),
            pid: denied.pid,
            program: denied.program.clone(),
            rule: format!("seccomp: {}", denied.why),
            hint: "no policy key allows this call".to_owned(),
            count: denied.count,
        })
        .collect()
}

/// Connections that were refused.
pub(super) fn of_attempts(attempts: &[Attempt]) -> impl Iterator<Item = Denial> {
    let refused = attempts.iter().filter(|attempt| attempt.verdict == Verdict::Refused);
    refused.map(|attempt| Denial {
        kind: "network",
        syscall: "connect".to_owned(),
        what: What::Host(format!("{}:{}", attempt.host, attempt.port)),
        pid: 0,
        program: String::new(),
        rule: match (&attempt.rule, &attempt.reason) {
            (Some(rule), _) => format!("network.deny `{rule}`"),
            (None, Some(reason)) => reason.clone(),
            (None, None) => "network.allow does not name it".to_owned(),
        },
        hint: attempt.hint.clone().unwrap_or_default(),
        count: attempt.count,
    })
}
