//! Arguments on both sides of each rule, under `restricted`.

use Expected::{Allowed, Quiet, Refused};
use libc::{E2BIG, EAFNOSUPPORT, EINVAL, ENOPROTOOPT, ENOTTY, EOPNOTSUPP, EPERM};

use crate::probe::{How, arguments};

/// What a rule makes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// It returns what it returns without the sandbox, and is not reported.
    Allowed,
    /// This errno, and a line in the report.
    Refused(i32),
    /// This errno, and no report.
    Quiet(i32),
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) call: &'static str,
    pub(crate) how: How,
    pub(crate) words: Vec<String>,
    pub(crate) expected: Expected,
}

impl Case {
    pub(crate) fn arguments(&self) -> crate::probe::Arguments {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        arguments(&words)
    }
}

/// The words are separated by blanks.
pub(crate) fn case(call: &'static str, words: &str, expected: Expected) -> Case {
    let how = if call == "clone" { How::Spawn } else { How::Call };
    Case {
        call,
        how,
        words: words.split(' ').map(str::to_owned).collect(),
        expected,
    }
}

pub(crate) fn restricted() -> Vec<Case> {
    [
        files(),
        ioctls(),
        sockets(),
        sending(),
        processes(),
        bounded_by_namespaces(),
    ]
    .concat()
}

/// Modes: no setuid or setgid bit, no device; nothing in the high half of an argument hides or fakes one.
fn files() -> Vec<Case> {
    let creating = libc::O_CREAT | libc::O_WRONLY;
    let temporary = libc::O_TMPFILE | libc::O_RDWR;
    let mut cases = vec![
        case("fcntl", "0 1024 0", Refused(EPERM)),
        case("fcntl", "0 0x100000400 1", Refused(EPERM)),
        case("fcntl", "0 1040 0", Refused(EPERM)),
        case("fcntl", "0 1039 0", Allowed),
        case("fcntl", "0 1 0", Allowed),
        case("fcntl", "0 1025 0", Allowed),
        case("fallocate", "fd 1 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0x11 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0x20 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0x41 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0x60 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0x40 0 4096", Allowed),
        case("fallocate", "fd 0x100000001 0 4096", Quiet(EOPNOTSUPP)),
        case("fallocate", "fd 0 0 4096", Allowed),
        case("fallocate", "fd 3 0 4096", Allowed),
    ];
    for (call, file) in [("setxattr", "file"), ("lsetxattr", "file"), ("fsetxattr", "fd")] {
        cases.extend([
            case(call, &format!("{file} page page 1024 0"), Allowed),
            // The kernel has a bound of its own.
            case(call, &format!("{file} page page 0x100000000 0"), Allowed),
            case(call, &format!("{file} page page 1025 0"), Quiet(E2BIG)),
            case(call, &format!("{file} page page 0xffffffff 0"), Quiet(E2BIG)),
        ]);
    }
    for (call, before) in [("open", ""), ("openat", "-100 ")] {
        cases.extend([
            case(call, &format!("{before}new {creating} 04755"), Refused(EPERM)),
            case(call, &format!("{before}new {creating} 02755"), Refused(EPERM)),
            case(
                call,
                &format!("{before}new {creating} 0xffffffff00000800"),
                Refused(EPERM),
            ),
            case(call, &format!("{before}dir {temporary} 04600"), Refused(EPERM)),
            case(call, &format!("{before}new {creating} 0644"), Allowed),
            case(call, &format!("{before}new {creating} 01644"), Allowed),
            case(call, &format!("{before}new {creating} 0x8000001a4"), Allowed),
            case(call, &format!("{before}dir {temporary} 0600"), Allowed),
            // Without a file to create, the mode is whatever was in the register.
            case(call, &format!("{before}file 0 04755"), Allowed),
        ]);
    }
    let modes = [
        ("mkdir", "new "),
        ("creat", "new "),
        ("chmod", "file "),
        ("fchmod", "fd "),
        ("mkdirat", "-100 new "),
        ("fchmodat", "-100 file "),
        ("fchmodat2", "-100 file "),
    ];
    for (call, before) in modes {
        for mode in ["04755", "02755", "06000", "0xffffffff00000800"] {
            cases.push(case(call, &format!("{before}{mode}"), Refused(EPERM)));
        }
        for mode in ["0755", "01777", "0", "0x8000001a4"] {
            cases.push(case(call, &format!("{before}{mode}"), Allowed));
        }
    }
    for (call, before) in [("mknod", ""), ("mknodat", "-100 ")] {
        for mode in ["020644", "060644", "0104644", "0102644", "014644", "0x100002000"] {
            cases.push(case(call, &format!("{before}new {mode} 0x103"), Refused(EPERM)));
        }
        for mode in ["010644", "0100644", "0140644", "0644"] {
            cases.push(case(call, &format!("{before}new {mode} 0"), Allowed));
        }
    }
    for flags in ["4", "5", "0x100000004"] {
        cases.push(case(
            "renameat2",
            &format!("-100 file -100 new {flags}"),
            Refused(EPERM),
        ));
    }
    for flags in ["0", "1", "2"] {
        cases.push(case("renameat2", &format!("-100 file -100 new {flags}"), Allowed));
    }
    cases
}

