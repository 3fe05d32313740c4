//! Limits that a call runs into: the number of open files, and the private space.
//!
//! What a call returns nobody is told, so it is looked whether there is room before it goes on. A look is dear: the fuller a
//! table was found, the sooner it is looked at again, and soon in any case, since other threads, sockets and pipes fill it, too.
//! INVARIANT (bounded): `MOST` threads are remembered.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use crate::plan::SandboxPlan;
use crate::sys::limits::Resource;
use crate::sys::look;

const MOST: usize = 1024;
/// Opens of a thread between two looks at most.
const SELDOM: u64 = 16;

/// Open files of the sandbox's processes.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The policy's limit.
    limit: Option<u64>,
    /// Opens that a thread may make before it is looked at again.
    left: HashMap<u32, u64>,
}

impl Files {
    pub(super) fn new(plan: &SandboxPlan) -> Self {
        let limit = plan.rlimits.iter().find(|(resource, _)| *resource == Resource::Nofile);
        Self {
            limit: limit.map(|(_, limit)| *limit),
            left: HashMap::new(),
        }
    }

    /// Will this thread's next open find no room? Never true where the kernel does not tell (before Linux 6.2).
    pub(super) fn are_full(&mut self, thread: u32) -> bool {
        let Some(limit) = self.limit else {
            return false;
        };
        if self.left.len() >= MOST {
            self.left.clear();
        }
        let left = self.left.entry(thread).or_insert(SELDOM.min(limit / 8));
        if *left > 0 {
            *left -= 1;
            return false;
        }
        let open = fs::metadata(format!("/proc/{thread}/fd")).map_or(0, |dir| dir.len());
        *left = SELDOM.min(limit.saturating_sub(open) / 8);
        open >= limit
    }
}

/// The private space, held so that it can be looked at when everybody is gone.
#[derive(Debug)]
pub(super) struct Space(OwnedFd);

impl Space {
    pub(super) fn new(handle: OwnedFd) -> Self {
        Self(handle)
    }

    pub(super) fn is_full(&self) -> bool {
        look::is_full(self.0.as_fd()).unwrap_or(false)
    }
}
