//! Names of groups, which tell whose they are.
//!
//! `glee-<pid>-<start time>-<pid namespace>-<run>`: a pid alone is reused, and means another process in another
//! pid namespace. The start time is in clock ticks since boot; cgroups do not survive a boot.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::files;

/// Whether a group's supervisor still runs, as far as we can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Gone,
    Alive,
    /// Of another pid namespace, or of unknown start: not ours to judge.
    Unknown,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) pid: u32,
    /// 0 when /proc could not be read; such groups are never swept.
    pub(super) started: u64,
    pub(super) pid_namespace: u64,
}

impl Owner {
    pub(super) fn current() -> Self {
        let namespace = std::fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino());
        let started = files::read(Path::new("/proc/self/stat"))
            .ok()
            .and_then(|stat| Stat::parse(&stat));
        Self {
            pid: std::process::id(),
            started: started.map_or(0, |stat| stat.started),
            pid_namespace: namespace,
        }
    }

    /// The group's directory name. `None` unless `run` is fit to be part of one.
    pub(super) fn name(&self, run: &str) -> Option<String> {
        let fit =
            (1..=64).contains(&run.len()) && run.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'));
        fit.then(|| format!("glee-{}-{}-{}-{run}", self.pid, self.started, self.pid_namespace))
    }

    pub(super) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix("glee-")?.splitn(4, '-');
        let owner = Self {
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            pid_namespace: parts.next()?.parse().ok()?,
        };
        parts.next()?;
        Some(owner)
    }

    /// Seen by `observer`. A zombie is gone: it can no longer clean up.
    pub(super) fn life(&self, observer: &Self) -> Life {
        if self.started == 0 || observer.started == 0 || self.pid_namespace != observer.pid_namespace {
            return Life::Unknown;
        }
        match files::read(Path::new(&format!("/proc/{}/stat", self.pid))) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Life::Gone,
            Err(_) => Life::Unknown,
            Ok(text) => match Stat::parse(&text) {
                Some(stat) if stat.started == self.started && !matches!(stat.state, b'Z' | b'X') => Life::Alive,
                Some(_) => Life::Gone,
                None => Life::Unknown,
            },
        }
    }
}

struct Stat {
    state: u8,
    started: u64,
}

impl Stat {
    /// Fields 3 and 22, counted from the last `)`: the command's name may hold spaces and parentheses.
    fn parse(text: &[u8]) -> Option<Self> {
        let close = text.iter().rposition(|byte| *byte == b')')?;
        let mut fields = text.get(close + 2..)?.split(|byte| *byte == b' ');
        let state = *fields.next()?.first()?;
        Some(Self {
            state,
            started: files::number(fields.nth(18)?)?,
        })
    }
}
