//! Turns the list and a filter specification into a program for the kernel.
//!
//! Pure. Order: architecture, x32, number by binary search over ranges of equal fate, then argument rules.
//! INVARIANT (cacheable): a number that is always allowed reads nothing but architecture and number, so the kernel
//! answers it from a bitmap without running the program (Linux 5.11; before, it costs about ten instructions).

use std::collections::BTreeMap;

use super::assemble::{AND, Assembler, Instruction, JEQ, JGE, JGT, JSET, LOAD, Label};
use super::filter::{Denial, FilterSpec, Verdict};
use super::observe::Told;
use super::rules::{Body, Rule, Test};
use super::table::{Action, Arch, NO_SYSCALL, Syscall, Table, X32_FIRST};

// Offsets in the kernel's `struct seccomp_data`.
const OFFSET_NR: u32 = 0;
const OFFSET_ARCH: u32 = 4;
const OFFSET_ARGS: u32 = 16;

/// What follows once the number is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Return(u32),
    Rule(Rule, Told),
    /// Allowed, and told of.
    Allow(Told),
}

/// Numbers from `first` up to the next range.
#[derive(Debug, Clone, Copy)]
struct Range {
    first: u32,
    fate: Fate,
}

/// The program for one architecture. It never exceeds the kernel's 4096 instructions: a test holds it below 500.
pub fn compile(table: &Table, spec: &FilterSpec, arch: Arch) -> Vec<Instruction> {
    let mut compiler = Compiler {
        spec,
        assembler: Assembler::default(),
        rules: BTreeMap::new(),
    };
    let numbers = compiler.search(&ranges(table, spec, arch));
    let known = compiler.skip_x32(arch, numbers);
    let known = compiler.assembler.then(LOAD, OFFSET_NR, known);
    let foreign = compiler.verdict(Verdict::Kill);
    let check = compiler.assembler.branch(JEQ, arch.audit(), known, foreign);
    compiler.assembler.then(LOAD, OFFSET_ARCH, check);
    compiler.assembler.finish()
}

fn ranges(table: &Table, spec: &FilterSpec, arch: Arch) -> Vec<Range> {
    let unknown = Fate::Return(Verdict::ENOSYS.ret(spec.denial));
    let mut listed: Vec<(u32, Fate)> = table
        .iter()
        .filter_map(|syscall| Some((syscall.nr(arch)?, fate(syscall, spec))))
        .collect();
    // The list has the order of one architecture; no number is there twice.
    listed.sort_unstable_by_key(|(nr, _)| *nr);
    let mut ranges: Vec<Range> = vec![Range {
        first: 0,
        fate: unknown,
    }];
    let mut expected = 0;
    for (nr, fate) in listed {
        if nr != expected {
            extend(
                &mut ranges,
                Range {
                    first: expected,
                    fate: unknown,
                },
            );
        }
        extend(&mut ranges, Range { first: nr, fate });
        expected = nr + 1;
    }
    extend(
        &mut ranges,
        Range {
            first: expected,
            fate: unknown,
        },
    );
    ranges
}

/// Appends a range, unless it continues the last one or replaces it whole.
fn extend(ranges: &mut Vec<Range>, next: Range) {
    if ranges.last().is_some_and(|last| last.first == next.first) {
        ranges.pop();
    }
    if ranges.last().is_none_or(|last| last.fate != next.fate) {
        ranges.push(next);
    }
}

/// A rule that ends the same for all arguments under this specification is no rule.
fn fate(syscall: &Syscall, spec: &FilterSpec) -> Fate {
    let told = spec.observe.told(syscall.name);
    let verdict = match syscall.action {
        Action::Allow => Verdict::Allow,
        Action::Enosys => Verdict::ENOSYS,
        Action::Deny => Verdict::Deny(Denial {
            errno: libc::EPERM as u16,
            why: "",
        }),
        Action::Absent => Verdict::Deny(Denial {
            errno: libc::ENOSYS as u16,
            why: "",
        }),
        Action::Kill => Verdict::Kill,
        Action::Rule(rule) => match rule.body(spec) {
            Body { clauses: [], otherwise } => otherwise,
            Body { .. } => return Fate::Rule(rule, told),
        },
    };
    match (verdict, told) {
        (Verdict::Allow, Told::Always | Told::WithPointer(_) | Told::WithoutFlags(_)) => Fate::Allow(told),
        (Verdict::Allow, Told::Never)
        | (Verdict::Errno(_) | Verdict::Deny(_) | Verdict::Kill | Verdict::Observe, _) => {
            Fate::Return(verdict.ret(spec.denial))
        }
    }
}

