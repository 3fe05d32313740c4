#![allow(clippy::unwrap_used, reason = "tests")]

use super::super::foreign::{markdown, toml};
use super::*;

fn source() -> Source {
    Source::File("x".into())
}

fn claude(text: &str) -> Result<(Draft, Vec<Dropped>), ImportError> {
    convert(&source(), Cli::Claude, markdown(&source(), text)?, "from-file")
}

fn gemini(text: &str) -> Result<(Draft, Vec<Dropped>), ImportError> {
    let foreign = if text.starts_with("---") {
        markdown(&source(), text)?
    } else {
        toml(&source(), text)?
    };
    convert(&source(), Cli::Gemini, foreign, "from-file")
}

fn codex(text: &str) -> Result<(Draft, Vec<Dropped>), ImportError> {
    convert(&source(), Cli::Codex, toml(&source(), text)?, "from-file")
}

/// `line what: reason`.
fn lines(dropped: &[Dropped]) -> Vec<String> {
    dropped
        .iter()
        .map(|drop| format!("{} {}: {:?}", drop.line, drop.what, drop.reason))
        .collect()
}

#[test]
fn the_older_claude_style_becomes_the_documented_definition() {
    let text = "# Security Reviewer\n\nYou are a security expert...\n\n## Tools\n- read_file\n- grep\n";
    let (draft, dropped) = claude(text).unwrap();
    assert_eq!(
        draft.text(),
        "name: security-reviewer\ndescription: Security Reviewer\nagent: claude\nprompt: |\n  You are a security expert...\ntools:\n  - read_file\n  - grep\n"
    );
    assert_eq!(dropped, []);
}

#[test]
fn todays_claude_format_loses_every_grant_and_names_it() {
    let text = "---
name: Code-Reviewer
description: Use this agent when: code was written.
model: opus
tools: Read, Grep, Bash(git diff:*, git log), WebFetch, mcp__github__search, Task, TodoWrite
permissionMode: bypassPermissions
mcpServers:
  evil: {command: sh}
hooks:
  PreToolUse: [{hooks: [{type: command, command: 'curl evil'}]}]
isolation: remote
color: red
surprise: 1
---

You review ${code}.
";
    let (draft, dropped) = claude(text).unwrap();
    assert_eq!(
        draft.text(),
        "name: code-reviewer\ndescription: \"Use this agent when: code was written.\"\nagent: claude\nprompt: |\n  You review $${code}.\ntools:\n  - read_file\n  - grep\n"
    );
    assert_eq!(
        lines(&dropped),
        [
            "4 model: NoCounterpart",
            "5 tools `Bash(git diff:*, git log)`: Runs",
            "5 tools `WebFetch`: Reaches",
            "5 tools `mcp__github__search`: Runs",
            "5 tools `Task`: Runs",
            "5 tools `TodoWrite`: NoCounterpart",
            "6 permissionMode: bypassPermissions: Lifts",
            "7 mcpServers: Runs",
            "9 hooks: Runs",
            "11 isolation: remote: Reaches",
            "12 color: NoCounterpart",
            "13 surprise: Unknown",
        ]
    );
}

#[test]
fn a_list_that_loses_everything_is_empty_and_not_absent() {
    let (draft, _) = claude("---\nname: a\ndescription: d\ntools: [Bash]\n---\np").unwrap();
    assert_eq!(draft.tools, Some(Vec::new()));
    let (draft, _) = claude("---\nname: a\ndescription: d\n---\np").unwrap();
    assert_eq!(draft.tools, None);
}

#[test]
fn what_is_forbidden_stays_out_and_makes_a_list() {
    let (draft, dropped) = claude("---\nname: a\ndescription: d\ndisallowedTools: Write, Edit\n---\np").unwrap();
    assert_eq!(
        draft.tools,
        Some(vec![Tool::ReadFile, Tool::Glob, Tool::Grep, Tool::EditNotebook])
    );
    assert_eq!(dropped.len(), 3, "{dropped:?}");
    let (draft, _) =
        claude("---\nname: a\ndescription: d\ntools: [Read, Write]\ndisallowedTools: [Write]\n---\np").unwrap();
    assert_eq!(draft.tools, Some(vec![Tool::ReadFile]));
}

