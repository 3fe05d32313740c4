//! What became of a run, and what can go wrong before there is one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::control::Cause;
use crate::init::root::Failure;
use crate::launch::changes::Changes;
use crate::launch::denials::Refusals;
use crate::launch::denials::records::NoRecords;
use crate::launch::placeholders::Unprotected;
use crate::launch::places::Moved;
use crate::launch::stdio::WayOut;
use crate::receipt::Receipt;
use crate::sys::caps;
use crate::sys::process::{self, Usage};

/// How the command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signaled(i32),
    /// The runtime deadline was reached.
    Timeout,
    /// The file was not there (`ENOENT`), or could not be executed.
    NotExecuted {
        errno: i32,
    },
}

/// A name that came into being during the run although a rule covers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appeared {
    pub path: PathBuf,
    pub clause: String,
    /// Covered right after it was seen.
    pub covered: bool,
}

/// What stood around the command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layers {
    pub landlock_abi: u32,
    pub seccomp: bool,
    pub namespaces: Vec<&'static str>,
    /// Controllers that carry a limit, by name.
    pub cgroup: Vec<&'static str>,
    /// Limits that no cgroup carries, with the reason.
    pub missing_limits: Vec<String>,
}

/// What really happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub end: End,
    pub cause: Option<Cause>,
    /// The kernel's out-of-memory killer struck inside.
    pub out_of_memory: bool,
    /// A fork was refused because of the limit on processes.
    pub out_of_pids: bool,
    pub duration: Duration,
    pub usage: Usage,
    /// What the canaries found. `None` if the run was ended before.
    pub receipt: Option<Receipt>,
    /// What the sandbox refused.
    pub refusals: Refusals,
    pub appeared: Vec<Appeared>,
    /// Directories in which such names would not have been seen.
    pub unwatched: Vec<PathBuf>,
    /// Parts of a repository made during the run that would make the host's git run something: renamed.
    pub set_aside: Vec<PathBuf>,
    /// What the companion wrote about what it served.
    pub served: Option<Vec<u8>>,
    /// The same, but renaming failed: the host's git would run it.
    pub not_disarmed: Vec<PathBuf>,
    /// Files changed during the run that had a setuid or setgid bit or capabilities, and have them no longer.
    pub privileges_removed: Vec<PathBuf>,
    /// Trees that could not be looked through for such files.
    pub privileges_unknown: Vec<PathBuf>,
    /// Trees that the host moved meanwhile.
    pub moved: Vec<Moved>,
    /// Granted trees whose owners could not be mapped to the sandbox's user: it has only read what all may read.
    pub as_they_are: Vec<PathBuf>,
    /// What the run changed where it could write, if anybody asked.
    pub changes: Option<Changes>,
    pub layers: Layers,
}

