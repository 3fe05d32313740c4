//! How rules on arguments are written and chosen: tables of tests, first hit wins. The compiler and `decide` read the
//! same tables, which lie in `process_rules`, `file_rules` and `socket_rules`.
//!
//! Pure.
//! INVARIANT (low half): a test sees only the low 32 bits of an argument. Each argument named there is one that the
//! kernel declares `int`, `unsigned int`, `pid_t` or `umode_t`, or cuts to 32 bits itself (the flags of clone), so
//! whatever stands in the high half can neither hide a value nor fake one (CVE-2019-7303). An argument that the
//! kernel reads whole must not be tested, unless it refuses whatever has a high half (the length of an attribute).

use super::filter::{Denial, FilterSpec, NetworkRule, SocketRule, Verdict};
use super::{file_rules, process_rules, socket_rules};

/// An argument rule, by the name it has in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    Address,
    Clone,
    Debug,
    Fallocate,
    Fcntl,
    Ioctl,
    IoprioSet,
    Ipc,
    Kill,
    Madvise,
    Mknod,
    Mknodat,
    ModeArg1,
    ModeArg2,
    Open,
    Openat,
    Personality,
    Prctl,
    Renameat2,
    Seccomp,
    SelfArg0,
    SendFlagsArg2,
    SendFlagsArg3,
    Setpgid,
    Setpriority,
    Setsockopt,
    Setxattr,
    Shmctl,
    Socket,
    Socketpair,
}

/// A test on the low half of one argument.
#[derive(Debug, Clone, Copy)]
pub(super) enum Test {
    /// The masked argument is one of the values.
    OneOf { arg: u8, mask: u32, values: &'static [u32] },
    /// At least one bit of the mask is set.
    AnyBit { arg: u8, mask: u32 },
    /// Both ends included.
    Between { arg: u8, first: u32, last: u32 },
}

/// The verdict if all tests hold.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clause {
    pub(super) when: &'static [Test],
    pub(super) then: Verdict,
}

/// A rule under one filter specification. Without clauses it is decided by the number alone.
#[derive(Debug, Clone, Copy)]
pub(super) struct Body {
    pub(super) clauses: &'static [Clause],
    pub(super) otherwise: Verdict,
}

pub(super) const fn deny(errno: i32, why: &'static str) -> Verdict {
    Verdict::Deny(Denial {
        errno: errno as u16,
        why,
    })
}

pub(super) const fn is(arg: u8, values: &'static [u32]) -> Test {
    Test::OneOf {
        arg,
        mask: u32::MAX,
        values,
    }
}

pub(super) const fn when(when: &'static [Test], then: Verdict) -> Clause {
    Clause { when, then }
}

const ALLOW: Body = Body {
    clauses: &[],
    otherwise: Verdict::Allow,
};

pub(super) const fn never(why: &'static str) -> Body {
    Body {
        clauses: &[],
        otherwise: deny(libc::EPERM, why),
    }
}

/// Allowed unless a clause hits.
pub(super) const fn unless(clauses: &'static [Clause]) -> Body {
    Body {
        clauses,
        otherwise: Verdict::Allow,
    }
}

impl Rule {
    pub(super) fn from_name(name: &str) -> Option<Rule> {
        Some(match name {
            "address" => Rule::Address,
            "clone" => Rule::Clone,
            "debug" => Rule::Debug,
            "fallocate" => Rule::Fallocate,
            "fcntl" => Rule::Fcntl,
            "ioctl" => Rule::Ioctl,
            "ioprio_set" => Rule::IoprioSet,
            "ipc" => Rule::Ipc,
            "kill" => Rule::Kill,
            "madvise" => Rule::Madvise,
            "mknod" => Rule::Mknod,
            "mknodat" => Rule::Mknodat,
            "mode_arg1" => Rule::ModeArg1,
            "mode_arg2" => Rule::ModeArg2,
            "open" => Rule::Open,
            "openat" => Rule::Openat,
            "personality" => Rule::Personality,
            "prctl" => Rule::Prctl,
            "renameat2" => Rule::Renameat2,
            "seccomp" => Rule::Seccomp,
            "self_arg0" => Rule::SelfArg0,
            "send_flags_arg2" => Rule::SendFlagsArg2,
            "send_flags_arg3" => Rule::SendFlagsArg3,
            "setpgid" => Rule::Setpgid,
            "setpriority" => Rule::Setpriority,
            "setsockopt" => Rule::Setsockopt,
            "setxattr" => Rule::Setxattr,
            "shmctl" => Rule::Shmctl,
            "socket" => Rule::Socket,
            "socketpair" => Rule::Socketpair,
            _ => return None,
        })
    }

