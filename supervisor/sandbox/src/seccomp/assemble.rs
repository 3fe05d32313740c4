//! Builds a classic BPF program from its end to its start.
//!
//! BPF only jumps forwards, so whoever writes backwards knows every target: no labels to patch, and returns are
//! shared for free.
//! INVARIANT (in range): a conditional jump spans at most 255 instructions; a longer way goes over a `JA`.

use std::collections::BTreeMap;

/// One instruction, laid out like the kernel's `struct sock_filter`.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    pub code: u16,
    pub jt: u8,
    pub jf: u8,
    pub k: u32,
}

pub(super) const LOAD: u16 = 0x20; // BPF_LD | BPF_W | BPF_ABS
pub(super) const AND: u16 = 0x54; // BPF_ALU | BPF_AND | BPF_K
pub(super) const JUMP: u16 = 0x05; // BPF_JMP | BPF_JA
pub(super) const JEQ: u16 = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
pub(super) const JGT: u16 = 0x25; // BPF_JMP | BPF_JGT | BPF_K
pub(super) const JGE: u16 = 0x35; // BPF_JMP | BPF_JGE | BPF_K
pub(super) const JSET: u16 = 0x45; // BPF_JMP | BPF_JSET | BPF_K
pub(super) const RETURN: u16 = 0x06; // BPF_RET | BPF_K

/// An instruction already written, counted from the end of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Label(usize);

#[derive(Debug, Default)]
pub(super) struct Assembler {
    backwards: Vec<Instruction>,
    returns: BTreeMap<u32, Label>,
}

impl Assembler {
    /// Returns `value`: the nearest return of it, or a new one.
    pub(super) fn ret(&mut self, value: u32) -> Label {
        match self.returns.get(&value) {
            Some(label) if self.is_near(*label) => *label,
            Some(_) | None => {
                let label = self.push(Instruction {
                    code: RETURN,
                    jt: 0,
                    jf: 0,
                    k: value,
                });
                self.returns.insert(value, label);
                label
            }
        }
    }

    /// Runs one instruction that does not jump, then goes on at `next`.
    pub(super) fn then(&mut self, code: u16, k: u32, next: Label) -> Label {
        if next.0 != self.backwards.len() {
            self.jump(next);
        }
        self.push(Instruction { code, jt: 0, jf: 0, k })
    }

    /// Compares the accumulator with `k` and goes on at `yes` or `no`.
    pub(super) fn branch(&mut self, code: u16, k: u32, yes: Label, no: Label) -> Label {
        let no = self.near(no);
        let yes = self.near(yes);
        let (jt, jf) = (self.distance(yes), self.distance(no));
        // `near` keeps both within reach, even after the `JA` of the other.
        self.push(Instruction {
            code,
            jt: jt.min(255) as u8,
            jf: jf.min(255) as u8,
            k,
        })
    }

    /// `label` itself, or a jump to it if a conditional jump may not reach it.
    pub(super) fn near(&mut self, label: Label) -> Label {
        if self.is_near(label) { label } else { self.jump(label) }
    }

    pub(super) fn finish(mut self) -> Vec<Instruction> {
        self.backwards.reverse();
        self.backwards
    }

    fn jump(&mut self, to: Label) -> Label {
        let k = self.distance(to) as u32;
        self.push(Instruction {
            code: JUMP,
            jt: 0,
            jf: 0,
            k,
        })
    }

    /// One less than a conditional jump spans, so that one `JA` more does not put the label out of reach.
    fn is_near(&self, label: Label) -> bool {
        self.distance(label) < 255
    }

    fn distance(&self, label: Label) -> usize {
        self.backwards.len().saturating_sub(label.0)
    }

    fn push(&mut self, instruction: Instruction) -> Label {
        self.backwards.push(instruction);
        Label(self.backwards.len())
    }
}
