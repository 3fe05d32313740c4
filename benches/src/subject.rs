//! What is started and timed, and the interleaving of several such.

use crate::BenchError;
use crate::machine::Pace;
use crate::rng::Rng;
use crate::stats::Samples;
use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// One command line, always started in the same directory with the same environment.
#[derive(Debug, Clone)]
pub struct Subject {
    pub name: String,
    program: PathBuf,
    args: Vec<OsString>,
    dir: PathBuf,
    env: BTreeMap<OsString, OsString>,
    /// Removed before each start, outside the timed part.
    fresh: Option<PathBuf>,
}

impl Subject {
    /// The environment is PATH, LANG and the given HOME: what the sandbox would let through, for every subject alike.
    pub fn new(name: &str, program: PathBuf, dir: &Path, home: &Path) -> Self {
        let mut env = BTreeMap::new();
        env.insert(OsString::from("PATH"), env::var_os("PATH").unwrap_or_default());
        env.insert(OsString::from("LANG"), OsString::from("C.UTF-8"));
        env.insert(OsString::from("HOME"), home.as_os_str().to_owned());
        Subject {
            name: name.to_string(),
            program,
            args: Vec::new(),
            dir: dir.to_path_buf(),
            env,
            fresh: None,
        }
    }

    pub fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn env(mut self, name: &str, value: &Path) -> Self {
        self.env.insert(name.into(), value.as_os_str().to_owned());
        self
    }

    pub fn fresh(mut self, path: PathBuf) -> Self {
        self.fresh = Some(path);
        self
    }

    /// Runs once and shows its words if it fails: a subject that cannot do the job is not timed.
    pub fn check(&self) -> Result<(), BenchError> {
        self.reset()?;
        let output = self
            .command()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .output()
            .map_err(BenchError::io("run", &self.program))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(self.failed(format!("{}: {}", output.status, summary(&words))))
    }

    /// One start, from before the spawn until after the wait.
    pub fn time(&self) -> Result<Duration, BenchError> {
        self.reset()?;
        let mut command = self.command();
        let before = Instant::now();
        let status = command.status().map_err(BenchError::io("run", &self.program))?;
        let taken = before.elapsed();
        if status.success() {
            Ok(taken)
        } else {
            Err(self.failed(status.to_string()))
        }
    }

    pub fn spawn(&self) -> Result<Child, BenchError> {
        self.command().spawn().map_err(BenchError::io("run", &self.program))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.dir)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn reset(&self) -> Result<(), BenchError> {
        match &self.fresh {
            Some(path) if path.exists() => fs::remove_dir_all(path).map_err(BenchError::io("remove", path)),
            Some(_) | None => Ok(()),
        }
    }

    fn failed(&self, how: String) -> BenchError {
        BenchError::Failed {
            subject: self.name.clone(),
            how,
        }
    }
}

/// The last words of a failed program, on one line.
fn summary(words: &str) -> String {
    let line = words.lines().rev().find(|line| !line.trim().is_empty());
    line.unwrap_or("(no message)").trim().chars().take(200).collect()
}

/// Starts every subject once per round, each round in a new order, and returns the samples in the subjects' order.
///
/// Shuffled, because a subject's teardown (network namespaces die late) burdens whichever comes next.
pub fn interleave(subjects: &[Subject], rounds: usize, pace: Pace) -> Result<Vec<Samples>, BenchError> {
    let mut rng = Rng::seeded(rounds as u64);
    let mut taken: Vec<(&Subject, Vec<Duration>)> = subjects.iter().map(|s| (s, Vec::with_capacity(rounds))).collect();
    let mut order: Vec<usize> = (0..taken.len()).collect();
    for _ in 0..rounds {
        rng.shuffle(&mut order);
        for index in &order {
            if let Some((subject, durations)) = taken.get_mut(*index) {
                pace.wait();
                durations.push(subject.time()?);
            }
        }
    }
    Ok(taken
        .iter()
        .filter_map(|(_, durations)| Samples::of(durations))
        .collect())
}

#[cfg(test)]
#[path = "subject_tests.rs"]
mod tests;
