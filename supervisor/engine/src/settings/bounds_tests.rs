#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::Path;

use glee_policy::layer::NoLibrary;
use glee_policy::{Host, Source, Walk};

use super::*;

struct Nowhere;

impl Host for Nowhere {
    fn project(&self) -> &Path {
        Path::new("/p")
    }
    fn home(&self) -> Option<&Path> {
        Some(Path::new("/h"))
    }
    fn walk(&self, path: &Path) -> Walk {
        Walk {
            path: path.to_owned(),
            exists: true,
            links: Vec::new(),
        }
    }
}

fn policy(text: &str) -> ResolvedPolicy {
    let policy = glee_policy::parse(&Source::File("p.yml".into()), text).unwrap();
    glee_policy::resolve(&policy, &NoLibrary, &Nowhere).unwrap()
}

fn agent(more: &str) -> Definition {
    let text = format!("name: a\ndescription: d\nprompt: p\n{more}");
    crate::definitions::parse(Path::new("/p/a.yml"), text.as_bytes()).unwrap()
}

fn settings(text: &str) -> Settings {
    crate::settings::read(&Source::File("config.yml".into()), text.as_bytes()).unwrap()
}

/// (seconds, KiB)
fn of(agent_text: Option<(&str, Standing)>, config: &str, run: &str) -> (u64, u64) {
    let found = agent_text.map(|(text, standing)| (agent(text), standing));
    let asked = found.as_ref().map(|(agent, standing)| (agent, *standing));
    let bounds = bounds(asked, &settings(config), &policy(run));
    (bounds.timeout.as_secs(), bounds.max_output_kb)
}

const WIDE: &str = "max_runtime_mins: 600\nlimits: {output_kb: 100000}\n";

#[test]
fn the_most_specific_word_counts() {
    use Standing::{Trusted, Untrusted};
    assert_eq!(of(None, "", WIDE), (60, 100));
    assert_eq!(
        of(None, "subagents: {timeout_ms: 30000, max_output_kb: 5}", WIDE),
        (30, 5)
    );
    assert_eq!(of(Some(("", Untrusted)), "", WIDE), (300, 100));
    assert_eq!(
        of(
            Some(("", Untrusted)),
            "subagents: {timeout_ms: 30000, max_output_kb: 5}",
            WIDE
        ),
        (30, 5)
    );
    let own = "timeout_mins: 20\nmax_output_kb: 900\n";
    assert_eq!(
        of(Some((own, Trusted)), "subagents: {timeout_ms: 30000}", WIDE),
        (1200, 900)
    );
}

#[test]
fn a_stranger_lowers_and_does_not_raise() {
    let raised = "timeout_mins: 20\nmax_output_kb: 900\n";
    for standing in [Standing::Untrusted, Standing::Changed] {
        assert_eq!(of(Some((raised, standing)), "", WIDE), (300, 100));
        assert_eq!(
            of(Some(("timeout_mins: 1\nmax_output_kb: 9\n", standing)), "", WIDE),
            (60, 9)
        );
    }
    let clauses: Vec<String> = beyond(&agent(raised)).into_iter().map(|(clause, _)| clause).collect();
    assert_eq!(clauses, ["timeout_mins 20", "max_output_kb 900"]);
    assert_eq!(beyond(&agent("timeout_mins: 5\n")), []);
}

#[test]
fn nothing_goes_above_the_policy() {
    let tight = "max_runtime_mins: 0.5\nlimits: {output_kb: 7}\n";
    let own = "timeout_mins: 20\nmax_output_kb: 900\n";
    assert_eq!(
        of(Some((own, Standing::Trusted)), "subagents: {timeout_ms: 900000}", tight),
        (30, 7)
    );
    assert_eq!(of(None, "", tight), (30, 7));
}
