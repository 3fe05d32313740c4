//! The prompt of one call, as it would be sent: for people to look at.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;

use super::assemble::{self, AssembleError, Parts};
use super::told::{Source, Told};
use super::{Block, Label, Nonce, Prompt, Trust, recall, render};
use crate::definitions::input::CallError;
use crate::definitions::store::{Agents, StoreError};
use crate::definitions::view;
use crate::keyring::{self, KeyError, KeyName};
use crate::library::digest;
use crate::memory::MemoryError;
use crate::project::Scene;
use crate::sessions::{self, NotAnId, SessionError, SessionId, Sessions, Window};
use crate::settings::Key;
use crate::settings::store::{self as configuration, ConfigError};
use crate::trust::TrustError;

#[derive(Debug, thiserror::Error)]
pub enum PreviewError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Assemble(#[from] AssembleError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error("`{id}` is no session: {error}")]
    NotAnId { id: String, error: NotAnId },
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error("cannot get random bytes: {0}")]
    Random(std::io::Error),
}

impl From<TrustError> for PreviewError {
    fn from(error: TrustError) -> Self {
        Self::Assemble(error.into())
    }
}

impl PreviewError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Store(error) => error.help(),
            Self::Call(error) => Some(error.help()),
            Self::Assemble(error) => Some(error.help()),
            Self::Key(error) => Some(error.help().into()),
            Self::Memory(error) => Some(error.help().into()),
            Self::NotAnId { .. } => Some("`glee-supervisor sessions list` shows those there are".into()),
            Self::Session(error) => Some(error.help().into()),
            Self::Config(error) => error.help(),
            Self::Random(_) => Some("check /dev/urandom".into()),
        }
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        match self {
            Self::Store(error) => error.has_place(),
            Self::Config(error) => error.has_place(),
            Self::Call(_)
            | Self::Assemble(_)
            | Self::Key(_)
            | Self::Memory(_)
            | Self::NotAnId { .. }
            | Self::Session(_)
            | Self::Random(_) => false,
        }
    }
}

/// What the caller says.
#[derive(Debug)]
pub struct Asked<'a> {
    pub agent: Option<&'a str>,
    pub inputs: BTreeMap<String, String>,
    /// A conversation to go on with.
    pub session: Option<&'a str>,
    /// What the step of a workflow adds, or what another agent said.
    pub told: &'a [Told],
    pub task: &'a str,
}

#[derive(Debug, Serialize)]
pub struct Preview {
    /// The nonce of this prompt.
    pub id: String,
    pub sha256: String,
    pub blocks: Vec<BlockView>,
    /// The exact bytes.
    pub prompt: String,
}

#[derive(Debug, Serialize)]
pub struct BlockView {
    pub source: String,
    pub trusted: bool,
    pub bytes: usize,
    pub sha256: String,
}

/// Builds and signs the prompt for a call in this project.
pub fn preview(asked: &Asked<'_>, scene: &Scene) -> Result<Preview, PreviewError> {
    let agent = match asked.agent {
        None => None,
        Some(name) => {
            let agent = Agents::open(&scene.project)?.get(name)?;
            let text = agent.fill(&asked.inputs)?;
            let standing = view::standing(&agent)?;
            Some((Label::Agent(agent.name), standing, Cow::Owned(text)))
        }
    };
    let instructions = assemble::instructions(&scene.project)?;
    let prompt = assemble::prompt(Parts {
        agent,
        instructions: instructions.as_ref(),
        memories: recall::memories(&scene.project, asked.about())?.map(Cow::Owned),
        session: match asked.session {
            Some(id) => Some(conversation(id, scene)?),
            None => None,
        },
        step: step(asked.told)?,
        task: Cow::Borrowed(asked.task),
    });
    let key = keyring::load_or_create(KeyName::Context)?;
    let nonce = Nonce::fresh().map_err(PreviewError::Random)?;
    let written = render(&prompt, &nonce, &key);
    Ok(Preview {
        id: nonce.to_string(),
        sha256: digest(written.as_bytes()),
        blocks: views(&prompt),
        prompt: written,
    })
}

impl Asked<'_> {
    /// What memories are looked for by: the task, or what the workflow or another agent says of it.
    fn about(&self) -> &str {
        let says = |told: &&Told| match told.source {
            Source::Workflow { .. } | Source::Request => true,
            Source::Input(_) | Source::Step(_) => false,
        };
        self.told.iter().find(says).map_or(self.task, |told| told.text.as_str())
    }
}

fn step(told: &[Told]) -> Result<Vec<Block>, TrustError> {
    let blocks: Vec<Option<Block>> = told.iter().map(Told::block).collect::<Result<_, _>>()?;
    Ok(blocks.into_iter().flatten().collect())
}

/// A conversation as it would be told again.
fn conversation(id: &str, scene: &Scene) -> Result<(Label, Cow<'static, str>), PreviewError> {
    let wrong = |error| PreviewError::NotAnId {
        id: id.to_owned(),
        error,
    };
    let id: SessionId = id.parse().map_err(wrong)?;
    let settings = configuration::load(scene)?.settings;
    let window = Window {
        max_history: settings
            .number(Key::MaxHistory)
            .and_then(|most| usize::try_from(most).ok())
            .unwrap_or(usize::MAX),
        max_context_tokens: settings.number(Key::MaxContextTokens),
    };
    let found = Sessions::find(&scene.project)?.ok_or_else(|| SessionError::Missing(id.clone()))?;
    let session = found.read(&id)?.session;
    let text = recall::conversation(&sessions::history(&session, window));
    Ok((Label::Session(id.to_string()), Cow::Owned(text)))
}

fn views(prompt: &Prompt) -> Vec<BlockView> {
    let blocks = prompt.blocks.iter();
    blocks
        .map(|block| BlockView {
            source: block.label().to_string(),
            trusted: block.trust() == Trust::Trusted,
            bytes: block.text().len(),
            sha256: digest(block.text().as_bytes()),
        })
        .collect()
}
