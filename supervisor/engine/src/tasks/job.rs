//! What a worker tells the `run` that it starts, in a file of its own: never in arguments or the environment, which others see.
//!
//! INVARIANT: a job gives a run nothing that `run` itself would not have: its layers narrow the policy, its time lowers the
//! bound, and its files are made in the sandbox only.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_sandbox::plan::{KeptDir, MadeFile};
use glee_sandbox::sys::process;
use serde::{Deserialize, Serialize};

use super::brief::Made;
use super::layers::{Layer, LayerError, narrowed};
use crate::endpoint::{Endpoint, Server};
use crate::folder::Folder;
use crate::project::Scene;
use crate::store::{Store, StoreError, TaskId};
use glee_policy::ResolvedPolicy;

/// Below a project's part of the state.
const DIR: &str = "tasks";
/// A job holds layers and a file for tools.
const MOST: u64 = 8 << 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// The task: the run is called the same.
    pub task: TaskId,
    pub layers: Vec<Layer>,
    pub time_ms: u64,
    pub files: Vec<Made>,
    /// Where the CLI's own conversation is kept, and below its home where the CLI keeps it.
    pub conversation: Option<(PathBuf, PathBuf)>,
    pub endpoint: Endpoint,
    /// The process that waits for the run. Without it there is no run.
    pub worker: u32,
}

impl Job {
    pub fn read(path: &Path) -> io::Result<Self> {
        let mut text = Vec::new();
        fs::File::open(path)?.take(MOST).read_to_end(&mut text)?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Ends this process with the worker, or at once if there is no worker any more.
    pub fn stay_with_worker(&self) -> io::Result<()> {
        process::die_with_parent()?;
        if std::os::unix::process::parent_id() == self.worker {
            Ok(())
        } else {
            Err(io::Error::other("the worker that started it has ended"))
        }
    }

    /// The policy of the run as the task has it.
    pub fn narrow(&self, policy: ResolvedPolicy, scene: &Scene) -> Result<ResolvedPolicy, LayerError> {
        let mut policy = narrowed(policy, &self.layers, scene)?;
        let time = Duration::from_millis(self.time_ms);
        policy.max_runtime = Some(policy.max_runtime.map_or(time, |most| most.min(time)));
        Ok(policy)
    }

    /// The CLI's own conversation, in its home.
    #[must_use]
    pub fn kept(&self, home: Option<&Path>) -> Option<KeptDir> {
        let (from, below) = self.conversation.as_ref()?;
        let (uid, gid) = (process::geteuid(), process::getegid());
        Some(KeptDir {
            from: from.clone(),
            at: home?.join(below),
            uid,
            gid,
        })
    }

    /// Who serves the task's endpoint.
    #[must_use]
    pub fn server(&self, project: &Path) -> Server {
        Server {
            project: project.to_owned(),
            task: self.task.clone(),
        }
    }

    #[must_use]
    pub fn made(&self) -> Vec<MadeFile> {
        let made = |file: &Made| MadeFile {
            at: file.at.clone().into(),
            contents: file.text.clone().into_bytes(),
        };
        self.files.iter().map(made).collect()
    }
}

/// The files of the tasks that are being worked on.
#[derive(Debug)]
pub(super) struct Bench {
    dir: PathBuf,
}

impl Bench {
    pub(super) fn open(project: &Path) -> io::Result<Self> {
        let state = crate::state::of_project(project)?;
        let folder = Folder::of_user(&state.path().join(DIR))?;
        Ok(Self {
            dir: folder.path().to_owned(),
        })
    }

    pub(super) fn job(&self, task: &TaskId) -> PathBuf {
        self.dir.join(format!("{task}.job"))
    }

    pub(super) fn report(&self, task: &TaskId) -> PathBuf {
        self.dir.join(format!("{task}.report"))
    }

    pub(super) fn put(&self, job: &Job) -> io::Result<()> {
        let path = self.job(&job.task);
        // Left by a worker that died before the task started.
        let _ = fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(&serde_json::to_vec(job)?)
    }

    /// What the run has reported; `None` if it did not come so far.
    pub(super) fn reported(&self, task: &TaskId) -> Option<serde_json::Value> {
        const LARGEST: u64 = 64 << 20;
        let mut text = Vec::new();
        fs::File::open(self.report(task))
            .ok()?
            .take(LARGEST)
            .read_to_end(&mut text)
            .ok()?;
        serde_json::from_slice(&text).ok()
    }

    pub(super) fn clear(&self, task: &TaskId) {
        for path in [self.job(task), self.report(task)] {
            // What is left is removed by the next worker.
            let _ = fs::remove_file(path);
        }
    }

    /// Removes what dead workers have left.
    pub(super) fn tidy(&self, store: &Store) -> Result<(), StoreError> {
        let names: Vec<OsString> = fs::read_dir(&self.dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.file_name())
            .collect();
        // After the names: whoever has made a file held its task before.
        let held = store.held()?;
        for name in names {
            let text = name.to_string_lossy();
            let task = text.trim_start_matches('.').split('.').next();
            let task = task.and_then(|task| task.parse::<TaskId>().ok());
            if task.is_some_and(|task| !held.contains(&task)) {
                let _ = fs::remove_file(self.dir.join(&name));
            }
        }
        Ok(())
    }

    /// The right to wait for the rest of the minute; `None` if another worker has it.
    pub(super) fn linger(&self) -> Option<fs::File> {
        self.right("later.lock")
    }

    /// The right to wait for the next task of a patron; `None` if another worker has it.
    pub(super) fn idle(&self, patron: u32) -> Option<fs::File> {
        self.right(&idle(patron))
    }

    /// It is given up. Whoever still looks at the file finds nobody.
    pub(super) fn leave(&self, patron: u32, right: fs::File) {
        // One that stays is empty.
        let _ = fs::remove_file(self.dir.join(idle(patron)));
        drop(right);
    }

    /// Does a worker wait for the next task of this patron? Whoever asks does not look like one.
    pub(super) fn is_awaited(&self, patron: u32) -> bool {
        let lock = fs::File::open(self.dir.join(idle(patron))).ok();
        lock.is_some_and(|lock| matches!(lock.try_lock_shared(), Err(fs::TryLockError::WouldBlock)))
    }

    fn right(&self, name: &str) -> Option<fs::File> {
        let mut options = OpenOptions::new();
        let lock = options.create(true).truncate(false).write(true).mode(0o600);
        let lock = lock.open(self.dir.join(name)).ok()?;
        lock.try_lock().is_ok().then_some(lock)
    }
}

fn idle(patron: u32) -> String {
    format!("idle-{patron}.lock")
}
