//! Lowers limits to the files of a group and what is written to them.
//!
//! Pure. The order of the settings of a controller is the order in which they must be written.

use super::proc_text::Version;
use super::{Controller, Request};

/// What to do where the kernel lacks the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// The limit cannot be enforced.
    Fails,
    /// The limit holds without it.
    Skipped,
    /// Write this file with this value in its stead.
    Instead(&'static str, &'static str),
}

/// What a refusal with `EINVAL` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Invalid {
    Fails,
    /// An ancestor's limit is tighter already, so ours holds.
    Nested,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) file: &'static str,
    pub(super) value: String,
    pub(super) absent: Absent,
    pub(super) invalid: Invalid,
}

const PERIOD_US: u64 = 100_000;
/// The kernel takes no quota below 1 ms, so a share below 1 % needs its longest period.
const LONG_PERIOD_US: u64 = 1_000_000;
/// Beyond it the kernel says `EINVAL`, which must keep its meaning.
const MOST_CPU_MILLIS: u64 = 10_000_000;
/// What a server and its clients inside need at the least.
const SOCKETS: u64 = 16 << 20;

/// The settings that enforce the requested limit of `controller`; none if there is no such limit.
pub(super) fn settings(request: &Request, controller: Controller, version: Version) -> Option<Vec<Setting>> {
    match controller {
        Controller::Memory => request.memory_mb.map(|mb| memory(mb.saturating_mul(1 << 20), version)),
        Controller::Pids => request.pids.map(|most| vec![required("pids.max", most.to_string())]),
        Controller::Cpu => request
            .cpu_millis
            .map(|millis| cpu(millis.clamp(1, MOST_CPU_MILLIS), version)),
    }
}

/// What may be taken besides so much memory where it is counted apart: version 1 does so with buffers of sockets, if they have a limit.
pub(crate) fn besides(bytes: u64) -> u64 {
    (bytes / 4).max(SOCKETS.min(bytes))
}

fn memory(bytes: u64, version: Version) -> Vec<Setting> {
    let sockets = besides(bytes).to_string();
    let bytes = bytes.to_string();
    match version {
        // `memsw` limits memory and swap together and must not be below the memory limit: it comes second. Without swap
        // accounting, swappiness 0 keeps the group's own reclaim from swapping.
        Version::V1 => vec![
            required("memory.limit_in_bytes", bytes.clone()),
            Setting {
                absent: Absent::Instead("memory.swappiness", "0"),
                ..required("memory.memsw.limit_in_bytes", bytes)
            },
            // TCP's by its name, UDP's too. Full, they take no more; nobody is killed.
            Setting {
                absent: Absent::Skipped,
                ..required("memory.kmem.tcp.limit_in_bytes", sockets)
            },
        ],
        // oom.group, Linux 4.19: half of a killed build is of no use, and the report names one cause.
        Version::V2 => vec![
            required("memory.max", bytes),
            Setting {
                absent: Absent::Skipped,
                ..required("memory.swap.max", "0".to_owned())
            },
            Setting {
                absent: Absent::Skipped,
                ..required("memory.oom.group", "1".to_owned())
            },
        ],
    }
}

fn cpu(millis: u64, version: Version) -> Vec<Setting> {
    let period = if millis < 10 { LONG_PERIOD_US } else { PERIOD_US };
    let quota = millis.saturating_mul(period / 1000);
    match version {
        Version::V1 => {
            let quota = Setting {
                invalid: Invalid::Nested,
                ..required("cpu.cfs_quota_us", quota.to_string())
            };
            // A new group has the usual period.
            let period = (period != PERIOD_US).then(|| required("cpu.cfs_period_us", period.to_string()));
            period.into_iter().chain([quota]).collect()
        }
        Version::V2 => vec![required("cpu.max", format!("{quota} {period}"))],
    }
}

fn required(file: &'static str, value: String) -> Setting {
    Setting {
        file,
        value,
        absent: Absent::Fails,
        invalid: Invalid::Fails,
    }
}
