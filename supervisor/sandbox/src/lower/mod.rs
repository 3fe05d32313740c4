//! From a resolved policy and what the host looks like to a plan.
//!
//! Pure: reads no file, makes no syscall. A clause that no step enforces cannot be built into a plan.
//! INVARIANT (parents first): steps are sorted by path, so that nothing is mounted below a path mounted later.

mod base;
mod covers;
mod deny;
mod grants;
mod ledger;
mod rights;
mod trees;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use glee_policy::resolved::{Isolation, Mode, Network};
use glee_policy::{Origin, ResolvedPolicy, Source};

pub(crate) use trees::idmap;

use crate::cgroup;
use crate::plan::{
    CommandPlan, Containment, Doors, Identity, Insisted, KeptDir, MadeFile, Namespace, Records, SandboxPlan, Workspace,
};
use crate::receipt;
use crate::seccomp::{DenialAction, FilterSpec, NetworkRule, Observe, SocketRule};
use crate::survey::Terrain;
use crate::sys::limits::{self, Resource};

/// The uid and gid of a sandbox started by root on a project that is root's own. Nobody's on a usual system.
pub const SANDBOX_ID: u32 = 60_900;

/// Time between SIGTERM and SIGKILL at the deadline.
const GRACE: Duration = Duration::from_secs(2);

/// Private space where the policy sets no bound.
const UNBOUNDED_DISK_MB: u64 = 1 << 20;

/// What this machine can do, asked by trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    pub landlock_abi: u32,
}

/// The run itself: what no policy says.
#[derive(Debug, Clone)]
pub struct Request {
    pub run_id: String,
    pub argv: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    /// Ways out of the network namespace.
    pub doors: Doors,
    /// A private home in place of the caller's own, which is granted and stays as it is.
    pub home: Option<PathBuf>,
    /// Made for this run, in place of what the host has there.
    pub files: Vec<MadeFile>,
    /// Kept beyond the run, in a private place.
    pub kept: Vec<KeptDir>,
    pub receipt: receipt::Wish,
    /// How much of what the command tries is looked at for the report.
    pub observe: Observe,
    /// What lies at the project's path. Not the project itself: then it is in place already.
    pub workspace: Workspace,
    pub records: Records,
}

/// A clause that cannot be enforced here.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum LowerError {
    #[error("cannot enforce `{clause}` ({origin}): {reason}")]
    Unenforceable {
        clause: String,
        origin: String,
        reason: String,
        help: String,
    },
}

impl LowerError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &str {
        match self {
            Self::Unenforceable { help, .. } => help,
        }
    }

    fn new(clause: &str, origin: impl ToString, reason: &str, help: &str) -> Self {
        Self::Unenforceable {
            clause: clause.to_owned(),
            origin: origin.to_string(),
            reason: reason.to_owned(),
            help: help.to_owned(),
        }
    }
}

/// Builds the plan.
pub fn lower(
    policy: &ResolvedPolicy,
    terrain: &Terrain,
    kernel: Kernel,
    request: Request,
) -> Result<SandboxPlan, LowerError> {
    let containment = containment(policy, kernel)?;
    check_workspace(request.workspace, containment)?;
    check_disk(policy, containment)?;
    grants::check(policy, terrain, containment)?;
    deny::check(policy, terrain, containment)?;
    let identity = identity(terrain, containment);
    let trees = match containment {
        Containment::Namespaces => trees::lower(policy, terrain, &identity, &request),
        Containment::Landlock | Containment::Inherit => trees::Trees::default(),
    };
    let landlock = match containment {
        Containment::Namespaces => Some(rights::in_namespaces(policy, terrain, &trees)),
        Containment::Landlock => Some(rights::on_the_host(policy, terrain)?),
        Containment::Inherit => None,
    };
    let limits = &policy.limits;
    let mut plan = SandboxPlan {
        namespaces: namespaces(policy, containment),
        cgroup: cgroup::Request {
            run: request.run_id,
            memory_mb: limits.memory_mb,
            pids: limits.pids,
            cpu_millis: limits.cpu_millis,
            tree: match containment {
                Containment::Namespaces => cgroup::Tree::Namespace,
                Containment::Landlock | Containment::Inherit => cgroup::Tree::Loose,
            },
        },
        insisted: insisted(policy, containment),
        seccomp: seccomp(policy, containment, trees.observe(request.observe)),
        mounts: trees.steps,
        doors: request.doors,
        git: terrain.before.clone(),
        watches: trees.watches,
        glob_watches: if containment == Containment::Namespaces {
            terrain.glob_watches.clone()
        } else {
            Vec::new()
        },
        ways: if containment == Containment::Namespaces {
            terrain.ways.clone()
        } else {
            Vec::new()
        },
        placeholders: trees.placeholders,
        private_bytes: disk_bytes(policy),
        rlimits: rlimits(policy, containment),
        landlock,
        records: request.records,
        receipt: request.receipt,
        canaries: Vec::new(),
        left_out: Vec::new(),
        command: CommandPlan {
            program: terrain.command.program.clone(),
            argv: request.argv,
            env: base::named(request.env, &identity, policy),
            cwd: terrain.cwd.clone(),
        },
        deadline: policy.max_runtime,
        grace: GRACE,
        memory_bytes: limits.memory_mb.map(|mb| mb.saturating_mul(1 << 20)),
        ledger: Vec::new(),
        omitted: trees.omitted,
        workspace: request.workspace,
        identity,
        containment,
    };
    plan.ledger = ledger::write(policy, &plan);
    plan.canaries = receipt::canaries(&plan, kernel.landlock_abi);
    plan.left_out = receipt::left_out(&plan);
    Ok(plan)
}

