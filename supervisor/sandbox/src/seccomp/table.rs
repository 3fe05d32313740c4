//! `sandbox-profiles/syscalls.txt`, the list of system calls and what happens to each.
//!
//! Pure: the list is part of the executable, as constants that `build.rs` writes. The parser here has the checks, and a
//! test holds the two together.
//! INVARIANT (ascending): x86_64 numbers only grow, so no line can contradict an earlier one; aarch64 numbers are unique.

use std::borrow::Cow;

use super::rules::Rule;

const BUILTIN: &[Syscall] = include!(concat!(env!("OUT_DIR"), "/syscalls.rs"));

/// First number of the x32 interface, a second and hardly used door to the x86_64 system calls.
pub(super) const X32_FIRST: u32 = 0x4000_0000;
/// What a tracer writes to skip a call. It belongs to no interface, so it is unknown, not x32.
pub(super) const NO_SYSCALL: u32 = u32::MAX;
/// Numbers the file may use; a typing error beyond would only make the program longer.
const NUMBERS: u16 = 1024;

/// An architecture that the filter can be compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arch {
    X86_64,
    Aarch64,
}

impl Arch {
    /// The architecture this executable runs on.
    #[cfg(target_arch = "x86_64")]
    pub const NATIVE: Arch = Arch::X86_64;
    /// The architecture this executable runs on.
    #[cfg(target_arch = "aarch64")]
    pub const NATIVE: Arch = Arch::Aarch64;

    /// `AUDIT_ARCH_*`: machine number, 64 bit, little endian. What `seccomp_data.arch` holds.
    pub(super) fn audit(self) -> u32 {
        match self {
            Arch::X86_64 => 0xC000_003E,
            Arch::Aarch64 => 0xC000_00B7,
        }
    }
}

/// What the list says about one number, before arguments are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Allow,
    /// As if the kernel did not have the call: programs fall back. Also everything that is not listed.
    Enosys,
    /// The same, and reported.
    Absent,
    /// Refused with EPERM and reported.
    Deny,
    Rule(Rule),
    /// The x32 interface. Never written in the file.
    Kill,
}

/// One line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syscall {
    pub name: &'static str,
    pub x86_64: u16,
    pub aarch64: Option<u16>,
    pub action: Action,
    /// Why, in the words of the list; empty where nobody asks.
    pub reason: &'static str,
}

impl Syscall {
    /// Its number, if this architecture has the call.
    pub fn nr(&self, arch: Arch) -> Option<u32> {
        match arch {
            Arch::X86_64 => Some(u32::from(self.x86_64)),
            Arch::Aarch64 => self.aarch64.map(u32::from),
        }
    }
}

/// The list, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    syscalls: Cow<'static, [Syscall]>,
}

/// Why a list of system calls cannot be used. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    #[error("line {line} of the system call list: needs `name x86_64-number aarch64-number action`")]
    Fields { line: usize },
    #[error("line {line} of the system call list: `{text}` is not a number below {NUMBERS}")]
    Number { line: usize, text: &'static str },
    #[error(
        "line {line} of the system call list: `{text}` is not an action (`allow`, `enosys`, `absent`, `deny`, `rule:NAME`)"
    )]
    Action { line: usize, text: &'static str },
    #[error("line {line} of the system call list: number {number} repeats or breaks the ascending order")]
    Order { line: usize, number: u16 },
}

impl Table {
    /// The list built into this executable.
    pub fn builtin() -> Result<Table, TableError> {
        Ok(Table {
            syscalls: Cow::Borrowed(BUILTIN),
        })
    }

