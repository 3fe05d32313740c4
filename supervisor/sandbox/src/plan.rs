//! What will be done, as data: the plan is printed by `policy plan`, compared by golden files, and then carried out.
//!
//! Pure. INVARIANT: same inputs, same plan. Nothing in here was looked up while the plan was carried out.

mod doors;
mod git;
mod hidden;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use doors::{Door, Doors, Keeper, Transport};
pub use git::{GitPlan, Remote, RemoteWas, Repository, Shared};

use crate::cgroup;
use crate::receipt::{self, Canary};
use crate::seccomp::FilterSpec;
use crate::sys::limits::Resource;

/// How the command is contained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// A new root, new namespaces, Landlock, seccomp.
    Namespaces,
    /// The named, weaker mode: Landlock and seccomp on the host's own tree.
    Landlock,
    /// The caller's own rights.
    Inherit,
}

/// What the command gets where the project lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Workspace {
    /// The project itself.
    #[default]
    Shared,
    /// A view of it that takes every change, and leaves the project as it is.
    Cow,
    /// A git worktree of its last commit, on a branch of its own.
    Worktree,
}

impl Workspace {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Shared => "shared",
            Self::Cow => "cow",
            Self::Worktree => "worktree",
        }
    }
}

/// A namespace the command gets for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Namespace {
    User,
    Mount,
    Pid,
    Net,
    Ipc,
    Uts,
    Cgroup,
}

impl Namespace {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Mount => "mount",
            Self::Pid => "pid",
            Self::Net => "net",
            Self::Ipc => "ipc",
            Self::Uts => "uts",
            Self::Cgroup => "cgroup",
        }
    }

    #[must_use]
    pub(crate) fn flag(self) -> libc::c_int {
        match self {
            Self::User => libc::CLONE_NEWUSER,
            Self::Mount => libc::CLONE_NEWNS,
            Self::Pid => libc::CLONE_NEWPID,
            Self::Net => libc::CLONE_NEWNET,
            Self::Ipc => libc::CLONE_NEWIPC,
            Self::Uts => libc::CLONE_NEWUTS,
            Self::Cgroup => libc::CLONE_NEWCGROUP,
        }
    }
}

/// Who the command is, to the kernel and to itself (the numbers are the same).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub uid: u32,
    pub gid: u32,
    pub user: String,
    /// Was the supervisor started as root? Then the ids above are taken on first.
    pub from_root: bool,
}

/// Owners of a tree as the sandbox sees them: `from` on disk is the sandbox's own user inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct IdMap {
    pub from_uid: u32,
    pub from_gid: u32,
}

/// What a bind may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    ReadOnly,
    ReadWrite,
    /// Read-only for files, but a device node works.
    Device,
}

/// What lies at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Dir,
    /// Anything that is not a directory.
    File,
}

/// One operation on the new root. Paths are absolute; the root they start from is the new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MountStep {
    /// A directory of the skeleton.
    Dir {
        at: PathBuf,
    },
    Symlink {
        at: PathBuf,
        target: PathBuf,
    },
    /// A small file made here.
    File {
        at: PathBuf,
        contents: Vec<u8>,
    },
    /// A snapshot of a host file.
    Copy {
        from: PathBuf,
        at: PathBuf,
    },
    /// A tree of the host.
    Bind {
        from: PathBuf,
        at: PathBuf,
        kind: Kind,
        access: Access,
        idmap: Option<IdMap>,
    },
    /// A directory that exists for this run only.
    Private {
        at: PathBuf,
        name: &'static str,
    },
    /// A private directory laid over `at`, holding read-only binds of `children` and private directories `private`.
    Compose {
        at: PathBuf,
        name: &'static str,
        children: Vec<(OsString, Kind)>,
        private: Vec<OsString>,
    },
    /// Processes of the new pid namespace.
    Proc {
        at: PathBuf,
    },
    /// Pseudo-terminals of our own.
    Devpts {
        at: PathBuf,
    },
    /// Bound onto itself, so that it cannot be renamed.
    Pin {
        at: PathBuf,
    },
    /// Covered by itself, read-only.
    Protect {
        at: PathBuf,
    },
    /// Covered by something empty that nobody can open.
    Hide {
        at: PathBuf,
        kind: Kind,
    },
}

impl MountStep {
    /// A tree of the host that the command writes with the rights of another owner, which only root can give.
    #[must_use]
    pub fn is_written_as_owner(&self) -> bool {
        let Self::Bind { access, idmap, .. } = self else {
            return false;
        };
        *access == Access::ReadWrite && idmap.is_some()
    }

    /// Where it lies.
    #[must_use]
    pub fn at(&self) -> &Path {
        match self {
            Self::Dir { at }
            | Self::Symlink { at, .. }
            | Self::File { at, .. }
            | Self::Copy { at, .. }
            | Self::Bind { at, .. }
            | Self::Private { at, .. }
            | Self::Compose { at, .. }
            | Self::Proc { at }
            | Self::Devpts { at }
            | Self::Pin { at }
            | Self::Protect { at }
            | Self::Hide { at, .. } => at,
        }
    }
}

