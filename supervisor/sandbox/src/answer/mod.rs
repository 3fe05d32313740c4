//! Would it succeed inside? Asked of the plan, not of the policy: what is answered is what the finished sandbox does.
//!
//! Pure but for [`Look`], through which the host's own trees are seen. An answer holds as far as ordinary file permissions
//! let the command in, and for the host as it is now.
//! INVARIANT (one truth): the answer is read from the steps that are carried out; there is no second list of what is shown.

mod host;
mod view;
mod walk;

use std::path::{Path, PathBuf};

pub use host::{Look, OnHost, Seen};

use crate::plan::{Containment, SandboxPlan};
use crate::steps::Step;
use crate::sys::landlock::{EXECUTE, MAKE_DIR, MAKE_REG, READ_DIR, READ_FILE, WRITE_FILE};
use view::{Layer, Lock, Node, Spot, View};
use walk::{End, walk};

/// What is to be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Open a file for reading, or list a directory.
    Read,
    /// Open a file for writing, make it if it is not there (with the directories it lies in), or make one in a directory.
    Write,
    Execute,
}

/// What the path leads to inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    There,
    Absent,
    /// A part of `/proc` or `/dev/pts` that depends on the processes of the run.
    AtRunTime,
}

/// What decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reason {
    /// No containment: the caller's own rights.
    Uncontained,
    /// A tree of the host is shown there, and this may be done in it.
    Shown,
    /// Exists for this run only.
    Private,
    /// Made for every sandbox: a file of `/etc`, a directory of the new root.
    Made,
    Device,
    /// A pipe, which a read-only mount does not guard.
    Pipe,
    /// The kernel's own files, and pseudo-terminals.
    Kernel,
    /// Nothing of the host is shown there.
    NotShown,
    /// Covered by something empty that nobody can open.
    Hidden {
        at: PathBuf,
    },
    /// Would be covered as soon as it appears. With the clause.
    HiddenLater {
        clause: String,
    },
    /// The name is taken, so that nothing can come into being there.
    Held {
        at: PathBuf,
    },
    /// Read-only because the host would obey it later.
    Protected {
        at: PathBuf,
    },
    /// Mounted read-only.
    ReadOnly,
    /// The mounts allow it, the rights of the path do not.
    Rights,
    /// Of the first process, which lets nobody look into it.
    Guarded,
    /// It cannot be done with what is there: a directory is not executed, a socket not opened, a file not entered.
    WrongKind {
        at: PathBuf,
    },
    /// The links lead in a circle.
    Circle,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub allowed: bool,
    pub reason: Reason,
    /// Where the path leads inside, without links.
    pub at: PathBuf,
    /// Links met on the way, as the sandbox sees them.
    pub links: Vec<PathBuf>,
    pub presence: Presence,
    /// Is there something at `at` outside?
    pub on_host: bool,
    /// The step that allows or refuses it.
    pub step: Option<Step>,
}

/// Would this be allowed inside? `path` is absolute, as the command would write it; links are followed.
#[must_use]
pub fn path(plan: &SandboxPlan, path: &Path, usage: Use, look: &dyn Look) -> Answer {
    let view = View { plan, look };
    let walked = walk(&view, path);
    let (decision, presence) = match &walked.end {
        End::Reached(spot) => {
            let presence = match spot.node {
                Node::Absent => Presence::Absent,
                Node::RunTime => Presence::AtRunTime,
                Node::Dir
                | Node::File
                | Node::Device
                | Node::Socket
                | Node::Pipe
                | Node::Guarded
                | Node::Link(_)
                | Node::Masked => Presence::There,
            };
            let base = walked.at.parent().unwrap_or(&walked.at);
            (view.at(&walked.at, base, spot, usage), presence)
        }
        End::Missing { from, spot } => (view.at(&walked.at, from, spot, usage), Presence::Absent),
        End::Stopped { by, spot } => stopped(by, spot, usage),
        End::Circle => (Err(Reason::Circle), Presence::Absent),
    };
    let (allowed, reason) = match decision {
        Ok(reason) => (true, reason),
        Err(reason) => (false, reason),
    };
    Answer {
        allowed,
        step: step(plan, &reason),
        on_host: look.look(&walked.at).is_some(),
        reason,
        at: walked.at,
        links: walked.links,
        presence,
    }
}