    /// Reads a list in the format that the head of `syscalls.txt` describes.
    pub fn parse(text: &'static str) -> Result<Table, TableError> {
        let mut syscalls = Vec::with_capacity(400);
        let mut seen_aarch64 = [false; NUMBERS as usize];
        let mut next_x86_64 = 0;
        for (index, text) in text.lines().enumerate() {
            let line = index + 1;
            let Some(syscall) = parse_line(text, line)? else {
                continue;
            };
            if syscall.x86_64 < next_x86_64 {
                return Err(TableError::Order {
                    line,
                    number: syscall.x86_64,
                });
            }
            next_x86_64 = syscall.x86_64 + 1;
            if let Some(number) = syscall.aarch64 {
                match seen_aarch64.get_mut(usize::from(number)) {
                    Some(seen) if !*seen => *seen = true,
                    _ => return Err(TableError::Order { line, number }),
                }
            }
            syscalls.push(syscall);
        }
        Ok(Table {
            syscalls: Cow::Owned(syscalls),
        })
    }

    /// Every line, by x86_64 number.
    pub fn iter(&self) -> impl Iterator<Item = &Syscall> {
        self.syscalls.iter()
    }

    /// What the list says about a number, listed or not.
    pub fn action_of(&self, nr: u32, arch: Arch) -> Action {
        match arch {
            Arch::X86_64 if nr >= X32_FIRST && nr != NO_SYSCALL => Action::Kill,
            Arch::X86_64 | Arch::Aarch64 => self.find(nr, arch).map_or(Action::Enosys, |syscall| syscall.action),
        }
    }

    /// The name of a listed number.
    pub fn name_of(&self, nr: u32, arch: Arch) -> Option<&'static str> {
        self.find(nr, arch).map(|syscall| syscall.name)
    }

    /// The number of a listed name, if this architecture has the call.
    pub fn nr_of(&self, name: &str, arch: Arch) -> Option<u32> {
        self.iter().find(|syscall| syscall.name == name)?.nr(arch)
    }

    pub(super) fn find(&self, nr: u32, arch: Arch) -> Option<&Syscall> {
        match arch {
            Arch::X86_64 => {
                let at = self.syscalls.binary_search_by_key(&nr, |syscall| syscall.x86_64.into());
                at.ok().and_then(|at| self.syscalls.get(at))
            }
            Arch::Aarch64 => self.iter().find(|syscall| syscall.nr(arch) == Some(nr)),
        }
    }
}

fn parse_line(text: &'static str, line: usize) -> Result<Option<Syscall>, TableError> {
    let (name, rest) = field(text);
    if name.is_empty() || name.starts_with('#') {
        return Ok(None);
    }
    let (x86_64, rest) = field(rest);
    let (aarch64, rest) = field(rest);
    let (action, rest) = field(rest);
    let rest = rest.trim_ascii();
    let (false, Some(reason)) = (
        action.is_empty(),
        if rest.is_empty() {
            Some("")
        } else {
            rest.strip_prefix('#')
        },
    ) else {
        return Err(TableError::Fields { line });
    };
    Ok(Some(Syscall {
        name,
        x86_64: parse_number(x86_64, line)?,
        aarch64: if aarch64 == "-" {
            None
        } else {
            Some(parse_number(aarch64, line)?)
        },
        action: parse_action(action, line)?,
        reason: reason.trim_ascii_start(),
    }))
}

/// The next word and what follows it.
fn field(text: &'static str) -> (&'static str, &'static str) {
    let text = text.trim_ascii_start();
    let end = text
        .bytes()
        .position(|byte| byte.is_ascii_whitespace())
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn parse_number(text: &'static str, line: usize) -> Result<u16, TableError> {
    match text.parse() {
        Ok(number) if number < NUMBERS => Ok(number),
        Ok(_) | Err(_) => Err(TableError::Number { line, text }),
    }
}

fn parse_action(text: &'static str, line: usize) -> Result<Action, TableError> {
    match text {
        "allow" => Ok(Action::Allow),
        "enosys" => Ok(Action::Enosys),
        "absent" => Ok(Action::Absent),
        "deny" => Ok(Action::Deny),
        _ => {
            let rule = text.strip_prefix("rule:").and_then(Rule::from_name);
            rule.map(Action::Rule).ok_or(TableError::Action { line, text })
        }
    }
}