fn ioctls() -> Vec<Case> {
    let refused = [
        "0x5412",
        "0x541c",
        "0x541d",
        "0x5423",
        "0x4b00",
        "0x4b46",
        "0x4bff",
        "0x5600",
        "0x5606",
        "0x56ff",
        "0x100005412",
        "0xffffffff0000541c",
        // Snapshots and subvolumes of btrfs, in every form.
        "0x50009401",
        "0x5000940e",
        "0x5000940f",
        "0x50009417",
        "0x50009418",
        "0x4008941a",
        "0xc0c89425",
        "0x5000943f",
        "0x9401",
        "0x150009401",
        // Those of bcachefs, and a key of fscrypt.
        "0x4020bc10",
        "0xc0406618",
    ];
    let allowed = [
        "0x5413",
        "0x541b",
        "0x540e",
        "0x4aff",
        "0x4c00",
        "0x55ff",
        "0x5700",
        "0x80045430",
        // FICLONE, FICLONERANGE, FIDEDUPERANGE, and flags and extents of a file.
        "0x40049409",
        "0x4020940d",
        "0xc0189436",
        "0x80086601",
        "0xc020660b",
        "0x801c581f",
        "0x80086603",
    ];
    // What exchanges or moves the extents of two files (XFS, ext4, f2fs), and takes room for them; FITRIM. On a file that
    // has them they say something else than here.
    let missing = [
        "0xc0c0586d",
        "0x40285881",
        "0x80405882",
        "0x40585883",
        "0x40305828",
        "0x4030582a",
        "0x40305839",
        "0xc0185879",
        "0xc028660f",
        "0xc020f509",
        "0x586d",
        "0x1c0c0586d",
    ];
    let refused = refused.map(|request| case("ioctl", &format!("pty {request} page"), Refused(EPERM)));
    let allowed = allowed.map(|request| case("ioctl", &format!("pty {request} page"), Allowed));
    let missing = missing.map(|request| case("ioctl", &format!("fd {request} page"), Quiet(ENOTTY)));
    refused.into_iter().chain(allowed).chain(missing).collect()
}

