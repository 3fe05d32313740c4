//! Signals to the whole tree.
//!
//! As pid 1 of a namespace "everything" is exactly the sandbox. Without a pid namespace (`isolation: landlock`,
//! `mode: inherit`) it is our descendants, found through /proc again and again until none is left: best effort, by name.
//! INVARIANT: `kill(-1)` is never called outside a pid namespace of our own.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use crate::sys::process;

/// Rounds in which descendants are looked for. A tree that outruns them all is left to its cgroup.
const ROUNDS: u32 = 200;

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
    for _ in 0..ROUNDS {
        signal(libc::SIGKILL);
        while let Ok(Some(_)) = process::wait(-1, libc::WNOHANG | libc::__WALL) {}
        if descendants(process::getpid().0).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
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
