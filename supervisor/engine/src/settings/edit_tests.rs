#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;

use super::*;

const FILE: &str = "\
# The team's settings.
subagents:
  max_concurrent: 5            # Max parallel subagents
  rate_limit_per_min: 20       # Max spawns per minute

# Kept short.
sessions: {max_history: 20, expiry_days: 7}   # flow

security:
  subagent_permissions:
    fs:
      read: [\".\"]              # Only project directory
      write:
        - out
    network: false
  # A comment at the end.
";

#[test]
fn a_value_is_replaced_and_nothing_around_it() {
    for (path, value, from, to) in [
        (
            "subagents.max_concurrent",
            "20",
            "max_concurrent: 5 ",
            "max_concurrent: 20 ",
        ),
        ("sessions.expiry_days", "30", "expiry_days: 7}", "expiry_days: 30}"),
        (
            "security.subagent_permissions.fs.read",
            "[src, docs]",
            "[\".\"] ",
            "[src, docs] ",
        ),
        (
            "security.subagent_permissions.network",
            "{allow: [a.org]}",
            "network: false",
            "network: {allow: [a.org]}",
        ),
    ] {
        assert_eq!(set(FILE, path, value), Ok(FILE.replace(from, to)), "{path}");
    }
}

#[test]
fn a_missing_key_goes_to_the_end_of_its_mapping() {
    for (path, value, after, added) in [
        (
            "subagents.timeout_ms",
            "1000",
            "# Max spawns per minute\n",
            "  timeout_ms: 1000\n",
        ),
        (
            "security.subagent_permissions.fs.deny",
            "[x]",
            "        - out\n",
            "      deny: [x]\n",
        ),
        (
            "security.require_approval.tools",
            "true",
            "    network: false\n",
            "  require_approval:\n    tools: true\n",
        ),
        (
            "workflows.budgets.max_steps",
            "3",
            "    network: false\n",
            "workflows:\n  budgets:\n    max_steps: 3\n",
        ),
    ] {
        let edited = set(FILE, path, value).unwrap();
        assert_eq!(edited, FILE.replacen(after, &format!("{after}{added}"), 1), "{path}");
    }
    let flow = set(FILE, "sessions.max_context_tokens", "900").unwrap();
    assert_eq!(flow, FILE.replace("days: 7}", "days: 7, max_context_tokens: 900}"));
}

#[test]
fn a_file_with_little_in_it_is_filled() {
    for (text, expected) in [
        ("", "a:\n  b: 1\n"),
        ("# only a comment\n", "# only a comment\na:\n  b: 1\n"),
        ("# no newline", "# no newline\na:\n  b: 1\n"),
        ("a:\n", "a:\n  b: 1\n"),
        ("a:   # later\nc: 2\n", "a:   # later\n  b: 1\nc: 2\n"),
        ("a: {}\n", "a: {b: 1}\n"),
        ("a:\n  b:\n", "a:\n  b: 1\n"),
        ("a:\n  b:   # later\n", "a:\n  b: 1   # later\n"),
        ("a:\n  b: ~\n", "a:\n  b: 1\n"),
        ("a: {b: 'x'}", "a: {b: 1}"),
        ("a:\n    b: \"ä€\" # ü\n", "a:\n    b: 1 # ü\n"),
        ("a:\r\n  b: 2\r\n", "a:\r\n  b: 1\r\n"),
        ("c: |\n  text\n  more\n", "c: |\n  text\n  more\na:\n  b: 1\n"),
        ("---\na:\n  c: 2\n", "---\na:\n  c: 2\n  b: 1\n"),
    ] {
        assert_eq!(set(text, "a.b", "1").as_deref(), Ok(expected), "{text:?}");
    }
}

#[test]
fn what_cannot_be_changed_alone_is_left_alone() {
    for text in [
        "a: 1\n",
        "a: [1]\n",
        "a: &x {b: 2}\nc: *x\n",
        "- a\n",
        "a: *x\n",
        "a:\n  b:\n    - 1\n    - 2\n",
        "a: {b: 1",
        "x: !t 1\n",
    ] {
        let result = set(text, "a.b", "1");
        let kept = result.is_err() || text.contains("&x");
        assert!(kept, "{text:?}: {result:?}");
    }
    for value in [
        "", " ", "1\nb: 2", "1 # x", "[1", "{", "'", "a: b: c", "*x", "!t x", "\u{0}",
    ] {
        assert!(set("a: {b: 2}\n", "a.b", value).is_err(), "{value:?}");
    }
    // In brackets this would be two entries: it is no single value there.
    assert!(set("a: {b: 2}\n", "a.b", "1, c: 3").is_err());
}

proptest! {
    #[test]
    fn an_edit_changes_the_one_value_or_nothing(text in "([a-c]: ?([0-9]|\\[\\]|\\{\\}|\"x\")?( # k)?\n|  [a-c]: [0-9]\n|# z\n){0,6}", value in "[0-9]{1,3}|\\[1\\]|x y|\\PC{1,6}") {
        if let Ok(edited) = set(&text, "a.b", &value) {
            let (old, new) = (document(&text).unwrap(), document(&edited).unwrap());
            prop_assert!(same(find(&new, "a.b").unwrap(), &document(value.trim()).unwrap()));
            for name in ["b", "c", "a.a", "a.c"] {
                let (old, new) = (find(&old, name), find(&new, name));
                prop_assert!(old.is_some() == new.is_some() && old.zip(new).is_none_or(|(a, b)| same(a, b)));
            }
            prop_assert_eq!(text.matches('#').count(), edited.matches('#').count());
        }
    }
}
