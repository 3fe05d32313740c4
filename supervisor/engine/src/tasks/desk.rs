//! The one place where tasks are asked for, watched, approved and cancelled: for the command line, the MCP server and workflows.
//!
//! Any number of desks, in any number of processes, serve a project at once; what they share is the store. A desk may be used
//! from several threads. There is no daemon: whoever submits or waits starts workers for what is queued (`crew`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::ask::{self, Answer, Asker, Question};
use super::brief::Brief;
use super::close;
use super::crew::Crew;
use super::intake::{self, Intake};
use super::job::Bench;
use super::outcome::{Kept, Outcome};
use super::refusal::Refusal;
use super::request::{Request, Stay};
use super::scope::Scope;
use super::shelf;
use super::step::StepOrder;
use super::view::{View, head, view};
use super::watch::{News, Progress, Watch};
use super::worker;
use crate::audit::{Answer as Said, record};
use crate::clock::Moment;
use crate::label::Label;
use crate::project::Scene;
use crate::sessions::{SessionId, Sessions};
use crate::settings::Key;
use crate::settings::store as configuration;
use crate::store::{
    Cancel, Entry, FlowId, Millis, New, Ready, State, Store, StoreError, TaskId, Verdict, Which, Worker,
};

/// How often whoever waits sees to it that the queue moves.
const ROUND: Duration = Duration::from_secs(1);
/// Tasks that are over are kept for so many milliseconds: as long as the logs.
const KEPT: u64 = 14 * 86_400_000;

/// The desk of one project.
#[derive(Debug)]
pub struct Desk {
    scene: Scene,
    caller: Label,
    scope: Scope,
    store: Mutex<Store>,
    crew: Crew,
    /// Once is enough for a desk: sessions expire by the day.
    tidied: AtomicBool,
}

/// A task that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Ticket {
    pub task_id: TaskId,
    pub session_id: SessionId,
    /// `queued`, or `waiting` for approval.
    pub state: State,
    pub agent: Option<String>,
    pub cli: String,
}

/// What waiting came to.
#[derive(Debug)]
pub enum Waited {
    Over(Box<Outcome>),
    /// The time to wait has passed.
    NotYet(Box<View>),
}

impl Desk {
    /// Opens the desk of a project. Between callers the queue is fair.
    pub fn open(scene: Scene, caller: Label) -> Result<Self, Refusal> {
        Self::reaching(scene, caller, Scope::Project)
    }

    /// The desk of a task that runs, for the agent that works on it.
    pub fn of_task(scene: Scene, task: TaskId) -> Result<Self, Refusal> {
        let caller = intake::label(&format!("in-{task}")).ok_or(StoreError::Unreadable)?;
        Self::reaching(scene, caller, Scope::Below(task))
    }

    fn reaching(scene: Scene, caller: Label, scope: Scope) -> Result<Self, Refusal> {
        let store = Mutex::new(Store::open(&scene.project)?);
        let crew = Crew::new(scene.project.clone());
        Ok(Self {
            scene,
            caller,
            scope,
            store,
            crew,
            tidied: AtomicBool::new(false),
        })
    }

    pub(super) fn caller(&self) -> &Label {
        &self.caller
    }

    #[must_use]
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// A thread that panicked leaves no transaction behind: the store is whole.
    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Is the task one that this desk is for?
    pub(super) fn reach(&self, id: &TaskId) -> Result<(), Refusal> {
        self.scope.check(id, &self.store())
    }

    /// Takes a task, if it can be worked on and nobody objects, and sees to it that it starts.
    pub fn submit(&self, request: Request, asker: Asker<'_>) -> Result<Ticket, Refusal> {
        self.take(request, None, asker)
    }

    /// The same for the step of a workflow: its beginning is written down in the same change as the task.
    pub(crate) fn submit_step(&self, request: Request, step: StepOrder, asker: Asker<'_>) -> Result<Ticket, Refusal> {
        self.crew.has_more();
        self.take(request, Some(step), asker)
    }

