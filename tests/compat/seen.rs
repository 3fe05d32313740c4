//! How a command ended and what it wrote, as values to compare. Shared by the suites `compat` and `cli`.

use glee_tests::Outcome;

/// A signal counts as 128 + its number, as a shell tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Seen {
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self {
            status: told(outcome),
            stdout: outcome.out(),
            stderr: outcome.err(),
        }
    }

    /// For claims about all three: status, stdout, stderr.
    pub(crate) fn whole(&self) -> (i32, &str, &str) {
        (self.status, &self.stdout, &self.stderr)
    }
}

/// The status as a shell tells it.
pub(crate) fn told(outcome: &Outcome) -> i32 {
    assert!(
        !outcome.hung,
        "the command did not end in time:\n{}",
        outcome.describe()
    );
    outcome
        .code()
        .or_else(|| outcome.signal().map(|n| 128 + n))
        .expect("a process exits or is signalled")
}