/// Does Landlock give more to a file of the host that is shown at this path than the mounts over it do? A descriptor from outside
/// lies below those mounts.
pub(crate) fn is_wider_than_mounts(plan: &SandboxPlan, at: &Path) -> bool {
    let view = View { plan, look: &OnHost };
    let spot = view.spot(at);
    let by_mounts = match (&spot.layer, &spot.lock) {
        (Layer::Host, Lock::Open) => READ_FILE | WRITE_FILE,
        (Layer::Host, Lock::ReadOnly | Lock::Protected(_) | Lock::Held(_)) => READ_FILE,
        (
            Layer::Skeleton | Layer::Device | Layer::Private | Layer::Proc | Layer::Terminals | Layer::Mask(_),
            Lock::Open | Lock::ReadOnly | Lock::Protected(_) | Lock::Held(_),
        ) => 0,
    };
    // A rule is about what lies at its path inside: the host's own directory, or one that was laid over it.
    let rules = plan.landlock.iter().flat_map(|landlock| &landlock.rules);
    let hosts = rules.filter(|(path, _)| at.starts_with(path) && view.spot(path).layer == Layer::Host);
    let rights = hosts.fold(0, |rights, (_, more)| rights | more);
    rights & (READ_FILE | WRITE_FILE) & !by_mounts != 0
}

/// A process's own program.
const OWN_PROGRAM: [&str; 2] = ["/proc/self/exe", "/proc/thread-self/exe"];

/// Why it is allowed, or why not.
type Decision = Result<Reason, Reason>;

fn stopped(by: &Path, spot: &Spot, usage: Use) -> (Decision, Presence) {
    match (&spot.node, &spot.lock, &spot.layer) {
        (Node::Guarded, _, _) => (Err(Reason::Guarded), Presence::There),
        (Node::RunTime, _, _) if usage == Use::Write && by.starts_with("/proc/1") => {
            (Err(Reason::ReadOnly), Presence::AtRunTime)
        }
        (Node::RunTime, _, _) => (Ok(Reason::Kernel), Presence::AtRunTime),
        (_, _, Layer::Mask(at)) => (Err(Reason::Hidden { at: at.clone() }), Presence::Absent),
        (_, Lock::Held(at), _) => (Err(Reason::Held { at: at.clone() }), Presence::Absent),
        (Node::Absent, _, _) => (Err(Reason::NotShown), Presence::Absent),
        (_, _, _) => (Err(Reason::WrongKind { at: by.to_owned() }), Presence::Absent),
    }
}

