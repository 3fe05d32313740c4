//! Workflows: `.glee/workflows/NAME.yml`, how agents work together.
//!
//! Here is the language: read strictly (`parse`), with its expressions (`expr`), and checked as a whole before anything
//! runs (`check`); `run` is where it is run. INVARIANT: what a `Plan` holds has no cycle, no reference that leads nowhere, and fits its budget of steps.

pub mod check;
pub mod expr;
pub mod graph;
pub mod library;
pub mod model;
pub mod name;
pub mod page;
mod parse;
pub mod problem;
pub mod result;
pub mod run;
pub mod shelf;
mod source;
#[cfg(test)]
pub(crate) mod testing;
pub mod view;

pub use model::{Author, Execution, OnError, Step, StepRef, Work, Workflow};
pub use name::{GroupName, StepName, WorkflowName};
pub use parse::parse;
pub use problem::Problem;
pub use result::{GroupStatus, ParallelGroupResult, StepResult, StepStatus};
