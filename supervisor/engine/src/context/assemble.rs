//! The context of one call: what the project, the store and the caller have to say, in the documented order.
//!
//! Reads `AGENTS.md` and asks the trust store; changes nothing. A link in its place is refused: it could lead to a file
//! that the sandbox hides, and the agent would be told its content.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use glee_sandbox::sys::path::read_file;

use super::block::{Block, Label, Prompt, Trust};
use super::cut::{Keep, cut};
use crate::library::digest;
use crate::trust::{self, Files, Standing, TrustError};

/// The project's instructions for agents.
pub const AGENTS_MD: &str = "AGENTS.md";
/// The largest file that is read.
const MOST_READ: usize = 1 << 20;
/// The most of one block that an agent is told.
pub const MOST_TOLD: usize = 256 << 10;

#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    #[error("cannot read `{}`: {error}", .path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl AssembleError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Unreadable { error, .. } => match error.raw_os_error() {
                // Opened without following links: a link itself is no regular file.
                Some(libc::EINVAL | libc::ELOOP) => {
                    "it must be a plain file: a link could lead to what the agent may not see".into()
                }
                Some(libc::EFBIG) => "keep it below 1 MiB".into(),
                Some(_) | None => "check its permissions".into(),
            },
            Self::Trust(error) => error.help().into(),
        }
    }
}

/// `AGENTS.md` as it is now.
#[derive(Debug)]
pub struct Instructions {
    pub file: PathBuf,
    pub text: String,
    pub digest: String,
    pub standing: Standing,
}

impl Instructions {
    /// The files whose trust decides.
    #[must_use]
    pub fn files(&self) -> Files {
        [(self.file.clone(), self.digest.clone())].into()
    }
}

/// Reads the project's `AGENTS.md`; `None` if it has none.
pub fn instructions(project: &Path) -> Result<Option<Instructions>, AssembleError> {
    let file = project.join(AGENTS_MD);
    let bytes = match read_file(&file, MOST_READ) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(AssembleError::Unreadable { path: file, error }),
    };
    let digest = digest(&bytes);
    let files = [(file.clone(), digest.clone())].into();
    Ok(Some(Instructions {
        standing: trust::standing(&files)?,
        text: String::from_utf8_lossy(&bytes).into_owned(),
        file,
        digest,
    }))
}

/// What the user's word makes of a file.
#[must_use]
pub fn believed(standing: Standing) -> Trust {
    match standing {
        Standing::Trusted => Trust::Trusted,
        Standing::Changed | Standing::Untrusted => Trust::Untrusted,
    }
}

/// What may be told. Absent parts make no block; an empty one does.
#[derive(Debug)]
pub struct Parts<'a> {
    /// The agent's filled prompt, and how its definition stands.
    pub agent: Option<(Label, Standing, Cow<'a, str>)>,
    pub instructions: Option<&'a Instructions>,
    pub memories: Option<Cow<'a, str>>,
    /// The conversation so far, by its label.
    pub session: Option<(Label, Cow<'a, str>)>,
    /// Of the step of a workflow.
    pub step: Vec<Block>,
    pub task: Cow<'a, str>,
}

/// Puts the parts in their order, each cut to what fits. The task is never cut.
#[must_use]
pub fn prompt(parts: Parts<'_>) -> Prompt {
    let told = |text: &str, keep| cut(text, MOST_TOLD, keep).into_owned();
    let mut blocks = Vec::new();
    if let Some((label, standing, text)) = parts.agent {
        blocks.push(Block::new(label, believed(standing), text.into_owned()));
    }
    if let Some(found) = parts.instructions {
        let text = told(&found.text, Keep::Start);
        blocks.push(Block::new(Label::AgentsMd, believed(found.standing), text));
    }
    if let Some(memories) = parts.memories {
        blocks.push(Block::new(
            Label::Memory,
            Trust::Untrusted,
            told(&memories, Keep::Start),
        ));
    }
    if let Some((label, history)) = parts.session {
        blocks.push(Block::new(label, Trust::Untrusted, told(&history, Keep::End)));
    }
    blocks.extend(parts.step);
    Prompt {
        blocks,
        task: parts.task.into_owned(),
    }
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
