//! The memory watchdog, where no cgroup counts: the resident memory of every process below us.

use std::fs;

use super::tree;
use crate::sys::memory;

/// Do the processes use more than `limit` bytes? Shared pages are counted once per process first, which is cheap and
/// never too low; only if that exceeds the limit are the proportional shares read, and each memory counted once.
pub(super) fn exceeds(limit: u64) -> bool {
    let processes: Vec<String> = tree::below()
        .into_iter()
        .filter_map(|pid| holder(&pid.to_string()))
        .collect();
    let whole = |task: &String| Some(Held::of(task)?.all());
    if processes.iter().filter_map(whole).fold(0, u64::saturating_add) <= limit {
        return false;
    }
    let share = |task: &String| {
        let held = Held::of(task)?;
        (!held.is_its_parents(task)).then(|| match proportional(task) {
            Some(share) => share.saturating_add(held.tables),
            None => held.all(),
        })
    };
    processes.iter().filter_map(share).fold(0, u64::saturating_add) > limit
}

/// What `/proc/PID/status` says of a process's memory, in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Held {
    resident: u64,
    /// What the kernel, or the command itself (`MADV_PAGEOUT`), has put aside, and pages that are counted apart.
    elsewhere: u64,
    /// Page tables: a mapping of nothing but the zero page has little else.
    tables: u64,
    parent: String,
}

impl Held {
    fn of(task: &str) -> Option<Self> {
        Self::read(&String::from_utf8_lossy(
            &fs::read(format!("/proc/{task}/status")).ok()?,
        ))
    }

    fn read(status: &str) -> Option<Self> {
        // The first field is the name, in which the kernel shows no line end as such.
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let bytes = |name| {
            Some(
                field(name)?
                    .split(' ')
                    .next()?
                    .parse::<u64>()
                    .ok()?
                    .saturating_mul(1024),
            )
        };
        Some(Self {
            resident: bytes("VmRSS:")?,
            elsewhere: sum([bytes("VmSwap:"), bytes("HugetlbPages:")]),
            tables: bytes("VmPTE:").unwrap_or(0),
            parent: field("PPid:")?.to_owned(),
        })
    }

    fn all(&self) -> u64 {
        sum([Some(self.resident), Some(self.elsewhere), Some(self.tables)])
    }

    /// Between `vfork` and `exec` a child lives in its parent's memory, and each of them shows all of it.
    fn is_its_parents(&self, task: &str) -> bool {
        let number = |text: &str| text.parse().ok();
        let parent = holder(&self.parent).and_then(|parent| number(&parent));
        matches!((number(task), parent), (Some(task), Some(parent)) if memory::is_shared(task, parent))
    }
}

fn sum<const N: usize>(parts: [Option<u64>; N]) -> u64 {
    parts.into_iter().flatten().fold(0, u64::saturating_add)
}

/// How often a thread is looked for that still lives when it is asked.
const LOOKS: u32 = 8;

/// A thread that tells of a process's memory: the first, or if that has exited any other.
fn holder(pid: &str) -> Option<String> {
    let has_memory = |task: &String| Held::of(task).is_some_and(|held| held.all() > 0);
    if has_memory(&pid.to_owned()) {
        return Some(pid.to_owned());
    }
    for _ in 0..LOOKS {
        let entries = fs::read_dir(format!("/proc/{pid}/task"))
            .into_iter()
            .flatten()
            .flatten();
        let tasks: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect();
        // One that is over, and waits to be collected: there may be many.
        if tasks.len() <= 1 {
            return None;
        }
        if let Some(task) = tasks.into_iter().find(has_memory) {
            return Some(task);
        }
    }
    None
}

/// The shares of `smaps_rollup`: needs the process to be dumpable.
fn proportional(task: &str) -> Option<u64> {
    shares(&fs::read_to_string(format!("/proc/{task}/smaps_rollup")).ok()?)
}

/// Of large pages the kernel tells no share: those of one process alone count.
fn shares(text: &str) -> Option<u64> {
    let field = |name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        let kb: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
        Some(kb.saturating_mul(1024))
    };
    let mapped = field("Pss:")?;
    Some(sum([Some(mapped), field("SwapPss:"), field("Private_Hugetlb:")]))
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