/// A name that must not come into being in a writable tree: made as an empty mount point by us, covered, removed at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// The directory it lies in, on the host and in the sandbox.
    pub dir: PathBuf,
    pub name: OsString,
    pub kind: PlaceholderKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceholderKind {
    /// A socket inode: git, tar and docker pass over it, and nothing can open it. Everybody may watch it: who watches a whole
    /// project would fail at a name that he may not.
    Socket,
    /// The same without permissions, for a home: programs ask there whether they may read a file, and die on one that they may
    /// read and cannot open (git its `.gitconfig`).
    Shut,
    /// Git's `commondir` that says "here": git reads it, so it must be a file that means nothing.
    CommonDir,
    /// A git configuration file with nothing in it, for the same reason.
    GitConfig,
}

/// What happens to a watched name that comes into being while the command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// Covered by itself, read-only.
    Protect,
    /// Covered by something empty that nobody can open.
    Hide,
    /// Stays where it is, if it is a link: a rule goes through it.
    Hold,
}

/// A name that the host may create or replace during the run, and that must not become visible or writable then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    pub path: PathBuf,
    pub response: Response,
    /// The clause, for the report.
    pub clause: String,
}

/// A pattern whose later matches are hidden, and the directories in which they can appear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobWatch {
    pub base: PathBuf,
    pub pattern: String,
    pub dirs: Vec<PathBuf>,
    /// Directories that links lead to, which the pattern knows by the links' names.
    pub aliases: Vec<Alias>,
    /// Links by whose names more could match, wherever they lead by then.
    pub leads: Vec<Lead>,
    /// What is granted: links are followed to what lies in it.
    pub granted: Vec<PathBuf>,
    pub clause: String,
}

/// A directory under the name of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alias {
    pub real: PathBuf,
    /// From the pattern's base.
    pub relative: PathBuf,
}

/// A link under the name by which a pattern knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    pub path: PathBuf,
    /// From the pattern's base.
    pub relative: PathBuf,
}

/// A file that is made for the run, in the new root or in a private place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeFile {
    pub at: PathBuf,
    pub contents: Vec<u8>,
}

/// A directory of the supervisor's own that the command finds in a private place, and may write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptDir {
    pub from: PathBuf,
    pub at: PathBuf,
    /// Whose it is on disk.
    pub uid: u32,
    pub gid: u32,
}

/// Landlock's own records of what it refuses, in the kernel's audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Records {
    /// None are written for this sandbox.
    Leave,
    /// Written, and read for the report. Needs root, and audit on while the command runs.
    Take,
}

/// Landlock rules, by path in the new root (in the host's for the weaker mode).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandlockPlan {
    pub rules: Vec<(PathBuf, u64)>,
    /// Refuse every TCP bind and connect (the weaker mode only: namespaces do it better).
    pub deny_tcp: bool,
}

/// Which step enforces a clause of the policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    pub clause: String,
    pub origin: String,
    pub enforced_by: Vec<&'static str>,
    /// A note for the reader, such as what this does not cover.
    pub note: Option<String>,
}

/// What to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPlan {
    /// The file to execute, as the caller's PATH found it.
    pub program: PathBuf,
    pub argv: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
}

/// A limit that must not be left to luck.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insisted {
    pub limit: cgroup::Controller,
    /// As it is written, and where.
    pub clause: String,
    pub origin: String,
}

/// Everything there is to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPlan {
    pub containment: Containment,
    pub workspace: Workspace,
    pub identity: Identity,
    pub namespaces: Vec<Namespace>,
    pub cgroup: cgroup::Request,
    /// Limits that only a group can enforce and that somebody wrote: without one the run is refused.
    pub insisted: Vec<Insisted>,
    pub mounts: Vec<MountStep>,
    pub placeholders: Vec<Placeholder>,
    pub doors: Doors,
    pub git: GitPlan,
    pub watches: Vec<Watch>,
    pub glob_watches: Vec<GlobWatch>,
    /// Denied paths as they were written: where they lead by then is hidden, too.
    pub ways: Vec<Watch>,
    /// Bytes of the private space (HOME, /tmp, /var/tmp, /dev/shm together).
    pub private_bytes: u64,
    pub rlimits: Vec<(Resource, u64)>,
    pub landlock: Option<LandlockPlan>,
    pub seccomp: Option<FilterSpec>,
    pub records: Records,
    pub receipt: receipt::Wish,
    /// What is tried before the command starts.
    pub canaries: Vec<Canary>,
    /// What is not, and why.
    pub left_out: Vec<receipt::LeftOut>,
    pub command: CommandPlan,
    pub deadline: Option<Duration>,
    pub grace: Duration,
    /// Memory bound in bytes for the watchdog, where no cgroup has it.
    pub memory_bytes: Option<u64>,
    pub ledger: Vec<Coverage>,
    /// What the policy asked for and this plan leaves out, by name.
    pub omitted: Vec<String>,
}
