//! Who works on a task, and whether they still live.
//!
//! A pid alone is soon somebody else's. With the time of its start and the boot it names one process for ever.

use std::fs;
use std::io;

use rusqlite::Row;
use serde::Serialize;

/// One process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Worker {
    pub pid: u32,
    /// In clock ticks since the boot.
    pub start: u64,
    pub boot: String,
    /// Pids of another namespace say nothing here.
    pub namespace: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Life {
    Lives,
    Dead,
    /// It is in another pid namespace: only its lease tells.
    Unknown,
}

impl Worker {
    /// This process.
    pub fn this() -> io::Result<Self> {
        let pid = std::process::id();
        Ok(Self {
            pid,
            start: start_of(pid)?.ok_or(io::ErrorKind::NotFound)?,
            boot: boot()?,
            namespace: namespace()?,
        })
    }

    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Some(pid) = row.get("worker_pid")? else {
            return Ok(None);
        };
        Ok(Some(Self {
            pid,
            start: row.get("worker_start")?,
            boot: row.get("worker_boot")?,
            namespace: row.get("worker_namespace")?,
        }))
    }

    /// Looked at from this process. What cannot be found out is not `Dead`.
    #[must_use]
    pub fn life(&self) -> Life {
        let (Ok(boot), Ok(namespace)) = (boot(), namespace()) else {
            return Life::Unknown;
        };
        if boot != self.boot {
            return Life::Dead;
        }
        if namespace != self.namespace {
            return Life::Unknown;
        }
        match start_of(self.pid) {
            Ok(Some(start)) if start == self.start => Life::Lives,
            Ok(Some(_) | None) => Life::Dead,
            Err(_) => Life::Unknown,
        }
    }
}

fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

fn namespace() -> io::Result<String> {
    Ok(fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned())
}

/// `None`: there is no such process, or it is dead and only not yet waited for.
fn start_of(pid: u32) -> io::Result<Option<u64>> {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(text) => start_in(&text).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // It went away while it was read.
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Field 22, counted after the name, which may contain anything. The outer `None`: this is no such file.
fn start_in(text: &str) -> Option<Option<u64>> {
    let (_, fields) = text.rsplit_once(") ")?;
    let mut fields = fields.split(' ');
    let is_dead = matches!(fields.next()?, "Z" | "X");
    let start = fields.nth(18)?.parse().ok()?;
    Some((!is_dead).then_some(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_another_with_its_pid_does_not() {
        let this = Worker::this().ok();
        let life = |change: fn(&mut Worker)| {
            let mut worker = this.clone()?;
            change(&mut worker);
            Some(worker.life())
        };
        assert_eq!(life(|_| ()), Some(Life::Lives));
        assert_eq!(life(|w| w.start += 1), Some(Life::Dead));
        assert_eq!(life(|w| w.boot.push('x')), Some(Life::Dead));
        assert_eq!(life(|w| w.namespace.push('x')), Some(Life::Unknown));
        assert_eq!(life(|w| w.pid = 0x7fff_fffe), Some(Life::Dead));
    }

    #[test]
    fn a_name_with_brackets_and_a_zombie_are_told_apart() {
        let stat = |state: &str| format!("7 (a) S) x) {state} 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4242 20");
        assert_eq!(start_in(&stat("S")), Some(Some(4242)));
        assert_eq!(start_in(&stat("Z")), Some(None));
        assert_eq!(start_in("7 (a) S 1"), None);
    }
}
