//! A worker: takes what is queued, one task after the other, until there is nothing to do.
//!
//! A process of its own. What becomes of its task if it is killed is the store's matter (`recover`); its run ends with it.
//! INVARIANT: nothing of a task runs before the store says that it is `running`, and only this worker's.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use glee_sandbox::sys::limits::{self, Resource};
use glee_sandbox::sys::{event, process as sys};

use super::brief::{Brief, OfStep};
use super::cli;
use super::close;
use super::crew::OWN;
use super::intake;
use super::job::{Bench, Job};
use super::nested;
use super::outcome::Kept;
use super::process::{self, Sound, Worked};
use super::record::{self, Record, Told as Spoken};
use super::refusal::Refusal;
use super::select::SelectCliError;
use super::shelf::Shelf;
use crate::clock::Moment;
use crate::context::preview::{Asked, preview};
use crate::context::told::Told;
use crate::definitions::Cli;
use crate::endpoint;
use crate::logs::Logs;
use crate::project::Scene;
use crate::sessions::{self, ConversationId, Resume, SessionId, Sessions, Window};
use crate::settings::bounds::Bounds;
use crate::settings::store as configuration;
use crate::settings::{Key, Settings};
use crate::store::{Claim, Claimed, Millis, Running, Started, Store, StoreError, TaskId, Worker};

/// Beyond the deadline of the run: to end it, and to write down what came of it.
const SLACK: Duration = Duration::from_secs(60);
/// How often a wish to cancel is looked for.
const LOOK: Duration = Duration::from_millis(100);
/// How long a worker without work waits for more, and how often it looks.
const IDLE: Duration = Duration::from_millis(100);
const GLANCE: Duration = Duration::from_millis(1);
/// What the agent does is not noted more often.
const NOTES: Duration = Duration::from_millis(300);

/// Works until there is nothing to do. `patron`: a process that will have more in a moment, and is waited for a little.
pub fn work(project: &Path, patron: Option<u32>) -> Result<(), Refusal> {
    // Who started us may go, and its terminal with it. Only the leader of a group cannot; it has left already.
    let _ = sys::setsid();
    // Nor does what it had blocked or ignored count here. Who does not read its prompt must not end us.
    event::reset_signals(&[libc::SIGPIPE, libc::SIGXFSZ]).map_err(Refusal::Worker)?;
    // One that an endpoint started has its bound, which is not the agents'.
    limits::lift(Resource::Data, endpoint::MEMORY).map_err(Refusal::Worker)?;
    let scene = Scene::find(Some(project))?;
    let mut store = Store::open(&scene.project)?;
    let bench = Bench::open(&scene.project).map_err(Refusal::Files)?;
    let this = Worker::this().map_err(StoreError::Worker)?;
    bench.tidy(&store)?;
    let mut lingers = None;
    loop {
        let settings = configuration::load(&scene)?.settings;
        let lost = store.recover(Millis::now())?.over;
        close::all(&lost, &mut store, &scene)?;
        match store.claim(&this, &intake::limits(&settings), Millis::now())? {
            Claimed::Nothing if rest(patron, &bench, &store)? => {}
            Claimed::Nothing | Claimed::Busy => return Ok(()),
            Claimed::Later(wait) => {
                lingers = lingers.or_else(|| bench.linger());
                if lingers.is_none() {
                    return Ok(());
                }
                thread::sleep(wait);
            }
            Claimed::Task(claim) => {
                lingers = None;
                one(*claim, &scene, &settings, &mut store, &bench)?;
            }
        }
    }
}

/// Waits a little for more to do. False: it is time to end.
///
/// A patron that has queued a task and sees the lock held need not start a worker: after it is given up the queue is looked at
/// once more.
fn rest(patron: Option<u32>, bench: &Bench, store: &Store) -> Result<bool, Refusal> {
    let Some((patron, right)) = patron.and_then(|patron| Some((patron, bench.idle(patron)?))) else {
        return Ok(false);
    };
    let begun = Instant::now();
    let mut seen = None;
    while begun.elapsed() < IDLE {
        thread::sleep(GLANCE);
        let version = store.version()?;
        if seen.replace(version) != Some(version) && store.has_next()? {
            return Ok(true);
        }
    }
    bench.leave(patron, right);
    Ok(store.has_next()?)
}

