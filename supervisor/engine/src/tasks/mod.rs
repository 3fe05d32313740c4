//! Tasks: a prompt that an agent works on in the sandbox, from the request to what is known of its end.

pub mod cli;
pub mod events;
pub mod output;
pub mod process;
pub mod select;
pub mod verdict;
