//! Argument rules against expectations written out by hand, with rubbish in the high halves.

use std::sync::LazyLock;

use super::compile_tests::{ARCHES, Random, specs};
use super::interpreter_tests::run_native;
use super::*;

const EPERM: u16 = 1;
const E2BIG: u16 = 7;
const ENOTTY: u16 = 25;
const EOPNOTSUPP: u16 = 95;
const EINVAL: u16 = 22;
const ENOPROTOOPT: u16 = 92;
const EAFNOSUPPORT: u16 = 97;

/// What a program inside sees.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
enum Seen {
    Works,
    Refused(u16),
    /// Refused without a report.
    Missing(u16),
}
use Seen::{Missing, Refused, Works};

fn namespaced() -> FilterSpec {
    FilterSpec {
        network: NetworkRule::LoopbackOnly,
        sockets: SocketRule::Namespaced,
        denial: DenialAction::Notify,
        observe: Observe::Nothing,
        debug: false,
    }
}

fn host() -> FilterSpec {
    FilterSpec {
        network: NetworkRule::Host,
        ..namespaced()
    }
}

fn landlock_only() -> FilterSpec {
    FilterSpec {
        sockets: SocketRule::NoSockets,
        ..namespaced()
    }
}

static TABLE: LazyLock<Table> = LazyLock::new(|| Table::builtin().unwrap());
static PROGRAMS: LazyLock<Vec<(FilterSpec, Arch, Vec<Instruction>)>> = LazyLock::new(|| {
    let each = |spec| ARCHES.map(|arch| (spec, arch, compile(&TABLE, &spec, arch)));
    specs().into_iter().flat_map(each).collect()
});

fn program(spec: FilterSpec, arch: Arch) -> &'static [Instruction] {
    &PROGRAMS
        .iter()
        .find(|entry| entry.0 == spec && entry.1 == arch)
        .unwrap()
        .2
}

/// Runs the compiled program, reporting and not, on every architecture that has the call; the answers must agree.
fn see(spec: FilterSpec, name: &str, args: &[u64]) -> Seen {
    let mut padded = [0xffff_ffff_ffff_ffff; 6];
    padded[..args.len()].copy_from_slice(args);
    let mut seen = vec![];
    for arch in ARCHES {
        let Some(nr) = TABLE.nr_of(name, arch) else { continue };
        let call = Call { nr, args: padded };
        let value = |denial| run_native(program(FilterSpec { denial, ..spec }, arch), arch, &call).value;
        let (reported, silent) = (value(DenialAction::Notify), value(DenialAction::Errno));
        seen.push(match (reported, silent >> 16, silent as u16) {
            (0x7fff_0000, 0x7fff, 0) => Works,
            (0x7fc0_0000, 0x0005, errno) => Refused(errno),
            (same, 0x0005, errno) if same == silent => Missing(errno),
            other => panic!("{name} {args:x?}: {other:x?}"),
        });
    }
    assert!(
        !seen.is_empty() && seen.iter().all(|one| *one == seen[0]),
        "{name} {args:x?}: {seen:?}"
    );
    seen[0]
}

/// The same answer whatever the high halves hold.
#[track_caller]
fn expect(spec: FilterSpec, name: &str, args: &[u64], expected: Seen) {
    for high in [0, 1, 0x5412, 0xffff_ffff, 0x8000_0000] {
        let args: Vec<u64> = args.iter().map(|arg| arg & 0xffff_ffff | high << 32).collect();
        assert_eq!(see(spec, name, &args), expected, "{name} {args:x?}");
    }
}

