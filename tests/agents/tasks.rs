//! How a task calls each CLI: the prompt by standard input, the events understood, the conversation's id.

use std::time::Duration;

use glee_engine::definitions;
use glee_engine::tasks::cli::arguments;
use glee_engine::tasks::events::{Lines, Listener, Turn as Heard};
use glee_engine::tasks::verdict::{self, End, Seen, Status};

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::{Place, Ran, claims};

fn called(cli: Cli) -> definitions::Cli {
    match cli {
        Cli::Codex => definitions::Cli::Codex,
        Cli::Claude => definitions::Cli::Claude,
        Cli::Gemini => definitions::Cli::Gemini,
    }
}

/// A task with this prompt, as the engine calls the CLI.
fn task(at: &Place, prompt: &str, turns: Vec<Turn>) -> (Ran, Listener, Vec<String>) {
    let cli = called(at.cli);
    let api = Api::serve(at.cli, turns);
    let program = at.cli.program().display().to_string();
    let command = std::iter::once(program).chain(arguments(cli, None, &[]));
    let outcome = at
        .sandboxed("workspace", &api)
        // Without a model it first asks another one which to take.
        .flags([
            "--env",
            "GEMINI_MODEL=gemini-2.5-pro",
            "--env",
            "CLAUDE_CODE_MAX_RETRIES=1",
        ])
        .command(command)
        .stdin(prompt)
        .limit(Duration::from_secs(120))
        .go();
    let ran = at.ran(outcome, api);
    let (mut lines, mut listener, mut deeds) = (Lines::default(), Listener::new(cli, 100_000), Vec::new());
    let mut hear = |line: &[u8]| deeds.extend(listener.hear(line));
    lines.take(ran.outcome.out().as_bytes(), &mut hear);
    lines.end(&mut hear);
    (ran, listener, deeds)
}

fn judged(ran: &Ran, heard: &Listener) -> Status {
    let seen = Seen {
        end: End::Exited(ran.outcome.code().unwrap_or(-1)),
        model_requests: Some(ran.api.asked().len() as u64),
        complaint: String::new(),
    };
    verdict::judge(heard, &seen)
}

claims! {
    fn a_prompt_of_any_length_goes_by_standard_input(at) {
        let mark = format!("the end of it {}", at.world.nonce());
        // gemini echoes the prompt, and loses its last words if the pipe is full when it exits.
        let words = if at.cli == Cli::Gemini { 8_000 } else { 60_000 };
        let prompt = format!("--help {}\n{mark}", "long ".repeat(words));
        let (ran, heard, _) = task(at, &prompt, vec![Turn::text("a word from the model")]);
        assert_eq!(judged(&ran, &heard), Status::Completed, "{}", ran.outcome.describe());
        assert_eq!(heard.answer().text(), "a word from the model");
        assert!(heard.conversation().is_some(), "{}", ran.outcome.describe());
        assert!(heard.tokens().output.is_some(), "{}", ran.outcome.describe());
        assert!(ran.told().contains(&mark), "the model was not told all of it");
    }

    fn a_tool_call_is_heard_of_and_the_last_words_are_the_answer(at) {
        let turns = at.shell("echo done > made");
        let (ran, heard, deeds) = task(at, "go on", turns);
        assert_eq!(judged(&ran, &heard), Status::Completed, "{}", ran.outcome.describe());
        assert_eq!(heard.answer().text(), "that was all");
        assert!(at.world.project().join("made").exists());
        assert!(heard.tools() >= 1 && deeds.iter().any(|deed| deed.contains("echo done")), "{deeds:?}\n{}", ran.outcome.describe());
    }

    fn an_error_of_the_model_is_no_success(at) {
        let turns = (0..12).map(|_| Turn::Error(401)).collect();
        let (ran, heard, _) = task(at, "go on", turns);
        assert!(matches!(judged(&ran, &heard), Status::Error(_)), "{}", ran.outcome.describe());
        assert_ne!(heard.turn(), Some(&Heard::Completed));
    }
}
