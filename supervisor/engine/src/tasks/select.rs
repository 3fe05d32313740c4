//! Which CLI works on a task: the one that is named, else one that suits the words of the prompt, else the first there is.
//!
//! Pure. INVARIANT: a CLI that was named is never replaced by another.

use super::cli::ORDER;
use crate::definitions::Cli;

/// Words that speak for a CLI, in the order in which they are looked for.
const HEURISTICS: [(Cli, &[&str]); 3] = [
    (
        Cli::Gemini,
        &[
            "search web",
            "google",
            "find online",
            "latest",
            "news",
            "research",
            "look up",
            "what is",
            "documentation",
        ],
    ),
    (
        Cli::Codex,
        &[
            "analyze code",
            "review",
            "find bugs",
            "refactor",
            "security",
            "performance",
            "fix",
            "debug",
        ],
    ),
    (
        Cli::Claude,
        &[
            "summarize",
            "explain",
            "write",
            "draft",
            "quick",
            "simple",
            "help me understand",
        ],
    ),
];

/// Who said which CLI it shall be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The agent's definition.
    Definition(Cli),
    /// The caller.
    Caller(Cli),
    /// `subagents.default_agent` in the configuration.
    Configuration(Cli),
    Nobody,
}

/// Why it is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Definition,
    Caller,
    Configuration,
    /// This word is in the prompt.
    Word(&'static str),
    FirstAvailable,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectCliError {
    /// The documented text of a task's error.
    #[error("CLI not installed")]
    NotInstalled(Cli),
    #[error("no agent CLI is installed")]
    NoneInstalled,
}

impl SelectCliError {
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::NotInstalled(cli) => format!("`{cli}` is not in PATH: install it, or name another CLI"),
            Self::NoneInstalled => "install codex, claude or gemini, so that it is found in PATH".to_owned(),
        }
    }
}

/// Chooses. `available` says whether a CLI is installed.
pub fn select(wish: Wish, prompt: &str, available: impl Fn(Cli) -> bool) -> Result<(Cli, Reason), SelectCliError> {
    let named = match wish {
        Wish::Definition(cli) => Some((cli, Reason::Definition)),
        Wish::Caller(cli) => Some((cli, Reason::Caller)),
        Wish::Configuration(cli) => Some((cli, Reason::Configuration)),
        Wish::Nobody => None,
    };
    if let Some((cli, reason)) = named {
        return if available(cli) {
            Ok((cli, reason))
        } else {
            Err(SelectCliError::NotInstalled(cli))
        };
    }
    let prompt = prompt.to_lowercase();
    let by_word = HEURISTICS.iter().find_map(|(cli, words)| {
        let word = words.iter().find(|word| prompt.contains(**word))?;
        available(*cli).then_some((*cli, Reason::Word(word)))
    });
    let first = || {
        ORDER
            .into_iter()
            .find(|cli| available(*cli))
            .map(|cli| (cli, Reason::FirstAvailable))
    };
    by_word.or_else(first).ok_or(SelectCliError::NoneInstalled)
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
