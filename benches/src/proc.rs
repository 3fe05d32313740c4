//! Processes and their memory, as `/proc` tells.
//!
//! A process may end between two reads: whatever cannot be read any more is left out, never an error.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub parent: u32,
    /// One letter of `/proc/PID/stat`: `Z` is a dead process that nobody has reaped.
    pub state: char,
    /// Empty for kernel threads and zombies.
    pub argv: Vec<String>,
    /// Unreadable for another user's, and for non-dumpable, processes.
    pub exe: Option<PathBuf>,
}

/// Kibibytes, from `smaps_rollup`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Proportional: a page shared by n processes counts 1/n in each, so sums are true.
    pub pss: u64,
    pub rss: u64,
    pub private: u64,
}

impl std::ops::AddAssign for Memory {
    fn add_assign(&mut self, other: Self) {
        self.pss += other.pss;
        self.rss += other.rss;
        self.private += other.private;
    }
}

/// Every process that is not a zombie.
pub fn living() -> BTreeMap<u32, Process> {
    let pids = fs::read_dir("/proc").into_iter().flatten().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, read(pid)?)))
        .filter(|(_, process)| process.state != 'Z')
        .collect()
}

fn read(pid: u32) -> Option<Process> {
    let (parent, state) = parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?;
    let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = cmdline.split(|byte| *byte == 0).filter(|word| !word.is_empty());
    Some(Process {
        parent,
        state,
        argv: words.map(|word| String::from_utf8_lossy(word).into_owned()).collect(),
        exe: fs::read_link(format!("/proc/{pid}/exe")).ok(),
    })
}

/// Parent and state. The name before them is in brackets and may hold anything, brackets included.
pub fn parse_stat(text: &str) -> Option<(u32, char)> {
    let (_, after_name) = text.rsplit_once(')')?;
    let mut fields = after_name.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((fields.next()?.parse().ok()?, state))
}

/// None when the kernel does not let us look, or the process is gone.
pub fn memory(pid: u32) -> Option<Memory> {
    Some(parse_rollup(
        &fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?,
    ))
}

pub fn parse_rollup(text: &str) -> Memory {
    let mut memory = Memory::default();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let (Some(key), Some(Ok(value))) = (words.next(), words.next().map(str::parse::<u64>)) else {
            continue;
        };
        match key {
            "Pss:" => memory.pss += value,
            "Rss:" => memory.rss += value,
            "Private_Clean:" | "Private_Dirty:" => memory.private += value,
            _ => {}
        }
    }
    memory
}

/// The roots and everything below them.
pub fn trees(processes: &BTreeMap<u32, Process>, roots: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut found: BTreeSet<u32> = roots
        .iter()
        .filter(|pid| processes.contains_key(pid))
        .copied()
        .collect();
    loop {
        let more: BTreeSet<u32> = processes
            .iter()
            .filter(|(pid, process)| !found.contains(pid) && found.contains(&process.parent))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

#[cfg(test)]
#[path = "proc_tests.rs"]
mod tests;
