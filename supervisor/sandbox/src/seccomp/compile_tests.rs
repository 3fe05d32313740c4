//! The compiled program against `decide`: every number, both architectures, every specification.

use super::assemble::{Assembler, JEQ};
use super::filter::Verdict;
use super::interpreter_tests::{assert_wellformed, run, run_native};
use super::*;

pub(super) const ARCHES: [Arch; 2] = [Arch::X86_64, Arch::Aarch64];

/// All of them.
pub(super) fn specs() -> Vec<FilterSpec> {
    let mut specs = vec![];
    for network in [NetworkRule::LoopbackOnly, NetworkRule::Host] {
        for sockets in [SocketRule::Namespaced, SocketRule::NoSockets] {
            for denial in [DenialAction::Notify, DenialAction::Errno] {
                for observe in [
                    Observe::Nothing,
                    Observe::Attributes,
                    Observe::Attempts,
                    Observe::Everything,
                ] {
                    specs.extend([false, true].map(|debug| FilterSpec {
                        network,
                        sockets,
                        denial,
                        observe,
                        debug,
                    }));
                }
            }
        }
    }
    specs
}

/// Values at which some rule changes its mind, and neighbours.
const BOUNDARIES: [u32; 68] = [
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    10,
    16,
    17,
    31,
    38,
    40,
    58,
    62,
    67,
    78,
    79,
    0x40,
    0x80,
    0x100,
    132,
    136,
    256,
    262,
    0x400,
    0x800,
    0xc00,
    0x1ff,
    0x11ff,
    0x2000,
    0x6000,
    0x61b6,
    0x8000,
    0x81a4,
    0xf000,
    0x4AFF,
    0x4B00,
    0x4B47,
    0x4BFF,
    0x4C00,
    0x5401,
    0x540E,
    0x5411,
    0x5412,
    0x5413,
    0x541C,
    0x541D,
    0x5423,
    0x4004_6604,
    0x4008_7602,
    0x55FF,
    0x5600,
    0x56FF,
    0x5700,
    0x20000,
    0x40000,
    0x60008,
    0x400000,
    0x410000,
    0x80001,
    0x2000_0000,
    0x1000_0011,
    0x7E02_0000,
    0x8000_0000,
    0xffff_ffff,
];

/// Deterministic, so that a failure can be repeated.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Boundary values and noise in the low half, zero, ones or noise in the high half.
    pub(super) fn argument(&mut self) -> u64 {
        let low = match self.next() % 8 {
            0 => self.next() as u32,
            _ => BOUNDARIES[self.next() as usize % BOUNDARIES.len()],
        };
        let high = match self.next() % 3 {
            0 => 0,
            1 => u32::MAX,
            _ => self.next() as u32,
        };
        u64::from(high) << 32 | u64::from(low)
    }

    pub(super) fn args(&mut self) -> [u64; 6] {
        std::array::from_fn(|_| self.argument())
    }
}

fn numbers() -> impl Iterator<Item = u32> {
    (0..=600)
        .chain([1023, 1024, 65535, 0x3fff_ffff])
        .chain((0..=600).map(|nr| 0x4000_0000 | nr))
        .chain([0x7fff_ffff, 0x8000_0000, 0xffff_fffe, 0xffff_ffff])
}

