//! Drives a run from where it is to its end: starts what may start, waits, writes down what came of it.
//!
//! One driver for each run (`store::journal`); its death loses nothing but time: agents that run go on to their end, and the next
//! driver finds what they said. INVARIANT: whatever happens is in the journal before anything follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::begin::Order;
use super::budget::{Kind, Ledger, May};
use super::close::state;
use super::error::RunError;
use super::halt::Halt;
use super::machine::{Machine, NodeId};
use super::onlooker::{Event, GoOn, Onlooker, Whom};
use super::smaller;
use super::tell::{Words, tell};
use super::tree::{Spot, Tree};
use super::view::{self, RunView};
use crate::definitions::store::Agents;
use crate::definitions::{Cli, Definition};
use crate::store::{FlowId, FlowStep, Millis, Pause, StepEnd, StepState, StoreError, TaskId, Used, Worker};
use crate::tasks::{Asker, Desk, Outcome, Question, Refusal, Request, StepOrder, Watch};
use crate::trust;
use crate::workflows::check::Does;
use crate::workflows::{StepResult, StepStatus};

/// How often the driver says that it lives, and looks whether anybody wants the run to end.
const BEAT: Duration = Duration::from_millis(250);

/// The driver of one run.
#[derive(Debug)]
pub struct Driver<'d> {
    pub(super) desk: &'d Desk,
    pub(super) id: FlowId,
    pub(super) me: Worker,
    pub(super) order: Order,
    pub(super) tree: Arc<Tree>,
    pub(super) machine: Machine,
    pub(super) ledger: Ledger,
    pub(super) results: Vec<Option<StepResult>>,
    /// The agents that run.
    pub(super) running: Vec<(NodeId, TaskId)>,
    /// Those whose tasks are over, while some of what these have asked for is not.
    pub(super) ending: Vec<(NodeId, Outcome)>,
    pub(super) watch: Watch<'d>,
    /// Steps whose tasks nobody knows any more: forgotten while nobody drove the run.
    forgotten: Vec<NodeId>,
    pub(super) halted: Option<Halt>,
    /// The time that the run had used when workflows inside it began.
    pub(super) opened: BTreeMap<NodeId, Duration>,
    beaten: Option<Instant>,
}

impl<'d> Driver<'d> {
    /// Goes on where the journal ends. The run must be this process's.
    pub fn new(desk: &'d Desk, id: FlowId, me: Worker, order: Order, tree: Arc<Tree>) -> Result<Self, RunError> {
        let (flow, steps) = {
            let store = desk.store();
            (store.flow(&id)?, store.flow_steps(&id)?)
        };
        let mut this = Self {
            desk,
            me,
            machine: Machine::new(&tree.shape),
            ledger: view::ledger(&order, &flow, &steps),
            results: vec![None; tree.spots.len()],
            running: Vec::new(),
            ending: Vec::new(),
            watch: desk.watch(Vec::new()),
            forgotten: Vec::new(),
            halted: None,
            opened: BTreeMap::new(),
            beaten: None,
            order,
            tree,
            id,
        };
        let mut until = flow.seen_at;
        for step in &steps {
            until = until.max(this.restore(step)?);
            this.opened.extend(smaller::opened(step, &flow));
        }
        // While nobody drove it, only the time of its agents counts.
        this.ledger
            .goes_on(flow.used + until.since(flow.seen_at), Millis::now());
        Ok(this)
    }

