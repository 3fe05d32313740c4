//! Rules that stand in for a namespace, under `isolation: landlock`: refused there, allowed with namespaces.
//!
//! The other process is always pid 1 or a user who has none, so that nothing happens where nothing refuses.

use libc::{EAFNOSUPPORT, EPERM};

use crate::cases::Expected::{Allowed, Refused};
use crate::cases::{Case, case};

/// A key of System V IPC that nobody uses.
const KEY: &str = "0x7fff1234";
/// A user without processes.
const USER: u32 = 54321;

pub(crate) fn landlock() -> Vec<Case> {
    [others(), ipc(), sockets()].concat()
}

fn others() -> Vec<Case> {
    let mut cases = vec![
        case("kill", "-1 0", Refused(EPERM)),
        case("kill", "0xffffffff 0", Refused(EPERM)),
        case("kill", "self 0", Allowed),
        case("kill", "0 0", Allowed),
        case("setpriority", "0 0 0", Allowed),
        case("setpriority", "1 0 0", Refused(EPERM)),
        case("setpriority", "0 1 19", Refused(EPERM)),
        case("setpriority", &format!("2 {USER} 19"), Refused(EPERM)),
        case("ioprio_set", "1 0 0", Allowed),
        case("ioprio_set", "2 0 0", Refused(EPERM)),
        case("ioprio_set", "1 1 0", Refused(EPERM)),
        case("ioprio_set", &format!("3 {USER} 0"), Refused(EPERM)),
    ];
    for (call, after) in [
        ("sched_setparam", "-1"),
        ("sched_setscheduler", "0 page"),
        ("sched_setaffinity", "8 -1"),
        ("sched_setattr", "-1 0"),
        ("prlimit64", "7 0 page"),
    ] {
        cases.push(case(call, &format!("0 {after}"), Allowed));
        cases.push(case(call, &format!("0x100000000 {after}"), Allowed));
        cases.push(case(call, &format!("1 {after}"), Refused(EPERM)));
        cases.push(case(call, &format!("0x7ffffff0 {after}"), Refused(EPERM)));
    }
    cases
}

fn ipc() -> Vec<Case> {
    let words = [
        ("shmget", format!("{KEY} 0 0")),
        ("semget", format!("{KEY} 0 0")),
        ("msgget", format!("{KEY} 0")),
        ("shmat", "-1 0 0".to_owned()),
        ("shmctl", "-1 0 0".to_owned()),
        ("semop", "-1 page 1".to_owned()),
        ("semctl", "-1 0 0".to_owned()),
        ("semtimedop", "-1 page 1 page".to_owned()),
        ("msgsnd", "-1 page 1 0".to_owned()),
        ("msgrcv", "-1 page 1 0 0".to_owned()),
        ("msgctl", "-1 0 0".to_owned()),
        ("mq_open", "-1 0".to_owned()),
        ("mq_unlink", "-1".to_owned()),
        ("mq_timedsend", "-1 page 1 0 0".to_owned()),
        ("mq_timedreceive", "-1 page 1 0 0".to_owned()),
        ("mq_notify", "-1 0".to_owned()),
        ("mq_getsetattr", "-1 0 0".to_owned()),
    ];
    words
        .into_iter()
        .map(|(call, words)| case(call, &words, Refused(EPERM)))
        .collect()
}

fn sockets() -> Vec<Case> {
    let mut cases = vec![
        case("connect", "-1 page 16", Refused(EPERM)),
        case("bind", "-1 page 16", Refused(EPERM)),
        case("listen", "-1 1", Refused(EPERM)),
        case("socketpair", "1 1 0 page", Allowed),
        case("socketpair", "1 5 0 page", Allowed),
        case("socketpair", "1 2 0 page", Refused(EPERM)),
        case("socketpair", "1 3 0 page", Refused(EPERM)),
        case("socketpair", "2 1 0 page", Refused(EAFNOSUPPORT)),
    ];
    for words in [
        "1 1 0", "1 2 0", "2 1 0", "2 2 0", "10 1 0", "16 3 0", "17 3 0", "40 1 0",
    ] {
        cases.push(case("socket", words, Refused(EAFNOSUPPORT)));
    }
    cases
}
