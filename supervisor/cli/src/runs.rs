//! `runs list`, `show`, `report` and `prune`. What is left in copies is in `copies`.

use std::fmt::Write as _;
use std::path::PathBuf;

use glee_engine::audit::LogError;
use glee_engine::audit::place::{PlaceError, State};
use glee_engine::project::Scene;
use glee_engine::runs::summary::{self, Summary};
use glee_engine::runs::{self, FindError, Keep};
use glee_engine::text::{columns, visible};
use serde_json::Value;

use crate::args_past::RunsCommand;
use crate::copies;
use crate::print::{self, Paint};

/// What went wrong, and what to do about it.
struct Trouble(String, String);

impl From<FindError> for Trouble {
    fn from(error: FindError) -> Self {
        Self(error.to_string(), error.help().to_owned())
    }
}

impl From<PlaceError> for Trouble {
    fn from(error: PlaceError) -> Self {
        Self(error.to_string(), error.help().to_owned())
    }
}

impl From<LogError> for Trouble {
    fn from(error: LogError) -> Self {
        Self(error.to_string(), error.help().to_owned())
    }
}

/// Returns the exit status.
pub(crate) fn runs(command: RunsCommand, project: Option<PathBuf>) -> i32 {
    let done = match command {
        RunsCommand::List { number, json } => list(number, project, json),
        RunsCommand::Show { run, json } => show(&run, project, json),
        RunsCommand::Report { run, json: _ } => report(&run, project).map(|bytes| print::bytes(&bytes, 0)),
        RunsCommand::Diff { run, names, json } => return copies::diff(&run, project.as_deref(), names, json),
        RunsCommand::Apply { run, paths, json } => return copies::apply(&run, project.as_deref(), &paths, json),
        RunsCommand::Discard { run } => return copies::discard(&run, project.as_deref()),
        RunsCommand::Prune { keep, older_than, json } => {
            let keep = Keep {
                runs: keep.unwrap_or(Keep::USUAL.runs),
                age: older_than.unwrap_or(Keep::USUAL.age),
                ..Keep::USUAL
            };
            prune(keep, json)
        }
    };
    done.unwrap_or_else(|Trouble(what, help)| {
        print::error(&what, Some(&help));
        1
    })
}

/// The project that was named, as reports name it.
fn named(project: Option<PathBuf>) -> Result<Option<String>, Trouble> {
    let Some(dir) = project else { return Ok(None) };
    let scene = Scene::find(Some(&dir)).map_err(|error| Trouble(error.to_string(), "name a directory".into()))?;
    Ok(Some(scene.project.to_string_lossy().into_owned()))
}

fn list(number: usize, project: Option<PathBuf>, json: bool) -> Result<i32, Trouble> {
    let project = named(project)?;
    let listed = match State::find()? {
        Some(state) => summary::list(&state, number, project.as_deref())?,
        None => Vec::new(),
    };
    if json {
        return Ok(print::json(&listed, 0));
    }
    if listed.is_empty() {
        print::note("no run is stored");
        return Ok(0);
    }
    let head = ["run", "started", "ended", "ms", "denials", "policy", "command"].map(|title| Paint::Head.out(title));
    let rows: Vec<Vec<String>> = std::iter::once(head.to_vec()).chain(listed.iter().map(row)).collect();
    Ok(print::bytes(columns(&rows, "").as_bytes(), 0))
}

fn row(run: &Summary) -> Vec<String> {
    vec![
        visible(&run.run_id),
        visible(run.started_at.as_deref().unwrap_or_default()),
        visible(&ending(run)),
        run.duration_ms.map(|ms| ms.to_string()).unwrap_or_default(),
        run.denials.to_string(),
        visible(run.policy.as_deref().unwrap_or_default()),
        visible(&run.command.join(" ")),
    ]
}

fn ending(run: &Summary) -> String {
    let outcome = run.outcome.as_deref().unwrap_or("unknown");
    match (run.signal, run.exit_code) {
        (Some(signal), _) => format!("{outcome} {signal}"),
        (None, Some(code)) => format!("{outcome} {code}"),
        (None, None) => outcome.to_owned(),
    }
}

fn report(given: &str, project: Option<PathBuf>) -> Result<Vec<u8>, Trouble> {
    let state = State::find()?.ok_or(FindError::None)?;
    let latest = match named(project)? {
        Some(project) if given == "latest" => {
            let last = summary::list(&state, 1, Some(&project))?.into_iter().next();
            Some(last.ok_or(FindError::None)?.run_id)
        }
        Some(_) | None => None,
    };
    Ok(runs::find(&state, latest.as_deref().unwrap_or(given))?.read(&state)?)
}

