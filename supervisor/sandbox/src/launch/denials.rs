//! Answers the calls that the filter hands to us, and remembers them for the report.
//!
//! INVARIANT (bounded): at most `MOST` different ones are remembered; every one is answered.

use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};

use super::outcome::Denied;
use crate::seccomp::{Arch, Call, FilterSpec, Table, Verdict};
use crate::sys::seccomp::{self, Notice};

/// Different denied calls that are remembered.
const MOST: usize = 1000;

/// By the number of the call and the name of the program.
#[derive(Debug, Default)]
pub(super) struct Denials(BTreeMap<(u32, String), Denied>);

impl Denials {
    /// Takes one call from the listener and refuses it.
    pub(super) fn answer(&mut self, listener: &OwnedFd, spec: Option<&FilterSpec>, table: &Table) {
        let Ok(Some(notice)) = seccomp::receive(listener.as_fd()) else {
            return;
        };
        let (call, errno, why) = decide(&notice, spec, table);
        let program = fs::read_to_string(format!("/proc/{}/comm", notice.pid))
            .unwrap_or_default()
            .trim_end()
            .to_owned();
        let pid = inner_pid(notice.pid).unwrap_or(0);
        let _ = seccomp::refuse(listener.as_fd(), notice.id, errno);
        let key = (call.nr, program.clone());
        if let Some(known) = self.0.get_mut(&key) {
            known.count += 1;
        } else if self.0.len() < MOST {
            let name = table.name_of(call.nr, Arch::NATIVE);
            let syscall = name.map_or_else(|| call.nr.to_string(), str::to_owned);
            self.0.insert(
                key,
                Denied {
                    syscall,
                    why,
                    pid,
                    program,
                    count: 1,
                },
            );
        }
    }

    pub(super) fn into_list(self) -> Vec<Denied> {
        self.0.into_values().collect()
    }
}

/// Takes one call from the listener and refuses it, unremembered: it was one of our own canaries. True if there was one.
pub(super) fn refuse_canary(listener: &OwnedFd, spec: Option<&FilterSpec>, table: &Table) -> bool {
    let Ok(Some(notice)) = seccomp::receive(listener.as_fd()) else {
        return false;
    };
    let (_, errno, _) = decide(&notice, spec, table);
    seccomp::refuse(listener.as_fd(), notice.id, errno).is_ok()
}

/// The call, the error it gets, and why.
fn decide(notice: &Notice, spec: Option<&FilterSpec>, table: &Table) -> (Call, i32, &'static str) {
    let call = Call {
        nr: notice.nr.unsigned_abs(),
        args: notice.args,
    };
    let verdict = spec.map_or(Verdict::Kill, |spec| table.decide(spec, Arch::NATIVE, &call));
    let (errno, why) = match verdict {
        Verdict::Deny(denial) => (i32::from(denial.errno), denial.why),
        Verdict::Errno(errno) => (i32::from(errno), ""),
        // The filter asked although this code would not: refuse, it is the safe side.
        Verdict::Allow | Verdict::Kill => (libc::EPERM, ""),
    };
    (call, errno, why)
}

/// The pid by which a process knows itself in its innermost namespace.
fn inner_pid(pid: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    line.split_ascii_whitespace().next_back()?.parse().ok()
}