#[test]
fn clone_makes_threads_and_processes_but_no_namespaces() {
    let thread = 0x003d_0f00;
    let fork = 0x0120_0011;
    let vfork = 0x0000_4111;
    for flags in [thread, fork, vfork, 17, 0, 0x8000_0000] {
        expect(namespaced(), "clone", &[flags], Works);
        for namespace in [
            0x80,
            0x20000,
            0x0200_0000,
            0x0400_0000,
            0x0800_0000,
            0x1000_0000,
            0x2000_0000,
            0x4000_0000,
            0x8000,
        ] {
            expect(namespaced(), "clone", &[flags | namespace], Refused(EPERM));
        }
    }
    expect(namespaced(), "clone3", &[], Missing(38));
    expect(namespaced(), "unshare", &[0], Refused(EPERM));
}

#[test]
fn socket_families_other_than_unix_internet_and_route_do_not_exist() {
    for family in 0..=64 {
        let expected = match family {
            1 | 2 | 10 => Works,
            16 => Works,
            _ => Refused(EAFNOSUPPORT),
        };
        expect(namespaced(), "socket", &[family, 2, 0], expected);
    }
    expect(namespaced(), "socket", &[0xffff_ffff, 1, 0], Refused(EAFNOSUPPORT));
    expect(namespaced(), "socket", &[0x0001_0002, 1, 0], Refused(EAFNOSUPPORT));
    for protocol in 1..=30 {
        expect(namespaced(), "socket", &[16, 3, protocol], Refused(EAFNOSUPPORT));
    }
    expect(host(), "socket", &[16, 0x80003, 0], Works);
    expect(namespaced(), "socket", &[16, 0x80003, 0], Works);
}

#[test]
fn internet_sockets_are_tcp_and_udp_only() {
    for family in [2, 10] {
        for flags in [0, 0x800, 0x80000, 0x80800] {
            for kind in 0..=15 {
                for protocol in [0, 1, 2, 6, 17, 33, 58, 132, 136, 255, 256, 262, 0xffff_ffff] {
                    let usual = matches!(kind, 1 | 2);
                    let tcp_or_udp = usual && matches!(protocol, 0 | 6 | 17);
                    let ping = usual && matches!(protocol, 1 | 58);
                    let args = [family, kind | flags, protocol];
                    let seen = |allowed| if allowed { Works } else { Refused(EPERM) };
                    assert_eq!(see(namespaced(), "socket", &args), seen(tcp_or_udp), "{args:?}");
                    assert_eq!(see(host(), "socket", &args), seen(tcp_or_udp || ping), "{args:?}");
                }
            }
        }
    }
}

#[test]
fn unix_sockets_are_stream_datagram_and_seqpacket() {
    for call in ["socket", "socketpair"] {
        for kind in 0..=15 {
            let expected = if matches!(kind, 1 | 2 | 5) {
                Works
            } else {
                Refused(EPERM)
            };
            expect(namespaced(), call, &[1, kind | 0x80800, 0], expected);
        }
    }
    expect(namespaced(), "socketpair", &[2, 1, 0], Refused(EAFNOSUPPORT));
    expect(namespaced(), "socketpair", &[30, 1, 0], Refused(EAFNOSUPPORT));
}

#[test]
fn without_namespaces_only_connected_unix_pairs_remain() {
    for family in 0..=64 {
        for kind in [1, 2, 3, 5] {
            expect(landlock_only(), "socket", &[family, kind, 0], Refused(EAFNOSUPPORT));
        }
    }
    for (kind, expected) in [(1, Works), (5, Works), (2, Refused(EPERM)), (3, Refused(EPERM))] {
        expect(landlock_only(), "socketpair", &[1, kind | 0x80000, 0], expected);
    }
    expect(landlock_only(), "socketpair", &[2, 1, 0], Refused(EAFNOSUPPORT));
    for call in ["connect", "bind", "listen"] {
        expect(landlock_only(), call, &[3], Refused(EPERM));
        expect(namespaced(), call, &[3], Works);
    }
}