    fn take(&self, mut request: Request, step: Option<StepOrder>, asker: Asker<'_>) -> Result<Ticket, Refusal> {
        let settings = configuration::load(&self.scene)?.settings;
        let Intake { mut brief, cli, plan } = {
            let store = self.store();
            self.scope.adopt(&mut request, &store)?;
            intake::take(request, &self.scene, &settings, &store)?
        };
        brief.step = step.as_ref().map(StepOrder::of);
        let told = step.as_ref().map_or(&[][..], |step| &step.told);
        let entry = if settings.is_on(Key::ApproveSubagents) {
            brief.policy_sha256 = Some(plan.policy.sha256());
            self.approval(&Question::about(None, &brief, told, cli, &plan), &brief, asker)?
        } else {
            Entry::Queue
        };
        let sessions = Sessions::open(&self.scene.project)?;
        if !self.tidied.swap(true, Ordering::Relaxed) {
            sessions.expire(intake::kept(&settings), Moment::now())?;
            shelf::forget(&self.scene.project, &sessions).map_err(Refusal::Files)?;
            self.store().prune(Millis(Millis::now().0.saturating_sub(KEPT)))?;
        }
        let session = intake::session(&brief, cli, &sessions)?;
        let agent = intake::label(brief.request.agent.as_ref().map_or("", |name| name.as_str()));
        let waiter = match (brief.request.stay, entry) {
            (Stay::WithAsker, Entry::Queue) => Some(Worker::this().map_err(StoreError::Worker)?),
            // Nobody waits for somebody's approval.
            (Stay::WithAsker, Entry::Approval) | (Stay::Alone, _) => None,
        };
        let new = New {
            caller: self.caller.clone(),
            parent: brief.request.parent.clone(),
            session: Some(session.clone()),
            agent: agent.clone(),
            cli: intake::label(cli.word()),
            request: brief.json(),
            entry,
            waiter,
            step: step.map(StepOrder::task),
        };
        let stored = self.store().enqueue(&new, Millis::now());
        let task_id = stored.inspect_err(|_| {
            if brief.request.session.is_none() {
                // Made a moment ago, for this task alone; one that stays is empty and expires.
                let _ = sessions.delete(&session);
            }
        })?;
        if entry == Entry::Queue {
            if brief.policy_sha256.is_some() {
                self.answered(Said::Approved, Some(&task_id), &brief);
            }
            self.start(1)?;
        }
        Ok(Ticket {
            task_id,
            session_id: session,
            state: match entry {
                Entry::Queue => State::Queued,
                Entry::Approval => State::Waiting,
            },
            agent: agent.map(String::from),
            cli: cli.word().to_owned(),
        })
    }

    fn approval(&self, question: &Question, brief: &Brief, asker: Asker<'_>) -> Result<Entry, Refusal> {
        match asker {
            Asker::Now(ask) => match ask(question) {
                Answer::Yes => Ok(Entry::Queue),
                Answer::No => {
                    self.answered(Said::Denied, None, brief);
                    Err(Refusal::Denied)
                }
                Answer::Nobody => Ok(Entry::Approval),
            },
            Asker::Later => Ok(Entry::Approval),
            Asker::Nobody => Err(Refusal::NobodyToAsk),
        }
    }

    pub fn status(&self, id: &TaskId) -> Result<View, Refusal> {
        self.sweep()?;
        let mut store = self.store();
        self.scope.check(id, &store)?;
        if self.scope.is_below() {
            store.awaited(id, Millis::now())?;
        }
        let task = store.get(id)?;
        view(task, &store)
    }

    /// The newest tasks, the newest first, with the beginnings of what they said.
    pub fn list(&self, which: Which, most: u32) -> Result<Vec<View>, Refusal> {
        self.sweep()?;
        let store = self.store();
        let views = self.scope.each(which, most, &store, |task| head(task, &store))?;
        views.into_iter().collect()
    }

    /// Waits until the task is over, until this time, or until nobody `wants` to know any more; tells what happens meanwhile.
    /// The queue moves while anybody waits. One wait is one call: the looks become rarer with its age.
    pub fn wait(
        &self,
        id: &TaskId,
        until: Option<Instant>,
        wants: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(Progress),
    ) -> Result<Waited, Refusal> {
        let mut watch = self.watch(vec![id.clone()]);
        let mut over = None;
        loop {
            watch.turn(&mut |_, news| match news {
                News::Progress(progress) => tell(progress),
                News::Over(outcome) => over = Some(outcome),
            })?;
            if let Some(outcome) = over.take() {
                return Ok(Waited::Over(outcome));
            }
            if until.is_some_and(|until| Instant::now() >= until) || !wants() {
                return Ok(Waited::NotYet(Box::new(self.status(id)?)));
            }
            watch.rest(until);
        }
    }

