//! The memory watchdog, where no cgroup counts: the resident memory of every process below us.

use std::fs;

use super::tree;

const PAGE: u64 = 4096;

/// Do the processes use more than `limit` bytes? Shared pages are counted once per process first, which is cheap and
/// never too low; only if that exceeds the limit are the proportional shares read.
pub(super) fn exceeds(limit: u64) -> bool {
    sum(resident) > limit && sum(|pid| proportional(pid).or_else(|| resident(pid))) > limit
}

fn sum(of: impl Fn(&str) -> Option<u64>) -> u64 {
    tree::below()
        .into_iter()
        .filter_map(|pid| holder(&pid.to_string()).and_then(|holder| of(&holder)))
        .fold(0, u64::saturating_add)
}

/// How often a thread is looked for that still lives when it is asked.
const LOOKS: u32 = 8;

/// A thread that tells of a process's memory: the first, or if that has exited any other.
fn holder(pid: &str) -> Option<String> {
    let has_memory = |task: &String| resident(task).is_some_and(|bytes| bytes > 0);
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

/// `Pss` of `smaps_rollup`: needs the process to be dumpable.
fn proportional(task: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{task}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    let kb: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kb.saturating_mul(1024))
}

fn resident(task: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{task}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(PAGE))
}
