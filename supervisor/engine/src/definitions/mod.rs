//! Agents that a project defines: `.glee/agents/NAME.yml`, read strictly, filled in, held to their tools and permissions.
//!
//! What an agent CLI is, and how one is run, is `agent`'s business; here is what people write about the agents they want.
//! INVARIANT: a definition never gives more than the run would have without it.

pub mod create;
mod definition;
pub mod diff;
pub mod draft;
pub mod error;
pub mod import;
pub mod input;
pub mod name;
mod parse;
pub mod permissions;
pub mod store;
pub mod template;
pub mod tool;
pub mod view;

pub use definition::{Cli, Definition, Imported};
pub use error::DefinitionError;
pub use name::AgentName;
pub(crate) use parse::inputs;
pub use parse::parse;
pub use tool::Tool;