    pub(super) fn body(self, spec: &FilterSpec) -> Body {
        match self {
            Rule::Clone => process_rules::CLONE,
            Rule::Debug if spec.debug => ALLOW,
            Rule::Debug => never("a sandbox may not look into or control other processes"),
            Rule::Fallocate => file_rules::FALLOCATE,
            Rule::Fcntl => file_rules::FCNTL,
            Rule::Ioctl => file_rules::IOCTL,
            Rule::Madvise => process_rules::MADVISE,
            Rule::Mknod => file_rules::MKNOD,
            Rule::Mknodat => file_rules::MKNODAT,
            Rule::ModeArg1 => file_rules::MODE_ARG1,
            Rule::ModeArg2 => file_rules::MODE_ARG2,
            Rule::Open => file_rules::OPEN,
            Rule::Openat => file_rules::OPENAT,
            Rule::Personality => process_rules::PERSONALITY,
            Rule::Prctl => process_rules::PRCTL,
            Rule::Renameat2 => file_rules::RENAMEAT2,
            Rule::Seccomp => process_rules::SECCOMP,
            Rule::SendFlagsArg2 => socket_rules::SEND_FLAGS_ARG2,
            Rule::SendFlagsArg3 => socket_rules::SEND_FLAGS_ARG3,
            Rule::Setsockopt => match spec.network {
                NetworkRule::LoopbackOnly => socket_rules::SETSOCKOPT_LOOPBACK,
                NetworkRule::Host => socket_rules::SETSOCKOPT_HOST,
            },
            Rule::Setxattr => file_rules::SETXATTR,
            Rule::Socket => match (spec.sockets, spec.network) {
                (SocketRule::NoSockets, _) => socket_rules::SOCKET_NONE,
                (SocketRule::Namespaced, NetworkRule::LoopbackOnly) => socket_rules::SOCKET_LOOPBACK,
                (SocketRule::Namespaced, NetworkRule::Host) => socket_rules::SOCKET_HOST,
            },
            Rule::Socketpair => match spec.sockets {
                SocketRule::Namespaced => socket_rules::SOCKETPAIR,
                SocketRule::NoSockets => socket_rules::SOCKETPAIR_CONNECTED,
            },
            Rule::Address => without_namespaces(spec, never(socket_rules::NO_SOCKETS)),
            Rule::Ipc => without_namespaces(spec, NO_IPC),
            Rule::Kill => without_namespaces(spec, process_rules::KILL),
            Rule::IoprioSet => by_namespaces(spec, process_rules::IOPRIO_SET_NOT_PID_1, process_rules::IOPRIO_SET),
            Rule::Shmctl => by_namespaces(spec, process_rules::SHMCTL, NO_IPC),
            Rule::SelfArg0 => by_namespaces(spec, process_rules::NOT_PID_1, process_rules::SELF_ARG0),
            Rule::Setpgid => by_namespaces(spec, process_rules::SETPGID_NOT_PID_1, ALLOW),
            Rule::Setpriority => by_namespaces(spec, process_rules::SETPRIORITY_NOT_PID_1, process_rules::SETPRIORITY),
        }
    }
}

const NO_IPC: Body = never("would reach other processes: no IPC namespace here");

/// Rules that stand in for a namespace.
fn without_namespaces(spec: &FilterSpec, body: Body) -> Body {
    by_namespaces(spec, ALLOW, body)
}

/// What holds with namespaces behind the filter, and what without.
fn by_namespaces(spec: &FilterSpec, with: Body, without: Body) -> Body {
    match spec.sockets {
        SocketRule::Namespaced => with,
        SocketRule::NoSockets => without,
    }
}
