//! A run's way into the log: an entry before the command starts, an entry and the stored report afterwards.
//!
//! INVARIANT: no descriptor of the state directory is open between the two, but for the nameless file of the report, which is made after
//! pid 1 of the sandbox. A log that cannot be written stops nothing
//! unless the caller asked for that; it is said once, and the report's `audit` is null.

use std::path::Path;

use super::entry::{Answer, Event, Hash, Run, bounded, bounded_command};
use super::log::{LogError, append};
use super::place::State;
use crate::report::Report;
use crate::runs::{self, Draft, Keep};

/// Every so many entries old reports are pruned: it takes longer than an entry.
const PRUNE_EVERY: u64 = 64;

/// What becomes of a run that cannot be entered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It runs, and says so.
    Wanted,
    /// It is refused.
    Required,
}

/// One run's entries.
#[derive(Debug)]
pub struct Recorder {
    /// The first thing that went wrong.
    pub trouble: Option<LogError>,
    draft: Option<Draft>,
}

impl Recorder {
    /// Makes the state directory if need be: it must be there before the sandbox is planned, to be protected from it. Not
    /// kept open: whoever is cloned meanwhile would have it too.
    #[must_use]
    pub fn open() -> Self {
        Self {
            trouble: State::make().err().map(LogError::from),
            draft: None,
        }
    }

    /// Enters that the command is about to start.
    pub fn started(&mut self, report: &mut Report, need: Need) -> Result<(), LogError> {
        let entered = match self.trouble.take() {
            Some(trouble) => Err(trouble),
            None => State::make().map_err(LogError::from).and_then(|state| {
                let mark = append(&state, &Event::Started { run: run(report) })?;
                self.draft = Draft::make(&state, &report.run_id);
                Ok(mark)
            }),
        };
        match (need, entered) {
            (Need::Wanted | Need::Required, Ok(mark)) => report.audit = Some(mark),
            (Need::Wanted, Err(error)) => self.trouble = Some(error),
            (Need::Required, Err(error)) => return Err(error),
        }
        Ok(())
    }

    /// Lets go of what no process that is made from now on may have.
    pub fn start_again(&mut self) {
        self.draft = None;
    }

    /// Stores the report and enters how the run ended, or why there was none.
    pub fn finished(&mut self, report: &Report) {
        if let Err(error) = finish(report, self.draft.take()) {
            self.trouble = self.trouble.take().or(Some(error));
        }
    }
}

fn finish(report: &Report, draft: Option<Draft>) -> Result<(), LogError> {
    let state = State::make()?;
    let text = report.text();
    let stored = runs::store(&state, &report.run_id, &text, draft);
    let report_sha256 = stored.is_ok().then(|| Hash::of(&text));
    let event = match (&report.audit, &report.reason) {
        (None, Some(reason)) => Event::Refused {
            run: run(report),
            reason: bounded(reason),
            exit_code: report.exit_code,
            report_sha256,
        },
        (Some(_), _) | (None, None) => Event::Ended {
            run: run(report),
            outcome: report.outcome,
            exit_code: report.exit_code,
            signal: report.signal,
            duration_ms: report.duration_ms,
            denials: report.denials.len(),
            egress: report.egress.len(),
            changed_files: report.changed_files.len(),
            report_sha256,
        },
    };
    let mark = append(&state, &event)?;
    stored?;
    if prunes_after(mark.entry) {
        runs::prune(&state, Keep::USUAL)?;
    }
    Ok(())
}

/// A run has two entries, so the last ones may have odd numbers for ever, or even ones.
fn prunes_after(entry: u64) -> bool {
    entry % PRUNE_EVERY < 2
}

fn run(report: &Report) -> Run<'_> {
    Run {
        run_id: &report.run_id,
        command: bounded_command(&report.command),
        project: report.project.as_deref().map(bounded),
        policy: &report.policy,
    }
}

/// Enters that files of a project were trusted.
pub fn trusted<'a>(project: &Path, files: impl Iterator<Item = (&'a Path, &'a str)>) -> Result<(), LogError> {
    let files = files.map(|(file, digest)| (bounded(&file.to_string_lossy()), digest));
    let event = Event::Trusted {
        project: bounded(&project.to_string_lossy()),
        files: files.collect(),
    };
    append(&State::make()?, &event).map(drop)
}

/// Enters what somebody answered who was asked about a task.
pub fn answered(
    project: &Path,
    answer: Answer,
    task: Option<&str>,
    policy_sha256: &str,
    prompt: &str,
) -> Result<(), LogError> {
    let event = Event::Approval {
        answer,
        project: bounded(&project.to_string_lossy()),
        task,
        policy_sha256,
        prompt_sha256: Hash::of(prompt.as_bytes()),
    };
    append(&State::make()?, &event).map(drop)
}

/// Enters that a project is not trusted any more.
pub fn untrusted(project: &Path, files: usize) -> Result<(), LogError> {
    let event = Event::Untrusted {
        project: bounded(&project.to_string_lossy()),
        files,
    };
    append(&State::make()?, &event).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_pruned_once_in_a_while_whatever_numbers_the_last_entries_have() {
        for first in [1_u64, 2] {
            let last = (first..first + 10 * PRUNE_EVERY).step_by(2);
            assert_eq!(last.filter(|entry| prunes_after(*entry)).count(), 10, "{first}");
        }
    }
}
