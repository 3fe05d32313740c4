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
        .filter_map(|pid| of(&pid.to_string()))
        .fold(0, u64::saturating_add)
}

/// `Pss` of `smaps_rollup`: needs the process to be dumpable.
fn proportional(pid: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
    let line = text.lines().find(|line| line.starts_with("Pss:"))?;
    let kb: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kb.saturating_mul(1024))
}

fn resident(pid: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(PAGE))
}