/// The sandbox could not be built; the command never started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    #[error("cannot build the sandbox: step `{step}`{} failed: {error}", about(.detail))]
    Step {
        step: String,
        detail: String,
        error: io::Error,
    },
    #[error("cannot make namespaces: {error}")]
    Namespaces { error: io::Error },
    #[error("cannot give the sandbox a user of its own: id {id} is not mapped in this user namespace")]
    Unmapped { id: u32 },
    #[error("cannot protect `{}` against being created by the command: {error}", .path.display())]
    Unprotected { path: PathBuf, error: io::Error },
    #[error("{name} is {way}")]
    StandardFile { name: &'static str, way: WayOut },
    #[error("cannot enforce `{clause}` ({origin}): {reason}")]
    Unlimited {
        clause: String,
        origin: String,
        reason: String,
    },
    #[error("`/proc` {0}: what runs could not be found again, and not be ended")]
    Proc(&'static str),
    #[error("the built-in list of system calls is damaged")]
    SyscallTable,
    #[error("the sandbox does not hold: {}", surprises(.receipt))]
    Canary { receipt: Receipt },
    #[error("cannot take Landlock's records: {0}")]
    Records(#[from] NoRecords),
    #[error("the sandbox ended before the command started")]
    Lost,
    #[error("the run was called off")]
    CalledOff,
    #[error("the container engine cannot start the sandbox: {0}")]
    Engine(String),
}

fn surprises(receipt: &Receipt) -> String {
    let list: Vec<String> = receipt
        .surprises()
        .map(|tried| {
            let (canary, expected) = (&tried.canary, tried.canary.expected.words());
            format!(
                "{}: {}: expected {expected}, got {}",
                canary.name(),
                canary.tried(),
                tried.got()
            )
        })
        .collect();
    list.join("; ")
}

fn about(detail: &str) -> String {
    if detail.is_empty() {
        String::new()
    } else {
        format!(" on `{detail}`")
    }
}

impl LaunchError {
    pub(super) fn step(step: &str, error: io::Error) -> Self {
        Self::Step {
            step: step.to_owned(),
            detail: String::new(),
            error,
        }
    }

    pub(super) fn namespaces(error: io::Error) -> Self {
        Self::Namespaces { error }
    }

    pub(super) fn not_mapped(tree: &Path) -> Self {
        Self::Step {
            step: "mounts".to_owned(),
            detail: format!("{} (id-mapped mount)", tree.display()),
            error: io::Error::from_raw_os_error(libc::EINVAL),
        }
    }

    /// Was something taken away after it was found and before it was mounted? Nothing has run then.
    #[must_use]
    pub fn is_of_what_is_gone(&self) -> bool {
        let gone = |error: &io::Error| matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESTALE));
        matches!(self, Self::Step { step, error, .. } if step == "mounts" && gone(error))
    }

    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Namespaces { error } if error.raw_os_error() == Some(libc::ENOSYS) => Some(NESTED.to_owned()),
            Self::Namespaces { error } => {
                let limited = || scarce(error).unwrap_or(USER_NAMESPACES).to_owned();
                Some(missing_capabilities().unwrap_or_else(limited))
            }
            Self::Unmapped { .. } => Some(
                "run it outside of that namespace (`unshare -r`, a container), or in one that keeps your own id (`unshare -c`)".to_owned(),
            ),
            Self::Step { .. } if self.is_of_what_is_gone() => Some(
                "it was taken away while the sandbox was being built, as a run that ends does with its own: start this one again"
                    .to_owned(),
            ),
            Self::Step { step, detail, error } => advice(step, detail, error),
            // In a copy a name can be made only for an owner and a group that the sandbox has.
            Self::Unprotected { path, error } if error.raw_os_error() == Some(libc::EOVERFLOW) => {
                let dir = path.parent().unwrap_or(path).display();
                Some(format!(
                    "the directory belongs to a user or group that the sandbox does not have, so that a copy of it cannot be written: \
                     make it your own (`chgrp -R \"$(id -g)\" {dir}`), or use `--workspace worktree`"
                ))
            }
            Self::Unprotected { error, .. } => {
                let closed = "the directory must be writable for you, or name it under `unprotect:` in the policy";
                Some(scarce(error).unwrap_or(closed).to_owned())
            }
            Self::StandardFile { way, .. } => Some(way.help().to_owned()),
            Self::Canary { .. } => Some(
                "something on this machine undoes a lock (a tracer, a kernel module, a patched kernel): report it; \
                 `--receipt off` would run the command all the same"
                    .to_owned(),
            ),
            Self::Unlimited { .. } => Some(
                "only a control group enforces it: run as root or where one is yours (`systemd-run --user --scope -p Delegate=yes …`), \
                 or leave the limit out"
                    .to_owned(),
            ),
            Self::Records(error) => Some(error.help().to_owned()),
            Self::Engine(_) => Some(
                "`docker info` or `podman info` says whether the engine runs and lets you use it; `--backend native` needs none".to_owned(),
            ),
            Self::Proc(_) => Some(
                "mount the one of this pid namespace (`mount -t proc proc /proc`; `unshare --mount-proc` does it)".to_owned(),
            ),
            Self::SyscallTable | Self::Lost | Self::CalledOff => None,
        }
    }
}

