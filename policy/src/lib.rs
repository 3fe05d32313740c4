//! The policy language: parse, merge, resolve, decide.
//!
//! Pure: reads no file, makes no syscall. What it must know of the machine comes in through `resolve::Host`.
//! The stages are types: text → `Policy` (`parse`) → one `Policy` without a base (`layer`) → `ResolvedPolicy` (`resolve`),
//! which `narrow` makes tighter and only `widen`, the caller's own flags, makes wider.

mod anywhere;
mod braces;
pub mod builtin;
pub mod decide;
pub mod env;
pub mod error;
pub mod examples;
pub mod exceeds;
pub mod glob;
mod glob_problem;
mod glob_ways;
pub mod grants;
pub mod hint;
pub mod injection;
mod injection_tools;
pub mod layer;
pub mod meaning;
pub mod minutes;
pub mod names;
pub mod narrow;
pub mod node;
pub mod origin;
pub mod parse;
mod path_problem;
mod paths;
pub mod policy;
pub mod protected;
pub mod resolve;
pub mod resolved;
mod scalar;
pub mod set_aside;
pub mod suggest;
mod text_problem;
mod tree;
pub mod value;
pub mod widen;
pub mod within;
pub mod yaml;

pub use error::PolicyError;
pub use exceeds::exceeds;
pub use layer::Library;
pub use narrow::narrow;
pub use origin::{Origin, Source};
pub use parse::{parse, parse_bytes, parse_project_config};
pub use policy::Policy;
pub use resolve::{Host, Walk, resolve};
pub use resolved::ResolvedPolicy;
pub use widen::{Flags, widen, widen_workspace};

#[cfg(test)]
mod testing;
