//! What the engine is told, as data: printed, compared by golden files, and then carried out.
//!
//! Pure. INVARIANT (one per place): no two mounts have the same place inside.

use std::collections::BTreeMap;
use std::path::PathBuf;

use glee_policy::resolved::Runtime;
use glee_sandbox::contained::Inside;
use glee_sandbox::plan::{Coverage, Kind};
use glee_sandbox::receipt::LeftOut;

use crate::facts::Rights;

/// Which root file system the container has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Image {
    /// Nothing but directories to mount on, and these links: the programs are the host's, as in the native sandbox.
    Skeleton { links: BTreeMap<PathBuf, PathBuf> },
    /// An image of the user's, by digest. Its programs are the ones that run.
    Pinned(String),
}

/// Where a bind comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Host(PathBuf),
    /// Below a tree whose owner is mapped, by the number of its step in the sandbox's plan.
    Mapped {
        step: usize,
        below: PathBuf,
        host: PathBuf,
    },
    /// Made for the run, below its own directory.
    Staged(PathBuf),
    /// Empty, and nobody can open it.
    Nothing(Kind),
    /// The supervisor's own program.
    Program,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mount {
    Bind {
        source: Source,
        access: Access,
    },
    /// Memory that exists for this run only.
    Private {
        bytes: u64,
    },
}

/// What the run's own directory holds for the container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Staged {
    Dir,
    /// Where something private is mounted: whoever mounts it gives it the mode of what lies below.
    OpenDir,
    Empty,
    File(Vec<u8>),
    /// A snapshot of a host file.
    Copy(PathBuf),
    Link(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    None,
    Host,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Users {
    /// Ids are the host's.
    Host,
    /// The engine belongs to an ordinary user: a user namespace in which that user keeps its id.
    KeepId,
}

/// Limits that the engine's own group carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GroupLimits {
    pub memory_bytes: Option<u64>,
    pub pids: Option<u64>,
    pub cpu_millis: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerPlan {
    pub image: Image,
    pub user: (u32, u32),
    pub users: Users,
    pub rights: Rights,
    pub runtime: Runtime,
    pub network: Network,
    pub limits: GroupLimits,
    /// By place inside, parents first.
    pub mounts: BTreeMap<PathBuf, Mount>,
    pub staged: BTreeMap<PathBuf, Staged>,
    /// Covered by the engine with something empty.
    pub masked: Vec<PathBuf>,
    /// The system call filter, in the engine's own format.
    pub seccomp: serde_json::Value,
    pub inside: Inside,
    /// What pid 1 does not try, beside what the sandbox's own plan leaves out.
    pub left_out: Vec<LeftOut>,
    /// Limits that something else than the engine's group enforces, in words.
    pub missing_limits: Vec<String>,
    pub ledger: Vec<Coverage>,
}
