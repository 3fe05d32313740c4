//! Limits that a run came up to, as rows among what was refused.

use std::time::Duration;

use glee_policy::minutes::minutes;
use glee_policy::origin::Source;
use glee_sandbox::Cause;
use glee_sandbox::launch::{Denied, End, Outcome};

use super::denials::{Denial, Explainer, NOTHING, What};

impl Explainer<'_> {
    /// Limits that the run came up to.
    pub(super) fn limits(&self, outcome: &Outcome) -> Vec<Denial> {
        let over_size =
            matches!(outcome.end, End::Signaled(libc::SIGXFSZ)) || outcome.end == End::Exited(128 + libc::SIGXFSZ);
        let limits = &self.policy.limits;
        let late = outcome.end == End::Timeout || outcome.cause == Some(Cause::Deadline);
        let time = self.policy.max_runtime.filter(|_| late);
        let reached = [
            (outcome.out_of_memory, "memory_mb", limits.memory_mb),
            (outcome.out_of_pids, "pids", limits.pids),
            (over_size, "file_size_mb", limits.file_size_mb),
        ];
        let mut rows: Vec<Denial> = reached
            .into_iter()
            .filter(|(reached, _, _)| *reached)
            .filter_map(|(_, name, value)| {
                let (key, value) = (format!("limits.{name}"), value?);
                let hint = format!("limits: {{{name}: {}}}", value.saturating_mul(2));
                Some(self.limit(key, &value.to_string(), hint))
            })
            .collect();
        if let Some(time) = time {
            rows.push(self.limit("max_runtime_mins".to_owned(), &minutes(time), self.longer(time)));
        }
        rows
    }

    /// Twice the time, by what set it: the flag goes before any policy.
    fn longer(&self, time: Duration) -> String {
        let twice = time.saturating_mul(2);
        let origin = self.policy.origins.get("max_runtime_mins").map(|origin| &origin.source);
        match origin {
            Some(Source::Flag(flag)) if twice.subsec_millis() == 0 => format!("{flag} {}s", twice.as_secs()),
            Some(Source::Flag(flag)) => format!("{flag} {}ms", twice.as_millis()),
            Some(Source::Builtin(_) | Source::File(_)) | None => {
                format!("max_runtime_mins: {}", rounded(twice.as_secs_f64() / 60.0))
            }
        }
    }

    /// A limit that somebody was seen to come up to.
    pub(super) fn limit_of(&self, denied: &Denied) -> Denial {
        let limits = &self.policy.limits;
        let value = match denied.why.as_str() {
            "open_files" => limits.open_files,
            "disk_mb" => limits.disk_mb,
            _ => None,
        };
        let name = &denied.why;
        let hint = match value {
            Some(value) => format!("limits: {{{name}: {}}}", value.saturating_mul(2)),
            None => NOTHING.to_owned(),
        };
        let text = value.map(|value| value.to_string()).unwrap_or_default();
        Denial {
            syscall: denied.syscall.clone(),
            pid: denied.pid,
            program: denied.program.clone(),
            count: denied.count,
            ..self.limit(format!("limits.{name}"), &text, hint)
        }
    }

    fn limit(&self, key: String, value: &str, hint: String) -> Denial {
        let place = self.policy.origins.get(&key).map(|origin| format!(" ({origin})"));
        Denial {
            kind: "limit",
            syscall: String::new(),
            rule: format!("{key}: {value}{}", place.unwrap_or_default()),
            what: What::Name(key),
            path_hex: None,
            pid: 0,
            program: String::new(),
            hint,
            count: 1,
        }
    }
}

/// With two digits after the point at most, and never less than was meant.
fn rounded(minutes: f64) -> String {
    ((minutes * 100.0).ceil() / 100.0).to_string()
}