/// One task, from the claim to its end.
fn one(claim: Claim, scene: &Scene, settings: &Settings, store: &mut Store, bench: &Bench) -> Result<(), Refusal> {
    let ready = match prepare(&claim, scene, settings, store, bench) {
        Ok(ready) => ready,
        Err(refusal) => {
            let kept = Kept::failed(refusal.to_string(), refusal.help());
            let id = claim.task.id.clone();
            lost_is_fine(store.refuse(claim, &kept.json(), Millis::now()))?;
            return close::over(&id, store, scene);
        }
    };
    let task = claim.task.clone();
    let logs = Logs::open(&scene.project, Moment::now()).ok();
    let sessions = Sessions::open(&scene.project).ok();
    let until = Millis::now().after(ready.bounds.timeout + SLACK);
    if store.is_abandoned(&task.id)? {
        close::cancel(&task.id, store, scene)?;
    }
    let running = match store.start(claim, until, Millis::now()) {
        Ok(Started::Running(running)) => running,
        Ok(Started::Cancelled) => return close::over(&task.id, store, scene),
        Err(error) => return lost_is_fine(Err(error)),
    };
    let begun = Instant::now();
    let mut record = Record::begin(logs.as_ref(), &task, ready.cli, &ready.brief.request.title());
    let worked = run(&ready, &running, scene, store, &mut record);
    let report = bench.reported(&task.id);
    let shelf = Shelf::open(&scene.project).ok();
    let said = Spoken {
        sessions: sessions.as_ref(),
        shelf: shelf.as_ref(),
        prompt: &ready.brief.request.prompt,
        resumed: ready.resumed,
    };
    let (ending, kept) = record.end(worked, report.as_ref(), &task, said, begun.elapsed());
    lost_is_fine(store.finish(running, ending, &kept.json(), Millis::now()))?;
    bench.clear(&task.id);
    close::children(&task.id, store, scene)
}

/// Somebody took the task back, believing us dead: what came of it is not ours to say.
fn lost_is_fine(done: Result<(), StoreError>) -> Result<(), Refusal> {
    match done {
        Err(StoreError::Lost(_)) => Ok(()),
        other => Ok(other?),
    }
}

/// Everything that a task takes.
struct Ready {
    brief: Brief,
    cli: Cli,
    bounds: Bounds,
    task: TaskId,
    job: PathBuf,
    report: PathBuf,
    command: Vec<String>,
    prompt: String,
    /// How the session goes on.
    resumed: Option<&'static str>,
}

fn prepare(claim: &Claim, scene: &Scene, settings: &Settings, store: &Store, bench: &Bench) -> Result<Ready, Refusal> {
    let task = &claim.task;
    let (brief, cli) = intake::read(task)?;
    let plan = brief.plan(cli, settings, scene)?;
    if !cli::is_installed(cli, scene) {
        return Err(SelectCliError::NotInstalled(cli).into());
    }
    let mut bounds = plan.bounds;
    if let Some(parent) = &task.parent {
        let left = store.get(parent)?.until.map(|until| until.since(Millis::now()));
        let left = left.and_then(|left| left.checked_sub(SLACK));
        bounds.timeout = bounds.timeout.min(left.ok_or(Refusal::NoTimeLeft)?);
    }
    let told = match &brief.step {
        None => Vec::new(),
        Some(step) => {
            let left = step.until.since(Millis::now());
            bounds.timeout = bounds.timeout.min(left);
            if bounds.timeout.is_zero() {
                return Err(Refusal::NoTimeLeft);
            }
            told(step, store)?
        }
    };
    let resume = Resumption::of(&brief, cli, settings, scene)?;
    let words = match &task.parent {
        None => nested::plain(&brief.request, told),
        Some(_) => nested::words(&brief.request, brief.agent(scene)?.as_ref().map(|(agent, _)| agent)),
    };
    let told = preview(
        &Asked {
            agent: brief.request.agent.as_ref().map(|name| name.as_str()),
            inputs: words.inputs,
            session: resume.told().map(|id| id.as_str()),
            told: &words.told,
            task: &words.task,
        },
        scene,
    )?;
    let (command, files) = plan.command(cli, resume.native());
    let place = match (cli::conversations(cli), &task.session) {
        (Some(below), Some(id)) => {
            let shelf = Shelf::open(&scene.project).map_err(Refusal::Files)?;
            let is_fresh = resume.native().is_some() || shelf.clear(id).is_ok();
            // What cannot be removed is not shown again: this run keeps nothing.
            let place = is_fresh.then(|| shelf.place(id)).transpose().map_err(Refusal::Files)?;
            place.map(|place| (place, below.into()))
        }
        (None, _) | (_, None) => None,
    };
    let job = Job {
        task: task.id.clone(),
        layers: brief.layers.clone(),
        time_ms: u64::try_from(bounds.timeout.as_millis()).unwrap_or(u64::MAX),
        files,
        conversation: place,
        endpoint: plan.endpoint,
        worker: std::process::id(),
    };
    bench.put(&job).map_err(Refusal::Files)?;
    Ok(Ready {
        job: bench.job(&task.id),
        report: bench.report(&task.id),
        task: task.id.clone(),
        resumed: resume.word(),
        prompt: told.prompt,
        brief,
        cli,
        bounds,
        command,
    })
}

