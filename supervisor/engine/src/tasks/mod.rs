//! Tasks: a prompt that an agent works on in the sandbox, from the request to what is known of its end.

pub mod ask;
pub mod brief;
pub mod cli;
mod close;
mod crew;
pub mod desk;
pub mod events;
pub mod intake;
pub mod job;
pub mod layers;
pub mod outcome;
pub mod output;
pub mod process;
mod record;
pub mod refusal;
pub mod request;
pub mod select;
mod shelf;
pub mod verdict;
pub mod watch;
pub mod worker;

/// The variable by which a command that runs without a sandbox knows that it is part of a task.
pub const TASK_VARIABLE: &str = "GLEE_TASK";

pub use ask::{Answer, Asker, Question};
pub use crew::WORKER;
pub use desk::{Desk, Ticket, View, Waited};
pub use outcome::{Indexed, Outcome, Word};
pub use refusal::Refusal;
pub use request::{Permissions, Request};
pub use shelf::forget;
pub use watch::{News, Progress, Watch};
