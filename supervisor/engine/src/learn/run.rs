//! Runs a command to learn from it.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use glee_policy::Flags;
use glee_policy::hint::Place;
use glee_sandbox::plan::{Records, Workspace};
use glee_sandbox::receipt::Wish;
use glee_sandbox::seccomp::Observe;

use super::yard::OnDisk;
use super::{Base, Course, Learned};
use crate::audit::record::Need;
use crate::project::{Scene, SceneError};
use crate::report::DestinationError;
use crate::run::{self, Finished, Options, Prepared, Purpose, Refusal};
use crate::run_id::run_id;
use crate::select;

/// May what was denied be had in the end?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// One run. What the policy denies stays denied.
    Strict,
    /// The command is run again with what was learned, until it succeeds or nothing more can be learned. What is never
    /// proposed stays denied.
    Permissive,
}

/// What the policy of a later round is called: its file has no name.
pub(crate) const DRAFT: &str = "learned so far";

/// Runs of one permissive lesson: each may get as far as the next thing that is denied.
const ROUNDS: usize = 16;

/// What the caller typed.
#[derive(Debug)]
pub struct Lesson {
    /// A profile's name: what was learned extends it.
    pub policy: String,
    pub project: Option<PathBuf>,
    pub manner: Manner,
    pub command: Vec<OsString>,
}

/// A run, and what it taught.
#[derive(Debug)]
pub struct Taught {
    pub finished: Finished,
    pub learned: Learned,
    /// How often the command was run.
    pub rounds: usize,
    /// Why it could not be run again with what was learned.
    pub refused: Option<Refusal>,
}

/// Runs the command under the policy, and writes down what it was denied.
pub fn run(lesson: Lesson, notice: &mut dyn FnMut(&Prepared)) -> Result<Taught, Refusal> {
    let scene = Scene::find(lesson.project.as_deref())?;
    let policy = select::select(Some(&lesson.policy), &scene)?.policy;
    let here = std::env::current_dir().map_err(SceneError::NoCwd)?;
    let mut options = Options {
        purpose: Purpose::Learning,
        policy: Some(lesson.policy.clone()),
        project: lesson.project,
        flags: Flags::none(here),
        report: None,
        key_file: None,
        observe: Observe::Everything,
        workspace: Workspace::Shared,
        records: Records::Leave,
        job: None,
        receipt: Wish::Take,
        backend: None,
        audit: Need::Wanted,
        command: lesson.command,
    };
    let place = Place {
        project: &scene.project,
        home: scene.home.as_deref(),
    };
    let base = Base {
        name: &lesson.policy,
        policy: &policy,
    };
    let program = options.command.first().cloned().unwrap_or_default();
    let program = Path::new(&program).file_name().unwrap_or(&program).to_string_lossy();
    let mut course = Course::default();
    let mut known = Vec::new();
    let mut last: Option<Taught> = None;
    let mut rounds = 0;
    let mut draft;
    loop {
        rounds += 1;
        let mut finished = run::run(&options, notice);
        if let Some(refusal) = finished.refusal.take() {
            let Some(taught) = last else {
                return Err(refusal);
            };
            return Ok(Taught {
                refused: Some(refusal),
                ..taught
            });
        }
        let mut denials = std::mem::take(&mut finished.report.denials);
        for denial in denials.iter_mut().filter(|_| last.is_some()) {
            let file = options.policy.as_deref().unwrap_or_default();
            denial.rule = denial.rule.replace(file, DRAFT);
        }
        course.take(&denials, place, &OnDisk);
        let learned = course.learned(&finished.report.withheld_env, &program, base, place);
        let passed = lesson.manner == Manner::Strict || finished.status == 0;
        let done = passed || learned.proposed == known || rounds == ROUNDS;
        known.clone_from(&learned.proposed);
        let taught = Taught {
            finished,
            learned,
            rounds,
            refused: None,
        };
        if done {
            return Ok(taught);
        }
        draft = Draft::of(&taught.learned.text).map_err(|error| DestinationError::Io {
            to: std::env::temp_dir(),
            error,
        })?;
        options.policy = Some(draft.path().to_string_lossy().into_owned());
        last = Some(taught);
    }
}

/// The policy of the next round, in a file that has no name: however this ends, nothing is left of it.
struct Draft(fs::File);

impl Draft {
    fn of(text: &str) -> io::Result<Self> {
        let dir = std::env::temp_dir();
        let mut options = fs::OpenOptions::new();
        options.read(true).write(true).mode(0o600);
        let nameless = options.clone().custom_flags(libc::O_TMPFILE).open(&dir);
        // Not every filesystem has such files.
        let mut file = nameless.or_else(|_| {
            let path = dir.join(format!("glee-learn-{}.yml", run_id()));
            let file = options.create_new(true).open(&path)?;
            fs::remove_file(&path).map(|()| file)
        })?;
        file.write_all(text.as_bytes())?;
        Ok(Self(file))
    }

    /// Leads to it as long as it is open.
    fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}
