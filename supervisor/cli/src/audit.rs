//! `audit show` and `audit verify`.

use std::fmt::Write as _;

use glee_engine::audit::LogError;
use glee_engine::audit::place::State;
use glee_engine::audit::show::{Shown, Which, show};
use glee_engine::audit::verify::{Finding, Verdict, verify};
use glee_engine::text::{columns, visible};
use serde_json::Value;

use crate::args_past::AuditCommand;
use crate::print::{self, Paint};

/// Returns the exit status.
pub(crate) fn audit(command: AuditCommand) -> i32 {
    let done = || -> Result<i32, LogError> {
        let state = State::find()?;
        match command {
            AuditCommand::Show {
                run,
                since,
                number,
                json,
            } => {
                let which = Which {
                    run: run.as_deref(),
                    since: since.as_deref(),
                    most: number,
                };
                let shown = match &state {
                    Some(state) => show(state, &which)?,
                    None => Vec::new(),
                };
                Ok(if json { print::json(&shown, 0) } else { entries(&shown) })
            }
            AuditCommand::Verify { expect, json } => {
                let verdict = match &state {
                    Some(state) => verify(state, expect)?,
                    None => Verdict::of_nothing(expect),
                };
                let status = i32::from(!verdict.problems.is_empty());
                Ok(if json {
                    print::json(&verdict, status)
                } else {
                    print::bytes(told(&verdict).as_bytes(), status)
                })
            }
        }
    };
    done().unwrap_or_else(|error| {
        print::error(&error.to_string(), Some(error.help()));
        1
    })
}

fn entries(shown: &[Shown]) -> i32 {
    if shown.is_empty() {
        print::note("the log has no such entry");
        return 0;
    }
    let head = ["entry", "time", "event", "run", "what"].map(|title| Paint::Head.out(title));
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(shown.iter().map(row)).collect();
    print::bytes(columns(&rows, "").as_bytes(), 0)
}

fn row(shown: &Shown) -> Vec<String> {
    let Some(entry) = &shown.entry else {
        let place = format!("{} line {}: not an entry", shown.file, shown.line);
        return vec![
            String::new(),
            String::new(),
            String::new(),
            String::new(),
            visible(&place),
        ];
    };
    let text = |key: &str| visible(entry.get(key).and_then(Value::as_str).unwrap_or_default());
    let number = entry.get("n").map(ToString::to_string).unwrap_or_default();
    let event = text("event");
    let what = visible(&what(entry));
    vec![visible(&number), text("at"), event, text("run_id"), what]
}

/// The rest of an entry in a few words.
fn what(entry: &Value) -> String {
    let text = |pointer: &str| entry.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let number = |key: &str| entry.get(key).and_then(Value::as_i64);
    let command = || {
        let words = entry.get("command").and_then(Value::as_array).into_iter().flatten();
        words.filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
    };
    match text("/event") {
        "started" => format!("{}: {}", text("/policy/name"), command()),
        "ended" => {
            let ending = match (number("exit_code"), number("signal")) {
                (_, Some(signal)) => format!(" by signal {signal}"),
                (Some(code), None) => format!(" {code}"),
                (None, None) => String::new(),
            };
            let denials = number("denials").unwrap_or(0);
            format!("{}{ending}, {denials} denials: {}", text("/outcome"), command())
        }
        "refused" => format!("{}: {}", text("/reason"), command()),
        "trusted" | "untrusted" => text("/project").to_owned(),
        "rotated" => format!("continues {}", text("/previous")),
        "repaired" => text("/repair").replace('_', " "),
        "pruned" => format!("{} stored reports", number("removed").unwrap_or(0)),
        _ => String::new(),
    }
}

fn told(verdict: &Verdict) -> String {
    let mut out = String::new();
    for (title, findings) in [
        (Paint::Bad.out("problem:"), &verdict.problems),
        (Paint::Doubtful.out("note:"), &verdict.notes),
    ] {
        for finding in findings {
            let _ = writeln!(out, "{title} {}", visible(&place(finding)));
        }
    }
    let _ = match verdict.problems.len() {
        0 => writeln!(
            out,
            "{}: {} entries, {} stored reports",
            Paint::Good.out("whole"),
            verdict.entries,
            verdict.reports
        ),
        1 => writeln!(out, "{}: 1 problem", Paint::Bad.out("not whole")),
        count => writeln!(out, "{}: {count} problems", Paint::Bad.out("not whole")),
    };
    if let Some(head) = verdict.head {
        let _ = writeln!(out, "entry {}  sha256 {}", head.entry, head.sha256);
    }
    out
}

fn place(finding: &Finding) -> String {
    let mut text = finding.file.clone();
    if let Some(line) = finding.line {
        let _ = write!(text, ":{line}");
    }
    if let Some(entry) = finding.entry {
        let _ = write!(text, ": entry {entry}");
    }
    format!("{text}: {}", finding.what)
}
