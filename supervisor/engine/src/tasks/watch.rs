//! Following tasks until they are over.
//!
//! Looks at the store again and again: cheaply while nothing has changed there.

use std::thread;
use std::time::{Duration, Instant};

use super::desk::Desk;
use super::outcome::Outcome;
use super::refusal::Refusal;
use crate::store::{Millis, State, TaskId};

/// How often the store is looked at, by how long the wait is already: a short one should not become a longer one.
const LOOKS: [(Duration, Duration); 2] = [
    (Duration::from_secs(1), Duration::from_millis(1)),
    (Duration::from_secs(10), Duration::from_millis(10)),
];
/// How often it is said that somebody waits.
const SAID: Duration = Duration::from_secs(2);
const LAST_LOOK: Duration = Duration::from_millis(25);

/// What happens while somebody waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    State(State),
    /// What the agent does now, in words. They come from the sandbox.
    Doing(String),
}

#[derive(Debug)]
pub enum News {
    Progress(Progress),
    Over(Box<Outcome>),
}

/// Tasks that somebody follows.
#[derive(Debug)]
pub struct Watch<'d> {
    desk: &'d Desk,
    version: Option<i64>,
    tasks: Vec<Followed>,
    begun: Instant,
    said: Option<Instant>,
}

#[derive(Debug)]
struct Followed {
    index: usize,
    id: TaskId,
    state: Option<State>,
    note: u64,
}

impl<'d> Watch<'d> {
    pub(super) fn new(desk: &'d Desk, tasks: Vec<TaskId>) -> Self {
        let followed = |(index, id)| Followed {
            index,
            id,
            state: None,
            note: 0,
        };
        Self {
            desk,
            version: None,
            tasks: tasks.into_iter().enumerate().map(followed).collect(),
            begun: Instant::now(),
            said: None,
        }
    }

    /// Follows one more, by this number.
    pub fn add(&mut self, index: usize, id: TaskId) {
        self.tasks.push(Followed {
            index,
            id,
            state: None,
            note: 0,
        });
        self.version = None;
        self.begun = Instant::now();
    }

    /// Are all of them over?
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Looks once, and tells what is new, by the place of the task in the list.
    pub fn turn(&mut self, tell: &mut dyn FnMut(usize, News)) -> Result<(), Refusal> {
        if self.said.is_none_or(|said| said.elapsed() >= SAID) {
            self.said = Some(Instant::now());
            for task in &self.tasks {
                self.desk.reach(&task.id)?;
                self.desk.store().awaited(&task.id, Millis::now())?;
            }
        }
        if self.desk.take_turn()? {
            // What this process has changed itself does not count as a change.
            self.version = None;
        }
        let version = self.desk.store().version()?;
        if self.version.replace(version) == Some(version) {
            return Ok(());
        }
        let mut left = Vec::new();
        for mut task in std::mem::take(&mut self.tasks) {
            if task.state.is_none() {
                self.desk.reach(&task.id)?;
            }
            let state = self.desk.store().state(&task.id)?;
            if state.is_final() {
                let whole = self.desk.store().get(&task.id)?;
                if let Some(outcome) = Outcome::of(&whole) {
                    tell(task.index, News::Over(Box::new(outcome)));
                    continue;
                }
            }
            if task.state.replace(state) != Some(state) {
                tell(task.index, News::Progress(Progress::State(state)));
            }
            let doing = match state {
                State::Running => self.desk.store().doing(&task.id)?,
                State::Waiting | State::Queued | State::Claimed => None,
                State::Done | State::Failed | State::Cancelled | State::Timeout => None,
            };
            if let Some((number, text)) = doing.filter(|(number, _)| *number != task.note) {
                task.note = number;
                tell(task.index, News::Progress(Progress::Doing(text)));
            }
            left.push(task);
        }
        self.tasks = left;
        Ok(())
    }

    /// A pause before the next look, not beyond this time.
    pub fn rest(&self, until: Option<Instant>) {
        let waited = self.begun.elapsed();
        let pause = LOOKS.iter().find(|(within, _)| waited < *within);
        let pause = pause.map_or(LAST_LOOK, |(_, pause)| *pause);
        let left = until.map_or(pause, |until| until.saturating_duration_since(Instant::now()));
        thread::sleep(pause.min(left));
    }
}