#[test]
fn without_namespaces_other_processes_are_out_of_reach() {
    let one_argument = [
        "prlimit64",
        "sched_setaffinity",
        "sched_setscheduler",
        "sched_setparam",
        "sched_setattr",
    ];
    for call in one_argument {
        expect(landlock_only(), call, &[0], Works);
        expect(landlock_only(), call, &[77], Refused(EPERM));
        expect(namespaced(), call, &[0], Works);
        expect(namespaced(), call, &[77], Works);
        expect(namespaced(), call, &[1], Refused(EPERM));
    }
    for (call, process, group, user) in [("setpriority", 0, 1, 2), ("ioprio_set", 1, 2, 3)] {
        expect(landlock_only(), call, &[process, 0], Works);
        expect(landlock_only(), call, &[group, 0], Refused(EPERM));
        for which in [process, group] {
            expect(landlock_only(), call, &[which, 77], Refused(EPERM));
            expect(namespaced(), call, &[which, 77], Works);
            expect(namespaced(), call, &[which, 1], Refused(EPERM));
        }
        expect(landlock_only(), call, &[user, 0], Refused(EPERM));
        expect(namespaced(), call, &[user, 0], Refused(EPERM));
    }
    expect(namespaced(), "setpgid", &[0, 1], Refused(EPERM));
    expect(namespaced(), "setpgid", &[77, 0xffff_ffff_0000_0001], Refused(EPERM));
    expect(namespaced(), "setpgid", &[0, 0], Works);
    expect(namespaced(), "setpgid", &[1, 77], Works);
    expect(landlock_only(), "setpgid", &[0, 1], Works);
    expect(landlock_only(), "kill", &[0xffff_ffff], Refused(EPERM));
    expect(landlock_only(), "kill", &[77], Works);
    expect(landlock_only(), "kill", &[-77_i64 as u64], Works);
    expect(namespaced(), "kill", &[0xffff_ffff], Works);
    for call in [
        "shmget",
        "shmat",
        "shmctl",
        "semget",
        "semop",
        "semctl",
        "semtimedop",
        "msgget",
        "msgsnd",
        "msgrcv",
    ] {
        expect(landlock_only(), call, &[0], Refused(EPERM));
        expect(namespaced(), call, &[0], Works);
    }
    for call in [
        "msgctl",
        "mq_open",
        "mq_unlink",
        "mq_timedsend",
        "mq_timedreceive",
        "mq_notify",
        "mq_getsetattr",
    ] {
        expect(landlock_only(), call, &[0], Refused(EPERM));
        expect(namespaced(), call, &[0], Works);
    }
}

#[test]
fn fast_open_and_urgent_data_are_refused_in_every_send() {
    for (flags, expected) in [
        (0, Works),
        (0x4000, Works),
        (0x2000_0000, Refused(EPERM)),
        (0x2000_4000, Refused(EPERM)),
        (1, Refused(EPERM)),
        (0xdfff_fffe, Works),
    ] {
        expect(namespaced(), "sendto", &[1, 1, 1, flags], expected);
        expect(namespaced(), "sendmmsg", &[1, 1, 1, flags], expected);
        expect(namespaced(), "sendmsg", &[1, 1, flags], expected);
    }
}

#[test]
fn a_tcp_socket_keeps_its_protocol() {
    for option in [31, 14, 32, 38, 39, 40, 42] {
        expect(namespaced(), "setsockopt", &[3, 6, option], Refused(EPERM));
    }
    for (level, option) in [(6, 1), (6, 30), (6, 33), (1, 31), (0, 31), (41, 31)] {
        expect(namespaced(), "setsockopt", &[3, level, option], Works);
    }
}

