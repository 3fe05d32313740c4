//! Running workflows: in which order (`machine`), within which bounds (`budget`, `price`), told what (`tell`), written down
//! before anything else happens (`store::journal`), by one driver at a time (`drive`).
//!
//! One more client of the desk of tasks: no queue, no worker and no store of its own.

pub mod begin;
pub mod budget;
mod close;
pub mod conduct;
mod create;
pub mod drive;
mod error;
mod halt;
pub mod machine;
mod onlooker;
pub mod price;
mod smaller;
pub(crate) mod spent;
pub mod tell;
pub mod tree;
pub mod view;

pub use begin::{Asks, Ready, ready};
pub use conduct::{cancel, hand_over, history, resume, run, status};
pub use create::create;
pub use error::RunError;
pub use onlooker::{Event, GoOn, Onlooker, Whom};
pub use view::{RunView, StepView};