/// Limits of a person's or a project's own that nothing but a control group enforces: memory has its watchdog, and processes are
/// counted per user namespace where there is one. Those of the built-in profiles are given where they can be had.
fn insisted(policy: &ResolvedPolicy, containment: Containment) -> Vec<Insisted> {
    let limits = &policy.limits;
    let written = |name: &str| written(policy, name);
    let insisted = |name: &str, limit, value: String| {
        Some(Insisted {
            limit,
            clause: format!("limits.{name}: {value}"),
            origin: written(name)?.to_string(),
        })
    };
    // To know how many there are takes a look at half a dozen files: only for who wrote a number.
    let cpus = limits.cpu_millis.filter(|_| written("cpus").is_some());
    let cpus = cpus.filter(|millis| *millis < machine_millis());
    let cpus = cpus.and_then(|millis| {
        let value = (millis as f64 / 1000.0).to_string();
        insisted("cpus", cgroup::Controller::Cpu, value)
    });
    let pids = limits.pids.filter(|_| containment != Containment::Namespaces);
    let pids = pids.and_then(|most| insisted("pids", cgroup::Controller::Pids, most.to_string()));
    cpus.into_iter().chain(pids).collect()
}

/// Where a limit stands, if a person or a project wrote it.
fn written<'a>(policy: &'a ResolvedPolicy, name: &str) -> Option<&'a Origin> {
    let origin = policy.origins.get(&format!("limits.{name}"));
    origin.filter(|origin| match origin.source {
        Source::Builtin(_) => false,
        Source::File(_) | Source::Flag(_) => true,
    })
}

/// Only what is private has a size, and without namespaces nothing is.
fn check_disk(policy: &ResolvedPolicy, containment: Containment) -> Result<(), LowerError> {
    let reason = match containment {
        Containment::Namespaces => return Ok(()),
        Containment::Landlock => "`isolation: landlock` has no private space whose size could be bounded",
        Containment::Inherit => "`mode: inherit` has no private space whose size could be bounded",
    };
    let (Some(most), Some(origin)) = (policy.limits.disk_mb, written(policy, "disk_mb")) else {
        return Ok(());
    };
    let help = "leave it out (`file_size_mb` bounds each file), or use `isolation: namespaces`";
    Err(LowerError::new(
        &format!("limits.disk_mb: {most}"),
        origin,
        reason,
        help,
    ))
}

fn machine_millis() -> u64 {
    std::thread::available_parallelism().map_or(u64::MAX, |count| count.get() as u64 * 1000)
}

fn containment(policy: &ResolvedPolicy, kernel: Kernel) -> Result<Containment, LowerError> {
    let origin = |key: &str| {
        policy
            .origins
            .get(key)
            .map(ToString::to_string)
            .unwrap_or_else(|| policy.name.clone())
    };
    if policy.mode == Mode::Inherit {
        if let Network::Names { .. } = policy.network {
            let help = "use `mode: restricted`, or `network: true` for the host's whole network";
            let reason = "`mode: inherit` has no network namespace of its own";
            return Err(LowerError::new("network.allow", origin("network"), reason, help));
        }
        return Ok(Containment::Inherit);
    }
    if kernel.landlock_abi == 0 {
        let help = "needs Linux 5.13 with Landlock enabled (`lsm=landlock,…`)";
        return Err(LowerError::new(
            "fs",
            origin("fs.read"),
            "this kernel has no Landlock",
            help,
        ));
    }
    Ok(match policy.isolation {
        Isolation::Namespaces => Containment::Namespaces,
        Isolation::Landlock => Containment::Landlock,
    })
}