#[test]
fn memory_that_nobody_counts_is_not_to_be_had_by_one_call() {
    let everywhere = [(41, 6), (41, 32)];
    let loopback = [((41, 25), Missing(0)), ((0, 11), Missing(0))];
    let stamps = [37, 60, 65].map(|option| ((1, option), Missing(ENOPROTOOPT)));
    let labels = everywhere.map(|which| (which, Refused(EPERM)));
    let refused = [labels.as_slice(), &loopback, &stamps].concat();
    for (level, option) in [0, 1, 41]
        .into_iter()
        .flat_map(|level| (0..100).map(move |o| (level, o)))
    {
        let found = refused.iter().find(|(which, _)| *which == (level, option));
        let expected = found.map_or(Works, |(_, seen)| *seen);
        expect(namespaced(), "setsockopt", &[3, level, option], expected);
        let on_host = if everywhere.contains(&(level, option)) {
            Refused(EPERM)
        } else {
            Works
        };
        expect(host(), "setsockopt", &[3, level, option], on_host);
    }
    for name in ["setxattr", "lsetxattr", "fsetxattr"] {
        for (length, expected) in [
            (0, Works),
            (1024, Works),
            (1025, Missing(E2BIG)),
            (65536, Missing(E2BIG)),
            (0xffff_ffff, Missing(E2BIG)),
        ] {
            expect(namespaced(), name, &[1, 1, 1, length], expected);
        }
    }
}

#[test]
fn fallocate_gives_no_room_without_length() {
    for mode in 0..512 {
        let none = mode & 0x03 == 0x01 || mode & 0x20 != 0;
        let expected = if none { Missing(EOPNOTSUPP) } else { Works };
        expect(namespaced(), "fallocate", &[3, mode, 0, 1], expected);
    }
}

#[test]
fn fcntl_refuses_leases_only() {
    for command in (0..64).chain(1000..1100).chain([0xffff_ffff]) {
        let expected = if [1024, 1040].contains(&command) {
            Refused(EPERM)
        } else {
            Works
        };
        expect(namespaced(), "fcntl", &[3, command, 0], expected);
    }
}

#[test]
fn ioctl_refuses_typing_console_line_disciplines_and_generations_only() {
    let files = [0x4008_7602, 0x4004_7602, 0x4008_6604, 0x4004_6604];
    let others = [0x8004_5412, 0xffff_ffff, 0, 0xC050_5600, 0x8008_7601, 0x4008_6602];
    for command in (0x4A00..0x5800).chain(others).chain(files) {
        let refused = matches!(command, 0x5412 | 0x541C | 0x541D | 0x5423 | 0x4B00..=0x4BFF | 0x5600..=0x56FF)
            || files.contains(&command);
        let expected = match command {
            0x5603 | 0x4B33 | 0x4B3B | 0x4B44 => Missing(ENOTTY),
            _ if refused => Refused(EPERM),
            _ => Works,
        };
        assert_eq!(see(namespaced(), "ioctl", &[0, command]), expected, "{command:#x}");
    }
    expect(namespaced(), "ioctl", &[0, 0x5412], Refused(EPERM));
    expect(namespaced(), "ioctl", &[0, 0x540E], Works);
}

#[test]
fn ioctl_of_one_file_system_is_refused_but_for_sharing_extents() {
    let shared = [0x4004_9409, 0x4020_940D, 0xC018_9436];
    let families = [0x94, 0xBC, 0xCF];
    for kind in [0x93, 0x95, 0x94, 0xBB, 0xBC, 0xBD, 0xCE, 0xCF, 0xD0] {
        // Without and with a size, and as the kernel reads what stands above 32 bits: not at all.
        for above in [0, 0x5000_0000, 0x4004_0000, 0x4020_0000, 0xC018_0000, 0x1_5000_0000] {
            for number in 0..=0xff {
                let command: u64 = above | kind << 8 | number;
                let refused = families.contains(&kind) && !shared.contains(&command);
                let seen = see(namespaced(), "ioctl", &[3, command]);
                assert_eq!(seen, if refused { Refused(EPERM) } else { Works }, "{command:#x}");
            }
        }
    }
    expect(namespaced(), "ioctl", &[3, 0x1_4004_9409], Works);
}

