//! `.glee/config.yml`: what a project says about how its subagents are run.
//!
//! `key`, `read`, `edit` and `bounds` are pure; `store` reads and writes the file. INVARIANT: a project that is not trusted sets no
//! value above its default; `security.subagent_permissions` is the policy's business (`select`).

pub mod bounds;
pub mod edit;
pub mod key;
mod read;
pub mod store;

pub use key::Key;
pub use read::{Settings, SettingsError, read};
