//! What a filter is asked to do, and its verdict on one call in words.
//!
//! Pure. `decide` is what the supervisor says about a call that the kernel reported; the compiled program only
//! tells the kernel *that* a call is refused.

use serde::{Deserialize, Serialize};

use super::observe::Observe;
use super::rules::{Body, Test};
use super::table::{Action, Arch, Syscall, Table};

/// Everything that one compiled filter depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilterSpec {
    pub network: NetworkRule,
    pub sockets: SocketRule,
    pub denial: DenialAction,
    /// What is told of allowed calls. Needs [`DenialAction::Notify`]; without a supervisor nobody is told.
    pub observe: Observe,
    /// Allows ptrace, process_vm_readv, process_vm_writev and kcmp, for debuggers and leak checkers.
    ///
    /// Bounded by the pid namespace; its pid 1 has the same uid and must protect itself (not dumpable).
    pub debug: bool,
}

/// Which network the sandbox sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum NetworkRule {
    /// A network namespace of its own with nothing but loopback.
    LoopbackOnly,
    /// The host's network. Adds ping sockets, which the host's `ping_group_range` then governs.
    Host,
}

/// Which sockets may be made, and with it whether namespaces stand behind the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SocketRule {
    /// Unix, IPv4 and IPv6 sockets and NETLINK_ROUTE: mount and network namespaces decide whom they reach.
    Namespaced,
    /// `isolation: landlock`, where no namespace stands behind the filter: no socket but connected unix pairs.
    ///
    /// Also closes what the IPC and pid namespaces close otherwise: System V IPC, message queues, limits and
    /// priorities of other processes, `kill(-1)`.
    NoSockets,
}

/// What the kernel does with a denied call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum DenialAction {
    /// Ask the supervisor, which reports the call and answers with the errno of [`Table::decide`].
    ///
    /// SECCOMP_RET_USER_NOTIF, Linux 5.0. With no supervisor left the call returns ENOSYS: it fails closed.
    Notify,
    /// Refuse at once, unreported.
    Errno,
}

/// One system call as seccomp sees it, on the native architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    pub nr: u32,
    pub args: [u64; 6],
}

/// What happens to one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Allow,
    /// Allowed, and the supervisor is told first. It must answer that the call goes on.
    Observe,
    /// Refused without a report, as an older kernel would.
    Errno(u16),
    /// Refused and, with [`DenialAction::Notify`], reported.
    Deny(Denial),
    Kill,
}

/// Why a call is refused and what the caller sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Denial {
    pub errno: u16,
    pub why: &'static str,
}

const RET_KILL_PROCESS: u32 = 0x8000_0000;
const RET_USER_NOTIF: u32 = 0x7fc0_0000;
const RET_ERRNO: u32 = 0x0005_0000;
const RET_ALLOW: u32 = 0x7fff_0000;

impl Verdict {
    pub(super) const ENOSYS: Verdict = Verdict::Errno(libc::ENOSYS as u16);

    /// The value that the program returns to the kernel.
    pub(super) fn ret(self, denial: DenialAction) -> u32 {
        match (self, denial) {
            (Verdict::Allow, _) | (Verdict::Observe, DenialAction::Errno) => RET_ALLOW,
            (Verdict::Kill, _) => RET_KILL_PROCESS,
            (Verdict::Errno(errno), _) => RET_ERRNO | u32::from(errno),
            (Verdict::Deny(denial), DenialAction::Errno) => RET_ERRNO | u32::from(denial.errno),
            (Verdict::Deny(_) | Verdict::Observe, DenialAction::Notify) => RET_USER_NOTIF,
        }
    }
}

impl Table {
    /// What the filter compiled from this list does with `call`, and why.
    pub fn decide(&self, spec: &FilterSpec, arch: Arch, call: &Call) -> Verdict {
        let found = self.find(call.nr, arch);
        let verdict = match self.action_of(call.nr, arch) {
            Action::Allow => Verdict::Allow,
            Action::Enosys => Verdict::ENOSYS,
            Action::Kill => Verdict::Kill,
            Action::Rule(rule) => rule.body(spec).decide(&call.args),
            Action::Deny => Verdict::Deny(Denial {
                errno: libc::EPERM as u16,
                why: found.map_or("", |syscall| syscall.reason),
            }),
            Action::Absent => Verdict::Deny(Denial {
                errno: libc::ENOSYS as u16,
                why: found.map_or("", |syscall| syscall.reason),
            }),
        };
        let told = |syscall: &Syscall| spec.observe.told(syscall.name).holds(&call.args);
        match verdict {
            Verdict::Allow if found.is_some_and(told) => Verdict::Observe,
            Verdict::Allow | Verdict::Observe | Verdict::Errno(_) | Verdict::Deny(_) | Verdict::Kill => verdict,
        }
    }
}

impl Body {
    fn decide(&self, args: &[u64; 6]) -> Verdict {
        let hit = self
            .clauses
            .iter()
            .find(|clause| clause.when.iter().all(|test| test.holds(args)));
        hit.map_or(self.otherwise, |clause| clause.then)
    }
}

impl Test {
    fn holds(&self, args: &[u64; 6]) -> bool {
        let low = |arg: u8| args.get(usize::from(arg)).map_or(0, |value| *value as u32);
        match *self {
            Test::OneOf { arg, mask, values } => values.contains(&(low(arg) & mask)),
            Test::AnyBit { arg, mask } => low(arg) & mask != 0,
            Test::Between { arg, first, last } => (first..=last).contains(&low(arg)),
        }
    }
}