fn show(given: &str, project: Option<PathBuf>, json: bool) -> Result<i32, Trouble> {
    let bytes = report(given, project)?;
    let report: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let help = "`glee-supervisor audit verify` says whether it was changed";
        Trouble(format!("the stored report is not JSON: {error}"), help.to_owned())
    })?;
    if json {
        return Ok(print::json(&report, 0));
    }
    Ok(print::bytes(told(&report).as_bytes(), 0))
}

/// A report for the eye. It was written by us, but what it quotes was not.
fn told(report: &Value) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => visible(text),
        Value::Null => String::new(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => visible(&value.to_string()),
    };
    let at = |pointer: &str| report.pointer(pointer).map(text).unwrap_or_default();
    let run = Summary::of(&at("/run_id"), report);
    let mut rows = vec![
        ("run", visible(&run.run_id)),
        ("command", visible(&run.command.join(" "))),
        ("project", at("/project")),
        (
            "policy",
            format!("{}  sha256 {}", at("/policy/name"), at("/policy/sha256")),
        ),
        ("outcome", visible(&ending(&run))),
        ("cause", at("/cause")),
        ("reason", at("/reason")),
        ("started", at("/started_at")),
        (
            "duration",
            format!(
                "{} ms, {} ms user, {} ms system",
                at("/duration_ms"),
                at("/user_ms"),
                at("/sys_ms")
            ),
        ),
        ("memory", format!("{} KiB", at("/max_rss_kb"))),
        ("receipt", at("/receipt/verdict")),
        ("audit entry", at("/audit/entry")),
    ];
    rows.retain(|(_, value)| !value.is_empty());
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, value)| vec![Paint::Head.out(name), value])
        .collect();
    let mut out = columns(&rows, "");
    let layers = report.get("layers").and_then(Value::as_object).into_iter().flatten();
    let rows: Vec<Vec<String>> = layers.map(|(name, value)| vec![visible(name), text(value)]).collect();
    section(&mut out, "layers", &rows);
    for (title, pointer, columns) in LISTS {
        let list = report.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
        let cells = |item: &Value| match item {
            Value::Object(map) => columns
                .iter()
                .map(|names| {
                    names
                        .iter()
                        .find_map(|name| map.get(*name))
                        .map(text)
                        .unwrap_or_default()
                })
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => vec![text(item)],
        };
        section(&mut out, title, &list.map(cells).collect::<Vec<_>>());
    }
    out
}

/// A list of the report: its title, its place, and of objects the values shown, each under the first name that is there.
type List = (&'static str, &'static str, &'static [&'static [&'static str]]);

const LISTS: &[List] = &[
    (
        "tried before the start",
        "/receipt/canaries",
        &[&["name"], &["tried"], &["got"]],
    ),
    (
        "denials",
        "/denials",
        &[
            &["kind"],
            &["path", "host", "name"],
            &["program"],
            &["count"],
            &["rule"],
            &["hint"],
        ],
    ),
    (
        "connections",
        "/egress",
        &[&["host"], &["port"], &["verdict"], &["bytes_up"], &["bytes_down"]],
    ),
    (
        "changed files",
        "/changed_files",
        &[&["change"], &["kind"], &["path"], &["target"], &["executes"]],
    ),
    ("withheld from the environment", "/withheld_env", &[]),
    ("set aside", "/set_aside", &[]),
    ("not disarmed", "/not_disarmed", &[]),
    ("privileges removed", "/privileges_removed", &[]),
    ("left out", "/omitted", &[]),
];

fn section(out: &mut String, title: &str, rows: &[Vec<String>]) {
    if !rows.is_empty() {
        let _ = write!(out, "\n{}\n{}", Paint::Head.out(title), columns(rows, "  "));
    }
}

fn prune(keep: Keep, json: bool) -> Result<i32, Trouble> {
    let Some(state) = State::find()? else {
        print::note("no run is stored");
        return Ok(0);
    };
    let pruned = runs::prune(&state, keep)?;
    Ok(if json {
        print::json(&pruned, 0)
    } else {
        print::bytes(
            format!("{} removed, {} kept\n", pruned.removed, pruned.kept).as_bytes(),
            0,
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_is_told_without_what_drives_a_terminal() {
        let report = json!({
            "run_id": "id", "command": ["a\u{1b}[2K", "b\nc"], "outcome": "exited", "exit_code": 3,
            "denials": [{"kind": "network", "host": "x\u{202e}:443", "count": 2, "rule": "r", "hint": "h\u{7}"}],
            "changed_files": [{"path": "p\u{1b}c", "change": "created", "kind": "file", "executes": "a hook"}], "new key": 1,
        });
        let text = told(&report);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text}");
        for part in [
            "a\\u{1b}[2K b\\nc",
            "exited 3",
            "x\\u{202e}:443",
            "h\\u{7}",
            "created  file  p\\u{1b}c    a hook",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn a_report_that_lacks_everything_is_told_all_the_same() {
        assert!(told(&json!({})).contains("outcome   unknown"));
    }
}