fn sockets() -> Vec<Case> {
    let family = Refused(EAFNOSUPPORT);
    let kind = Refused(EPERM);
    let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    let mut cases = vec![
        case("socket", &format!("1 {} 0", 1 | flags), Allowed),
        case("socket", &format!("2 {} 0", 1 | flags), Allowed),
        case("socket", "0x100000002 1 0", Allowed),
    ];
    // AX.25, IPX, packet, key, rds, bluetooth, tipc, alg, vsock, kcm, xdp, mctp, beyond, and one that is not vsock's high half.
    for number in [0, 3, 4, 15, 17, 21, 26, 31, 30, 38, 40, 41, 44, 45, 46, 1000] {
        cases.push(case("socket", &format!("{number} 1 0"), family));
        cases.push(case("socketpair", &format!("{number} 1 0 page"), family));
    }
    cases.push(case("socket", "-1 1 0", family));
    cases.push(case("socket", "0x100000028 1 0", family));
    // Netlink: all but the routes.
    for protocol in [4, 9, 12, 15, 16] {
        cases.push(case("socket", &format!("16 3 {protocol}"), family));
    }
    for (words, expected) in [
        ("16 3 0", Allowed),
        ("16 2 0", Allowed),
        ("1 1 0", Allowed),
        ("1 2 0", Allowed),
        ("1 5 0", Allowed),
        ("1 3 0", kind),
        ("2 1 6", Allowed),
        ("2 2 17", Allowed),
        ("10 1 0", Allowed),
        ("10 2 0", Allowed),
        ("2 3 0", kind),    // raw
        ("2 3 1", kind),    // raw ICMP
        ("10 3 58", kind),  // raw ICMPv6
        ("2 2 1", kind),    // ping
        ("10 2 58", kind),  // ping
        ("2 1 132", kind),  // SCTP
        ("2 5 132", kind),  // SCTP
        ("2 2 136", kind),  // UDP-Lite
        ("2 1 256", kind),  // SMC
        ("2 1 262", kind),  // MPTCP
        ("10 1 262", kind), // MPTCP
        ("2 6 33", kind),   // DCCP
        ("2 10 0", kind),   // packet, the old way
    ] {
        cases.push(case("socket", words, expected));
    }
    for (words, expected) in [
        ("1 1 0 page", Allowed),
        ("1 2 0 page", Allowed),
        ("1 5 0 page", Allowed),
        ("1 3 0 page", kind),
        ("2 1 0 page", family),
    ] {
        cases.push(case("socketpair", words, expected));
    }
    cases.extend([
        case("setsockopt", "tcp 6 31 smc 3", Refused(EPERM)),
        case("setsockopt", "tcp 0x100000006 0x10000001f smc 3", Refused(EPERM)),
        case("setsockopt", "tcp 6 14 on 4", Refused(EPERM)),
        case("setsockopt", "tcp 6 32 on 4", Refused(EPERM)),
        case("setsockopt", "tcp 6 38 on 4", Refused(EPERM)),
        case("setsockopt", "tcp 6 1 on 4", Allowed),
        case("setsockopt", "tcp 1 2 on 4", Allowed),
        case("setsockopt", "tcp 1 31 on 4", Allowed),
        case("setsockopt", "tcp 0 31 on 4", Allowed),
        case("setsockopt", "tcp 41 6 on 4", Refused(EPERM)),
        case("setsockopt", "tcp 41 32 page 32", Refused(EPERM)),
        case("setsockopt", "tcp 41 33 on 4", Allowed),
        case("setsockopt", "tcp 1 37 on 4", Quiet(ENOPROTOOPT)),
        case("setsockopt", "tcp 1 65 on 4", Quiet(ENOPROTOOPT)),
        case("setsockopt", "tcp 1 60 on 4", Quiet(ENOPROTOOPT)),
        case("setsockopt", "tcp 1 29 on 4", Allowed),
    ]);
    cases
}

fn sending() -> Vec<Case> {
    let mut cases = Vec::new();
    for (call, before) in [
        ("sendto", "unix page 1 "),
        ("sendmsg", "unix message "),
        ("sendmmsg", "unix message 1 "),
    ] {
        for flags in ["0x20000000", "1", "0x20000040", "0x4001", "0x120000000"] {
            cases.push(case(call, &format!("{before}{flags}"), Refused(EPERM)));
        }
        for flags in ["0", "0x40", "0x4000", "0x100000000"] {
            cases.push(case(call, &format!("{before}{flags}"), Allowed));
        }
    }
    cases
}

