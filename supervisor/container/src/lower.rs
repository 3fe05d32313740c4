//! From the sandbox's plan to container settings.
//!
//! Pure: reads no file, makes no syscall. The plan is the one that the native backend would carry out, so mounts, islands,
//! deny masks, environment and limits are the same data.

use std::path::PathBuf;

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::Runtime;
use glee_sandbox::contained::{Inside, Lookup, Made};
use glee_sandbox::plan::{Containment, Namespace, SandboxPlan};
use glee_sandbox::receipt::{Attempt, Canary};
use glee_sandbox::seccomp::{FilterSpec, Table};
use glee_sandbox::sys::landlock;
use glee_sandbox::sys::limits::Resource;

use crate::facts::{Facts, Rights};
use crate::gvisor;
use crate::layout::{Layout, is_engines};
use crate::ledger;
use crate::names;
use crate::plan::{ContainerPlan, GroupLimits, Image, Network, Users};
use crate::seccomp_json;

/// A clause or path for which the engine has no setting.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub enum Refused {
    #[error("cannot enforce `{clause}` ({origin}) in a container: {reason}")]
    Clause {
        clause: String,
        origin: String,
        reason: String,
        help: String,
    },
    #[error("cannot mount `{}` in a container: {reason}", .path.display())]
    Path { path: PathBuf, reason: &'static str },
    #[error("cannot use the image `{image}` ({origin}): {reason}")]
    Image {
        image: String,
        origin: String,
        reason: &'static str,
    },
    #[error("the built-in list of system calls is damaged")]
    SyscallTable,
}

impl Refused {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Clause { help, .. } => Some(help.clone()),
            Self::Path { .. } => Some("use `--backend native`, or leave the path out".to_owned()),
            Self::Image { .. } => {
                Some("name it by digest: `podman image inspect --format '{{.Digest}}' NAME` prints it".to_owned())
            }
            Self::SyscallTable => None,
        }
    }
}

/// Builds the container's plan.
pub fn lower(sandbox: &SandboxPlan, policy: &ResolvedPolicy, facts: &Facts) -> Result<ContainerPlan, Refused> {
    let image = policy.image.as_deref();
    if sandbox.containment != Containment::Namespaces {
        return Err(Refused::Clause {
            clause: "backend".to_owned(),
            origin: origin(policy, "backend"),
            reason: "`mode: inherit` and `isolation: landlock` mean the host's own file system".to_owned(),
            help: "use `isolation: namespaces`, or `--backend native`".to_owned(),
        });
    }
    gvisor::check(sandbox, policy, facts)?;
    if facts.rights == Rights::Daemon {
        nothing_appears(sandbox, policy)?;
    }
    let build = Layout::of(sandbox, image.is_some(), facts)?;
    let mounts = build.mounts;
    for (path, mount) in &mounts {
        names::check(facts.engine, path, mount)?;
    }
    for path in &build.masked {
        names::check_masked(facts.engine, path)?;
    }
    let limits = group_limits(sandbox, facts);
    let table = Table::builtin().map_err(|_| Refused::SyscallTable)?;
    let filter = gvisor::filter(sandbox.seccomp.ok_or(Refused::SyscallTable)?, policy.runtime);
    let network = if sandbox.namespaces.contains(&Namespace::Net) {
        Network::None
    } else {
        Network::Host
    };
    let (canaries, left_out) = gvisor::canaries(canaries(sandbox), policy.runtime);
    let mut plan = ContainerPlan {
        image: match image {
            Some(image) => pinned(image, policy)?,
            None => Image::Skeleton { links: build.links },
        },
        user: (sandbox.identity.uid, sandbox.identity.gid),
        users: match facts.rights {
            Rights::User => Users::KeepId,
            Rights::Root | Rights::Daemon => Users::Host,
        },
        rights: facts.rights,
        runtime: policy.runtime,
        network,
        limits,
        mounts,
        staged: build.staged,
        masked: build.masked,
        seccomp: seccomp_json::profile(&table, &filter),
        inside: inside(sandbox, build.made, &limits, policy, filter, canaries),
        left_out,
        missing_limits: Vec::new(),
        ledger: Vec::new(),
    };
    plan.missing_limits = ledger::missing(sandbox, &plan);
    plan.ledger = ledger::write(sandbox, &plan, facts, policy)?;
    Ok(plan)
}