impl View<'_> {
    /// `base` is the deepest directory that is there, if `at` itself is not.
    fn at(&self, at: &Path, base: &Path, spot: &Spot, usage: Use) -> Decision {
        if self.plan.containment == Containment::Inherit {
            return Ok(Reason::Uncontained);
        }
        if let Layer::Mask(mask) = &spot.layer {
            return Err(Reason::Hidden { at: mask.clone() });
        }
        let reason = match (&spot.layer, &spot.node) {
            (Layer::Host, _) => Reason::Shown,
            (Layer::Device, _) => Reason::Device,
            (Layer::Private, _) => Reason::Private,
            (Layer::Proc | Layer::Terminals, Node::Absent) | (Layer::Skeleton, Node::Absent) => {
                return Err(Reason::NotShown);
            }
            (Layer::Proc | Layer::Terminals, _) => Reason::Kernel,
            (Layer::Skeleton | Layer::Mask(_), _) => Reason::Made,
        };
        if spot.node == Node::Absent {
            if spot.layer == Layer::Host
                && let Some(clause) = self.plan.hidden_later(at)
            {
                let clause = clause.to_owned();
                return Err(Reason::HiddenLater { clause });
            }
            if usage == Use::Write {
                return self.make(at, base, reason);
            }
            // What the host has there, now or later, is not shown in a private place.
            if spot.layer == Layer::Private {
                return Err(Reason::NotShown);
            }
        }
        if spot.node == Node::Guarded {
            return Err(Reason::Guarded);
        }
        // It runs already, wherever it lies.
        if usage == Use::Execute && spot.node == Node::RunTime && OWN_PROGRAM.iter().any(|own| at == Path::new(own)) {
            return Ok(reason);
        }
        let wanted = self.wanted(at, spot, usage)?;
        // The kernel keeps files and directories of a read-only mount from being written to, and no pipe.
        let reason = match (usage, &spot.node, unlocked(&spot.lock)) {
            (Use::Write, Node::Pipe, Err(_)) => Reason::Pipe,
            (Use::Write, _, Err(locked)) => return Err(locked),
            (_, _, _) => reason,
        };
        self.granted(at, wanted, reason)
    }

    /// The rights that it takes.
    fn wanted(&self, at: &Path, spot: &Spot, usage: Use) -> Result<u64, Reason> {
        let wrong = || Reason::WrongKind { at: at.to_owned() };
        match (&spot.node, usage) {
            (Node::Socket, _) => match &spot.lock {
                Lock::Held(at) => Err(Reason::Held { at: at.clone() }),
                Lock::Open | Lock::ReadOnly | Lock::Protected(_) => Err(wrong()),
            },
            // Nodes of devices work only where the sandbox put them itself.
            (Node::Device | Node::Pipe, Use::Execute) => Err(wrong()),
            (Node::Device, _) if spot.layer == Layer::Host && self.plan.containment == Containment::Namespaces => {
                Err(wrong())
            }
            (Node::Dir, Use::Execute) => Err(wrong()),
            (Node::Dir, Use::Read) => Ok(READ_DIR),
            (Node::Dir, Use::Write) => Ok(MAKE_REG | WRITE_FILE),
            (_, Use::Execute) if matches!(spot.layer, Layer::Device | Layer::Proc | Layer::Terminals) => Err(wrong()),
            (_, Use::Read) => Ok(READ_FILE),
            (_, Use::Write) => Ok(WRITE_FILE),
            (_, Use::Execute) => Ok(EXECUTE),
        }
    }

    fn make(&self, at: &Path, base: &Path, reason: Reason) -> Decision {
        unlocked(&self.spot(base).lock)?;
        let directories = if at.parent() == Some(base) { 0 } else { MAKE_DIR };
        self.granted(base, MAKE_REG | WRITE_FILE | directories, reason)
    }

    /// Landlock gives what any rule at or above the path gives.
    fn granted(&self, at: &Path, wanted: u64, reason: Reason) -> Decision {
        let Some(landlock) = &self.plan.landlock else {
            return Ok(reason);
        };
        let above = landlock.rules.iter().filter(|(path, _)| at.starts_with(path));
        let rights = above.fold(0, |rights, (_, more)| rights | more);
        if rights & wanted == wanted {
            Ok(reason)
        } else {
            Err(Reason::Rights)
        }
    }
}

fn unlocked(lock: &Lock) -> Result<(), Reason> {
    match lock {
        Lock::Open => Ok(()),
        Lock::ReadOnly => Err(Reason::ReadOnly),
        Lock::Protected(at) => Err(Reason::Protected { at: at.clone() }),
        Lock::Held(at) => Err(Reason::Held { at: at.clone() }),
    }
}

fn step(plan: &SandboxPlan, reason: &Reason) -> Option<Step> {
    match (reason, plan.containment) {
        (Reason::Uncontained | Reason::WrongKind { .. } | Reason::Circle | Reason::Guarded, _) => None,
        (Reason::Rights, _) | (_, Containment::Landlock) => Some(Step::Landlock),
        (Reason::HiddenLater { .. }, _) => Some(Step::Watch),
        (Reason::Held { .. }, _) => Some(Step::Placeholders),
        (
            Reason::Shown
            | Reason::Private
            | Reason::Made
            | Reason::Device
            | Reason::Pipe
            | Reason::Kernel
            | Reason::NotShown
            | Reason::Hidden { .. }
            | Reason::Protected { .. }
            | Reason::ReadOnly,
            _,
        ) => Some(Step::Mounts),
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
