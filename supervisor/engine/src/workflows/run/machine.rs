//! What may start, what is skipped and how it ends: the order of a workflow's steps and of all below them.
//!
//! Pure: knows no agents, no clock and no store. INVARIANTS: a step starts at most once, and never before what it waits for has
//! ended; what has ended stays as it ended; the same endings come to the same result, in whatever order and however often asked.

use crate::workflows::{Execution, OnError, StepStatus};

/// A workflow and those below it, as far as order matters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    pub mode: Execution,
    pub steps: Vec<Node>,
}

/// One step. Others are named by their places in the same workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What must have ended before.
    pub after: Vec<usize>,
    /// Those of them whose results it uses, or needs.
    pub depends: Vec<usize>,
    pub on_error: OnError,
    pub failure: Failure,
    /// The workflow that it is, if it is one.
    pub inner: Option<Shape>,
}

/// Does its failure make the workflow fail?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    Counts,
    /// The author wrote `on_error: continue`.
    Forgiven,
}

/// A step of the whole tree: its place among all, a workflow before its own steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub usize);

/// Where a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Waiting,
    Running,
    Ended(StepStatus),
}

/// Why a step ended without having been run by anybody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// What it depends on failed or was skipped.
    Depends(NodeId),
    /// This one failed, and said that the workflow stops.
    Stopped(NodeId),
    /// The workflow that it belongs to was skipped.
    Above(NodeId),
    /// The whole tree was ended.
    Halted,
    /// A workflow whose steps have all ended.
    Inner,
}

/// A step that ended by the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settled {
    pub id: NodeId,
    pub status: StepStatus,
    pub why: Why,
}

#[derive(Debug, Clone)]
struct Slot {
    scope: usize,
    /// In the whole tree.
    after: Vec<NodeId>,
    depends: Vec<NodeId>,
    on_error: OnError,
    failure: Failure,
    inner: Option<usize>,
    stage: Stage,
}

/// One workflow of the tree.
#[derive(Debug, Clone)]
struct Scope {
    mode: Execution,
    owner: Option<NodeId>,
    steps: Vec<NodeId>,
    stopped_by: Option<NodeId>,
}

/// A run of a workflow, as far as it has come.
#[derive(Debug, Clone)]
pub struct Machine {
    slots: Vec<Slot>,
    /// The root first.
    scopes: Vec<Scope>,
    halted: Option<StepStatus>,
}

impl Machine {
    /// Nothing has started.
    #[must_use]
    pub fn new(shape: &Shape) -> Self {
        let mut this = Self {
            slots: Vec::new(),
            scopes: Vec::new(),
            halted: None,
        };
        this.add(shape, None);
        this
    }

    fn add(&mut self, shape: &Shape, owner: Option<NodeId>) -> usize {
        let scope = self.scopes.len();
        self.scopes.push(Scope {
            mode: shape.mode,
            owner,
            steps: Vec::new(),
            stopped_by: None,
        });
        let mut ids = Vec::with_capacity(shape.steps.len());
        for node in &shape.steps {
            let id = NodeId(self.slots.len());
            ids.push(id);
            self.slots.push(Slot {
                scope,
                after: Vec::new(),
                depends: Vec::new(),
                on_error: node.on_error,
                failure: node.failure,
                inner: None,
                stage: Stage::Waiting,
            });
            let inner = node.inner.as_ref().map(|inner| self.add(inner, Some(id)));
            if let Some(slot) = self.slots.get_mut(id.0) {
                slot.inner = inner;
            }
        }
        let place = |at: &usize| ids.get(*at).copied();
        for (node, id) in shape.steps.iter().zip(&ids) {
            if let Some(slot) = self.slots.get_mut(id.0) {
                slot.depends = node.depends.iter().filter_map(place).collect();
                // What is depended on is waited for, whatever the shape says.
                slot.after = node.after.iter().chain(&node.depends).filter_map(place).collect();
            }
        }
        if let Some(own) = self.scopes.get_mut(scope) {
            own.steps = ids;
        }
        scope
    }