#[test]
fn program_equals_decide_for_every_number_and_many_arguments() {
    let table = Table::builtin().unwrap();
    let mut random = Random::new();
    for arch in ARCHES {
        for spec in specs() {
            let program = compile(&table, &spec, arch);
            for nr in numbers() {
                let is_rule = matches!(table.action_of(nr, arch), Action::Rule(_));
                for _ in 0..if is_rule { 500 } else { 4 } {
                    let call = Call {
                        nr,
                        args: random.args(),
                    };
                    let expected = table.decide(&spec, arch, &call);
                    let got = run_native(&program, arch, &call);
                    assert_eq!(
                        got.value,
                        expected.ret(spec.denial),
                        "{arch:?} {spec:?} {call:x?} {expected:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn listed_action_is_what_happens() {
    let table = Table::builtin().unwrap();
    for spec in specs() {
        for arch in ARCHES {
            let program = compile(&table, &spec, arch);
            let returns = |nr| run_native(&program, arch, &Call { nr, args: [7; 6] }).value;
            let denied = if spec.denial == DenialAction::Notify {
                0x7fc0_0000
            } else {
                0x0005_0001
            };
            let mut listed = 0;
            for nr in 0..=600 {
                match table.action_of(nr, arch) {
                    Action::Allow => {
                        let name = table.name_of(nr, arch).unwrap();
                        let told = spec.observe.shape(name).is_some() && spec.denial == DenialAction::Notify;
                        assert_eq!(returns(nr), if told { 0x7fc0_0000 } else { 0x7fff_0000 }, "{nr}");
                    }
                    Action::Enosys => assert_eq!(returns(nr), 0x0005_0026, "{nr}"),
                    Action::Deny => assert_eq!(returns(nr), denied, "{nr}"),
                    Action::Absent => {
                        let seen = if spec.denial == DenialAction::Notify {
                            denied
                        } else {
                            0x0005_0026
                        };
                        assert_eq!(returns(nr), seen, "{nr}");
                    }
                    Action::Rule(_) => {}
                    Action::Kill => panic!("{nr}"),
                }
                listed += usize::from(table.name_of(nr, arch).is_some());
            }
            assert_eq!(listed, if arch == Arch::X86_64 { 385 } else { 327 });
        }
    }
}

#[test]
fn foreign_architectures_are_killed_whatever_the_number() {
    let table = Table::builtin().unwrap();
    let i386 = 0x4000_0003;
    let arm = 0x4000_0028;
    let riscv64 = 0xC000_00F3;
    for arch in ARCHES {
        let other = if arch == Arch::X86_64 {
            Arch::Aarch64
        } else {
            Arch::X86_64
        };
        for spec in specs() {
            let program = compile(&table, &spec, arch);
            for foreign in [i386, arm, riscv64, other.audit(), 0, u32::MAX] {
                for nr in numbers() {
                    assert_eq!(run(&program, foreign, &Call { nr, args: [0; 6] }).value, 0x8000_0000);
                }
            }
        }
    }
}

#[test]
fn x32_is_killed_and_minus_one_is_unknown() {
    let table = Table::builtin().unwrap();
    for spec in specs() {
        let program = compile(&table, &spec, Arch::X86_64);
        let returns = |nr| run_native(&program, Arch::X86_64, &Call { nr, args: [0; 6] }).value;
        for nr in [
            0x4000_0000,
            0x4000_0001,
            0x4000_0208,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_fffe,
        ] {
            assert_eq!(returns(nr), 0x8000_0000, "{nr:#x}");
        }
        for nr in [472, 1024, 0x3fff_ffff, 0xffff_ffff] {
            assert_eq!(returns(nr), 0x0005_0026, "{nr:#x}");
        }
    }
}

#[test]
fn constant_verdicts_never_read_arguments() {
    let table = Table::builtin().unwrap();
    for arch in ARCHES {
        for spec in specs() {
            let program = compile(&table, &spec, arch);
            for nr in numbers() {
                // Whether a path is given is read of the two that can go without.
                let name = table.name_of(nr, arch).unwrap_or_default();
                let told = spec.observe != Observe::Nothing && ["utimensat", "futimesat"].contains(&name);
                if told || matches!(table.action_of(nr, arch), Action::Rule(_)) {
                    continue;
                }
                let got = run_native(&program, arch, &Call { nr, args: [0; 6] });
                assert!(!got.read_arguments, "{arch:?} {nr}");
                assert!(got.steps <= 16, "{arch:?} {nr} takes {} steps", got.steps);
            }
        }
    }
}

#[test]
fn rules_that_a_namespace_makes_needless_are_constant_too() {
    let table = Table::builtin().unwrap();
    let spec = FilterSpec {
        network: NetworkRule::LoopbackOnly,
        sockets: SocketRule::Namespaced,
        denial: DenialAction::Notify,
        observe: Observe::Nothing,
        debug: false,
    };
    let program = compile(&table, &spec, Arch::X86_64);
    for name in ["connect", "bind", "listen", "shmget", "semop", "mq_open", "kill"] {
        let nr = table.nr_of(name, Arch::X86_64).unwrap();
        let got = run_native(&program, Arch::X86_64, &Call { nr, args: [9; 6] });
        assert_eq!((got.value, got.read_arguments), (0x7fff_0000, false), "{name}");
    }
}

#[test]
fn programs_are_wellformed_and_short() {
    let table = Table::builtin().unwrap();
    for arch in ARCHES {
        for spec in specs() {
            let program = compile(&table, &spec, arch);
            assert_wellformed(&program);
            assert!(program.len() < 500, "{arch:?} {spec:?}: {}", program.len());
        }
    }
}

#[test]
fn a_list_that_alternates_everywhere_still_compiles_correctly() {
    let mut text = String::new();
    for nr in 0..1024 {
        let action = [
            "allow",
            "rule:ioctl",
            "enosys",
            "deny",
            "absent",
            "rule:socket",
            "allow",
            "rule:openat",
        ][nr % 8];
        text += &format!("call_{nr} {nr} {nr} {action}\n");
    }
    let table = Table::parse(text.leak()).unwrap();
    let mut random = Random::new();
    for spec in specs() {
        let program = compile(&table, &spec, Arch::Aarch64);
        assert_wellformed(&program);
        assert!(program.len() < 4096);
        for nr in 0..1100 {
            let call = Call {
                nr,
                args: random.args(),
            };
            let expected = table.decide(&spec, Arch::Aarch64, &call).ret(spec.denial);
            assert_eq!(run_native(&program, Arch::Aarch64, &call).value, expected, "{call:x?}");
        }
    }
}

#[test]
fn an_empty_list_refuses_everything() {
    let program = compile(&Table::parse("").unwrap(), &specs()[0], Arch::X86_64);
    for nr in 0..600 {
        assert_eq!(
            run_native(&program, Arch::X86_64, &Call { nr, args: [0; 6] }).value,
            0x0005_0026
        );
    }
}

#[test]
fn jumps_over_any_distance_arrive() {
    for distance in [0_u32, 1, 252, 253, 254, 255, 256, 257, 600] {
        for (far_on_hit, accumulator_matches) in [(true, true), (true, false), (false, true), (false, false)] {
            let mut assembler = Assembler::default();
            let other = assembler.ret(4_000_001);
            let far = assembler.ret(4_000_000);
            for value in 0..distance {
                assembler.ret(value);
            }
            let (yes, no) = if far_on_hit { (far, other) } else { (other, far) };
            // The accumulator starts as 0.
            assembler.branch(JEQ, u32::from(!accumulator_matches), yes, no);
            let program = assembler.finish();
            assert_wellformed(&program);
            let value = run(&program, 0, &Call { nr: 0, args: [0; 6] }).value;
            assert_eq!(
                value,
                if far_on_hit == accumulator_matches {
                    4_000_000
                } else {
                    4_000_001
                },
                "{distance}"
            );
        }
    }
}

#[test]
fn instruction_is_laid_out_like_sock_filter() {
    assert_eq!(size_of::<Instruction>(), size_of::<libc::sock_filter>());
    assert_eq!(
        std::mem::offset_of!(Instruction, jt),
        std::mem::offset_of!(libc::sock_filter, jt)
    );
    assert_eq!(
        std::mem::offset_of!(Instruction, jf),
        std::mem::offset_of!(libc::sock_filter, jf)
    );
    assert_eq!(
        std::mem::offset_of!(Instruction, k),
        std::mem::offset_of!(libc::sock_filter, k)
    );
}

#[test]
fn a_denial_carries_the_reason_of_the_list() {
    let table = Table::builtin().unwrap();
    let call = Call {
        nr: table.nr_of("mount", Arch::X86_64).unwrap(),
        args: [0; 6],
    };
    let verdict = table.decide(&specs()[0], Arch::X86_64, &call);
    assert_eq!(
        verdict,
        Verdict::Deny(Denial {
            errno: 1,
            why: "changes what is mounted"
        })
    );
}
