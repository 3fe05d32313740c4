//! What is written down about a task while it runs and when it ends: in the logs, in its session, and as its result.
//!
//! Logs and sessions that cannot be written are no reason to lose the work. INVARIANT (bounded): of what the agent prints no more
//! is held than the task's limit; the logs have bounds of their own.

use std::io;
use std::time::Duration;

use serde_json::Value;

use super::events::Listener;
use super::intake::label;
use super::outcome::{Facts, Kept, ending};
use super::output::HeadTail;
use super::process::{Sound, Worked};
use super::shelf::Shelf;
use super::verdict::{End, Seen, Status, judge};
use crate::clock::Moment;
use crate::definitions::Cli;
use crate::logs::{Logs, RunLog, Stream};
use crate::sessions::{
    Conversation, ConversationId, Kept as Files, Role, Said, SessionError, Sessions, Status as SessionStatus, Turn,
};
use crate::store::{Ending, Task};

/// A result has room for so much, as JSON.
const MOST_RESULT: usize = 960 << 10;
/// The part of standard error that is told as the reason.
const COMPLAINT: usize = 1000;
/// The longest reason: an agent gives it, too.
const MOST_ERROR: usize = 4 << 10;
/// The part of the answer that is a line of the log.
const SPOKEN: usize = 200;

/// Bytes of the answer that are kept.
pub(super) fn limit(max_output_kb: u64) -> usize {
    let bytes = usize::try_from(max_output_kb.saturating_mul(1024)).unwrap_or(usize::MAX);
    bytes.min(MOST_RESULT)
}

/// The log of one task.
pub(super) struct Record<'a>(Option<RunLog<'a>>);

impl<'a> Record<'a> {
    pub(super) fn begin(logs: Option<&'a Logs>, task: &Task, cli: Cli, title: &str) -> Self {
        let names = label(task.id.as_str()).zip(label(cli.word()));
        let log = logs.zip(names).map(|(logs, (run, cli))| logs.of_run(run, cli));
        let mut this = Self(log);
        this.event(&format!("Starting: {title}"));
        this
    }

    fn event(&mut self, text: &str) {
        if let Some(log) = &mut self.0 {
            let _ = log.event(text, Moment::now());
        }
    }

    pub(super) fn hear(&mut self, sound: Sound<'_>) {
        let (stream, line) = match sound {
            Sound::Out(line) => (Stream::Stdout, line),
            Sound::Err(line) => (Stream::Stderr, line),
            Sound::Deed(deed) => return self.event(&format!("Doing: {deed}")),
        };
        if let Some(log) = &mut self.0 {
            let _ = log
                .printed(stream, line, Moment::now())
                .and_then(|()| log.printed(stream, b"\n", Moment::now()));
        }
    }

    /// What came of it, written down.
    pub(super) fn end(
        &mut self,
        worked: io::Result<Worked>,
        report: Option<&Value>,
        task: &Task,
        said: Told<'_>,
        took: Duration,
    ) -> (Ending, Kept) {
        let (status, mut kept, conversation) = match worked {
            Ok(worked) => {
                let (status, kept) = judged(&worked, report);
                (status, kept, worked.heard.conversation().cloned())
            }
            Err(error) => {
                let why = format!("cannot start the run: {error}");
                (Status::Error(why), Kept::default(), None)
            }
        };
        let (ending, error) = ending(&status);
        kept.error = error.map(|error| HeadTail::of(&error, MOST_ERROR));
        kept.facts.resumed = said.resumed.map(str::to_owned);
        fit(&mut kept);
        if let Some(output) = &kept.output {
            let end = output.floor_char_boundary(SPOKEN);
            let more = if end < output.len() { "..." } else { "" };
            self.event(&format!("Output: {}{more}", output.get(..end).unwrap_or_default()));
        }
        let took = took.as_millis();
        self.event(&match &status {
            Status::Completed => format!("Completed in {took}ms"),
            Status::Error(why) => format!("Failed in {took}ms: {why}"),
            Status::Timeout => format!("Timed out in {took}ms"),
            Status::Cancelled => format!("Cancelled in {took}ms"),
        });
        if let Err(error) = said.append(task, &status, kept.output.as_deref(), conversation) {
            self.event(&format!("Not recorded in its session: {error}"));
        }
        if let Some(log) = &mut self.0 {
            let _ = log.end(Moment::now());
        }
        (ending, kept)
    }
}

/// The conversation that the task belongs to.
pub(super) struct Told<'a> {
    pub(super) sessions: Option<&'a Sessions>,
    pub(super) shelf: Option<&'a Shelf>,
    pub(super) prompt: &'a str,
    /// How it went on.
    pub(super) resumed: Option<&'static str>,
}

