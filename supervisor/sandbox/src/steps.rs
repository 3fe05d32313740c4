//! The order in which a sandbox is built, and why each step stands where it does: stated here and nowhere else.
//!
//! Pure. `launch` does what [`Who::Supervisor`] does, `init` what [`Who::Init`] does, `init::agent` the rest. A test reads
//! their sources and fails if their order is another one than this.

use crate::plan::{Containment, Keeper, Namespace, SandboxPlan, Workspace};
use crate::receipt::Wish;

/// The process that takes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Who {
    /// Outside, with the caller's rights.
    Supervisor,
    /// Pid 1 of the sandbox; never the command.
    Init,
    /// The second process, which becomes the command.
    Agent,
}

impl Who {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Supervisor => "supervisor",
            Self::Init => "init",
            Self::Agent => "agent",
        }
    }
}

/// One step, in the order of [`Step::ORDER`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Workspace,
    Janitor,
    Companion,
    Cgroup,
    Placeholders,
    Namespaces,
    IdMaps,
    Watch,
    Sources,
    Identity,
    Mounts,
    PivotRoot,
    Hostname,
    Loopback,
    Doors,
    CgroupNamespace,
    Session,
    PseudoTerminal,
    SecondProcess,
    WorkingDirectory,
    Rlimits,
    BoundingSet,
    Capabilities,
    NoNewPrivs,
    Landlock,
    Seccomp,
    CloseRange,
    Receipt,
    Exec,
}