const USER_NAMESPACES: &str = "\
user namespaces are refused on this machine. One of:
  - sysctl -w kernel.unprivileged_userns_clone=1   (Debian's older switch)
  - sysctl -w user.max_user_namespaces=15000
  - an AppArmor profile for this program: `glee-supervisor doctor --apparmor` prints it
  - run as root: privileges are dropped before the command starts
  - `isolation: landlock` in the policy: weaker, and the report says what it does not give";

const NESTED: &str = "this seems to be the inside of a sandbox already: one cannot be built in another";

const NO_MOUNTS: &str = "\
something refuses mounts to this program: the caller's own Landlock domain (another sandbox, a service manager's) or a security
module. Run it outside of that; an ordinary user can choose `isolation: landlock` in the policy: weaker, and the report says what
it does not give";

const FOREIGN_MOUNTS: &str = "\
root of a user namespace (`unshare -r`, a container) has no say over mounts and owners outside of it: run it outside, as the owner
of the project, or in a namespace that keeps your own id (`unshare -c`)";

const LISTENED: &str = "\
somebody listens to this program's system calls already (a container manager, another sandbox), and the kernel allows one listener:
run it outside of that";

/// Where root may map owners but not make the namespace that says how.
const NO_HOLDER: &str = "\
the project is root's, and to show it to another user takes a user namespace, which is refused here. In a chroot nobody can make one: \
enter the directory by `pivot_root` or with a container engine; else see `glee-supervisor doctor`";

const NOT_MAPPED: &str = "\
the filesystem cannot map owners, which it takes to let the command write what is root's (overlayfs, the root of a container, cannot): \
give the project to an ordinary user (`chown`), or put it on a volume (ext4, XFS, Btrfs); `--policy restricted` only reads";

/// What root needs to build a sandbox, by the kernel's numbers.
const NEEDED: [(u32, &str); 3] = [(21, "CAP_SYS_ADMIN"), (6, "CAP_SETGID"), (7, "CAP_SETUID")];

/// For a root that was left without some of its powers, as in most containers.
fn missing_capabilities() -> Option<String> {
    let held = caps::effective().ok().filter(|_| process::geteuid() == 0)?;
    let missing: Vec<&str> = NEEDED
        .iter()
        .filter(|(number, _)| held & (1 << number) == 0)
        .map(|(_, name)| *name)
        .collect();
    let names = missing.join(", ");
    (!missing.is_empty()).then(|| {
        format!(
            "root has no {names} here: start this with it (`--cap-add` of a container engine), or run as an ordinary user, who \
             builds the sandbox in a user namespace of its own"
        )
    })
}

/// Is this the machine's own user namespace, in which every id is itself?
fn sees_all_ids() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

fn advice(step: &str, detail: &str, error: &io::Error) -> Option<String> {
    let refused = matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    if refused && let Some(missing) = missing_capabilities() {
        return Some(missing);
    }
    match step {
        "mounts" if refused && detail.starts_with("private space") => Some(USER_NAMESPACES.to_owned()),
        "mounts" if refused && detail.starts_with("attach private space") => Some(NO_MOUNTS.to_owned()),
        "mounts" if refused && detail.ends_with("(open_tree)") => Some(FOREIGN_MOUNTS.to_owned()),
        "id maps" | "setgroups" if refused => Some(USER_NAMESPACES.to_owned()),
        "mounts" if error.raw_os_error() == Some(libc::ELOOP) => {
            Some("a directory on the way became a symbolic link while the sandbox was being built".to_owned())
        }
        "mounts" if refused && detail.contains("id-mapped") && !sees_all_ids() => Some(FOREIGN_MOUNTS.to_owned()),
        "mounts" if refused && detail.contains("id-mapped") => Some(NO_HOLDER.to_owned()),
        "mounts" if detail.contains("id-mapped") => Some(NOT_MAPPED.to_owned()),
        "seccomp" if error.raw_os_error() == Some(libc::EBUSY) => Some(LISTENED.to_owned()),
        _ if scarce(error).is_some() => scarce(error).map(str::to_owned),
        "janitor" if error.raw_os_error() == Some(libc::ENOSYS) => Some(NESTED.to_owned()),
        "landlock ruleset" | "landlock" => Some("needs Linux 5.13 with Landlock enabled (`lsm=landlock,…`)".to_owned()),
        _ => None,
    }
}

/// What to do about a limit of the caller's own, whatever was being made when it was reached.
fn scarce(error: &io::Error) -> Option<&'static str> {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => {
            Some("raise the limit on open files (`ulimit -n`), or `limits.open_files` in the policy")
        }
        Some(libc::EFBIG) => {
            Some("raise the limit on the size of files (`ulimit -f`): the sandbox has files of its own")
        }
        Some(libc::EAGAIN) => Some("no more processes can be made: end some, or raise the limit on them (`ulimit -u`)"),
        Some(_) | None => None,
    }
}

impl From<Failure> for LaunchError {
    fn from(failure: Failure) -> Self {
        Self::Step {
            step: "mounts".to_owned(),
            detail: failure.what,
            error: failure.error,
        }
    }
}

impl From<Unprotected> for LaunchError {
    fn from(unprotected: Unprotected) -> Self {
        Self::Unprotected {
            path: unprotected.path,
            error: unprotected.error,
        }
    }
}
