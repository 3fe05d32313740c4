//! MCP tools and prompts as commands of the engine, over standard streams and HTTP. No policy logic.
//!
//! The server has threads; so it never builds a sandbox: tasks run in worker processes of their own.

pub mod answer;
mod ask;
pub mod entry;
mod extension;
mod gate;
mod inside;
pub mod install;
mod prompts;
pub mod server;
mod tools;
pub mod transport;
mod work;
mod workflow;