/// How much a command may write where it has something of its own.
#[must_use]
pub fn disk_bytes(policy: &ResolvedPolicy) -> u64 {
    policy
        .limits
        .disk_mb
        .unwrap_or(UNBOUNDED_DISK_MB)
        .saturating_mul(1 << 20)
}

/// A copy is no protection from a command that can reach the project some other way.
fn check_workspace(workspace: Workspace, containment: Containment) -> Result<(), LowerError> {
    let (clause, help) = match workspace {
        Workspace::Shared => return Ok(()),
        Workspace::Cow => (
            "--workspace cow",
            "leave it out, or use a policy with `isolation: namespaces`",
        ),
        Workspace::Worktree => (
            "--workspace worktree",
            "leave it out, or use a policy with `isolation: namespaces`",
        ),
    };
    let reason = match containment {
        Containment::Namespaces => return Ok(()),
        Containment::Landlock => {
            "`isolation: landlock` has no root of its own, and the project could be reached around the copy"
        }
        Containment::Inherit => "`mode: inherit` contains nothing, and the project could be reached around the copy",
    };
    Err(LowerError::new(clause, "the command line", reason, help))
}

fn identity(terrain: &Terrain, containment: Containment) -> Identity {
    let caller = &terrain.caller;
    if caller.uid != 0 || containment != Containment::Namespaces {
        return Identity {
            uid: caller.uid,
            gid: caller.gid,
            user: caller.user.clone(),
            from_root: false,
        };
    }
    identity_on(terrain.project_owner)
}

/// Who a command is that root started on somebody's project.
pub(crate) fn identity_on((uid, gid): (u32, u32)) -> Identity {
    let or_ours = |id: u32| if id == 0 { SANDBOX_ID } else { id };
    if uid == 0 {
        Identity {
            uid: SANDBOX_ID,
            gid: SANDBOX_ID,
            user: "sandbox".to_owned(),
            from_root: true,
        }
    } else {
        Identity {
            uid,
            gid: or_ours(gid),
            user: "sandbox".to_owned(),
            from_root: true,
        }
    }
}

fn namespaces(policy: &ResolvedPolicy, containment: Containment) -> Vec<Namespace> {
    match containment {
        Containment::Landlock | Containment::Inherit => Vec::new(),
        Containment::Namespaces => {
            let mut list = vec![
                Namespace::User,
                Namespace::Mount,
                Namespace::Pid,
                Namespace::Ipc,
                Namespace::Uts,
            ];
            match policy.network {
                Network::Off | Network::Names { .. } => list.push(Namespace::Net),
                Network::Host => {}
            }
            list.push(Namespace::Cgroup);
            list
        }
    }
}

fn seccomp(policy: &ResolvedPolicy, containment: Containment, observe: Observe) -> Option<FilterSpec> {
    let (network, sockets) = match containment {
        Containment::Inherit => return None,
        Containment::Landlock => (NetworkRule::LoopbackOnly, SocketRule::NoSockets),
        Containment::Namespaces => match policy.network {
            Network::Off | Network::Names { .. } => (NetworkRule::LoopbackOnly, SocketRule::Namespaced),
            Network::Host => (NetworkRule::Host, SocketRule::Namespaced),
        },
    };
    Some(FilterSpec {
        network,
        sockets,
        denial: DenialAction::Notify,
        observe,
        debug: false,
    })
}

fn rlimits(policy: &ResolvedPolicy, containment: Containment) -> Vec<(Resource, u64)> {
    let limits = &policy.limits;
    let mut list = Vec::new();
    if containment != Containment::Inherit {
        list.extend([(Resource::Core, 0), (Resource::Sigpending, limits::PENDING)]);
        // Some groups (`audio`, `pipewire`) may have real time, which no control group's share of the processors holds.
        list.extend([(Resource::Nice, 0), (Resource::Rtprio, 0)]);
    }
    list.extend(limits.open_files.map(|n| (Resource::Nofile, n)));
    list.extend(
        limits
            .file_size_mb
            .map(|mb| (Resource::Fsize, mb.saturating_mul(1 << 20))),
    );
    if containment == Containment::Namespaces {
        // Counted per user namespace, so it is this sandbox's own bound, also where no cgroup can be had.
        list.extend(limits.pids.map(|n| (Resource::Nproc, n)));
    }
    list
}
