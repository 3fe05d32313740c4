//! Runs a command to learn from it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use glee_policy::Flags;
use glee_policy::hint::Place;
use glee_sandbox::receipt::Wish;
use glee_sandbox::seccomp::Observe;

use super::yard::OnDisk;
use super::{Base, Learned, learn};
use crate::audit::record::Need;
use crate::project::{Scene, SceneError};
use crate::run::{self, Finished, Options, Prepared, Purpose, Refusal};
use crate::select;

/// What the run has if nothing else is said.
pub const USUAL: &str = "workspace";

/// What the caller typed.
#[derive(Debug)]
pub struct Lesson {
    /// A profile's name: what was learned extends it.
    pub policy: Option<String>,
    pub project: Option<PathBuf>,
    pub command: Vec<OsString>,
}

/// A run, and what it taught.
#[derive(Debug)]
pub struct Taught {
    pub finished: Finished,
    pub learned: Learned,
}

/// Runs the command under the policy. Everything that the policy denies is denied.
pub fn run(lesson: Lesson, notice: &mut dyn FnMut(&Prepared)) -> Result<Taught, Refusal> {
    let scene = Scene::find(lesson.project.as_deref())?;
    let name = lesson.policy.unwrap_or_else(|| USUAL.to_owned());
    let base = select::select(Some(&name), &scene)?.policy;
    let here = std::env::current_dir().map_err(SceneError::NoCwd)?;
    let options = Options {
        purpose: Purpose::Learning,
        policy: Some(name.clone()),
        project: lesson.project,
        flags: Flags::none(here),
        report: None,
        key_file: None,
        observe: Observe::Everything,
        receipt: Wish::Take,
        audit: Need::Wanted,
        command: lesson.command,
    };
    let mut finished = run::run(&options, notice);
    if let Some(refusal) = finished.refusal.take() {
        return Err(refusal);
    }
    let place = Place {
        project: &scene.project,
        home: scene.home.as_deref(),
    };
    let base = Base {
        name: &name,
        policy: &base,
    };
    let program = options
        .command
        .first()
        .map(|name| Path::new(name).file_name().unwrap_or(name).to_string_lossy());
    let report = &finished.report;
    let learned = learn(
        &report.denials,
        &report.withheld_env,
        &program.unwrap_or_default(),
        base,
        place,
        &OnDisk,
    );
    Ok(Taught { finished, learned })
}
