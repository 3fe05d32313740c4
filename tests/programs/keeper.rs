//! Stands in for the supervisor where no command writes yet what a test needs, for the project in the working directory.
//!
//!   keeper session create CLI        prints the id
//!   keeper session append ID TEXT
//!   keeper session churn ID          for ever; prints the number of messages after each
//!   keeper session check ID          one more message; then the number, and what lies in the directory
//!   keeper log RUN CLI STREAM TEXT   with the end of line that the text has
//!   keeper tasks fill COUNT
//!   keeper tasks wait-since SECONDS  a task that waits for approval since then; prints the id
//!   keeper tasks work                until all are over: claims, starts and finishes, and notes the starts in `journal`
//!   keeper tasks counts
#![allow(clippy::expect_used, clippy::panic, reason = "a test's program fails by panicking")]

#[path = "keeper/tasks.rs"]
mod tasks;

use std::io::Write;
use std::path::PathBuf;

use glee_engine::clock::Moment;
use glee_engine::logs::{Logs, Stream};
use glee_engine::sessions::{DIRECTORY, Role, Said, SessionId, Sessions, Status, Turn};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["session", "create", cli] => {
            let cli = cli.parse().expect("the name of a CLI");
            let made = open().create(None, cli, Moment::now()).expect("create a session");
            say(&made.session_id);
        }
        ["session", "append", id, text] => {
            append(&open(), &session(id), text);
        }
        ["session", "churn", id] => {
            let (sessions, id) = (open(), session(id));
            for n in 0_u64.. {
                say(append(&sessions, &id, &format!("{}-{n}", std::process::id())));
            }
        }
        ["session", "check", id] => {
            let total = append(&open(), &session(id), "checked");
            let mut names: Vec<String> = std::fs::read_dir(project().join(DIRECTORY))
                .expect("list the directory")
                .map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned())
                .collect();
            names.sort();
            say(format!("{total} {}", names.join(" ")));
        }
        ["log", run, cli, stream, text] => log(run, cli, stream, text),
        ["tasks", "fill", count] => tasks::fill(count.parse().expect("a number")),
        ["tasks", "wait-since", seconds] => tasks::wait_since(seconds.parse().expect("a number")),
        ["tasks", "work"] => tasks::work(),
        ["tasks", "counts"] => tasks::counts(),
        other => panic!("not a command: {other:?}"),
    }
}

fn project() -> PathBuf {
    std::env::current_dir().expect("a working directory")
}

fn open() -> Sessions {
    Sessions::open(&project()).expect("open the sessions")
}

fn session(id: &str) -> SessionId {
    id.parse().expect("an id")
}

/// Fails if the record is not as it was written. Returns the number of messages there ever were.
fn append(sessions: &Sessions, id: &SessionId, text: &str) -> u64 {
    let said = Said {
        role: Role::User,
        content: text.to_owned(),
        run: None,
    };
    let turn = Turn {
        said: vec![said],
        status: Status::Completed,
        conversation: None,
    };
    let session = sessions.append(id, turn, Moment::now()).expect("append to the session");
    session.total()
}

fn log(run: &str, cli: &str, stream: &str, text: &str) {
    let logs = Logs::open(&project(), Moment::now()).expect("open the logs");
    let mut run = logs.of_run(run.parse().expect("a name"), cli.parse().expect("a name"));
    let known = Stream::ALL.into_iter().find(|known| known.as_str() == stream);
    run.printed(known.expect("a stream"), text.as_bytes(), Moment::now())
        .expect("log");
    run.end(Moment::now()).expect("log");
}

fn say(text: impl std::fmt::Display) {
    let mut out = std::io::stdout();
    // Whoever has read enough ends us.
    let told = writeln!(out, "{text}").and_then(|()| out.flush());
    if told.is_err() {
        std::process::exit(0);
    }
}
