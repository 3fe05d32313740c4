//! How each agent CLI is called to work on a task.
//!
//! Pure. INVARIANT: the prompt is never an argument; it goes by standard input, so that neither its length nor a leading `-` matters.

use crate::definitions::Cli;
use crate::sessions::ConversationId;

/// The order in which the first available one is looked for.
pub const ORDER: [Cli; 3] = [Cli::Codex, Cli::Claude, Cli::Gemini];

/// What follows the program's name: one prompt from standard input, events on standard output.
#[must_use]
pub fn arguments(cli: Cli, resume: Option<&ConversationId>) -> Vec<String> {
    let id = resume.map(ConversationId::as_str);
    let words: Vec<&str> = match (cli, id) {
        (Cli::Codex, None) => vec!["exec", "--json", "--skip-git-repo-check", "-"],
        (Cli::Codex, Some(id)) => vec!["exec", "--json", "--skip-git-repo-check", "resume", id, "-"],
        (Cli::Claude, None) => vec!["-p", "--output-format", "stream-json", "--verbose"],
        (Cli::Claude, Some(id)) => vec!["-p", "--output-format", "stream-json", "--verbose", "--resume", id],
        // Without a terminal and with a prompt on standard input it does not ask for one.
        (Cli::Gemini, None) => vec!["-o", "stream-json"],
        (Cli::Gemini, Some(id)) => vec!["-o", "stream-json", "--resume", id],
    };
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_resumed_by_the_cli_s_own_flag() {
        let id: ConversationId = "abc".parse().unwrap();
        assert_eq!(
            arguments(Cli::Codex, Some(&id)),
            ["exec", "--json", "--skip-git-repo-check", "resume", "abc", "-"]
        );
        assert!(arguments(Cli::Claude, Some(&id)).ends_with(&["--resume".into(), "abc".into()]));
        assert!(arguments(Cli::Gemini, Some(&id)).ends_with(&["--resume".into(), "abc".into()]));
    }
}
