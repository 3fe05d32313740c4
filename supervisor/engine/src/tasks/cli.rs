//! How each agent CLI is called to work on a task.
//!
//! Looks for programs; starts none. INVARIANT: the prompt is never an argument; it goes by standard input, so that neither its length nor a leading `-` matters.

use glee_sandbox::survey::find_command;

use crate::definitions::Cli;
use crate::project::Scene;
use crate::sessions::ConversationId;

/// The order in which the first available one is looked for.
pub const ORDER: [Cli; 3] = [Cli::Codex, Cli::Claude, Cli::Gemini];

/// The argument by which our own program is the stub.
pub const STUB: &str = "__stub-agent";

/// What is started: a name that PATH finds, or for the stub the file of our own program.
#[must_use]
pub fn program(cli: Cli) -> String {
    match cli {
        Cli::Codex | Cli::Claude | Cli::Gemini => cli.word().to_owned(),
        Cli::Stub => {
            // A program that does not know its own file is not found, and that is said.
            let own = std::env::current_exe().unwrap_or_default();
            own.to_string_lossy().into_owned()
        }
    }
}

/// Where it keeps its conversations, below its home.
#[must_use]
pub fn conversations(cli: Cli) -> Option<&'static str> {
    match cli {
        Cli::Codex => Some(".codex/sessions"),
        Cli::Claude => Some(".claude/projects"),
        Cli::Gemini => Some(".gemini/tmp"),
        Cli::Stub => None,
    }
}

/// Is it there?
#[must_use]
pub fn is_installed(cli: Cli, scene: &Scene) -> bool {
    let path = std::env::var_os("PATH");
    find_command(program(cli).as_ref(), &scene.project, path.as_deref()).is_ok()
}

/// What follows the program's name: one prompt from standard input, events on standard output. `held` holds it to its tools.
#[must_use]
pub fn arguments(cli: Cli, resume: Option<&ConversationId>, held: &[String]) -> Vec<String> {
    let id = resume.map(ConversationId::as_str);
    let held = held.iter().map(String::as_str);
    let (first, rest): (Vec<&str>, Vec<&str>) = match (cli, id) {
        (Cli::Codex, None) => (vec!["exec"], vec!["--json", "--skip-git-repo-check", "-"]),
        (Cli::Codex, Some(id)) => (vec!["exec"], vec!["--json", "--skip-git-repo-check", "resume", id, "-"]),
        (Cli::Claude, None) => (vec!["-p", "--output-format", "stream-json", "--verbose"], vec![]),
        (Cli::Claude, Some(id)) => (
            vec!["-p", "--output-format", "stream-json", "--verbose", "--resume", id],
            vec![],
        ),
        // Without a terminal and with a prompt on standard input it does not ask for one.
        (Cli::Gemini, None) => (vec!["-o", "stream-json"], vec![]),
        (Cli::Gemini, Some(id)) => (vec!["-o", "stream-json", "--resume", id], vec![]),
        (Cli::Stub, _) => (vec![STUB], vec![]),
    };
    let words = first.into_iter().chain(held).chain(rest);
    words.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_resumed_by_the_cli_s_own_flag() {
        let id: ConversationId = "abc".parse().unwrap();
        let held = ["-c".to_owned(), "x=y".to_owned()];
        assert_eq!(
            arguments(Cli::Codex, Some(&id), &held),
            [
                "exec",
                "-c",
                "x=y",
                "--json",
                "--skip-git-repo-check",
                "resume",
                "abc",
                "-"
            ]
        );
        assert!(arguments(Cli::Claude, Some(&id), &[]).ends_with(&["--resume".into(), "abc".into()]));
        assert!(arguments(Cli::Gemini, Some(&id), &[]).ends_with(&["--resume".into(), "abc".into()]));
    }
}
