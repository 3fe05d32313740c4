//! What a tool answers: data, as text and in structured form, or a refusal in words that the calling model can act on.

use std::io::{self, Write};

use glee_engine::definitions::store::StoreError;
use glee_engine::definitions::view::ViewError;
use glee_engine::memory::MemoryError;
use glee_engine::run::Refusal;
use glee_engine::tasks;
use glee_engine::workflows::run::RunError;
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde::Serialize;
use serde_json::json;

/// The largest answer to an agent in a sandbox, in bytes of JSON.
const MOST_ANSWER: usize = 4 << 20;

/// Why a call came to nothing.
#[derive(Debug)]
pub enum Failure {
    /// The caller can read it and do better.
    Told { message: String, help: Option<String> },
    /// The server itself cannot go on with it.
    Broken(ErrorData),
}

impl Failure {
    pub(crate) fn told(message: impl Into<String>) -> Self {
        Self::Told {
            message: message.into(),
            help: None,
        }
    }

    pub(crate) fn with_help(self, help: impl Into<String>) -> Self {
        match self {
            Self::Told { message, .. } => Self::Told {
                message,
                help: Some(help.into()),
            },
            Self::Broken(error) => Self::Broken(error),
        }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::Broken(ErrorData::internal_error(message.into(), None))
    }

    /// As the protocol wants it: what the model is to read is a result that says it is an error.
    pub(crate) fn into_result(self) -> Result<CallToolResult, ErrorData> {
        match self {
            Self::Told { message, help } => {
                let told = json!({ "status": "error", "error": message, "help": help });
                Ok(CallToolResult::error(vec![ContentBlock::text(told.to_string())]))
            }
            Self::Broken(error) => Err(error),
        }
    }
}

/// The same data twice: some clients show their model the one, some the other.
pub(crate) fn data(data: &impl Serialize) -> Result<CallToolResult, Failure> {
    let value = serde_json::to_value(data).map_err(|error| Failure::internal(error.to_string()))?;
    Ok(CallToolResult::structured(value))
}

/// An answer of bearable size, or words that say so.
pub(crate) fn bounded(response: CallToolResponse) -> Result<CallToolResponse, Failure> {
    let CallToolResponse::Complete(result) = &response else {
        return Ok(response);
    };
    let mut size = Size(0);
    serde_json::to_writer(&mut size, result).map_err(|error| Failure::internal(error.to_string()))?;
    match size.0 {
        bytes if bytes > MOST_ANSWER => {
            let told = Failure::told(format!(
                "the answer has {bytes} bytes, and at most {MOST_ANSWER} are given"
            ));
            Err(told.with_help("ask for less"))
        }
        _ => Ok(response),
    }
}

/// Counts what is written.
struct Size(usize);

impl Write for Size {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::told(error.to_string()).with_help(error.help())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let help = error.help();
        let told = Self::told(error.to_string());
        match help {
            Some(help) => told.with_help(help),
            None => told,
        }
    }
}

impl From<ViewError> for Failure {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::Store(error) => error.into(),
            ViewError::Select(error) => Refusal::from(error).into(),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let help = refusal.help();
        let told = Self::told(refusal.to_string());
        match help {
            Some(help) => told.with_help(help),
            None => told,
        }
    }
}

impl From<tasks::Refusal> for Failure {
    fn from(refusal: tasks::Refusal) -> Self {
        let help = refusal.help();
        let told = Self::told(refusal.to_string());
        match help {
            Some(help) => told.with_help(help),
            None => told,
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let help = error.help();
        let told = Self::told(error.to_string());
        match help {
            Some(help) => told.with_help(help),
            None => told,
        }
    }
}
