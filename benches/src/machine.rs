//! One line that says where and as whom a measurement was made.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Machine {
    kernel: String,
    cpus: usize,
    uid: u32,
    load: String,
}

impl Machine {
    pub fn read() -> Self {
        let first = |path: &str| {
            let text = fs::read_to_string(path).unwrap_or_default();
            text.split_whitespace().next().unwrap_or("?").to_string()
        };
        Machine {
            kernel: first("/proc/sys/kernel/osrelease"),
            cpus: std::thread::available_parallelism().map_or(1, usize::from),
            uid: own_uid(),
            load: first("/proc/loadavg"),
        }
    }

    pub fn line(&self) -> String {
        let Machine {
            kernel,
            cpus,
            uid,
            load,
        } = self;
        format!("Linux {kernel}, {cpus} CPUs, uid {uid}, load {load} at the start")
    }

    pub fn json(&self) -> Value {
        json!({"kernel": self.kernel, "cpus": self.cpus, "uid": self.uid, "load": self.load})
    }
}

/// When a start may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    AtOnce,
    /// When nobody else wants a CPU, or after some patience all the same.
    Calm,
}

impl Pace {
    /// Returns when a start may begin. The same for every subject, so it favours none.
    pub fn wait(self) {
        let end = Instant::now() + PATIENCE;
        while self == Pace::Calm && running() > 1 && Instant::now() < end {
            sleep(Duration::from_millis(2));
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Pace::AtOnce => "",
            Pace::Calm => ", each begun when no other process wanted a CPU",
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(10);

/// Processes that want a CPU now, ourselves included.
fn running() -> usize {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("procs_running "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(1)
}

/// The owner of our own `/proc` entry.
pub fn own_uid() -> u32 {
    fs::metadata("/proc/self").map_or(u32::MAX, |meta| meta.uid())
}
