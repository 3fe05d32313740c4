//! Since when a change of an inode counts as the run's.

use std::time::Duration;

use crate::sys::event;

/// The time of a run's beginning, by the clock that stamps inodes.
#[derive(Debug, Clone, Copy)]
pub(in crate::launch) struct Since {
    stamp: Duration,
    boot: Option<Duration>,
}

impl Since {
    /// Now. Without a clock every change counts.
    pub(in crate::launch) fn now() -> Self {
        let read = || {
            let first = event::boot_clock().ok();
            let stamp = event::inode_clock().unwrap_or_default();
            let boot = event::boot_clock().ok();
            let apart = boot.zip(first).map(|(boot, first)| boot.saturating_sub(first));
            (Self { stamp, boot }, apart)
        };
        let mut last = read();
        // Two clocks tell one time only if nobody comes in between.
        for _ in 0..READINGS {
            if last.1.is_none_or(|apart| apart < TOGETHER) {
                break;
            }
            last = read();
        }
        last.0
    }

    /// A time that the clock that stamps inodes has shown.
    pub(in crate::launch) fn at(stamp: Duration) -> Self {
        Self { stamp, boot: None }
    }

    /// The same beginning, if the clock was set back meanwhile: what was stamped after that must not pass for old.
    pub(in crate::launch) fn corrected(self) -> Self {
        self.corrected_at(Self::now())
    }

    fn corrected_at(self, now: Self) -> Self {
        let (Some(then), Some(boot)) = (self.boot, now.boot) else {
            return Self {
                stamp: Duration::ZERO,
                ..self
            };
        };
        let (passed, shown) = (boot.saturating_sub(then), now.stamp.saturating_sub(self.stamp));
        let set_back = if now.stamp < self.stamp {
            passed + (self.stamp - now.stamp)
        } else {
            passed.saturating_sub(shown)
        };
        // A tick of the one clock, and what a clock that is being corrected slowly loses, are no step; a step is known only as
        // precisely, and what is doubtful counts.
        let step = if set_back > TOLERANCE {
            set_back + TOLERANCE
        } else {
            Duration::ZERO
        };
        Self {
            stamp: self.stamp.saturating_sub(step),
            ..self
        }
    }

    /// Was this stamped during the run?
    pub(in crate::launch) fn covers(self, changed: Duration) -> bool {
        // Some filesystems keep whole seconds only.
        let since = if changed.subsec_nanos() == 0 {
            Duration::from_secs(self.stamp.as_secs())
        } else {
            self.stamp
        };
        changed >= since
    }
}

const TOGETHER: Duration = Duration::from_millis(1);
const READINGS: u32 = 8;
const TOLERANCE: Duration = Duration::from_millis(20);

#[cfg(test)]
#[path = "since_tests.rs"]
mod tests;
