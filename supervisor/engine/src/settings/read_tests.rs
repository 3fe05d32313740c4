#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

fn of(text: &str) -> Result<Settings, SettingsError> {
    read(&Source::File("config.yml".into()), text.as_bytes())
}

fn fault(text: &str) -> String {
    let error = of(text).unwrap_err();
    let at = error.origin();
    format!("{}:{}: {error}; {}", at.line, at.column, error.help())
}

/// Every key that the documents name.
const DOCUMENTED: &str = "\
subagents:
  default_agent: codex
  max_concurrent: 5
  rate_limit_per_min: 20
  timeout_ms: 120000
  max_output_kb: 50
  max_depth: 0
sessions:
  max_history: 10
  max_context_tokens: 8000
  expiry_days: 3
security:
  subagent_permissions:
    mode: restricted
    fs: {read: [\".\"], write: [\".glee/agent_sessions/\", \".glee/stream_logs/\"]}
    network: false
    env: {allow: [PATH, HOME, LANG]}
    max_runtime_mins: 10
  require_approval:
    subagents: true
    tools: true
workflows:
  max_depth: 3
  budgets: {max_steps: 50, max_parallel: 5, max_runtime_mins: 10, max_cost_usd: 5.00}
  ai_generated_budgets: {max_steps: 10, max_parallel: 3, max_runtime_mins: 5}
  prices:
    claude: {input_per_mtok: 3, output_per_mtok: 15.00}
    codex: {input_per_mtok: 1.25, output_per_mtok: 10}
    gemini: {input_per_mtok: 0.3, output_per_mtok: 2.5}
    stub: {input_per_mtok: 0, output_per_mtok: 0.000001}
";

#[test]
fn every_documented_key_is_read() {
    let settings = of(DOCUMENTED).unwrap();
    assert!(Key::ALL.iter().all(|key| settings.is_written(*key)));
    assert_eq!(settings.default_agent(), Some(Cli::Codex));
    assert_eq!(settings.number(Key::MaxConcurrent), Some(5));
    assert_eq!(settings.number(Key::BudgetCostCents), Some(500));
    assert_eq!(settings.number(Key::InputPrice(Cli::Codex)), Some(1_250_000));
    assert_eq!(settings.number(Key::InputPrice(Cli::Stub)), Some(0));
    assert_eq!(settings.number(Key::OutputPrice(Cli::Stub)), Some(1));
    assert!(settings.is_on(Key::ApproveSubagents) && settings.is_on(Key::ApproveTools));
    // Timeouts above the default need trust; everything else narrows.
    let beyond: Vec<Key> = settings.beyond().into_iter().map(|(key, _, _)| key).collect();
    assert_eq!(beyond, [Key::TimeoutMs]);
    assert_eq!(settings.narrowed().number(Key::TimeoutMs), Some(60_000));
}

#[test]
fn what_is_not_written_has_its_documented_default() {
    let settings = of("").unwrap();
    let number = |key| settings.number(key);
    assert_eq!(number(Key::MaxConcurrent), Some(10));
    assert_eq!(number(Key::TimeoutMs), Some(60_000));
    assert_eq!(number(Key::MaxOutputKb), Some(100));
    assert_eq!(number(Key::MaxHistory), Some(20));
    assert_eq!(number(Key::ExpiryDays), Some(7));
    assert_eq!(number(Key::RateLimitPerMin), None);
    assert_eq!(settings.beyond(), []);
}

#[test]
fn a_mistake_is_named_with_its_line_and_what_to_do() {
    for (text, expected) in [
        (
            "subagent: {}\n",
            "1:1: unknown key `subagent`; did you mean `subagents`?",
        ),
        (
            "x: 1\n",
            "1:1: unknown key `x`; known keys: `security`, `sessions`, `subagents`, `workflows`",
        ),
        (
            "subagents:\n  max_concurent: 3\n",
            "2:3: unknown key `subagents.max_concurent`; did you mean `max_concurrent`?",
        ),
        (
            "subagents:\n  max_concurrent: 0\n",
            "2:19: `subagents.max_concurrent`: `0` is zero; write a whole number between 1 and 1024",
        ),
        (
            "subagents:\n  max_concurrent: none\n",
            "2:19: `subagents.max_concurrent` must be a number, found the text `none`; write a number without quotes, or `none` for no bound",
        ),
        (
            "subagents:\n  max_concurrent: -3\n",
            "2:19: `subagents.max_concurrent`: `-3` is negative; write a whole number between 1 and 1024",
        ),
        (
            "subagents: []\n",
            "1:12: `subagents` must be a mapping, found a list; write a mapping",
        ),
        (
            "[]\n",
            "1:1: `the configuration` must be a mapping, found a list; write a mapping",
        ),
        (
            "security: {require_approval: {tools: 1}}\n",
            "1:38: `security.require_approval.tools` must be `true` or `false`, found the number `1`; write `true` or `false`",
        ),
        (
            "subagents: {default_agent: cursor}\n",
            "1:28: `subagents.default_agent` cannot be `cursor`; one of `claude`, `codex`, `gemini`",
        ),
        (
            "workflows: {budgets: {max_cost_usd: .nan}}\n",
            "1:37: `workflows.budgets.max_cost_usd` must be a number of dollars, at least 0.01, found the number `NaN`; write a number without quotes, or `none` for no bound",
        ),
    ] {
        assert_eq!(fault(text), expected, "{text}");
    }
}
