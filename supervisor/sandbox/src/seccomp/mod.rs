//! The system call filter: one list, one compiler, one explanation.
//!
//! Pure: makes no syscall; `sys` installs what `compile` returns.
//! Stages: `syscalls.txt` → [`Table`] → [`compile`] with a [`FilterSpec`] → instructions for the kernel.
//! [`Table::decide`] gives the same verdict in words, for the supervisor that answers reported calls.
//! INVARIANT (one truth): the compiled program and `decide` agree on every number and argument; a test compares them.

mod assemble;
mod compile;
mod fate;
mod file_rules;
mod filter;
mod observe;
mod process_rules;
mod rules;
mod scope;
mod socket_rules;
mod table;

pub use assemble::Instruction;
pub use compile::compile;
pub use fate::Fate;
pub use filter::{Call, Denial, DenialAction, FilterSpec, NetworkRule, SocketRule, Verdict};
pub use observe::{Act, Change, Observe, Place, Shape};
pub use rules::Rule;
pub use scope::Scope;
pub use table::{Action, Arch, Syscall, Table, TableError};

#[cfg(test)]
mod compile_tests;
#[cfg(test)]
mod interpreter_tests;
#[cfg(test)]
mod observe_tests;
#[cfg(test)]
mod rules_tests;
#[cfg(test)]
mod table_tests;