impl Step {
    /// The order in which they are carried out.
    pub const ORDER: [Self; 29] = [
        Self::Workspace,
        Self::Janitor,
        Self::Companion,
        Self::Cgroup,
        Self::Placeholders,
        Self::Namespaces,
        Self::IdMaps,
        Self::Watch,
        Self::Sources,
        Self::Identity,
        Self::Mounts,
        Self::PivotRoot,
        Self::Hostname,
        Self::Loopback,
        Self::Doors,
        Self::CgroupNamespace,
        Self::Session,
        Self::PseudoTerminal,
        Self::SecondProcess,
        Self::WorkingDirectory,
        Self::Rlimits,
        Self::BoundingSet,
        Self::Capabilities,
        Self::NoNewPrivs,
        Self::Landlock,
        Self::Seccomp,
        Self::CloseRange,
        Self::Receipt,
        Self::Exec,
    ];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Cgroup => "cgroup",
            Self::Placeholders => "placeholders",
            Self::Janitor => "janitor",
            Self::Companion => "companion",
            Self::Sources => "sources of mounts",
            Self::Namespaces => "namespaces",
            Self::IdMaps => "id maps",
            Self::Watch => "watch",
            Self::Identity => "identity",
            Self::CgroupNamespace => "cgroup namespace",
            Self::Mounts => "mounts",
            Self::PivotRoot => "pivot_root",
            Self::Hostname => "hostname",
            Self::Loopback => "loopback",
            Self::Doors => "doors",
            Self::Session => "session",
            Self::PseudoTerminal => "pseudo-terminal",
            Self::SecondProcess => "second process",
            Self::WorkingDirectory => "working directory",
            Self::Rlimits => "rlimits",
            Self::BoundingSet => "capability bounding set",
            Self::Capabilities => "capabilities",
            Self::NoNewPrivs => "no_new_privs",
            Self::Landlock => "Landlock",
            Self::Seccomp => "seccomp",
            Self::CloseRange => "close_range",
            Self::Receipt => "receipt",
            Self::Exec => "exec",
        }
    }

    #[must_use]
    pub fn who(self) -> Who {
        match self {
            Self::Workspace
            | Self::Cgroup
            | Self::Placeholders
            | Self::Janitor
            | Self::Companion
            | Self::Sources
            | Self::Namespaces
            | Self::IdMaps
            | Self::Watch => Who::Supervisor,
            Self::Identity
            | Self::CgroupNamespace
            | Self::Mounts
            | Self::PivotRoot
            | Self::Hostname
            | Self::Loopback
            | Self::Doors
            | Self::Session
            | Self::PseudoTerminal
            | Self::SecondProcess => Who::Init,
            Self::WorkingDirectory
            | Self::Rlimits
            | Self::BoundingSet
            | Self::Capabilities
            | Self::NoNewPrivs
            | Self::Landlock
            | Self::Seccomp
            | Self::CloseRange
            | Self::Receipt
            | Self::Exec => Who::Agent,
        }
    }

    /// Why it is done, and why here.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Workspace => {
                "before anything is looked at: whatever follows sees, covers and watches the copy, and never the project"
            }
            Self::Cgroup => {
                "before the command's process exists, so that it lives inside its limits; those of v1 while the new root is built"
            }
            Self::Placeholders => "names that must not come into being are taken while only the host can see the tree",
            Self::Janitor => {
                "before anything is made that needs cleaning up, so that a killed supervisor leaves nothing"
            }
            Self::Companion => {
                "serves what the policy lets out, in a process of its own that holds nothing of the sandbox or of the caller"
            }
            Self::Sources => "only root can open every source; handed in while init begins, which is root no more",
            Self::Namespaces => {
                "one clone makes them, and the new user namespace owns them; the network's is made beside it, root's ahead"
            }
            Self::IdMaps => "only the parent may write them; before that the child is nobody and waits",
            Self::Watch => "before the child goes on, so that nothing the host makes from now on is missed",
            Self::Identity => {
                "kernel uid 0 can write /proc/sys even without capabilities: it ends before anything is mounted"
            }
            Self::CgroupNamespace => "made inside the run's own group, which becomes its root",
            Self::Mounts => "parents first; every source is opened without following a link",
            Self::PivotRoot => "chroot can be left, a root that is no longer mounted cannot",
            Self::Hostname => "the host's name is nobody's business; needs a capability that goes later",
            Self::Loopback => "programs expect 127.0.0.1; needs a capability that goes later",
            Self::Doors => "the only ways out; low ports need a capability that goes later",
            Self::Session => "no terminal of the host controls the run",
            Self::PseudoTerminal => {
                "a terminal of our own, made in the new root: input cannot be pushed into the host's"
            }
            Self::SecondProcess => "pid 1 stays ours: it reaps, it ends the tree, and nothing inside can look into it",
            Self::WorkingDirectory => "entered while paths can still be looked up freely",
            Self::Rlimits => "lowered for good; raising them needs a capability that goes next",
            Self::BoundingSet => "emptied while CAP_SETPCAP is still there; no file can give a capability back",
            Self::Capabilities => "all sets emptied; what is left needs none",
            Self::NoNewPrivs => "before the two filters, which an unprivileged process may only then install",
            Self::Landlock => "after everything that opens files; the second lock inside the new root",
            Self::Seccomp => "last of the locks: it forbids the calls that the steps before it are made of",
            Self::CloseRange => "an inherited descriptor crosses every wall; 0, 1 and 2 remain",
            Self::Receipt => "forbidden things are tried where the command will stand: if one works, nothing runs",
            Self::Exec => "the command, with the variables that pass and nothing else",
        }
    }

    /// Does this plan take the step? (A terminal is only made for a caller who is on one.)
    #[must_use]
    pub fn applies(self, plan: &SandboxPlan) -> bool {
        let namespace = |wanted| plan.namespaces.contains(&wanted);
        match self {
            Self::Workspace => plan.workspace != Workspace::Shared,
            Self::Placeholders => !plan.placeholders.is_empty(),
            Self::Sources | Self::Identity => plan.identity.from_root,
            Self::Namespaces => !plan.namespaces.is_empty(),
            Self::IdMaps => namespace(Namespace::User),
            Self::Watch => !plan.watches.is_empty() || !plan.glob_watches.is_empty(),
            Self::CgroupNamespace => namespace(Namespace::Cgroup),
            Self::Mounts | Self::PivotRoot | Self::BoundingSet => plan.containment == Containment::Namespaces,
            Self::Hostname => namespace(Namespace::Uts),
            Self::Loopback => namespace(Namespace::Net),
            Self::Companion => plan.doors.list.iter().any(|door| door.keeper == Keeper::Companion),
            Self::Doors => !plan.doors.list.is_empty(),
            Self::Rlimits => !plan.rlimits.is_empty(),
            Self::Capabilities => plan.containment != Containment::Inherit,
            Self::Landlock => plan.landlock.is_some(),
            Self::Seccomp => plan.seccomp.is_some(),
            Self::Receipt => plan.receipt == Wish::Take,
            Self::Cgroup
            | Self::Janitor
            | Self::Session
            | Self::PseudoTerminal
            | Self::SecondProcess
            | Self::WorkingDirectory
            | Self::NoNewPrivs
            | Self::CloseRange
            | Self::Exec => true,
        }
    }
}

/// The steps of a plan, in order.
pub fn of(plan: &SandboxPlan) -> impl Iterator<Item = Step> {
    Step::ORDER.into_iter().filter(|step| step.applies(plan))
}

#[cfg(test)]
#[path = "steps_tests.rs"]
mod tests;