#[test]
fn ioctl_of_extents_is_missing_but_for_flags_and_what_a_file_is_made_of() {
    for kind in [0x57, 0x58, 0x59, 0x65, 0x66, 0x67, 0xF4, 0xF5, 0xF6] {
        for above in [0, 0x4010_0000, 0x8004_0000, 0xC040_0000, 0x1_C0C0_0000] {
            for number in 0..=0xff {
                let expected = match (kind, number) {
                    (0x58, 31 | 32) | (0x66, 1 | 2 | 3 | 11) => Works,
                    // The keys of fscrypt.
                    (0x66, 19 | 23 | 24 | 25) => Refused(EPERM),
                    (0x58 | 0x66 | 0xF5, _) => Missing(ENOTTY),
                    _ => Works,
                };
                let command: u64 = above | kind << 8 | number;
                assert_eq!(see(namespaced(), "ioctl", &[3, command]), expected, "{command:#x}");
            }
        }
    }
    // XFS_IOC_SWAPEXT, XFS_IOC_EXCHANGE_RANGE, EXT4_IOC_MOVE_EXT, F2FS_IOC_MOVE_RANGE, FS_IOC_RESVSP64.
    for command in [0xC0C0_586D, 0x4028_5881, 0xC028_660F, 0xC020_F509, 0x4030_582A] {
        expect(namespaced(), "ioctl", &[3, command], Missing(ENOTTY));
        expect(landlock_only(), "ioctl", &[3, command], Missing(ENOTTY));
    }
}

#[test]
fn what_is_locked_or_merged_is_nobody_elses() {
    for command in (0..64).chain([0x100, 0xffff_ffff]) {
        let expected = if command == 11 { Refused(EPERM) } else { Works };
        expect(namespaced(), "shmctl", &[1, command, 0], expected);
        expect(landlock_only(), "shmctl", &[1, command, 0], Refused(EPERM));
    }
    for advice in (0..128).chain([0xffff_ffff]) {
        let expected = if advice == 12 { Missing(EINVAL) } else { Works };
        expect(namespaced(), "madvise", &[0, 4096, advice], expected);
    }
}

#[test]
fn personality_knows_only_harmless_flags() {
    for persona in [0, 8, 0x20000, 0x20008, 0x40000, 0x60008, 0xffff_ffff] {
        expect(namespaced(), "personality", &[persona], Works);
    }
    for persona in [
        1,
        2,
        4,
        9,
        0x10,
        0x0040_0000,
        0x0010_0000,
        0x0440_0000,
        0xffff_fffe,
        0x7fff_ffff,
    ] {
        expect(namespaced(), "personality", &[persona], Refused(EPERM));
    }
}

#[test]
fn prctl_refuses_three_options_and_knows_none_after_linux_6_18() {
    for option in 0..=200 {
        let expected = match option {
            35 | 62 | 67 => Refused(EPERM),
            0..=78 => Works,
            _ => Missing(EINVAL),
        };
        expect(namespaced(), "prctl", &[option], expected);
    }
    for option in [0x5961_6d61, 0x5356_4d41, 0x4155_5856] {
        expect(namespaced(), "prctl", &[option], Works);
        expect(namespaced(), "prctl", &[option + 1], Missing(EINVAL));
    }
    expect(namespaced(), "prctl", &[0xffff_ffff], Missing(EINVAL));
}

#[test]
fn seccomp_nests_without_a_listener() {
    for (flags, expected) in [
        (0, Works),
        (1, Works),
        (7, Works),
        (8, Refused(EPERM)),
        (0x29, Refused(EPERM)),
    ] {
        expect(namespaced(), "seccomp", &[1, flags], expected);
    }
}