/// What the agent of a workflow's step is told besides its task.
pub(super) fn told(step: &OfStep, store: &Store) -> Result<Vec<Told>, Refusal> {
    let stored = store.flow_told(&step.flow, step.node)?.unwrap_or_default();
    Ok(serde_json::from_value(stored).map_err(|_| StoreError::Unreadable)?)
}

/// How the session goes on.
enum Resumption<'a> {
    New,
    /// In the CLI's own conversation.
    Native(ConversationId),
    /// With its history told again.
    Replayed(&'a SessionId),
}

impl<'a> Resumption<'a> {
    fn of(brief: &'a Brief, cli: Cli, settings: &Settings, scene: &Scene) -> Result<Self, Refusal> {
        let Some(id) = &brief.request.session else {
            return Ok(Self::New);
        };
        let sessions = Sessions::open(&scene.project)?;
        let found = sessions.read(id)?;
        let kept = Shelf::open(&scene.project).map_err(Refusal::Files)?.kept(id);
        let cli = intake::label(cli.word()).ok_or(StoreError::Unreadable)?;
        // What is told again is `preview`'s matter.
        let window = Window {
            max_history: 0,
            max_context_tokens: settings.number(Key::MaxContextTokens),
        };
        Ok(
            match sessions::decide(&found.session, found.fault, &cli, kept, window) {
                Resume::Native(conversation) => Self::Native(conversation.clone()),
                Resume::Replay { .. } => Self::Replayed(id),
            },
        )
    }

    fn native(&self) -> Option<&ConversationId> {
        match self {
            Self::Native(id) => Some(id),
            Self::New | Self::Replayed(_) => None,
        }
    }

    fn told(&self) -> Option<&SessionId> {
        match self {
            Self::Replayed(id) => Some(id),
            Self::New | Self::Native(_) => None,
        }
    }

    fn word(&self) -> Option<&'static str> {
        match self {
            Self::New => None,
            Self::Native(_) => Some("native"),
            Self::Replayed(_) => Some("replayed"),
        }
    }
}

/// The run itself, watched by a thread for a wish to cancel.
fn run(
    ready: &Ready,
    running: &Running,
    scene: &Scene,
    store: &mut Store,
    record: &mut Record<'_>,
) -> io::Result<Worked> {
    let mut arguments: Vec<OsString> = vec!["run".into(), "--project".into(), scene.project.clone().into()];
    arguments.extend(["--job".into(), ready.job.clone().into()]);
    arguments.extend(["--report".into(), ready.report.clone().into(), "--".into()]);
    arguments.extend(ready.command.iter().map(OsString::from));
    let job = process::Job {
        program: OWN.into(),
        arguments,
        environment: vec![(super::TASK_VARIABLE.into(), ready.task.as_str().into())],
        cwd: scene.project.clone(),
        cli: ready.cli,
        prompt: ready.prompt.clone().into_bytes(),
        output_limit: record::limit(ready.bounds.max_output_kb),
    };
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let (stop, over) = (&stop, &over);
        let watcher = scope.spawn(move || {
            let mut watch = None;
            loop {
                thread::park_timeout(LOOK);
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // A task that is over by now needs none. One that cannot be opened yet is tried again.
                watch = watch.or_else(|| Store::open(&scene.project).ok());
                let is_unwanted = watch.as_ref().is_some_and(|watch| {
                    watch.is_cancel_asked(running).is_ok_and(|asked| asked)
                        || watch.is_abandoned(running.id()).is_ok_and(|gone| gone)
                });
                if is_unwanted {
                    stop.store(true, Ordering::Relaxed);
                    return;
                }
            }
        });
        let mut noted: Option<Instant> = None;
        let done = process::work(job, stop, &mut |sound| {
            record.hear(sound);
            if let Sound::Deed(deed) = sound
                && noted.is_none_or(|noted| noted.elapsed() >= NOTES)
            {
                noted = Some(Instant::now());
                // Who waits hears of the next one.
                let _ = store.note(running, deed);
            }
        });
        over.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        done
    })
}