impl Told<'_> {
    fn append(
        &self,
        task: &Task,
        status: &Status,
        output: Option<&str>,
        conversation: Option<ConversationId>,
    ) -> Result<(), SessionError> {
        let (Some(sessions), Some(id)) = (self.sessions, &task.session) else {
            return Ok(());
        };
        let kept = self.shelf.map(|shelf| (shelf, shelf.kept(id)));
        let conversation = match (kept, conversation, status) {
            (Some((_, Files::Files(state))), Some(id), Status::Completed) => Some(Conversation { id, state }),
            (Some((shelf, _)), _, _) => {
                // What stays in spite of it has no recorded digest, and is not gone on with.
                let _ = shelf.clear(id);
                None
            }
            (None, _, _) => None,
        };
        let run = label(task.id.as_str());
        let say = |role, content: &str| Said {
            role,
            content: content.to_owned(),
            run: run.clone(),
        };
        let mut said = vec![say(Role::User, self.prompt)];
        said.extend(output.map(|output| say(Role::Assistant, output)));
        let turn = Turn {
            said,
            status: match status {
                Status::Completed => SessionStatus::Completed,
                Status::Error(_) => SessionStatus::Error,
                Status::Timeout => SessionStatus::Timeout,
                Status::Cancelled => SessionStatus::Cancelled,
            },
            conversation,
        };
        sessions.append(id, turn, Moment::now()).map(drop)
    }
}

fn judged(worked: &Worked, report: Option<&Value>) -> (Status, Kept) {
    let heard = &worked.heard;
    let seen = Seen {
        end: end(worked, report),
        model_requests: report.and_then(model_requests),
        complaint: last_of(&worked.complaint),
    };
    let output = heard.answer().text();
    let kept = Kept {
        output: (!output.is_empty()).then_some(output),
        facts: facts(heard, report),
        ..Kept::default()
    };
    (judge(heard, &seen), kept)
}

fn end(worked: &Worked, report: Option<&Value>) -> End {
    let text = |key| report.and_then(|report| report.get(key)).and_then(Value::as_str);
    let number = |key| {
        let number = report.and_then(|report| report.get(key)).and_then(Value::as_i64);
        number.and_then(|number| i32::try_from(number).ok())
    };
    match text("outcome") {
        _ if worked.stopped => End::Cancelled,
        Some("exited") => End::Exited(number("exit_code").unwrap_or(-1)),
        Some("signaled") => End::Signaled(number("signal").unwrap_or(0)),
        Some("timeout") => End::Timeout,
        Some("refused") => End::Refused(text("reason").unwrap_or("the run was refused").to_owned()),
        Some(_) | None => {
            let complaint = last_of(&worked.complaint);
            End::Refused(
                format!("the run ended without a report: {complaint}")
                    .trim_end()
                    .to_owned(),
            )
        }
    }
}

/// Requests that the broker passed on; `None` where the model is not reached through it.
fn model_requests(report: &Value) -> Option<u64> {
    let of = broker(report)?;
    Some(of("requests").saturating_sub(of("refused")))
}

/// Input and output, as the broker counted them in the vendor's answers, where nothing that runs inside has a say. `None` where it
/// was not asked, or the vendor did not tell.
fn counted(report: &Value) -> Option<(u64, u64)> {
    let of = broker(report)?;
    Some((of("input_tokens"), of("output_tokens"))).filter(|counted| *counted != (0, 0))
}

fn broker(report: &Value) -> Option<impl Fn(&str) -> u64> {
    let model = report.get("model").filter(|model| model.is_object())?;
    let is_broker = model.get("access").and_then(Value::as_str) == Some("broker");
    let of = move |key: &str| {
        model
            .pointer(&format!("/usage/{key}"))
            .and_then(Value::as_u64)
            .unwrap_or(0)
    };
    is_broker.then_some(of)
}

fn facts(heard: &Listener, report: Option<&Value>) -> Facts {
    let list = |key| {
        let list = report.and_then(|report| report.get(key)).and_then(Value::as_array);
        list.map_or(0, |list| list.len() as u64)
    };
    let omitted = report
        .and_then(|report| report.get("denials_omitted"))
        .and_then(Value::as_u64);
    let run_id = report.and_then(|report| report.get("run_id")).and_then(Value::as_str);
    let (input, output) = report.and_then(counted).unzip();
    Facts {
        run_id: run_id.map(str::to_owned),
        output_whole: Some(heard.answer().is_whole()),
        input_tokens: input.or(heard.tokens().input),
        output_tokens: output.or(heard.tokens().output),
        tool_calls: heard.tools().into(),
        denials: list("denials") + omitted.unwrap_or(0),
        changed_files: list("changed_files"),
        resumed: None,
    }
}

/// The last words of standard error: what was said first is rarely the reason.
fn last_of(complaint: &str) -> String {
    let complaint = complaint.trim();
    let start = complaint.len().saturating_sub(COMPLAINT);
    let start = complaint.ceil_char_boundary(start);
    complaint.get(start..).unwrap_or_default().to_owned()
}

/// Cuts the output until the result fits: a character may take six bytes as JSON.
fn fit(kept: &mut Kept) {
    let mut limit = MOST_RESULT;
    while serde_json::to_vec(&kept).map_or(0, |json| json.len()) > MOST_RESULT && limit > 1024 {
        limit /= 2;
        kept.output = kept.output.as_deref().map(|output| HeadTail::of(output, limit));
        kept.facts.output_whole = Some(false);
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
