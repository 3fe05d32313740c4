//! A small machine for classic BPF, as the kernel runs it, for the tests of the compiler.

use super::assemble::{AND, Instruction, JEQ, JGE, JGT, JSET, JUMP, LOAD, RETURN};
use super::{Arch, Call};

/// What ran: the returned value, and whether anything but architecture and number was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) value: u32,
    pub(super) read_arguments: bool,
    pub(super) steps: usize,
}

pub(super) fn run(program: &[Instruction], audit_arch: u32, call: &Call) -> Outcome {
    let mut data = Vec::with_capacity(64);
    data.extend(call.nr.to_le_bytes());
    data.extend(audit_arch.to_le_bytes());
    data.extend(0xdead_beef_dead_beef_u64.to_le_bytes());
    for arg in call.args {
        data.extend(arg.to_le_bytes());
    }
    let (mut at, mut accumulator, mut read_arguments) = (0, 0, false);
    for steps in 1..=program.len() {
        let Instruction { code, jt, jf, k } = program[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { jt } else { jf });
        match code {
            LOAD => {
                let offset = k as usize;
                assert_eq!(offset % 4, 0, "the kernel refuses unaligned loads");
                accumulator = u32::from_le_bytes(data[offset..offset + 4].try_into().unwrap());
                read_arguments |= offset >= 8;
            }
            AND => accumulator &= k,
            JUMP => at += k as usize,
            JEQ => at += jump(accumulator == k),
            JGT => at += jump(accumulator > k),
            JGE => at += jump(accumulator >= k),
            JSET => at += jump(accumulator & k != 0),
            RETURN => {
                return Outcome {
                    value: k,
                    read_arguments,
                    steps,
                };
            }
            other => panic!("instruction {other:#x} at {at}"),
        }
    }
    panic!("the program does not end");
}

/// Runs with the architecture that the program was compiled for.
pub(super) fn run_native(program: &[Instruction], arch: Arch, call: &Call) -> Outcome {
    run(program, arch.audit(), call)
}

/// What the kernel's own checker demands: every jump lands inside, and nothing runs off the end.
pub(super) fn assert_wellformed(program: &[Instruction]) {
    for (at, instruction) in program.iter().enumerate() {
        let targets = match instruction.code {
            RETURN => vec![],
            JUMP => vec![at + 1 + instruction.k as usize],
            JEQ | JGT | JGE | JSET => vec![
                at + 1 + usize::from(instruction.jt),
                at + 1 + usize::from(instruction.jf),
            ],
            LOAD | AND => vec![at + 1],
            other => panic!("instruction {other:#x} at {at}"),
        };
        for target in targets {
            assert!(
                target < program.len(),
                "instruction {at} jumps to {target} of {}",
                program.len()
            );
        }
    }
}