fn processes() -> Vec<Case> {
    let mut cases = Vec::new();
    // New mount, cgroup, uts, ipc, user, pid, net and time namespace; a child of the parent; each with SIGCHLD.
    for flag in [
        0x20000,
        0x0200_0000,
        0x0400_0000,
        0x0800_0000,
        0x1000_0000,
        0x2000_0000,
        0x4000_0000,
        0x80,
        0x8000,
    ] {
        cases.push(case("clone", &format!("{}", flag | libc::SIGCHLD), Refused(EPERM)));
    }
    cases.push(case("clone", "0xffffffff10000011", Refused(EPERM)));
    cases.push(case("clone", "17", Allowed));
    cases.push(case("clone", "0x1000000000011", Allowed));
    cases.push(case(
        "clone",
        &format!("{}", libc::CLONE_FS | libc::CLONE_FILES | libc::SIGCHLD),
        Allowed,
    ));
    for words in ["0", "16 1", "16 self", "0x4206 self"] {
        cases.push(case("ptrace", words, Refused(EPERM)));
    }
    cases.extend([
        case("process_vm_readv", "self page 0 page 0 0", Refused(EPERM)),
        case("process_vm_writev", "self page 0 page 0 0", Refused(EPERM)),
        case("kcmp", "self self 0 0 0", Refused(EPERM)),
    ]);
    for persona in [
        "0x400000",
        "0x100000",
        "0x200000",
        "0x440000",
        "1",
        "6",
        "0xfffffffe",
        "0x100400000",
    ] {
        cases.push(case("personality", persona, Refused(EPERM)));
    }
    for persona in ["0", "8", "0x20000", "0x40000", "0x60008", "0xffffffff", "-1"] {
        cases.push(case("personality", persona, Allowed));
    }
    // PR_SET_MM, PR_SCHED_CORE, PR_SET_MEMORY_MERGE.
    for option in ["35 7 page", "62 1 self 0", "67 1", "0x100000023 7 page"] {
        cases.push(case("prctl", option, Refused(EPERM)));
    }
    for option in ["79", "1000", "0x53564d40", "0x59616d62", "0xffffffff"] {
        cases.push(case("prctl", option, Quiet(EINVAL)));
    }
    // Dumpable, name, no_new_privs, seccomp mode, subreaper, tracer, name of memory, auxiliary vector, the last one known.
    for option in [
        "3",
        "15 page",
        "39",
        "21",
        "36 1",
        "0x59616d61 0",
        "0x53564d41 0 page 4096 0",
        "0x41555856 page 64",
        "78 3",
    ] {
        cases.push(case("prctl", option, Allowed));
    }
    // SHM_LOCK and SHM_UNLOCK; MADV_MERGEABLE and MADV_UNMERGEABLE.
    cases.extend([
        case("shmctl", "-1 11 0", Refused(EPERM)),
        case("shmctl", "-1 0x10000000b 0", Refused(EPERM)),
        case("shmctl", "-1 12 0", Allowed),
        case("madvise", "page 4096 12", Quiet(EINVAL)),
        case("madvise", "page 4096 0x10000000c", Quiet(EINVAL)),
        case("madvise", "page 4096 13", Allowed),
        case("madvise", "page 4096 0", Allowed),
    ]);
    // A listener, alone and with other flags.
    for words in ["1 8 filter", "1 9 filter", "1 0x28 filter", "1 0x100000008 filter"] {
        cases.push(case("seccomp", words, Refused(EPERM)));
    }
    for words in ["1 0 filter", "1 1 filter", "1 2 filter", "2 0 page", "3 0 page"] {
        cases.push(case("seccomp", words, Allowed));
    }
    cases
}

/// With namespaces behind the filter, these rules allow everything but to reach pid 1 of the sandbox.
fn bounded_by_namespaces() -> Vec<Case> {
    let cases = crate::cases_landlock::landlock().into_iter();
    let bounded = cases
        .filter(|case| !["socket", "socketpair"].contains(&case.call))
        .map(|case| {
            let expected = if case.reaches_pid_1() { Refused(EPERM) } else { Allowed };
            Case { expected, ..case }
        });
    let high_half = [
        case("prlimit64", "0x100000001 7 0 page", Refused(EPERM)),
        case("setpriority", "0x100000002 54321 19", Refused(EPERM)),
        case("ioprio_set", "0x100000001 0x100000001 0", Refused(EPERM)),
        case("setpgid", "0 1", Refused(EPERM)),
        case("setpgid", "0 0x100000001", Refused(EPERM)),
        case("setpgid", "0 0", Allowed),
    ];
    bounded.chain(high_half).collect()
}

impl Case {
    /// Is it about pid 1, by its number or with everything else of its user?
    fn reaches_pid_1(&self) -> bool {
        let word = |n: usize| self.words.get(n).map_or("", String::as_str);
        match self.call {
            "setpriority" => word(0) == "2" || word(1) == "1",
            "ioprio_set" => word(0) == "3" || word(1) == "1",
            "sched_setparam" | "sched_setscheduler" | "sched_setaffinity" | "sched_setattr" | "prlimit64" => {
                word(0) == "1"
            }
            _ => false,
        }
    }
}
