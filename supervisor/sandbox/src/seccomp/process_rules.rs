//! Argument rules for processes: clone, prctl, personality, memory that is shared, nested filters, and other processes.
//!
//! Pure tables; `rules` says how they are read and which half of an argument counts.

use super::filter::Verdict;
use super::rules::{Body, Test, deny, is, unless, when};

const CLONE_NEW: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET) as u32
    | 0x80; // CLONE_NEWTIME, for clone(2) an exit signal that no program asks for

/// CLONE_PARENT would make our own init, or without one the supervisor, the parent of a process it never started.
pub(super) const CLONE: Body = unless(&[
    when(
        &[Test::AnyBit {
            arg: 0,
            mask: CLONE_NEW,
        }],
        deny(libc::EPERM, "makes namespaces"),
    ),
    when(
        &[Test::AnyBit {
            arg: 0,
            mask: libc::CLONE_PARENT as u32,
        }],
        deny(libc::EPERM, "makes a child of its parent"),
    ),
]);

/// PER_LINUX32, UNAME26 and ADDR_NO_RANDOMIZE (thread sanitizer, debuggers) touch nobody else. READ_IMPLIES_EXEC
/// and MMAP_PAGE_ZERO weaken the kernel's defences.
pub(super) const PERSONALITY: Body = unless(&[
    when(&[is(0, &[u32::MAX])], Verdict::Allow), // only asks
    when(
        &[Test::AnyBit {
            arg: 0,
            mask: !0x0006_0008,
        }],
        deny(libc::EPERM, "this personality weakens memory protection"),
    ),
]);

/// The last option of Linux 6.18, PR_FUTEX_HASH. Later ones do not exist for the sandbox until looked at.
const PR_LAST: u32 = 78;
const PR_SET_PTRACER: u32 = 0x5961_6d61;
const PR_SET_VMA: u32 = 0x5356_4d41;
const PR_GET_AUXV: u32 = 0x4155_5856;
const PR_SET_MEMORY_MERGE: u32 = 67;
const PR_SCHED_CORE: u32 = 62;

/// PR_SET_PTRACER stays: it only invites tracers, and ptrace is refused where it matters. Crash handlers call it.
pub(super) const PRCTL: Body = unless(&[
    when(
        &[is(0, &[libc::PR_SET_MM as u32])],
        deny(libc::EPERM, "rewrites what /proc says about the process"),
    ),
    when(
        &[is(0, &[PR_SCHED_CORE])],
        deny(libc::EPERM, "keeps other processes off the processor core"),
    ),
    when(
        &[is(0, &[PR_SET_MEMORY_MERGE])],
        deny(libc::EPERM, "merged pages reveal the memory of others"),
    ),
    when(&[is(0, &[PR_SET_PTRACER, PR_SET_VMA, PR_GET_AUXV])], Verdict::Allow),
    when(
        &[Test::Between {
            arg: 0,
            first: PR_LAST + 1,
            last: u32::MAX,
        }],
        Verdict::Errno(libc::EINVAL as u16),
    ),
]);

/// A write to a merged page takes longer, and so reveals that others hold the same one. A kernel without KSM answers so;
/// MADV_UNMERGEABLE stays.
pub(super) const MADVISE: Body = unless(&[when(
    &[is(2, &[libc::MADV_MERGEABLE as u32])],
    Verdict::Errno(libc::EINVAL as u16),
)]);

/// Locked pages of System V memory are held against the user's `RLIMIT_MEMLOCK`, which is one for all namespaces.
pub(super) const SHMCTL: Body = unless(&[when(
    &[is(1, &[libc::SHM_LOCK as u32])],
    deny(libc::EPERM, "locked memory counts for this user outside as well"),
)]);

/// A tree has one listener, and it is ours; nested filters as such only narrow.
pub(super) const SECCOMP: Body = unless(&[when(
    &[Test::AnyBit {
        arg: 1,
        mask: libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as u32,
    }],
    deny(libc::EPERM, "there is one seccomp listener, the supervisor"),
)]);

const OTHERS: Verdict = deny(libc::EPERM, "would reach other processes: no pid namespace here");

pub(super) const KILL: Body = unless(&[when(
    &[is(0, &[-1_i32 as u32])],
    deny(libc::EPERM, "would signal every process of this user"),
)]);
/// Limits too: RLIMIT_CPU 0 on the supervisor would end it, and the deadline with it.
pub(super) const SELF_ARG0: Body = Body {
    clauses: &[when(&[is(0, &[0])], Verdict::Allow)],
    otherwise: OTHERS,
};
/// PRIO_PROCESS of the caller. Its group may be that of its guardian, which it can join; PRIO_USER would be everything of this
/// user.
pub(super) const SETPRIORITY: Body = Body {
    clauses: &[when(&[is(0, &[0]), is(1, &[0])], Verdict::Allow)],
    otherwise: OTHERS,
};
/// IOPRIO_WHO_PROCESS of the caller.
pub(super) const IOPRIO_SET: Body = Body {
    clauses: &[when(&[is(0, &[1]), is(1, &[0])], Verdict::Allow)],
    otherwise: OTHERS,
};

const GUARDIAN: Verdict = deny(
    libc::EPERM,
    "would reach pid 1 of the sandbox, which counts its memory and its time",
);

/// Pid 1 has the command's own uid: limits and scheduling are all that would still be open to it.
pub(super) const NOT_PID_1: Body = unless(&[when(&[is(0, &[1])], GUARDIAN)]);
/// Nobody joins the group of pid 1: what is done to one's own group would be done to it.
pub(super) const SETPGID_NOT_PID_1: Body = unless(&[when(&[is(1, &[1])], GUARDIAN)]);
/// The process or the group of pid 1, or everything of this user.
pub(super) const SETPRIORITY_NOT_PID_1: Body = unless(&[
    when(&[is(0, &[0, 1]), is(1, &[1])], GUARDIAN),
    when(&[is(0, &[2])], GUARDIAN),
]);
pub(super) const IOPRIO_SET_NOT_PID_1: Body = unless(&[
    when(&[is(0, &[1, 2]), is(1, &[1])], GUARDIAN),
    when(&[is(0, &[3])], GUARDIAN),
]);
