//! Idle sandboxes: which processes they consist of, what those weigh, and what stays after they end.

use crate::BenchError;
use crate::proc::{self, Memory, Process};
use crate::subject::Subject;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(20);
/// Long enough for page counts to settle after the last exec.
const SETTLE: Duration = Duration::from_millis(200);

/// Sandboxes of one kind that are running now. Dropping them kills whatever still runs.
#[derive(Debug)]
pub struct Fleet {
    children: Vec<Child>,
    command: Vec<String>,
    /// The sandbox's own program: some of its processes may have been given to another parent.
    program: PathBuf,
    older: BTreeSet<u32>,
}

/// What a fleet weighs, without the commands that run in it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weight {
    pub processes: usize,
    /// Processes whose memory the kernel would not show us.
    pub hidden: usize,
    pub memory: Memory,
}

impl Fleet {
    /// Starts `count` of them; returns when the command runs in each, with the time that took.
    pub fn start(
        subject: &Subject,
        program: PathBuf,
        command: &[&str],
        count: usize,
        patience: Duration,
    ) -> Result<(Self, Duration), BenchError> {
        let older = proc::living().into_keys().collect();
        let begun = Instant::now();
        let mut fleet = Fleet {
            children: Vec::with_capacity(count),
            command: command.iter().map(ToString::to_string).collect(),
            program,
            older,
        };
        for _ in 0..count {
            fleet.children.push(subject.spawn()?);
        }
        loop {
            let running = fleet.commands_running();
            if running >= count {
                break;
            }
            let ended = fleet.ended();
            if ended > 0 || begun.elapsed() > patience {
                return Err(BenchError::Failed {
                    subject: subject.name.clone(),
                    how: format!(
                        "{running} of {count} running, {ended} ended, after {:?}",
                        begun.elapsed()
                    ),
                });
            }
            sleep(POLL);
        }
        let taken = begun.elapsed();
        sleep(SETTLE);
        Ok((fleet, taken))
    }

    pub fn commands_running(&self) -> usize {
        let processes = proc::living();
        processes.values().filter(|process| self.is_command(process)).count()
    }

    /// How many sandboxes have ended by themselves.
    fn ended(&mut self) -> usize {
        let ended = |child: &mut Child| child.try_wait().is_ok_and(|status| status.is_some());
        self.children.iter_mut().map(ended).filter(|ended| *ended).count()
    }

    pub fn weigh(&self) -> Weight {
        let mut weight = Weight::default();
        for pid in self.own(&proc::living()) {
            weight.processes += 1;
            match proc::memory(pid) {
                Some(memory) => weight.memory += memory,
                None => weight.hidden += 1,
            }
        }
        weight
    }

    /// Kills the supervisors, by pid and without warning, and waits until nothing of the fleet lives.
    pub fn kill(mut self, patience: Duration) -> Result<Duration, BenchError> {
        let begun = Instant::now();
        self.kill_children();
        loop {
            let processes = proc::living();
            let commands = processes.values().filter(|process| self.is_command(process)).count();
            let own = self.own(&processes).len();
            if commands + own == 0 {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > patience {
                let what = format!("{commands} commands and {own} other processes, {patience:?} after the kill");
                return Err(BenchError::Left { what });
            }
            sleep(POLL);
        }
    }

    /// Everything that the fleet started, except the commands.
    fn own(&self, processes: &BTreeMap<u32, Process>) -> BTreeSet<u32> {
        let roots = self.children.iter().map(Child::id).collect();
        let mut own = proc::trees(processes, &roots);
        let same_program = |process: &Process| process.exe.as_ref() == Some(&self.program);
        own.extend(
            processes
                .iter()
                .filter(|(_, process)| same_program(process))
                .map(|(pid, _)| *pid),
        );
        own.retain(|pid| {
            let command = processes.get(pid).is_some_and(|process| self.is_command(process));
            !command && !self.older.contains(pid)
        });
        own
    }

    fn is_command(&self, process: &Process) -> bool {
        process.argv == self.command
    }

    fn kill_children(&mut self) {
        for child in &mut self.children {
            // An error means that it has already ended, which is what is wanted.
            let _ = child.kill();
        }
        for child in &mut self.children {
            let _ = child.wait();
        }
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.kill_children();
    }
}

/// Names on the host that a sandbox could leave behind.
#[derive(Debug, PartialEq, Eq)]
pub struct Traces(BTreeSet<String>);

impl Traces {
    /// Mounts, control groups, and the entries of the given directories.
    pub fn read(dirs: &[&Path]) -> Self {
        let mut names = BTreeSet::new();
        for line in fs::read_to_string("/proc/self/mountinfo").unwrap_or_default().lines() {
            names.insert(format!("mount {}", line.split(' ').nth(4).unwrap_or_default()));
        }
        groups(Path::new("/sys/fs/cgroup"), &mut names);
        for dir in dirs {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                names.insert(format!("file {}", entry.path().display()));
            }
        }
        Traces(names)
    }

    /// What is here now and was not in `before`.
    pub fn since(&self, before: &Traces) -> Vec<String> {
        self.0.difference(&before.0).cloned().collect()
    }
}

fn groups(dir: &Path, names: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            names.insert(format!("cgroup {}", entry.path().display()));
            groups(&entry.path(), names);
        }
    }
}

/// Waits until nothing is left, or says what is.
pub fn await_clean(before: &Traces, dirs: &[&Path], patience: Duration) -> Result<(), BenchError> {
    let begun = Instant::now();
    loop {
        let left = Traces::read(dirs).since(before);
        if left.is_empty() {
            return Ok(());
        }
        if begun.elapsed() > patience {
            let some: Vec<&str> = left.iter().take(5).map(String::as_str).collect();
            let what = format!("{} names, among them {}", left.len(), some.join(", "));
            return Err(BenchError::Left { what });
        }
        sleep(POLL);
    }
}

#[cfg(test)]
#[path = "footprint_tests.rs"]
mod tests;
