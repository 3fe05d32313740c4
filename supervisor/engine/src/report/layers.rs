//! What contains a command, in the words of the report.

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode, Network};

use super::Report;

impl Report {
    /// What contains the command, as far as the policy says it.
    pub(crate) fn describe(&mut self, policy: &ResolvedPolicy) {
        self.layers.network = match (&policy.network, policy.isolation) {
            (Network::Off, Isolation::Namespaces) => "loopback only",
            (Network::Off, Isolation::Landlock) => "none: no socket can be made, only pairs of unix ones",
            (Network::Names { .. }, _) => "loopback, and the names allowed through the supervisor",
            (Network::Host, _) => "the host's network namespace",
        };
        let (isolation, not_given): (&'static str, &[&'static str]) = match (policy.mode, policy.isolation) {
            (Mode::Inherit, _) => ("none", NOT_IN_INHERIT),
            (Mode::Restricted, Isolation::Namespaces) => ("namespaces", &[]),
            (Mode::Restricted, Isolation::Landlock) => ("landlock", NOT_IN_LANDLOCK),
        };
        self.layers.isolation = isolation;
        self.layers.not_given = not_given.to_vec();
    }
}

const NOT_IN_INHERIT: &[&str] = &[
    "filesystem isolation",
    "network isolation",
    "system call filter",
    "private HOME and /tmp",
];

const NOT_IN_LANDLOCK: &[&str] = &[
    "names, sizes and times of files outside what is granted stay visible",
    "no private HOME, /tmp or /dev/shm: the host's own, not to be written without a grant, and `limits.disk_mb` bounds nothing",
    "no /etc/passwd of the sandbox's own",
    "no process namespace: other processes of the user are visible, and ending the tree is best effort",
    "nothing protects .git/hooks and its kin inside writable trees",
    "permissions, owners, times and attributes of files outside are protected by their owners only",
];
