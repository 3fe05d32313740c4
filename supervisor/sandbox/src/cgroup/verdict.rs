//! What the limits did to a run, from the kernel's counters.

use serde::Serialize;

use super::group::Member;
use super::proc_text::Version;
use super::{Controller, files};

/// More than the kernel charges at once before it calls the OOM killer (order 3).
const CHARGE_STEP: u64 = 1 << 20;

/// `None`: no group of ours holds that limit, or the kernel does not count it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Processes killed for want of memory. Counted since Linux 4.13.
    pub oom_kills: Option<u64>,
    /// The run came up to its own limit. If not, an OOM kill came from a limit above ours or from the host.
    pub memory_limit_reached: Option<bool>,
    /// On v2 since Linux 5.19.
    pub memory_peak_bytes: Option<u64>,
    /// Forks and threads refused at the pids limit.
    pub pids_refused: Option<u64>,
    /// Periods in which the cpu limit held the run back.
    pub cpu_throttled_periods: Option<u64>,
}

impl Verdict {
    /// A process of the run was killed for want of memory. On v1 the others may have gone on.
    pub fn out_of_memory(&self) -> bool {
        self.oom_kills.is_some_and(|kills| kills > 0)
    }

    pub fn out_of_pids(&self) -> bool {
        self.pids_refused.is_some_and(|refused| refused > 0)
    }

    pub(super) fn read(members: &[Member]) -> Self {
        let mut verdict = Self::default();
        for member in members {
            for controller in &member.holds {
                verdict.read_one(member, *controller);
            }
        }
        verdict
    }

    pub(super) fn of_death(members: &[Member]) -> Self {
        let mut verdict = Self::default();
        for member in members {
            let keyed = |file, key| files::keyed(&files::read(&member.dir.join(file)).ok()?, key);
            for controller in &member.holds {
                match (controller, member.version) {
                    (Controller::Memory, Version::V1) => verdict.oom_kills = keyed("memory.oom_control", "oom_kill"),
                    (Controller::Memory, Version::V2) => verdict.oom_kills = keyed("memory.events", "oom_kill"),
                    (Controller::Pids, Version::V1 | Version::V2) => verdict.pids_refused = keyed("pids.events", "max"),
                    (Controller::Cpu, Version::V1 | Version::V2) => {}
                }
            }
        }
        verdict
    }

    fn read_one(&mut self, member: &Member, controller: Controller) {
        let text = |file| files::read(&member.dir.join(file)).ok();
        let keyed = |file, key| text(file).and_then(|text| files::keyed(&text, key));
        let number = |file| text(file).and_then(|text| files::number(&text));
        match (controller, member.version) {
            (Controller::Memory, Version::V1) => {
                self.oom_kills = keyed("memory.oom_control", "oom_kill");
                self.memory_peak_bytes = number("memory.max_usage_in_bytes");
                // Not failcnt: Linux 6.18 leaves it at 0 when the memsw limit is the one that is met.
                self.memory_limit_reached = number("memory.limit_in_bytes")
                    .zip(self.memory_peak_bytes)
                    .map(|(limit, peak)| peak.saturating_add(CHARGE_STEP) >= limit);
            }
            (Controller::Memory, Version::V2) => {
                self.oom_kills = keyed("memory.events", "oom_kill");
                self.memory_limit_reached = keyed("memory.events", "max").map(|hits| hits > 0);
                self.memory_peak_bytes = number("memory.peak");
            }
            (Controller::Pids, Version::V1 | Version::V2) => self.pids_refused = keyed("pids.events", "max"),
            (Controller::Cpu, Version::V1 | Version::V2) => {
                self.cpu_throttled_periods = keyed("cpu.stat", "nr_throttled");
            }
        }
    }
}
