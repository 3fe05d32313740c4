//! Tasks: a prompt that an agent works on in the sandbox, from the request to what is known of its end.

pub mod ask;
pub mod brief;
mod calls;
pub mod cli;
mod close;
mod crew;
pub mod desk;
pub mod events;
pub mod intake;
pub mod job;
pub mod layers;
mod nested;
pub mod outcome;
pub mod output;
pub mod own;
pub mod process;
mod record;
pub mod refusal;
pub mod request;
mod scope;
pub mod select;
mod shelf;
mod step;
pub mod verdict;
mod view;
pub mod watch;
pub mod worker;

/// The variable by which a command that runs without a sandbox knows that it is part of a task.
pub const TASK_VARIABLE: &str = "GLEE_TASK";

pub use ask::{Answer, Asker, Question};
pub(crate) use crew::OWN;
pub use crew::{DRIVER, WORKER};
pub use desk::{Desk, Ticket, Waited};
pub use outcome::{Indexed, Outcome, Word};
pub use refusal::Refusal;
pub use request::{Permissions, Request, Stay};
pub use shelf::forget;
pub(crate) use step::StepOrder;
pub use view::View;
pub use watch::{News, Progress, Watch};
