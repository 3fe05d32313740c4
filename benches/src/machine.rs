//! One line that says where and as whom a measurement was made.

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::MetadataExt;

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

/// The owner of our own `/proc` entry.
pub fn own_uid() -> u32 {
    fs::metadata("/proc/self").map_or(u32::MAX, |meta| meta.uid())
}
