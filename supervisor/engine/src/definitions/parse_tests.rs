#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeMap;

use super::*;
use crate::definitions::input::CallError;

const FULL: &str = r#"# The document's own example.
name: security-scanner
description: Scan code for security vulnerabilities
agent: claude
prompt: |
  Analyze ${target_file} for security issues.
  Report issues with severity >= ${severity}.
source:
  from: claude
  file: .claude/agents/security-scanner.md
  imported_at: "2026-01-09T15:00:00Z"
timeout_mins: 2.5
max_output_kb: 50
inputs:
  - name: target_file
    type: string
    description: File to analyze
    required: true
  - name: severity
    type: string
    description: Minimum severity to report
    default: "medium"
tools:
  - read_file
  - grep
  - web_search
permissions:
  network: false
  max_runtime_mins: 3
"#;

fn read(name: &str, text: &str) -> Result<Definition, DefinitionError> {
    parse(&Path::new("/p/.glee/agents").join(name), text.as_bytes())
}

fn small(more: &str) -> Result<Definition, DefinitionError> {
    read("a.yml", &format!("name: a\ndescription: d\nprompt: p\n{more}"))
}

/// `line:column: message`.
fn fault(result: Result<Definition, DefinitionError>) -> String {
    let error = result.unwrap_err();
    assert!(!error.help().is_empty());
    let at = error.origin();
    format!("{}:{}: {error}", at.line, at.column)
}

#[test]
fn every_key_of_the_schema_is_read() {
    let agent = read("security-scanner.yml", FULL).unwrap();
    assert_eq!(agent.name.as_str(), "security-scanner");
    assert_eq!(agent.description, "Scan code for security vulnerabilities");
    assert_eq!(agent.agent, Some(Cli::Claude));
    assert_eq!(agent.timeout, Some(Duration::from_secs(150)));
    assert_eq!(agent.max_output_kb, Some(50));
    assert_eq!(agent.tools, Some(vec![Tool::ReadFile, Tool::Grep, Tool::WebSearch]));
    assert_eq!(agent.inputs.len(), 2);
    assert_eq!(agent.source.as_ref().unwrap().from, Cli::Claude);
    assert!(agent.permissions.unwrap().max_runtime.is_some());
    assert_eq!(agent.digest, digest(FULL.as_bytes()));
}

#[test]
fn the_smallest_agent_has_three_keys() {
    let agent = small("").unwrap();
    assert_eq!((agent.agent, agent.tools, agent.timeout), (None, None, None));
    // An empty list is a list: no tools at all.
    assert_eq!(small("tools: []\n").unwrap().tools, Some(Vec::new()));
}

#[test]
fn a_mistake_is_named_with_its_line_and_column() {
    for (more, expected) in [
        ("promt: x\n", "4:1: unknown key `promt`"),
        ("name: b\n", "4:1: the key `name` is there twice"),
        ("agent: cursor\n", "4:8: `agent` cannot be `cursor`"),
        ("agent: 3\n", "4:8: `agent` must be text, found the number `3`"),
        ("timeout_mins: 0\n", "4:15: `timeout_mins`: `0` is zero"),
        (
            "timeout_mins: none\n",
            "4:15: `timeout_mins` must be a number, found the text `none`",
        ),
        (
            "max_output_kb: 1.5\n",
            "4:16: `max_output_kb`: `1.5` is not a whole number",
        ),
        (
            "tools: read_file\n",
            "4:8: `tools` must be a list, found the text `read_file`",
        ),
        ("tools: [read_file, Bash]\n", "4:20: `tools` cannot be `Bash`"),
        ("tools: [grep, grep]\n", "4:15: `tools` has `grep` twice"),
        ("inputs:\n  - {type: string}\n", "5:5: an input needs the key `name`"),
        ("inputs:\n  - {name: 1a}\n", "5:12: `1a` is not a name for an input"),
        (
            "inputs:\n  - {name: a, type: list}\n",
            "5:21: `inputs.type` cannot be `list`",
        ),
        (
            "inputs:\n  - {name: a}\n  - {name: a}\n",
            "6:5: there are two inputs `a`",
        ),
        (
            "inputs:\n  - {name: a, required: true, default: x}\n",
            "5:40: the input `a` is required and has a default",
        ),
        (
            "inputs:\n  - {name: a, type: integer, default: x}\n",
            "5:39: the default of the input `a` must be a integer",
        ),
        (
            "inputs:\n  - {name: a, required: yes}\n",
            "5:25: `inputs.required` must be `true` or `false`, found the text `yes`",
        ),
        (
            "source: {from: cursor, file: x, imported_at: y}\n",
            "4:16: `source.from` cannot be `cursor`",
        ),
        ("source: {from: claude}\n", "4:9: `source` needs the key `file`"),
        (
            "permissions:\n  netwrk: false\n",
            "5:3: unknown key `netwrk` in `permissions`",
        ),
        (
            "agent: codex\ntools: [read_file]\n",
            "5:8: codex cannot be held to `read_file`: it has its shell for that, which does everything else too",
        ),
        (
            "agent: claude\ntools: [list_directory]\n",
            "5:8: claude has no tool `list_directory`",
        ),
    ] {
        assert_eq!(fault(small(more)), expected, "{more}");
    }
}