struct Compiler<'a> {
    spec: &'a FilterSpec,
    assembler: Assembler,
    /// The nearest entry of each rule that was written.
    rules: BTreeMap<(Rule, Told), Label>,
}

impl Compiler<'_> {
    /// -1 is what a tracer writes to skip a call: unknown, not x32.
    fn skip_x32(&mut self, arch: Arch, numbers: Label) -> Label {
        match arch {
            Arch::Aarch64 => numbers,
            Arch::X86_64 => {
                let kill = self.verdict(Verdict::Kill);
                let unknown = self.verdict(Verdict::ENOSYS);
                let foreign = self.assembler.branch(JEQ, NO_SYSCALL, unknown, kill);
                self.assembler.branch(JGE, X32_FIRST, foreign, numbers)
            }
        }
    }

    fn search(&mut self, ranges: &[Range]) -> Label {
        let (low, high) = ranges.split_at(ranges.len() / 2);
        match (low, high) {
            ([], [only]) => self.end(only.fate),
            (_, [pivot, ..]) => {
                let above = self.search(high);
                let below = self.search(low);
                self.assembler.branch(JGE, pivot.first, above, below)
            }
            (_, []) => self.verdict(Verdict::Kill),
        }
    }

    fn end(&mut self, fate: Fate) -> Label {
        match fate {
            Fate::Return(value) => self.assembler.ret(value),
            Fate::Allow(told) => self.allow(told),
            Fate::Rule(rule, told) => {
                let label = match self.rules.get(&(rule, told)) {
                    Some(label) => *label,
                    None => self.body(&rule.body(self.spec), told),
                };
                let label = self.assembler.near(label);
                self.rules.insert((rule, told), label);
                label
            }
        }
    }

    fn body(&mut self, body: &Body, told: Told) -> Label {
        let mut next = self.passed(body.otherwise, told);
        for clause in body.clauses.iter().rev() {
            let mut hit = self.passed(clause.then, told);
            for test in clause.when.iter().rev() {
                hit = self.test(test, hit, next);
            }
            next = hit;
        }
        next
    }

    fn test(&mut self, test: &Test, hit: Label, miss: Label) -> Label {
        let assembler = &mut self.assembler;
        match *test {
            Test::OneOf { arg, mask, values } => {
                let mut next = miss;
                for value in values.iter().rev() {
                    next = assembler.branch(JEQ, *value, hit, next);
                }
                if mask != u32::MAX {
                    next = assembler.then(AND, mask, next);
                }
                assembler.then(LOAD, low_half(arg), next)
            }
            Test::AnyBit { arg, mask } => {
                let next = assembler.branch(JSET, mask, hit, miss);
                assembler.then(LOAD, low_half(arg), next)
            }
            Test::Between { arg, first, last } => {
                let next = assembler.branch(JGT, last, miss, hit);
                let next = assembler.branch(JGE, first, next, miss);
                assembler.then(LOAD, low_half(arg), next)
            }
        }
    }

    /// The verdict of a rule: what it allows may have to be told.
    fn passed(&mut self, verdict: Verdict, told: Told) -> Label {
        match verdict {
            Verdict::Allow => self.allow(told),
            Verdict::Observe | Verdict::Errno(_) | Verdict::Deny(_) | Verdict::Kill => self.verdict(verdict),
        }
    }

    fn allow(&mut self, told: Told) -> Label {
        match told {
            Told::Never => self.verdict(Verdict::Allow),
            Told::Always => self.verdict(Verdict::Observe),
            Told::WithPointer(arg) => {
                let (null, some) = (self.verdict(Verdict::Allow), self.verdict(Verdict::Observe));
                let high = self.assembler.branch(JEQ, 0, null, some);
                let high = self.assembler.then(LOAD, low_half(arg) + 4, high);
                let low = self.assembler.branch(JEQ, 0, high, some);
                self.assembler.then(LOAD, low_half(arg), low)
            }
            Told::WithoutFlags(arg) => {
                let (some, none) = (self.verdict(Verdict::Allow), self.verdict(Verdict::Observe));
                let flags = self.assembler.branch(JEQ, 0, none, some);
                self.assembler.then(LOAD, low_half(arg), flags)
            }
        }
    }

    fn verdict(&mut self, verdict: Verdict) -> Label {
        self.assembler.ret(verdict.ret(self.spec.denial))
    }
}

/// Both architectures are little endian: the low half comes first.
fn low_half(arg: u8) -> u32 {
    OFFSET_ARGS + 8 * u32::from(arg)
}