    /// Follows several tasks at once.
    #[must_use]
    pub fn watch(&self, tasks: Vec<TaskId>) -> Watch<'_> {
        Watch::new(self, tasks)
    }

    /// Whoever waits sees to it that the queue moves. True if it was this one's turn.
    pub(super) fn take_turn(&self) -> Result<bool, Refusal> {
        let due = self.crew.is_due(ROUND);
        if due {
            self.dispatch()?;
        }
        Ok(due)
    }

    /// Ends a task that has not started, and asks the worker of one that has; those that it asked for as well.
    pub fn cancel(&self, id: &TaskId) -> Result<Cancel, Refusal> {
        let mut store = self.store();
        self.scope.check(id, &store)?;
        close::cancel(id, &mut store, &self.scene)
    }

    /// What somebody is asked about a task that waits for approval.
    pub fn question(&self, id: &TaskId) -> Result<Question, Refusal> {
        self.reach(id)?;
        let task = self.store().get(id)?;
        let (brief, cli) = intake::read(&task)?;
        let told = match &brief.step {
            Some(step) => worker::told(step, &self.store())?,
            None => Vec::new(),
        };
        let settings = configuration::load(&self.scene)?.settings;
        let plan = brief.plan(cli, &settings, &self.scene)?;
        Ok(Question::about(Some(task.id), &brief, &told, cli, &plan))
    }

    /// Somebody approves of a task, or of a call that waits.
    pub fn approve(&self, id: &TaskId) -> Result<(), Refusal> {
        self.scope.decides()?;
        if self.decide_call(id, Verdict::Approved)? {
            return Ok(());
        }
        self.sweep()?;
        self.store().approve(id)?;
        self.enter(Said::Approved, id)?;
        self.dispatch()
    }

    /// Enters the answer about a stored task in the audit log.
    fn enter(&self, said: Said, id: &TaskId) -> Result<(), Refusal> {
        let task = self.store().get(id)?;
        if let Ok(brief) = Brief::read(&task.request) {
            self.answered(said, Some(id), &brief);
        }
        Ok(())
    }

    /// A log that cannot be written stops nothing here: the run itself says so, and can be made to need it.
    fn answered(&self, said: Said, id: Option<&TaskId>, brief: &Brief) {
        let policy = brief.policy_sha256.as_deref().unwrap_or_default();
        let (project, prompt) = (&self.scene.project, &brief.request.prompt);
        let _ = record::answered(project, said, id.map(TaskId::as_str), policy, prompt);
    }

    /// Somebody does not.
    pub fn deny(&self, id: &TaskId) -> Result<(), Refusal> {
        self.scope.decides()?;
        if self.decide_call(id, Verdict::Denied)? {
            return Ok(());
        }
        self.sweep()?;
        let kept = Kept::failed(Refusal::Denied.to_string(), None);
        {
            let mut store = self.store();
            store.deny(id, &kept.json(), Millis::now())?;
            close::over(id, &mut store, &self.scene)?;
        }
        self.enter(Said::Denied, id)
    }

    /// Looks after the tasks of workers that died, and starts workers for what can start.
    pub fn dispatch(&self) -> Result<(), Refusal> {
        self.start(u64::MAX)
    }

    /// At most so many workers: for one more task one is enough, since others may be on their way already.
    fn start(&self, most: u64) -> Result<(), Refusal> {
        self.sweep()?;
        let limits = intake::limits(&configuration::load(&self.scene)?.settings);
        let ready = {
            let mut store = self.store();
            let lost = store.recover(Millis::now())?.over;
            close::all(&lost, &mut store, &self.scene)?;
            store.ready(&limits, Millis::now())?
        };
        let bench = || Bench::open(&self.scene.project).map_err(Refusal::Files);
        if most == 1 && ready == Ready::Now(1) && bench()?.is_awaited(std::process::id()) {
            return Ok(());
        }
        self.crew.send(ready, most).map_err(Refusal::Worker)
    }

    /// A process of its own that drives the run of a workflow.
    pub(crate) fn send_driver(&self, run: &FlowId) -> Result<(), Refusal> {
        self.crew.send_driver(run).map_err(Refusal::Worker)
    }

    /// What nobody approved of in time is over.
    fn sweep(&self) -> Result<(), Refusal> {
        let now = Millis::now();
        let patience = u64::try_from(ask::PATIENCE.as_millis()).unwrap_or(u64::MAX);
        let kept = Kept::failed(Refusal::Unapproved.to_string(), Refusal::Unapproved.help());
        let before = Millis(now.0.saturating_sub(patience));
        let mut store = self.store();
        let over = store.expire(before, &kept.json(), now)?;
        close::all(&over, &mut store, &self.scene)
    }
}

/// Threads share it: the server has one for each call.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Desk>();
};
