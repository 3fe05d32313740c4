//! Who made a call: the program's name, and its pid as the sandbox knows it.
//!
//! Remembered for a moment, so that a flood of refusals does not cost a look each. INVARIANT (bounded): `MOST` are remembered.

use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

const MOST: usize = 1024;
/// Far shorter than it takes to use up all pids once.
const GOOD_FOR: Duration = Duration::from_millis(50);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Person {
    pub(super) program: String,
    /// Inside. 0: not known.
    pub(super) pid: u32,
    /// The same process, as we know it.
    pub(super) outside: u32,
}

#[derive(Debug, Default)]
pub(super) struct People(HashMap<u32, (Instant, Person)>);

impl People {
    /// The process of a thread, by the thread's id outside.
    pub(super) fn who(&mut self, thread: u32) -> Person {
        let now = Instant::now();
        if let Some((seen, person)) = self.0.get(&thread)
            && now.duration_since(*seen) < GOOD_FOR
        {
            return person.clone();
        }
        let person = look_up(thread).unwrap_or_default();
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(thread, (now, person.clone()));
        person
    }

    /// It is about to become another program.
    pub(super) fn forget(&mut self, thread: u32) {
        self.0.remove(&thread);
    }
}

/// The process that a thread belongs to.
pub(super) fn process_of(thread: u32) -> Option<u32> {
    value(&status(thread)?, "Tgid")?.parse().ok()
}

fn status(thread: u32) -> Option<String> {
    let status = fs::read(format!("/proc/{thread}/status")).ok()?;
    Some(String::from_utf8_lossy(&status).into_owned())
}

fn value<'s>(status: &'s str, key: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    found.map(str::trim)
}

fn look_up(thread: u32) -> Option<Person> {
    let status = status(thread)?;
    let value = |key: &str| value(&status, key);
    let last = |key: &str| value(key)?.split_ascii_whitespace().next_back()?.parse().ok();
    let process: u32 = value("Tgid")?.parse().ok()?;
    let program = if process == thread {
        value("Name").map(str::to_owned)
    } else {
        // A thread has a name of its own; the program's is its leader's.
        let name = fs::read(format!("/proc/{process}/comm")).ok();
        name.map(|name| String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned())
    };
    Some(Person {
        program: program.unwrap_or_default(),
        pid: last("NStgid").unwrap_or(0),
        outside: process,
    })
}
