//! Data on stdout, messages on stderr in one voice; colours only on a terminal.

use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use glee_engine::run::Refusal;
use glee_engine::select::SelectError;
use glee_engine::tasks::Outcome;
use glee_engine::text::plain_json;
use glee_sandbox::sys::event::{self, Want};
use serde::Serialize;

/// What the product calls itself in messages.
const NAME: &str = "glee-supervisor";

/// A colour that means something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    Good,
    Bad,
    Doubtful,
    Hint,
    Head,
}

impl Paint {
    fn code(self) -> &'static str {
        match self {
            Self::Good => "32",
            Self::Bad => "1;31",
            Self::Doubtful => "33",
            Self::Hint => "1;36",
            Self::Head => "1",
        }
    }

    fn on(self, text: &str, is_terminal: bool) -> String {
        if is_terminal && takes_colours(|name| std::env::var_os(name)) {
            format!("\x1b[{}m{text}\x1b[0m", self.code())
        } else {
            text.to_owned()
        }
    }

    /// For text that goes to stdout.
    pub(crate) fn out(self, text: &str) -> String {
        self.on(text, std::io::stdout().is_terminal())
    }

    /// For text that goes to stderr.
    pub(crate) fn err(self, text: &str) -> String {
        self.on(text, std::io::stderr().is_terminal())
    }
}

/// Does a terminal take colours, and its user want them?
fn takes_colours(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let unwanted = variable("NO_COLOR").is_some_and(|value| !value.is_empty());
    !unwanted && variable("TERM").is_none_or(|terminal| terminal != "dumb")
}

/// An error and, apart from it, what to do.
pub(crate) fn error(message: &str, help: Option<&str>) {
    say_titled(Paint::Bad.err("error:"), message, help);
}

fn say_titled(title: String, message: &str, help: Option<&str>) {
    let mut text = format!("{NAME}: {title} {}\n", in_place(message));
    if let Some(help) = help {
        text.push_str(&format!("{} {}\n", Paint::Hint.err("hint:"), indented(help)));
    }
    tell(&text);
}

/// A name in a message makes no line of its own, which could pass for one of ours: only our lists, which are indented, have more lines.
fn in_place(text: &str) -> String {
    let lines: Vec<String> = text.split("\n  ").map(glee_engine::text::visible).collect();
    lines.join("\n  ")
}

/// How long somebody may take who reads nothing of what is said.
const PATIENCE: Duration = Duration::from_secs(3);

/// Words on stderr. Nobody to tell is no reason to stop, and a terminal or pipe that takes nothing none to wait for ever: a run that
/// is over ends.
pub(crate) fn tell(text: &str) {
    static DEAF: AtomicBool = AtomicBool::new(false);
    let mut stderr = std::io::stderr();
    let patience = if DEAF.load(Ordering::Relaxed) {
        Duration::ZERO
    } else {
        PATIENCE
    };
    let ready = event::poll(&[(Some(stderr.as_fd()), Want::Write)], Some(patience));
    // Where nothing can be polled (no descriptor is allowed) it is written all the same.
    if ready.is_ok_and(|list| !list.iter().any(|end| end.writable || end.hangup)) {
        DEAF.store(true, Ordering::Relaxed);
    } else {
        let _ = stderr.write_all(text.as_bytes());
    }
}

/// Something that went wrong and stopped nothing.
pub(crate) fn warning(message: &str, help: Option<&str>) {
    say_titled(Paint::Doubtful.err("warning:"), message, help);
}

/// Why nothing was done. An error in a policy file already begins with its place, as a compiler's does.
pub(crate) fn refusal(refusal: &Refusal, status: i32) -> i32 {
    if let Refusal::Select(SelectError::Policy { .. } | SelectError::Settings { .. }) = refusal {
        note(&refusal.to_string());
    } else {
        error(&refusal.to_string(), refusal.help().as_deref());
    }
    status
}

/// Why nothing was done: in words, or as the object that `subagent --json` prints.
pub(crate) fn failure(message: &str, help: Option<&str>, status: i32, as_json: bool) -> i32 {
    if as_json {
        let refused = Outcome::refused(None, message.to_owned(), help.map(str::to_owned));
        return json(&refused, status);
    }
    error(message, help);
    status
}

/// Something the user should know.
pub(crate) fn note(message: &str) {
    say(&format!("{NAME}: {message}\n"));
}

/// Text on stderr as it is, made harmless.
pub(crate) fn say(text: &str) {
    tell(&visible(text));
}

/// Data on stdout. Returns `status`, or 1 if it could not be written; a reader that has had enough is no failure.
pub(crate) fn bytes(data: &[u8], status: i32) -> i32 {
    let mut out = std::io::stdout();
    match out.write_all(data).and_then(|()| out.flush()) {
        Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => {
            error(&format!("cannot write to standard output: {problem}"), None);
            1
        }
        Ok(()) | Err(_) => status,
    }
}

/// Data as JSON on stdout.
pub(crate) fn json(data: &impl Serialize, status: i32) -> i32 {
    match serde_json::to_string_pretty(data) {
        Ok(text) => bytes(format!("{}\n", plain_json(text)).as_bytes(), status),
        Err(problem) => {
            error(&format!("cannot print JSON: {problem}"), None);
            1
        }
    }
}

/// Control characters made visible: a name in a message must not drive the terminal. Lines stay lines.
pub(crate) fn visible(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => format!("{}\n", glee_engine::text::visible(line)),
            None => glee_engine::text::visible(line),
        })
        .collect()
}

/// Advice has lines of its own: none of them begins where ours do.
fn indented(text: &str) -> String {
    visible(text).replace('\n', "\n  ").replace("\n    ", "\n  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_stay_lines_and_nothing_else_reaches_the_terminal() {
        assert_eq!(
            visible("a\nb\x1b]0;x\x07\r\n\u{202e}c"),
            "a\nb\\u{1b}]0;x\\u{7}\\r\n\\u{202e}c"
        );
    }

    #[test]
    fn a_name_in_a_message_makes_no_line_of_its_own() {
        assert_eq!(
            in_place("`a\nglee: b\r\n` is not there\n  - c"),
            "`a\\nglee: b\\r\\n` is not there\n  - c"
        );
        assert_eq!(indented("one of:\n  - a\nglee: b"), "one of:\n  - a\n  glee: b");
    }

    #[test]
    fn colours_are_for_terminals_that_take_them_and_people_who_want_them() {
        let taken = |variables: &[(&str, &str)]| {
            takes_colours(|name| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            })
        };
        assert!(taken(&[]) && taken(&[("TERM", "xterm")]) && taken(&[("NO_COLOR", "")]));
        assert!(!taken(&[("TERM", "dumb")]) && !taken(&[("NO_COLOR", "1"), ("TERM", "xterm")]));
    }

    #[test]
    fn colours_are_for_terminals() {
        assert_eq!(Paint::Good.on("yes", false), "yes");
    }
}
