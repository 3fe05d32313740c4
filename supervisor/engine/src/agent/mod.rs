//! Agent CLIs: what is laid over a run's policy when its command is one that is known.
//!
//! The profile never widens what the run may do on this machine beyond reading the CLI's own installation: it adds private
//! files and variables, and the way to the model.

pub mod install;
pub mod key;
pub mod overlay;
pub mod profile;
