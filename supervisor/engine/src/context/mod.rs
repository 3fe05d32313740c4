//! What an agent is told, block by block, each with where it comes from and whether it may be believed.
//!
//! `encode`, `block`, `render` and `parse` are pure; `assemble` and `preview` read the project. The tags only label: what an agent may do
//! is decided by its sandbox. INVARIANTS: text inside a block cannot end it, begin another, or be read as one;
//! `parse(render(x)) == x` for every text; what has left an agent is never marked as trusted.

pub mod assemble;
pub mod block;
pub mod cut;
pub mod encode;
pub mod parse;
pub mod preview;
pub mod recall;
pub mod render;
pub mod told;

pub use block::{Block, Label, Prompt, Trust};
pub use parse::{ParseError, parse};
pub use render::{Nonce, render};
