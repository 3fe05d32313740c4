//! Arguments with which each call is harmless, also without the sandbox, and fails for a reason of its own if it can.
//!
//! -1 is no descriptor, no valid address, no process and no set of flags that any call knows, so it is all that most need.

use crate::probe::{Arguments, How, arguments};

/// A key of System V IPC that nobody uses.
const KEY: &str = "0x7fff1234";

/// How to make the call of this name, and its arguments. They are ones that every rule on arguments allows.
pub(crate) fn harmless(name: &str) -> (How, Arguments) {
    let call = |words: &[&str]| (How::Call, arguments(words));
    match name {
        // These end or stop the process that makes them.
        "exit" | "exit_group" => call(&["77"]),
        "pause" => (How::Interrupt, arguments(&[])),
        "rt_sigsuspend" => (How::Interrupt, arguments(&["page", "8"])),
        "rt_sigreturn" => (How::Sigreturn, arguments(&[])),
        // These make another.
        "fork" => (How::Spawn, arguments(&[])),
        "vfork" => (How::Vfork, arguments(&[])),
        "clone" => (How::Spawn, arguments(&["17"])),
        // -1 would reach every process of the user.
        "kill" => call(&["self", "0"]),
        // -1 holds a flag that a rule refuses, or that makes something on the host.
        "open" => call(&["-1", "0", "0"]),
        "openat" => call(&["-1", "-1", "0", "0"]),
        "creat" | "mkdir" | "chmod" | "fchmod" | "mknod" => call(&["-1", "0", "0"]),
        "mkdirat" | "fchmodat" | "fchmodat2" | "mknodat" => call(&["-1", "-1", "0", "0"]),
        "renameat2" => call(&["-1", "-1", "-1", "-1", "0"]),
        "sendto" | "sendmmsg" => call(&["-1", "-1", "-1", "0"]),
        "sendmsg" => call(&["-1", "-1", "0"]),
        "setxattr" | "lsetxattr" | "fsetxattr" => call(&["-1", "-1", "-1", "0", "-1"]),
        // -1 holds KEEP_SIZE and INSERT_RANGE.
        "fallocate" => call(&["-1", "0", "-1", "-1"]),
        "seccomp" => call(&["-1", "0", "0"]),
        "socket" => call(&["1", "1", "0"]),
        "socketpair" => call(&["1", "1", "0", "-1"]),
        "shmget" => call(&[KEY, "0", "0"]),
        "semget" => call(&[KEY, "0", "0"]),
        "msgget" => call(&[KEY, "0"]),
        // Without a pid namespace, only on itself.
        "sched_setparam" | "sched_setscheduler" | "sched_setaffinity" | "sched_setattr" | "prlimit64" => {
            call(&["0", "-1", "-1", "-1"])
        }
        "setpriority" => call(&["0", "0", "0"]),
        "ioprio_set" => call(&["1", "0", "0"]),
        // The filter itself knows no option -1.
        "prctl" => call(&["3"]),
        // The kernel itself has no such operation, and says so with ENOSYS.
        "futex" => call(&["1", "0", "0", "page"]),
        _ => (How::Call, arguments(&["-1"; 6])),
    }
}