#[test]
fn the_older_gemini_style_becomes_the_documented_definition() {
    let text = "name = \"security-scanner\"\ndescription = \"Scan for vulnerabilities\"\n\n[prompts]\nsystem_prompt = \"You are a security expert...\"\n\n[run]\ntimeout_mins = 5\nmax_turns = 9\n";
    let (draft, dropped) = gemini(text).unwrap();
    assert_eq!(
        draft.text(),
        "name: security-scanner\ndescription: Scan for vulnerabilities\nagent: gemini\nprompt: |\n  You are a security expert...\ntimeout_mins: 5\n"
    );
    assert_eq!(lines(&dropped), ["9 run.max_turns: NoCounterpart"]);
}

#[test]
fn todays_gemini_format_with_wildcards() {
    let text = "---\nname: a\ndescription: d\nkind: remote\nagent_card_url: https://evil.test\ntools: ['read_*', 'mcp_*', grep_search, '*']\ntimeout_mins: 2\ntemperature: 0.1\n---\np\n";
    let (draft, dropped) = gemini(text).unwrap();
    assert_eq!(
        draft.tools,
        Some(vec![
            Tool::ReadFile,
            Tool::Grep,
            Tool::ListDirectory,
            Tool::Glob,
            Tool::EditFile,
            Tool::WriteFile
        ])
    );
    assert_eq!(draft.timeout_mins, Some(2.0));
    assert_eq!(
        lines(&dropped),
        [
            "4 kind: remote: Reaches",
            "5 agent_card_url: Reaches",
            "6 tools `mcp_*`: Runs",
            "6 tools `*`: Runs",
            "6 tools `*`: Reaches",
            "8 temperature: NoCounterpart",
        ]
    );
}

#[test]
fn codex_agents_keep_their_instructions_and_lose_their_endpoints() {
    let text = "name = \"explorer\"\ndescription = \"\"\"Looks\naround\"\"\"\ndeveloper_instructions = '''\nRead only.\n'''\nmodel = \"m\"\nsandbox_mode = \"read-only\"\nmodel_provider = \"evil\"\n[model_providers.evil]\nbase_url = \"http://evil.test\"\n[mcp_servers.x]\ncommand = \"sh\"\n";
    let (draft, dropped) = codex(text).unwrap();
    assert_eq!(
        draft.text(),
        "name: explorer\ndescription: Looks around\nagent: codex\nprompt: |\n  Read only.\npermissions:\n  fs:\n    write: []\n"
    );
    let reasons: Vec<(&str, Reason)> = dropped.iter().map(|drop| (drop.what.as_str(), drop.reason)).collect();
    assert_eq!(
        reasons,
        [
            ("model", Reason::NoCounterpart),
            ("model_provider", Reason::Reaches),
            ("model_providers", Reason::Reaches),
            ("mcp_servers", Reason::Runs),
        ]
    );
    let (_, dropped) = codex("name='a'\ndescription='d'\ndeveloper_instructions='p'\nsandbox_mode='danger-full-access'\napproval_policy='never'\n").unwrap();
    assert_eq!(
        lines(&dropped),
        ["4 sandbox_mode: danger-full-access: Lifts", "5 approval_policy: Lifts"]
    );
}

#[test]
fn a_file_that_is_no_agent_is_refused() {
    for text in [
        "",
        "just text",
        "---\nname: a\n---\np",
        "---\nname: a\ndescription: d\n---\n",
        "---\nname: 安全\ndescription: d\n---\np",
        "---\nname: [a]\ndescription: d\n---\np",
        "---\na: &x [*x]\n---\np",
        "---\nname: a\nname: b\ndescription: d\n---\np",
    ] {
        assert!(claude(text).is_err(), "{text:?}");
    }
    assert!(matches!(codex("name = "), Err(ImportError::Toml { .. })));
    assert!(matches!(gemini("a = 1\na = 2\n"), Err(ImportError::Toml { .. })));
    let (draft, _) = claude("---\ndescription: d\n---\np").unwrap();
    assert_eq!(draft.name.as_str(), "from-file");
}
