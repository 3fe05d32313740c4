//! What is told, and that telling changes nothing about what is allowed.

use super::compile_tests::{ARCHES, Random, specs};
use super::*;

#[test]
fn observing_never_allows_what_was_refused_nor_refuses_what_was_allowed() {
    let table = Table::builtin().unwrap();
    let mut random = Random::new();
    for arch in ARCHES {
        for spec in specs() {
            let plain = FilterSpec {
                observe: Observe::Nothing,
                ..spec
            };
            for nr in 0..=600 {
                for _ in 0..20 {
                    let call = Call {
                        nr,
                        args: random.args(),
                    };
                    let (told, untold) = (table.decide(&spec, arch, &call), table.decide(&plain, arch, &call));
                    let same = if told == Verdict::Observe { Verdict::Allow } else { told };
                    assert_eq!(same, untold, "{arch:?} {spec:?} {call:x?}");
                }
            }
        }
    }
}

#[test]
fn a_datagram_is_told_only_with_an_address_in_either_half_of_the_pointer() {
    let table = Table::builtin().unwrap();
    let spec = FilterSpec {
        observe: Observe::Attempts,
        debug: false,
        denial: DenialAction::Notify,
        network: NetworkRule::LoopbackOnly,
        sockets: SocketRule::Namespaced,
    };
    let nr = table.nr_of("sendto", Arch::X86_64).unwrap();
    let program = compile(&table, &spec, Arch::X86_64);
    for (pointer, expected) in [(0, 0x7fff_0000_u32), (1, 0x7fc0_0000), (1 << 32, 0x7fc0_0000)] {
        let call = Call {
            nr,
            args: [3, 0x1000, 5, 0, pointer, 16],
        };
        let got = super::interpreter_tests::run_native(&program, Arch::X86_64, &call).value;
        assert_eq!(got, expected, "{pointer:#x}");
    }
}

#[test]
fn messages_with_flags_and_times_of_descriptors_are_not_told() {
    let table = Table::builtin().unwrap();
    let notified = |spec: &FilterSpec| spec.observe >= Observe::Attempts && spec.denial == DenialAction::Notify;
    for spec in specs().into_iter().filter(notified) {
        let told = |name, args| {
            let nr = table.nr_of(name, Arch::X86_64).unwrap();
            table.decide(&spec, Arch::X86_64, &Call { nr, args }) == Verdict::Observe
        };
        assert!(told("sendmsg", [3, 0x1000, 0, 0, 0, 0]));
        // As our own stages send what the listener listens on.
        assert!(!told("sendmsg", [3, 0x1000, 0x4000, 0, 0, 0]));
        assert!(told("utimensat", [3, 0x1000, 0, 0, 0, 0]));
        assert!(!told("utimensat", [3, 0, 0, 0, 0, 0]));
    }
}

#[test]
fn looks_are_told_only_on_request() {
    for name in [
        "stat",
        "lstat",
        "access",
        "readlink",
        "newfstatat",
        "statx",
        "faccessat2",
        "statfs",
        "getxattr",
        "llistxattr",
        "inotify_add_watch",
    ] {
        assert_eq!(Observe::Attempts.shape(name), None, "{name}");
        assert!(Observe::Everything.shape(name).is_some(), "{name}");
    }
    for name in ["openat", "execve", "connect", "renameat2"] {
        assert_eq!(Observe::Nothing.shape(name), None, "{name}");
        assert!(Observe::Attempts.shape(name).is_some(), "{name}");
    }
}

#[test]
fn of_attributes_only_changes_are_told_and_only_on_request() {
    let changes = [
        "setxattr",
        "lsetxattr",
        "fsetxattr",
        "setxattrat",
        "removexattr",
        "lremovexattr",
        "fremovexattr",
        "removexattrat",
    ];
    let table = Table::builtin().unwrap();
    for arch in ARCHES {
        for nr in 0..=600 {
            let name = table.name_of(nr, arch).unwrap_or_default();
            let expected = changes.contains(&name).then_some(Shape::Attribute);
            assert_eq!(Observe::Attributes.shape(name), expected, "{name}");
            assert_eq!(Observe::Nothing.shape(name), None, "{name}");
        }
    }
}

#[test]
fn every_name_that_is_told_is_in_the_list_or_belongs_to_the_other_architecture() {
    let table = Table::builtin().unwrap();
    let told = table
        .iter()
        .filter(|call| Observe::Everything.shape(call.name).is_some())
        .count();
    assert_eq!(told, 59);
}
