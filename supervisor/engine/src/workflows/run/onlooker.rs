//! Who waits for a run: told what happens, asked what has to be decided.

use super::machine::NodeId;
use super::price::Money;
use super::tree::Tree;
use crate::store::Used;
use crate::tasks::{Answer, Progress, Question};
use crate::workflows::StepResult;

/// Who can be asked about the tasks of the steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    Now,
    Later,
    Nobody,
}

/// What somebody says when the money is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GoOn {
    Continue,
    Abort,
}

/// What happens, for those who look on. Texts come from agents.
#[derive(Debug)]
pub enum Event<'e> {
    Begun {
        node: NodeId,
    },
    Progress {
        node: NodeId,
        progress: Progress,
    },
    Ended {
        node: NodeId,
        result: &'e StepResult,
        used: Used,
    },
}

/// Who waits for a run.
pub trait Onlooker {
    fn tell(&mut self, tree: &Tree, event: Event<'_>);
    /// Do they want it to end?
    fn has_left(&mut self) -> bool;
    fn whom(&self) -> Whom;
    /// About the task of a step; only asked if `whom` says `Now`.
    fn approve(&mut self, question: &Question) -> Answer;
    /// More was spent than allowed.
    fn go_on(&mut self, spent: Money, allowed: Money) -> GoOn;
}
