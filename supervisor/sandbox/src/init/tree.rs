//! Signals to the whole tree.
//!
//! As pid 1 of a namespace "everything" is exactly the sandbox. Without a pid namespace (`isolation: landlock`,
//! `mode: inherit`) it is our descendants, found through /proc again and again until the kernel knows of no child: orphans come to
//! us, so that whoever has no child has no descendant.
//! INVARIANT: `kill(-1)` is never called outside a pid namespace of our own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

use crate::sys::process;

/// Rounds in which descendants of another are looked for. A tree that outruns them all is left to its cgroup.
const ROUNDS: u32 = 200;

/// How long our own are looked for: less than the supervisor waits before it takes over.
const PATIENCE: Duration = Duration::from_secs(3);

/// Looks at our children for one at all of the tree, which takes a hundred times as long.
const DEEP: u32 = 256;

/// How many of the dead are collected before the living are looked at again: processes may die as fast as one collects. Fewer would
/// let the dead pile up, and the machine has only so many numbers.
const BATCH: u32 = 4096;

/// How often, and how long between two looks, killed processes are waited for: most need none.
const LAST_LOOKS: u32 = 4096;
const LAST_PAUSE: Duration = Duration::from_micros(100);

/// Every process below us.
pub(super) fn below() -> Vec<libc::pid_t> {
    let own = process::getpid().0;
    if own == 1 {
        return processes().filter(|pid| *pid != own).collect();
    }
    descendants(own)
}

/// Sends a signal to every process below us.
pub(super) fn signal(signal: i32) {
    if process::getpid().0 == 1 {
        // That there is nobody to signal is fine.
        let _ = process::kill(-1, signal);
        return;
    }
    for pid in descendants(process::getpid().0) {
        let _ = process::kill(pid, signal);
    }
}

/// Kills every process below us and collects it, as far as our own end would not.
pub(super) fn end() {
    if process::getpid().0 == 1 {
        return collect();
    }
    let until = Instant::now() + PATIENCE;
    let mut killed = BTreeSet::new();
    for look in 0.. {
        if look % DEEP == 0 {
            signal(libc::SIGKILL);
        }
        let is_news = kill_children(&mut killed);
        match collect_some(&mut killed) {
            Collected::All => return,
            Collected::Some if Instant::now() < until => {}
            Collected::None if Instant::now() < until => {
                if !is_news {
                    std::thread::sleep(LAST_PAUSE);
                }
            }
            Collected::Some | Collected::None => return,
        }
    }
}

/// Kills the children that are not among those `killed` before. Were there any?
///
/// A child keeps its number until we collect it: nobody else is hit, however fast they fork.
fn kill_children(killed: &mut BTreeSet<libc::pid_t>) -> bool {
    let fresh: Vec<_> = children().into_iter().filter(|pid| killed.insert(*pid)).collect();
    for pid in &fresh {
        let _ = process::kill(*pid, libc::SIGKILL);
    }
    !fresh.is_empty()
}

/// Our own children, the dead ones included. Where the kernel keeps no list of them (`CONFIG_PROC_CHILDREN`), all who live below us.
fn children() -> Vec<libc::pid_t> {
    let Ok(text) = fs::read_to_string("/proc/thread-self/children") else {
        return descendants(process::getpid().0);
    };
    text.split_ascii_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect()
}

enum Collected {
    /// No child is left, and so no descendant.
    All,
    Some,
    None,
}

fn collect_some(killed: &mut BTreeSet<libc::pid_t>) -> Collected {
    let mut collected = Collected::None;
    for _ in 0..BATCH {
        match process::wait(-1, libc::WNOHANG | libc::__WALL) {
            Ok(Some((pid, ..))) => {
                killed.remove(&pid.0);
                collected = Collected::Some;
            }
            Ok(None) => break,
            Err(_) => return Collected::All,
        }
    }
    collected
}

/// Our own end, which follows, kills all of the namespace; but of what the kernel ends with us nobody learns what it has used.
fn collect() {
    // Nobody is left: the usual case.
    if process::kill(-1, libc::SIGKILL).is_err() {
        return;
    }
    for _ in 0..LAST_LOOKS {
        match process::wait(-1, libc::WNOHANG | libc::__WALL) {
            Ok(Some(_)) => {}
            Ok(None) => std::thread::sleep(LAST_PAUSE),
            Err(_) => return,
        }
    }
}

/// Kills what is below an init that does not do it: it was stopped, or killed. Without a pid namespace it shares its uid with the
/// command, and either can befall it. Those of its session are found when it is dead, too; its own end comes last, since it is
/// to it that orphans go.
///
/// The caller has not collected it yet, so its number is still its own.
pub(crate) fn end_of(init: libc::pid_t) {
    for _ in 0..ROUNDS {
        let mut found = descendants(init);
        for member in processes().filter(|pid| *pid != init && session_of(*pid) == Some(init)) {
            found.push(member);
            found.extend(descendants(member));
        }
        if found.is_empty() {
            break;
        }
        for pid in found {
            let _ = process::kill(pid, libc::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = process::kill(init, libc::SIGKILL);
}

fn descendants(of: libc::pid_t) -> Vec<libc::pid_t> {
    let mut children: BTreeMap<libc::pid_t, Vec<libc::pid_t>> = BTreeMap::new();
    for pid in processes() {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut todo = vec![of];
    while let Some(pid) = todo.pop() {
        for child in children.remove(&pid).unwrap_or_default() {
            found.push(child);
            todo.push(child);
        }
    }
    found
}

/// Every process of this pid namespace.
fn processes() -> impl Iterator<Item = libc::pid_t> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
}

/// Where the number of threads stands in `/proc/PID/stat`, after the state and the parent.
const THREADS: usize = 15;

/// Where the session stands, after the state, the parent and the group.
const SESSION: usize = 3;

/// The parent of a process that still runs; a zombie is nobody's concern but its parent's.
///
/// A process whose first thread has exited looks like one as long as others run: those are counted.
fn parent_of(pid: libc::pid_t) -> Option<libc::pid_t> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    living(&text)
}

/// The session of a process that still runs.
fn session_of(pid: libc::pid_t) -> Option<libc::pid_t> {
    let text = fs::read(format!("/proc/{pid}/stat")).ok()?;
    living(&text)?;
    session(&text)
}

fn session(stat: &[u8]) -> Option<libc::pid_t> {
    after_name(stat)?.split_ascii_whitespace().nth(SESSION)?.parse().ok()
}

/// The command's name is in parentheses and may hold anything: the fields follow the last one.
fn after_name(stat: &[u8]) -> Option<String> {
    let after = stat.iter().rposition(|b| *b == b')')?;
    Some(String::from_utf8_lossy(stat.get(after + 1..)?).into_owned())
}

fn living(stat: &[u8]) -> Option<libc::pid_t> {
    let rest = after_name(stat)?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    // The first thread itself is counted until somebody collects it.
    let mut is_over = || {
        fields
            .nth(THREADS)
            .and_then(|n| n.parse().ok())
            .is_some_and(|n: u64| n <= 1)
    };
    (state != "Z" || !is_over()).then_some(parent)
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