    #[must_use]
    pub fn stage(&self, id: NodeId) -> Stage {
        // What is not there cannot start.
        self.slots
            .get(id.0)
            .map_or(Stage::Ended(StepStatus::Skipped), |slot| slot.stage)
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> {
        (0..self.slots.len()).map(NodeId)
    }

    /// Is it a workflow?
    #[must_use]
    pub fn is_inner(&self, id: NodeId) -> bool {
        self.slots.get(id.0).is_some_and(|slot| slot.inner.is_some())
    }

    fn status(&self, id: NodeId) -> Option<StepStatus> {
        match self.stage(id) {
            Stage::Ended(status) => Some(status),
            Stage::Waiting | Stage::Running => None,
        }
    }

    /// What may start now, in the order in which it is written. Nothing before `settle` has been asked.
    #[must_use]
    pub fn ready(&self) -> Vec<NodeId> {
        let may = |slot: &Slot| {
            slot.stage == Stage::Waiting
                && self.is_open(slot.scope)
                && self.has_come(slot)
                && self.reason(slot).is_none()
        };
        let ready = self.slots.iter().enumerate().filter(|(_, slot)| may(slot));
        ready.map(|(at, _)| NodeId(at)).collect()
    }

    /// Has everything ended that it waits for?
    fn has_come(&self, slot: &Slot) -> bool {
        slot.after.iter().all(|before| self.status(*before).is_some())
    }

    /// Has the workflow begun, and not ended?
    fn is_open(&self, scope: usize) -> bool {
        match self.scopes.get(scope).map(|scope| scope.owner) {
            Some(Some(owner)) => self.stage(owner) == Stage::Running,
            Some(None) => true,
            None => false,
        }
    }

    /// It has started. Does nothing to one that is not waiting.
    pub fn start(&mut self, id: NodeId) {
        if let Some(slot) = self.slots.get_mut(id.0).filter(|slot| slot.stage == Stage::Waiting) {
            slot.stage = Stage::Running;
        }
    }

    /// It has ended. Does nothing to one that has ended before.
    pub fn end(&mut self, id: NodeId, status: StepStatus) {
        let Some(slot) = self.slots.get_mut(id.0) else { return };
        if matches!(slot.stage, Stage::Ended(_)) {
            return;
        }
        slot.stage = Stage::Ended(status);
        let (scope, on_error) = (slot.scope, slot.on_error);
        if is_failure(status)
            && on_error == OnError::Stop
            && let Some(scope) = self.scopes.get_mut(scope)
        {
            scope.stopped_by = scope.stopped_by.or(Some(id));
        }
    }

    /// Nothing further starts in the whole tree; this is what it comes to. The first word counts.
    pub fn halt(&mut self, status: StepStatus) {
        self.halted = self.halted.or(Some(status));
    }

    /// Skips what the rules skip and ends the workflows whose steps have all ended, until nothing changes.
    pub fn settle(&mut self) -> Vec<Settled> {
        let mut done = Vec::new();
        loop {
            let before = done.len();
            for at in 0..self.slots.len() {
                let found = self.slots.get(at).and_then(|slot| self.settled(NodeId(at), slot));
                if let Some(settled) = found {
                    self.end(settled.id, settled.status);
                    done.push(settled);
                }
            }
            if done.len() == before {
                return done;
            }
        }
    }

    fn settled(&self, id: NodeId, slot: &Slot) -> Option<Settled> {
        let (status, why) = match slot.stage {
            Stage::Ended(_) => return None,
            Stage::Waiting => (StepStatus::Skipped, self.reason(slot)?),
            Stage::Running => (self.sum(slot.inner?)?, Why::Inner),
        };
        Some(Settled { id, status, why })
    }

    /// Why a waiting step will never start.
    fn reason(&self, slot: &Slot) -> Option<Why> {
        if self.halted.is_some() {
            return Some(Why::Halted);
        }
        let scope = self.scopes.get(slot.scope)?;
        if let Some(owner) = scope.owner
            && self.status(owner).is_some()
        {
            return Some(Why::Above(owner));
        }
        if let Some(by) = self.stopped_by(slot.scope) {
            return Some(Why::Stopped(by));
        }
        // Not before its turn: what waits for it would otherwise not wait for what it waits for.
        if !self.has_come(slot) {
            return None;
        }
        let lost = slot.depends.iter().copied().find(|id| match self.status(*id) {
            Some(StepStatus::Skipped) => true,
            Some(StepStatus::Error | StepStatus::Timeout) => {
                self.slots.get(id.0).map(|slot| slot.on_error) == Some(OnError::SkipDependents)
            }
            Some(StepStatus::Success) | None => false,
        });
        lost.map(Why::Depends)
    }

    /// Who stopped this workflow, or one that it belongs to.
    fn stopped_by(&self, scope: usize) -> Option<NodeId> {
        let mut next = Some(scope);
        while let Some(scope) = next.and_then(|at| self.scopes.get(at)) {
            if scope.stopped_by.is_some() {
                return scope.stopped_by;
            }
            next = scope.owner.and_then(|id| self.slots.get(id.0)).map(|slot| slot.scope);
        }
        None
    }

    /// What a workflow came to; `None` while a step of it has not ended.
    fn sum(&self, scope: usize) -> Option<StepStatus> {
        let own = self.scopes.get(scope)?;
        let slots: Vec<&Slot> = own.steps.iter().filter_map(|id| self.slots.get(id.0)).collect();
        let (mut failed, mut skipped) = (false, false);
        for slot in &slots {
            match slot.stage {
                Stage::Waiting | Stage::Running => return None,
                Stage::Ended(StepStatus::Success) => {}
                Stage::Ended(StepStatus::Skipped) => skipped = true,
                Stage::Ended(StepStatus::Error | StepStatus::Timeout) => failed |= slot.failure == Failure::Counts,
            }
        }
        Some(match self.halted {
            Some(status) if failed || skipped => status,
            Some(_) | None if failed => StepStatus::Error,
            // Steps that were not begun because something else stopped the whole.
            Some(_) | None if skipped && self.stopped_by(scope).is_some() => StepStatus::Error,
            Some(_) | None => StepStatus::Success,
        })
    }

    /// What the whole came to; `None` while a step of it has not ended.
    #[must_use]
    pub fn over(&self) -> Option<StepStatus> {
        self.sum(0)
    }

    /// The steps whose outputs are the workflow's own: that of `id`, or the root. In a sequence the last one that succeeded,
    /// else those that nothing waits for.
    #[must_use]
    pub fn last(&self, id: Option<NodeId>) -> Vec<NodeId> {
        let scope = match id {
            None => Some(0),
            Some(id) => self.slots.get(id.0).and_then(|slot| slot.inner),
        };
        let Some(scope) = scope.and_then(|at| self.scopes.get(at)) else {
            return Vec::new();
        };
        let steps = scope.steps.iter().copied();
        match scope.mode {
            Execution::Sequential => {
                let mut last = steps.rev().filter(|id| self.status(*id) == Some(StepStatus::Success));
                last.next().into_iter().collect()
            }
            Execution::Parallel | Execution::Dag => steps
                .filter(|id| {
                    let waits = |other: &NodeId| self.slots.get(other.0).is_some_and(|slot| slot.after.contains(id));
                    !scope.steps.iter().any(waits)
                })
                .collect(),
        }
    }
}

/// Did it run, and not succeed?
#[must_use]
pub fn is_failure(status: StepStatus) -> bool {
    match status {
        StepStatus::Error | StepStatus::Timeout => true,
        StepStatus::Success | StepStatus::Skipped => false,
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