#[test]
fn what_must_be_there_is_asked_for() {
    assert_eq!(
        fault(read("a.yml", "description: d\nprompt: p\n")),
        "1:1: the agent needs the key `name`"
    );
    assert_eq!(
        fault(read("a.yml", "name: a\nprompt: p\n")),
        "1:1: the agent needs the key `description`"
    );
    assert_eq!(
        fault(read("a.yml", "name: a\ndescription: d\n")),
        "1:1: the agent needs the key `prompt`"
    );
    assert_eq!(
        fault(read("a.yml", "name: a\ndescription: ''\nprompt: p\n")),
        "2:14: `description` must have one line of text"
    );
    assert_eq!(
        fault(read("a.yml", "name: a\ndescription: \"a\\nb\"\nprompt: p\n")),
        "2:14: `description` must have one line of text"
    );
    assert_eq!(
        fault(read("a.yml", "name: a\ndescription: d\nprompt: '  '\n")),
        "3:9: `prompt` must have some text"
    );
    assert_eq!(fault(read("a.yml", "")), "1:1: `` must be a mapping, found nothing");
    assert_eq!(
        fault(read("b.yml", "name: a\ndescription: d\nprompt: p\n")),
        "1:7: the agent is called `a`, its file `b.yml`"
    );
    assert_eq!(
        fault(read("A.yml", "name: A\ndescription: d\nprompt: p\n")),
        "1:7: `A` is not a name for an agent"
    );
}

#[test]
fn a_place_for_a_value_must_have_an_input_and_is_found_in_the_prompt() {
    let text = "name: a\ndescription: d\nprompt: |\n  one\n  two ${three}\n";
    assert_eq!(
        fault(read("a.yml", text)),
        "5:7: `prompt`: `${three}` is not one of the inputs"
    );
    assert_eq!(
        fault(read("a.yml", &text.replace("three", "a b"))),
        "5:7: `prompt`: `${a b}` holds no name"
    );
    assert!(read("a.yml", &text.replace("${three}", "$${three}")).is_ok());
}

#[test]
fn a_call_fills_the_prompt_once_with_typed_values() {
    let agent = read("security-scanner.yml", FULL).unwrap();
    let call = |values: &[(&str, &str)]| {
        let given: BTreeMap<String, String> = values.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect();
        agent.fill(&given)
    };
    assert_eq!(
        call(&[("target_file", "${severity}")]).unwrap(),
        "Analyze ${severity} for security issues.\nReport issues with severity >= medium.\n"
    );
    assert!(matches!(call(&[]), Err(CallError::Missing { name, .. }) if name == "target_file"));
    assert!(
        matches!(call(&[("target_file", "x"), ("nme", "y")]), Err(CallError::Unknown { name, .. }) if name == "nme")
    );
    let long = "x".repeat(crate::definitions::input::MAX_VALUES + 1);
    assert!(matches!(
        call(&[("target_file", &long)]),
        Err(CallError::TooLong { .. })
    ));
    let text = "name: a\ndescription: d\nprompt: ${n} ${b} ${o}\ninputs: [{name: n, type: integer}, {name: b, type: boolean, default: true}, {name: o}]\n";
    let typed = read("a.yml", text).unwrap();
    let given = |n: &str| [("n".to_owned(), n.to_owned()), ("o".to_owned(), String::new())].into();
    assert_eq!(typed.fill(&given("-7")).unwrap(), "-7 true ");
    assert!(matches!(typed.fill(&given("1.5")), Err(CallError::WrongType { .. })));
    // Optional, but the prompt has a place for it.
    let only = [("n".to_owned(), "1".to_owned())].into();
    assert!(matches!(typed.fill(&only), Err(CallError::Missing { name, .. }) if name == "o"));
}

#[test]
fn no_hint_about_an_agent_speaks_of_a_policy() {
    let deep = format!("name: a\ninputs: {}{}\n", "[".repeat(100), "]".repeat(100));
    for text in [deep, format!("name: a\n# {}", "x".repeat(2 << 20))] {
        let error = read("a.yml", &text).unwrap_err();
        assert!(!error.help().contains("policy"), "{}", error.help());
    }
}