/// Where the policy says it.
pub fn origin(policy: &ResolvedPolicy, key: &str) -> String {
    let written = policy.origins.get(key);
    written.map_or_else(|| policy.name.clone(), ToString::to_string)
}

/// Only root can mount something in a daemon's container while it runs.
fn nothing_appears(sandbox: &SandboxPlan, policy: &ResolvedPolicy) -> Result<(), Refused> {
    let Some(clause) = later(sandbox) else { return Ok(()) };
    let key = clause.split_once(": ").map_or(clause.as_str(), |(key, _)| key);
    Err(Refused::Clause {
        clause: clause.clone(),
        origin: origin(policy, key),
        reason: "only root can cover what appears under that name while a daemon's container runs".to_owned(),
        help: "run as root, or use `--backend podman` or `native`".to_owned(),
    })
}

/// The first clause by which something is covered when it appears.
pub(crate) fn later(sandbox: &SandboxPlan) -> Option<&String> {
    let names = sandbox.watches.iter().map(|watch| &watch.clause);
    names
        .chain(sandbox.glob_watches.iter().map(|watch| &watch.clause))
        .min()
}

/// `name@sha256:…`, or an image's own id.
fn pinned(image: &str, policy: &ResolvedPolicy) -> Result<Image, Refused> {
    let digest = image.rsplit_once('@').map_or(image, |(_, digest)| digest);
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    if hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(Image::Pinned(image.to_owned()))
    } else {
        Err(Refused::Image {
            image: image.to_owned(),
            origin: origin(policy, "image"),
            reason: "it is not pinned by a digest, so it may be another one tomorrow",
        })
    }
}

/// Those of the native sandbox. The engine's `/sys` is there and covered: what is tried is something in it.
fn canaries(sandbox: &SandboxPlan) -> Vec<Canary> {
    let mut canaries = sandbox.canaries.clone();
    for canary in &mut canaries {
        if let Attempt::Read(path) = &mut canary.attempt
            && is_engines(path)
        {
            path.push("kernel");
        }
    }
    canaries
}

fn group_limits(sandbox: &SandboxPlan, facts: &Facts) -> GroupLimits {
    use glee_sandbox::cgroup::Controller;
    let has = |controller| facts.controllers.contains(&controller);
    GroupLimits {
        memory_bytes: sandbox.memory_bytes.filter(|_| has(Controller::Memory)),
        // Our own pid 1 is counted too, as in the native sandbox.
        pids: sandbox.cgroup.pids.filter(|_| has(Controller::Pids)),
        cpu_millis: sandbox.cgroup.cpu_millis.filter(|_| has(Controller::Cpu)),
    }
}

fn inside(
    sandbox: &SandboxPlan,
    made: Vec<Made>,
    limits: &GroupLimits,
    policy: &ResolvedPolicy,
    filter: FilterSpec,
    canaries: Vec<Canary>,
) -> Inside {
    let pinned = policy.image.is_some();
    let mut landlock: Vec<_> = sandbox
        .landlock
        .iter()
        .flat_map(|plan| &plan.rules)
        .map(|(at, rights)| (at.clone().into_os_string(), *rights))
        .collect();
    if pinned {
        // The image was chosen by the policy, and what of the host lies over it is decided by mounts.
        let read = landlock::READ_FILE | landlock::READ_DIR | landlock::EXECUTE;
        landlock.push(("/".into(), read));
    }
    Inside {
        program: sandbox.command.program.clone().into_os_string(),
        lookup: if pinned { Lookup::Inside } else { Lookup::AsPlanned },
        argv: sandbox.command.argv.clone(),
        env: sandbox.command.env.clone(),
        cwd: sandbox.command.cwd.clone().into_os_string(),
        uid: sandbox.identity.uid,
        gid: sandbox.identity.gid,
        made,
        // Where ids are the host's, a count by user would mix this run with every other one of that user.
        rlimits: sandbox
            .rlimits
            .iter()
            .copied()
            .filter(|(resource, _)| *resource != Resource::Nproc || limits.pids.is_none())
            .collect(),
        kernel: gvisor::kernel(policy.runtime),
        landlock: (policy.runtime == Runtime::Default).then_some(landlock),
        filter,
        canaries,
        bait: None,
        deadline: sandbox.deadline,
        grace: sandbox.grace,
        watched_memory: sandbox.memory_bytes.filter(|_| limits.memory_bytes.is_none()),
        terminals: [false; 3],
        size: None,
        modes: None,
        ignored: Vec::new(),
        umask: 0o022,
    }
}