    /// Takes a step as it is written down. Returns until when its agent was at work, if it had begun and not ended.
    fn restore(&mut self, step: &FlowStep) -> Result<Millis, RunError> {
        let id = NodeId(step.node);
        if let Some(result) = &step.result {
            let result: StepResult = serde_json::from_value(result.clone()).map_err(|_| StoreError::Unreadable)?;
            self.machine.end(id, result.status);
            if let Some(place) = self.results.get_mut(id.0) {
                *place = Some(result);
            }
            return Ok(Millis(0));
        }
        if step.state != StepState::Running {
            return Ok(Millis(0));
        }
        self.machine.start(id);
        let Some(task) = &step.task else { return Ok(Millis(0)) };
        let found = self.desk.store().get(task);
        match found {
            Ok(found) => {
                self.running.push((id, task.clone()));
                self.watch.add(id.0, task.clone());
                Ok(found.finished_at.unwrap_or_else(Millis::now))
            }
            Err(StoreError::Missing(_)) => {
                self.forgotten.push(id);
                Ok(Millis(0))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// To its end.
    pub fn drive(mut self, onlooker: &mut dyn Onlooker) -> Result<RunView, RunError> {
        let forgotten = std::mem::take(&mut self.forgotten).into_iter().map(|id| {
            let why = "what became of it is not known: its task was forgotten".to_owned();
            self.ledger.ended();
            (id, self.result(id, StepStatus::Error, Err(why), 0), Used::default())
        });
        let forgotten = forgotten.collect();
        self.ended(forgotten, onlooker)?;
        loop {
            self.settle(onlooker)?;
            if let Some(status) = self.machine.over() {
                return self.finish(status);
            }
            self.look_up(onlooker)?;
            self.start(onlooker)?;
            if !self.wait(onlooker)? {
                self.watch.rest(Some(Instant::now() + BEAT));
            }
        }
    }

    /// Ends what the rules end.
    fn settle(&mut self, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        let settled = self.machine.settle();
        let mut ends = Vec::new();
        for one in settled {
            let result = self.by_rule(one.id, one.status, one.why)?;
            ends.push((one.id, result, Used::default()));
        }
        self.ended(ends, onlooker)
    }

    /// Writes down that steps have ended, and tells it.
    pub(super) fn ended(
        &mut self,
        ends: Vec<(NodeId, StepResult, Used)>,
        onlooker: &mut dyn Onlooker,
    ) -> Result<(), RunError> {
        if ends.is_empty() {
            return Ok(());
        }
        let rows: Vec<StepEnd> = ends
            .iter()
            .map(|(id, result, used)| StepEnd {
                node: id.0,
                state: state(result.status),
                result: serde_json::to_value(result).unwrap_or_default(),
                used: *used,
            })
            .collect();
        let now = Millis::now();
        let elapsed = self.ledger.elapsed(now);
        self.desk.store().end_steps(&self.id, &self.me, &rows, elapsed, now)?;
        for (id, result, used) in ends {
            self.machine.end(id, result.status);
            let event = Event::Ended {
                node: id,
                result: &result,
                used,
            };
            onlooker.tell(&self.tree, event);
            if let Some(place) = self.results.get_mut(id.0) {
                *place = Some(result);
            }
        }
        Ok(())
    }

    /// Looks at the clock, and whether anybody wants it to end.
    fn look_up(&mut self, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        let now = Millis::now();
        if now >= self.ledger.deadline() {
            self.halt(Halt::Time)?;
        }
        if self.halted.is_none() && onlooker.has_left() {
            self.desk.store().ask_flow_end(&self.id)?;
            self.halt(Halt::Cancelled)?;
        }
        if self.beaten.is_some_and(|beaten| beaten.elapsed() < BEAT) {
            return Ok(());
        }
        self.beaten = Some(Instant::now());
        let asked = {
            let mut store = self.desk.store();
            store.beat(&self.id, &self.me, self.ledger.elapsed(now), now)?;
            store.is_flow_end_asked(&self.id)?
        };
        if asked {
            self.halt(Halt::Cancelled)?;
        }
        Ok(())
    }

    /// Nothing further starts, and what runs is ended.
    fn halt(&mut self, why: Halt) -> Result<(), RunError> {
        if self.halted.is_some() {
            return Ok(());
        }
        self.halted = Some(why);
        self.machine.halt(why.status());
        if why != Halt::Steps {
            for (_, task) in &self.running {
                self.desk.cancel(task)?;
            }
        }
        Ok(())
    }

    /// Starts what may start.
    fn start(&mut self, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        loop {
            let ready = self.machine.ready();
            let mut opened = false;
            for id in ready {
                let is_inner = self.machine.is_inner(id);
                let may = if is_inner {
                    self.ledger.may_open()
                } else {
                    self.ledger.may_run()
                };
                match may {
                    May::Begin if is_inner => {
                        self.open(id, onlooker)?;
                        opened = true;
                    }
                    May::Begin if self.is_full(id) => {}
                    May::Begin => self.begin(id, onlooker)?,
                    May::Wait => {}
                    May::NoSteps => return self.halt(Halt::Steps),
                    May::Cost => return self.pause(onlooker),
                }
            }
            if !opened {
                return Ok(());
            }
        }
    }

    /// More was spent than allowed: once nothing runs any more, somebody says whether it goes on.
    fn pause(&mut self, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        if !self.running.is_empty() {
            return Ok(());
        }
        let begun = Millis::now();
        self.desk.store().pause_flow(&self.id, &self.me, Pause::Paused)?;
        let allowed = self.ledger.allowed().unwrap_or_default();
        match onlooker.go_on(self.ledger.cost(), allowed) {
            GoOn::Abort => self.halt(Halt::Cost),
            GoOn::Continue => {
                let allowed = self.ledger.allow().map(|money| money.0);
                self.ledger.rested(Millis::now().since(begun));
                let pause = Pause::GoesOn { allowed };
                Ok(self.desk.store().pause_flow(&self.id, &self.me, pause)?)
            }
        }
    }

    /// A workflow begins.
    fn open(&mut self, id: NodeId, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        let now = Millis::now();
        self.desk.store().open_step(&self.id, id.0, &self.me, now)?;
        self.opened.insert(id, self.ledger.elapsed(now));
        self.ledger.began(Kind::Workflow);
        self.machine.start(id);
        onlooker.tell(&self.tree, Event::Begun { node: id });
        Ok(())
    }

    /// An agent begins, or the step fails at once.
    fn begin(&mut self, id: NodeId, onlooker: &mut dyn Onlooker) -> Result<(), RunError> {
        self.ledger.began(Kind::Agent);
        match self.submit(id, onlooker) {
            Ok(task) => {
                self.machine.start(id);
                self.running.push((id, task.clone()));
                self.watch.add(id.0, task);
                onlooker.tell(&self.tree, Event::Begun { node: id });
                Ok(())
            }
            Err(error) if !error.is_fatal() => {
                self.ledger.ended();
                let why = match error.help() {
                    Some(help) => format!("{error}; {help}"),
                    None => error.to_string(),
                };
                let result = self.result(id, StepStatus::Error, Err(why), 0);
                self.ended(vec![(id, result, Used::default())], onlooker)
            }
            Err(error) => Err(error),
        }
    }

    fn submit(&mut self, id: NodeId, onlooker: &mut dyn Onlooker) -> Result<TaskId, RunError> {
        let tree = self.tree.clone();
        let Some(spot) = tree.spot(id) else {
            return Err(StoreError::NoStep(self.id.clone(), id.0).into());
        };
        let (agent, cli) = self.who(spot)?;
        let words = self.words(spot, agent.as_ref())?;
        let request = Request {
            description: spot.path.clone(),
            agent: agent.map(|agent| agent.name),
            cli,
            inputs: words.inputs,
            parent: self.order.parent.clone(),
            ..Request::new(&words.task)
        };
        let step = StepOrder {
            flow: self.id.clone(),
            node: id.0,
            driver: self.me.clone(),
            until: self.until(spot)?,
            told: words.told,
        };
        let ticket = match onlooker.whom() {
            Whom::Now => {
                let mut ask = |question: &Question| onlooker.approve(question);
                self.desk.submit_step(request, step, Asker::Now(&mut ask))?
            }
            Whom::Later => self.desk.submit_step(request, step, Asker::Later)?,
            Whom::Nobody => self.desk.submit_step(request, step, Asker::Nobody)?,
        };
        Ok(ticket.task_id)
    }

    fn who(&self, spot: &Spot) -> Result<(Option<Definition>, Option<Cli>), RunError> {
        match spot.step().map(|step| &step.does) {
            Some(Does::Agent(name)) => {
                let agents = Agents::open(&self.desk.scene().project).map_err(Refusal::from)?;
                let agent = agents.get(name.as_str()).map_err(Refusal::from)?;
                if self.order.files.get(&agent.file) != Some(&agent.digest) {
                    return Err(RunError::OtherAgent(agent.name));
                }
                Ok((Some(agent), None))
            }
            Some(Does::Cli(cli)) => Ok((None, Some(*cli))),
            Some(Does::Workflow(_)) | None => Ok((None, None)),
        }
    }

    fn words(&self, spot: &Spot, agent: Option<&Definition>) -> Result<Words, RunError> {
        let inputs = self.tree.inputs(spot.owner, &self.order.inputs, &self.results)?;
        let files = self.tree.files(spot);
        let standing = trust::standing(&files).map_err(Refusal::from)?;
        let scope = self.tree.view(spot, &inputs, &self.results);
        Ok(tell(spot, agent, &files, standing, &scope)?)
    }
}