#[test]
fn no_mode_carries_a_setuid_or_setgid_bit() {
    for (mode, expected) in [
        (0o644, Works),
        (0o777, Works),
        (0o1777, Works),
        (0xffff_f3ff, Works),
        (0o2755, Refused(EPERM)),
        (0o4755, Refused(EPERM)),
        (0o6777, Refused(EPERM)),
        (0o107_777, Refused(EPERM)),
    ] {
        for call in ["chmod", "fchmod", "mkdir", "creat"] {
            expect(namespaced(), call, &[1, mode], expected);
        }
        for call in ["fchmodat", "fchmodat2", "mkdirat"] {
            expect(namespaced(), call, &[1, 1, mode], expected);
        }
        for creating in [0o100, 0o20_200_000, 0o20_000_000, 0o101] {
            expect(namespaced(), "open", &[1, creating, mode], expected);
            expect(namespaced(), "openat", &[1, 1, creating, mode], expected);
        }
        for only_opening in [0, 1, 2, 0o200_000, 0o2_000_000, 0x1000, !0o20_000_100 & 0xffff_ffff] {
            expect(namespaced(), "open", &[1, only_opening, mode], Works);
            expect(namespaced(), "openat", &[1, 1, only_opening, mode], Works);
        }
    }
    expect(namespaced(), "openat2", &[], Missing(38));
}

#[test]
fn mknod_makes_files_fifos_and_sockets_only() {
    for kind in 0..=15 {
        for bits in [0, 0o666, 0o1777, 0o2000, 0o4755] {
            let refused = matches!(kind, 2 | 6) || bits & 0o6000 != 0;
            let expected = if refused { Refused(EPERM) } else { Works };
            expect(namespaced(), "mknod", &[1, kind << 12 | bits, 0], expected);
            expect(namespaced(), "mknodat", &[1, 1, kind << 12 | bits, 0], expected);
        }
    }
}

#[test]
fn no_whiteout_is_left_by_a_rename() {
    for (flags, expected) in [
        (0, Works),
        (1, Works),
        (2, Works),
        (4, Refused(EPERM)),
        (5, Refused(EPERM)),
    ] {
        expect(namespaced(), "renameat2", &[1, 1, 1, 1, flags], expected);
    }
}

#[test]
fn debugging_is_refused_unless_asked_for() {
    for call in ["ptrace", "process_vm_readv", "process_vm_writev", "kcmp"] {
        expect(namespaced(), call, &[1], Refused(EPERM));
        expect(
            FilterSpec {
                debug: true,
                ..namespaced()
            },
            call,
            &[1],
            Works,
        );
    }
    expect(
        FilterSpec {
            debug: true,
            ..namespaced()
        },
        "pidfd_getfd",
        &[1],
        Refused(EPERM),
    );
}

#[test]
fn no_rule_depends_on_a_high_half() {
    let table = Table::builtin().unwrap();
    let mut random = Random::new();
    for arch in ARCHES {
        // Whether the supervisor is told may depend on a whole pointer; what is allowed may not.
        for spec in specs().into_iter().filter(|spec| spec.observe == Observe::Nothing) {
            let program = compile(&table, &spec, arch);
            for syscall in table.iter().filter(|syscall| matches!(syscall.action, Action::Rule(_))) {
                let Some(nr) = syscall.nr(arch) else { continue };
                for _ in 0..100 {
                    let args = random.args();
                    let low = Call {
                        nr,
                        args: args.map(|arg| arg & 0xffff_ffff),
                    };
                    let full = Call { nr, args };
                    assert_eq!(
                        run_native(&program, arch, &low).value,
                        run_native(&program, arch, &full).value,
                        "{full:x?}"
                    );
                }
            }
        }
    }
}

#[test]
fn denials_have_a_reason_and_the_errno_that_the_supervisor_answers() {
    let table = Table::builtin().unwrap();
    let mut random = Random::new();
    for spec in specs() {
        for syscall in table.iter() {
            for _ in 0..100 {
                let call = Call {
                    nr: u32::from(syscall.x86_64),
                    args: random.args(),
                };
                if let Verdict::Deny(denial) = table.decide(&spec, Arch::X86_64, &call) {
                    assert!(!denial.why.is_empty(), "{}", syscall.name);
                    let hidden = syscall.action == Action::Absent && denial.errno == libc::ENOSYS as u16;
                    assert!(
                        hidden || matches!(denial.errno, EPERM | EAFNOSUPPORT),
                        "{}",
                        syscall.name
                    );
                }
            }
        }
    }
}
