//! `network: {allow: […]}` against a small internet that the test made: what is not allowed hears nothing.
//!
//! The bare control runs in the same lab without the supervisor; where the attack goes through a proxy, a naive one answers
//! there. A leak is the nonce, heard by any server: what is allowed is said without it.

#![allow(clippy::indexing_slicing, reason = "an absent key of the report reads as null")]

mod addresses;
mod companion;
mod http;
mod limits;
mod names;
mod rules;
mod tls;
mod tunnels;

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

pub(crate) const AREAS: &[(&str, &[&str])] = &[
    ("egress/addresses", addresses::CLAIMS),
    ("egress/companion", companion::CLAIMS),
    ("egress/http", http::CLAIMS),
    ("egress/limits", limits::CLAIMS),
    ("egress/names", names::CLAIMS),
    ("egress/rules", rules::CLAIMS),
    ("egress/tls", tls::CLAIMS),
    ("egress/tunnels", tunnels::CLAIMS),
];

const ALLOWED: &str = "extends: restricted\nnetwork: {allow: [allowed.test]}\n";

/// In a lab, with only `allowed.test` allowed, and with a report at `@OUT/report`.
fn lab(script: impl Into<String>) -> Attempt {
    with(script, Leak::Carried)
}

/// The same where something else than the nonce would be seen.
fn seen(script: impl Into<String>, question: fn(&World, &Outcome) -> Option<String>) -> Attempt {
    with(script, Leak::Seen(question))
}

fn with(script: impl Into<String>, leak: Leak) -> Attempt {
    attempt(script, leak)
        .given(World::join_lab)
        .yaml(ALLOWED)
        .flags(&["--report", "@OUT/report", "--no-denials"])
}

/// The same with other rules, such as `allow: [a.test], deny: [b.test]`.
fn under(rules: &str, script: impl Into<String>) -> Attempt {
    lab(script).yaml(&format!("extends: restricted\nnetwork: {{{rules}}}\n"))
}

/// The report of a run in a lab.
fn report(w: &World) -> serde_json::Value {
    let text = fs::read_to_string(w.path("@OUT/report")).expect("read the report");
    serde_json::from_str(&text).expect("the report is JSON")
}

trait Reported {
    /// A row of the report's `egress` was refused or failed, and holds this text; a refused one is also a denial.
    fn reported(self, text: &'static str) -> Self;
}

impl Reported for Attempt {
    fn reported(self, text: &'static str) -> Self {
        self.then(move |w, o| reported(w, o, text))
    }
}

fn reported(w: &World, o: &Outcome, text: &str) {
    let report = report(w);
    let text = w.fill(text);
    let rows = |key: &str| report[key].as_array().cloned().unwrap_or_default();
    let row = rows("egress")
        .into_iter()
        .find(|row| row["verdict"] != "allowed" && row.to_string().contains(&text));
    let Some(row) = row else {
        panic!(
            "no row of the report tells of `{text}`: {:#}\n{}",
            report["egress"],
            o.describe()
        );
    };
    if row["verdict"] == "refused" {
        let host = row["host"].as_str().unwrap_or_default();
        // Who only asked for a name has not said a port.
        let what = if row["port"] == 0 {
            host.to_owned()
        } else {
            format!("{host}:{}", row["port"])
        };
        let denied = rows("denials").iter().any(|d| d["host"] == what.as_str());
        assert!(
            denied,
            "refused, but not among the denials: {what}\n{:#}",
            report["denials"]
        );
    }
}
