//! What a run leaves on the host: processes, cgroups, mounts, files in the project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_tests::{Look, World, carrying, mounts, tree, wait_until};

/// How long the janitor of a killed supervisor may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Of what is left, this much is printed.
const SHOWN: usize = 6;

/// The host before a run.
#[derive(Debug)]
pub(crate) struct Before {
    project: BTreeMap<PathBuf, Look>,
    mounts: BTreeSet<String>,
    cgroups: BTreeSet<PathBuf>,
}

impl Before {
    pub(crate) fn of(world: &World) -> Self {
        Self {
            project: tree(&world.project()),
            mounts: mounts(world),
            cgroups: cgroups(),
        }
    }

    /// Fails with all that is still there after some seconds: processes with the mark of this world, cgroups of these
    /// supervisors, and changes to the mounts and to the project. Cgroups are then removed, since nothing else would.
    pub(crate) fn nothing_is_left(&self, world: &World, supervisors: &[u32]) -> Result<(), String> {
        let mut left = self.left(world, supervisors);
        let clean = wait_until(PATIENCE, || {
            left = self.left(world, supervisors);
            left.is_empty()
        });
        if clean {
            return Ok(());
        }
        for dir in self.new_cgroups(supervisors) {
            let _ = fs::remove_dir(dir);
        }
        end(world);
        Err(brief(&left))
    }

    fn left(&self, world: &World, supervisors: &[u32]) -> Vec<String> {
        let processes = carrying(world.nonce());
        if !processes.is_empty() {
            return vec![format!(
                "processes {:?}",
                processes.into_iter().map(described).collect::<Vec<_>>()
            )];
        }
        let cgroups = self
            .new_cgroups(supervisors)
            .into_iter()
            .map(|dir| format!("cgroup {}", dir.display()));
        let mounts = mounts(world)
            .into_iter()
            .filter(|line| !self.mounts.contains(line))
            .map(|line| format!("mount `{line}`"));
        cgroups
            .chain(mounts)
            .chain(self.changes(&tree(&world.project())))
            .collect()
    }

    fn new_cgroups(&self, supervisors: &[u32]) -> Vec<PathBuf> {
        let ours = |dir: &PathBuf| {
            let name = dir
                .file_name()
                .map(|n| n.to_string_lossy().into_owned())
                .unwrap_or_default();
            supervisors.iter().any(|pid| name.starts_with(&format!("glee-{pid}-")))
        };
        cgroups()
            .into_iter()
            .filter(|dir| ours(dir) && !self.cgroups.contains(dir))
            .collect()
    }

    /// A directory's look holds the names in it, which speak for themselves.
    fn changes(&self, now: &BTreeMap<PathBuf, Look>) -> Vec<String> {
        let new = now.iter().filter(|(path, _)| !self.project.contains_key(*path));
        let lost = self.project.keys().filter(|path| !now.contains_key(*path));
        let other = now
            .iter()
            .filter(|(path, look)| !path.is_dir() && self.project.get(*path).is_some_and(|before| before != *look));
        let top = self.project.keys().next().cloned().unwrap_or_default();
        let short = |path: &Path| path.strip_prefix(&top).unwrap_or(path).display().to_string();
        new.map(|(path, look)| format!("new file {} {look:?}", short(path)))
            .chain(lost.map(|path| format!("lost file {}", short(path))))
            .chain(other.map(|(path, _)| format!("changed file {}", short(path))))
            .collect()
    }
}

/// Ends everything that carries the mark of this world, however often it forks meanwhile.
pub(crate) fn end(world: &World) {
    wait_until(Duration::from_secs(20), || world.end_processes().is_empty());
}

fn brief(left: &[String]) -> String {
    let more = left.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!("; and {more} more")
    } else {
        String::new()
    };
    format!(
        "{}{more}",
        left.get(..left.len().min(SHOWN)).unwrap_or_default().join("; ")
    )
}

/// A process in words: its pid, name, state, parent and what it waits for.
fn described(pid: u32) -> String {
    let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let status = read("status");
    let field = |name: &str| {
        let line = status.lines().find_map(|l| l.strip_prefix(name)).unwrap_or("?");
        line.split_whitespace().next().unwrap_or("?").to_owned()
    };
    let pid_namespace = fs::read_link(format!("/proc/{pid}/ns/pid")).unwrap_or_default();
    let (name, state, parent) = (field("Name:"), field("State:"), field("PPid:"));
    format!(
        "{pid} {name} {state} parent {parent} {} wchan {} call {}",
        pid_namespace.display(),
        read("wchan"),
        read("syscall").trim()
    )
}

/// Every directory in every cgroup hierarchy that is named like one of ours.
fn cgroups() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut todo = vec![Path::new("/sys/fs/cgroup").to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if entry.file_name().to_string_lossy().starts_with("glee-") {
                    found.insert(entry.path());
                } else {
                    todo.push(entry.path());
                }
            }
        }
    }
    found
}
