use proptest::prelude::*;

use super::*;
use crate::layer::NoLibrary;
use crate::parse;
use crate::testing::{FakeHost, file, resolved};

const RUN: &str = "fs: {read: [.], write: [src]}\nnetwork: {allow: [a.org, b.org]}\nenv: {allow: [PATH, HOME]}\nmax_runtime_mins: 10\nlimits: {pids: 100}\n";

fn of(part: &str, run: &str) -> (ResolvedPolicy, Vec<String>) {
    let run = resolved(run);
    let part = parse(&file(), part).unwrap();
    let (policy, beyond) = within(&part, &run, &NoLibrary, &FakeHost::new()).unwrap();
    (policy, beyond.iter().map(|excess| excess.clause.clone()).collect())
}

#[test]
fn a_part_that_says_nothing_changes_nothing() {
    let (policy, beyond) = of("why: nothing\n", RUN);
    assert_eq!(policy.meaning(), resolved(RUN).meaning());
    assert_eq!(beyond, Vec::<String>::new());
}

#[test]
fn only_what_is_written_becomes_narrower() {
    let (policy, beyond) = of("max_runtime_mins: 2\nfs: {write: []}\n", RUN);
    let expected = resolved(&RUN.replace("[src]", "[]").replace("mins: 10", "mins: 2"));
    assert_eq!(policy.meaning(), expected.meaning());
    assert_eq!(beyond, Vec::<String>::new());
}

#[test]
fn what_is_asked_for_beyond_the_run_is_named_and_not_given() {
    let (policy, beyond) = of(
        "fs: {write: [.]}\nnetwork: {allow: [a.org, c.org]}\nenv: {allow: [PATH, TOKEN]}\nmax_runtime_mins: 60\n",
        RUN,
    );
    let expected = "fs: {read: [.], write: [src]}\nnetwork: {allow: [a.org]}\nenv: {allow: [PATH]}\nmax_runtime_mins: 10\nlimits: {pids: 100}\n";
    assert_eq!(policy.meaning(), resolved(expected).meaning());
    assert_eq!(
        beyond,
        [
            "fs.write `.`",
            "network.allow `c.org`",
            "env TOKEN",
            "max_runtime_mins 60"
        ]
    );
}

#[test]
fn a_part_takes_the_run_out_of_inherit() {
    let (policy, _) = of("fs: {read: [.]}\n", "mode: inherit\n");
    assert_eq!(policy.mode, Mode::Restricted);
}

fn key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "extends: workspace",
        "extends: inherit",
        "mode: inherit",
        "fs: {read: [/]}",
        "fs: {write: [.]}",
        "fs: {read: [src], write: []}",
        "fs: {deny: [src]}",
        "network: true",
        "network: false",
        "network: {allow: [a.org, evil.org]}",
        "network: {deny: [a.org]}",
        "env: {allow: [PATH, TOKEN]}",
        "env: {set: {A_B: x}}",
        "max_runtime_mins: none",
        "limits: {pids: none, memory_mb: 1}",
        "isolation: landlock",
        "model_endpoint: http://evil.org",
        "key_command: [steal]",
        "auth: mount",
        "unprotect: [.git/hooks]",
        "image: evil",
    ])
}

proptest! {
    #[test]
    fn the_result_is_never_wider_than_the_run(
        part in prop::collection::btree_set(key(), 0..5),
        run in prop::sample::select(vec![RUN, "why: x\n", "extends: workspace\n", "network: true\n", "mode: inherit\n"]),
    ) {
        let run = resolved(run);
        let text: String = part.iter().map(|line| format!("{line}\n")).collect();
        // Two lines with one key, or a mode that cannot enforce another line, are no policy.
        let Ok(part) = parse(&file(), &text) else { return Ok(()) };
        let Ok((policy, _)) = within(&part, &run, &NoLibrary, &FakeHost::new()) else { return Ok(()) };
        prop_assert_eq!(exceeds(&policy, &run), Vec::new(), "{}", text);
    }
}
