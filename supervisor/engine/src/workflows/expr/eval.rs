//! Values into their places.
//!
//! Pure. INVARIANTS: what an agent said ends up in a `Said` part and nowhere else; what would have no room is never made.

use super::parse::{Chain, Operand};
use super::template::{Piece, Template};
use super::{GroupField, Reference, StepField};
use crate::context::assemble::MOST_TOLD;
use crate::context::cut::{Keep, cut};
use crate::workflows::model::StepRef;
use crate::workflows::name::GroupName;
use crate::workflows::result::{ParallelGroupResult, StepResult};

/// What an expression can see: the scope of one workflow.
pub trait Scope {
    /// `None`: it was not given and has no default.
    fn input(&self, name: &str) -> Option<Rendered>;
    /// `None`: it has not ended.
    fn step(&self, which: &StepRef) -> Option<&StepResult>;
    /// `None`: it has not ended.
    fn group(&self, name: &GroupName) -> Option<ParallelGroupResult>;
}

/// A text with every value in its place.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// What the workflow's author or caller wrote, and facts.
    Text(String),
    /// What an agent said, never to be taken for instructions; `from` is such as `step:0:security-scanner`.
    Said { from: String, text: String },
}

impl Rendered {
    /// A value that no agent said.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            parts: vec![Part::Text(text.into())],
        }
    }

    fn add(&mut self, part: Part) {
        match (self.parts.last_mut(), part) {
            (_, Part::Text(text)) if text.is_empty() => {}
            (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
            (_, part) => self.parts.push(part),
        }
    }
}

/// The most that the texts of one step, or the inputs of one workflow, may have together.
const MOST_RENDERED: usize = 8 << 20;

/// What is left of it.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MOST_RENDERED)
    }
}

impl Room {
    fn take_part(&mut self, part: &Part) -> Result<(), EvalProblem> {
        self.take_bytes(match part {
            Part::Text(text) => text.len(),
            // One that is empty takes room too: a name stands in its place.
            Part::Said { from, text } => size_of::<Part>() + from.len() + text.len(),
        })
    }

    fn take_bytes(&mut self, bytes: usize) -> Result<(), EvalProblem> {
        self.0 = self.0.checked_sub(bytes).ok_or(EvalProblem::TooLong)?;
        Ok(())
    }
}

/// Why there is no value. `check` leaves none but an input that the caller did not give,
/// and what is too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvalProblem {
    #[error("the input `{0}` has no value")]
    NoInput(String),
    #[error("`{0}` has not ended")]
    NotEnded(String),
    #[error("with its values filled in, the text of the step would have more than {MOST_RENDERED} bytes")]
    TooLong,
}

impl EvalProblem {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoInput(_) | Self::NotEnded(_) => "give it, or write `${name ?? \"default\"}`",
            Self::TooLong => "give shorter values, or name each of them once",
        }
    }
}

impl Template {
    /// The text with every value in its place. Nothing in a value is looked at again.
    pub fn render(&self, scope: &dyn Scope, room: &mut Room) -> Result<Rendered, EvalProblem> {
        let mut rendered = Rendered::default();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => {
                    room.take_bytes(text.len())?;
                    rendered.add(Part::Text(text.clone()));
                }
                Piece::Expression(chain) => {
                    for part in first(chain, scope)?.parts {
                        room.take_part(&part)?;
                        rendered.add(part);
                    }
                }
            }
        }
        Ok(rendered)
    }
}

/// What an operand has.
enum Found {
    Value(Rendered),
    /// A step that failed has no output, one that did not has no error.
    Null,
    Missing(EvalProblem),
}

/// The first operand that is not null. If all are: the empty text, unless the last one should have been there.
fn first(chain: &Chain, scope: &dyn Scope) -> Result<Rendered, EvalProblem> {
    let mut problem = None;
    for operand in &chain.operands {
        match operand {
            Operand::Literal(text) => return Ok(Rendered::text(text.clone())),
            Operand::Reference { reference, .. } => match look_up(reference, scope) {
                Found::Value(value) => return Ok(value),
                Found::Null => problem = None,
                Found::Missing(what) => problem = Some(what),
            },
        }
    }
    problem.map_or_else(|| Ok(Rendered::default()), Err)
}

fn look_up(reference: &Reference, scope: &dyn Scope) -> Found {
    let not_ended = || Found::Missing(EvalProblem::NotEnded(reference.to_string()));
    match reference {
        Reference::Input(name) => match scope.input(name) {
            Some(value) => Found::Value(value),
            None => Found::Missing(EvalProblem::NoInput(name.clone())),
        },
        Reference::Step { which, field } => match scope.step(which) {
            Some(step) => of_step(step, *field),
            None => not_ended(),
        },
        Reference::Group { name, field } => match scope.group(name) {
            Some(group) => Found::Value(of_group(name, &group, *field)),
            None => not_ended(),
        },
    }
}

fn of_step(step: &StepResult, field: StepField) -> Found {
    let said = |text: &Option<String>| match text {
        Some(text) => Found::Value(Rendered {
            parts: vec![Part::Said {
                from: format!("step:{}:{}", step.step_index, step.agent),
                text: told(text),
            }],
        }),
        None => Found::Null,
    };
    match field {
        StepField::Output => said(&step.output),
        StepField::Error => said(&step.error),
        StepField::Status => Found::Value(Rendered::text(step.status.word())),
        StepField::DurationMs => Found::Value(Rendered::text(step.duration_ms.to_string())),
    }
}

/// No more is told of what an agent said, so no more is kept.
fn told(text: &str) -> String {
    cut(text, MOST_TOLD, Keep::Start).into_owned()
}

fn of_group(name: &GroupName, group: &ParallelGroupResult, field: GroupField) -> Rendered {
    let list = |steps: &[StepResult]| Rendered {
        parts: vec![Part::Said {
            from: format!("parallel_group:{name}"),
            // Text and numbers: there is nothing that JSON could not hold.
            text: told(&serde_json::to_string(steps).unwrap_or_default()),
        }],
    };
    match field {
        GroupField::Outputs => list(&group.outputs),
        GroupField::Succeeded => list(&group.succeeded),
        GroupField::Failed => list(&group.failed),
        GroupField::Status => Rendered::text(group.status.word()),
    }
}
