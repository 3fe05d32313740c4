//! The coverage ledger of a container: for each clause of the policy, the setting that enforces it.
//!
//! Pure. The clauses are those of the sandbox's own ledger. One that is not known here, or for which this engine has no setting,
//! is refused by name.

use glee_policy::resolved::Runtime;
use glee_policy::{ResolvedPolicy, Source};
use glee_sandbox::plan::{Coverage, SandboxPlan};

use crate::facts::{Facts, Rights};
use crate::lower::Refused;
use crate::plan::{ContainerPlan, Image, Network};

/// What enforces one clause, and what its reader should know.
struct Row {
    by: Vec<&'static str>,
    note: Option<String>,
}

impl Row {
    fn by(by: &[&'static str]) -> Self {
        Self {
            by: by.to_vec(),
            note: None,
        }
    }

    fn noting(mut self, note: &str) -> Self {
        self.note = Some(note.to_owned());
        self
    }
}

pub(crate) fn write(
    sandbox: &SandboxPlan,
    plan: &ContainerPlan,
    facts: &Facts,
    policy: &ResolvedPolicy,
) -> Result<Vec<Coverage>, Refused> {
    sandbox
        .ledger
        .iter()
        .map(|coverage| {
            let row = row(coverage, plan, facts, policy).map_err(|(reason, help)| Refused::Clause {
                clause: coverage.clause.clone(),
                origin: coverage.origin.clone(),
                reason: reason.to_owned(),
                help: help.to_owned(),
            })?;
            Ok(Coverage {
                clause: coverage.clause.clone(),
                origin: coverage.origin.clone(),
                enforced_by: row.by,
                note: row.note,
            })
        })
        .collect()
}

/// Limits that no group of the engine carries: enforced by our pid 1, and named in the report.
pub(crate) fn missing(sandbox: &SandboxPlan, plan: &ContainerPlan) -> Vec<String> {
    let mut list = Vec::new();
    if plan.inside.watched_memory.is_some() {
        list.push("memory: the engine cannot limit it here; a watchdog does".to_owned());
    }
    if sandbox.cgroup.pids.is_some() && plan.limits.pids.is_none() {
        list.push("pids: the engine cannot limit them here; RLIMIT_NPROC of its user namespace does".to_owned());
    }
    if sandbox.cgroup.cpu_millis.is_some() && plan.limits.cpu_millis.is_none() {
        list.push("cpu: the engine cannot limit it here".to_owned());
    }
    list
}

type Why = (&'static str, &'static str);

const ORDINARY: &str = "an ordinary user's engine has no such control group here, and would ignore it with a warning";

/// A bound that nobody asked for: a built-in profile has it for machines that can enforce it.
fn is_default(policy: &ResolvedPolicy, key: &str) -> bool {
    let origin = policy.origins.get(key);
    origin.is_some_and(|origin| matches!(origin.source, Source::Builtin(_)))
}

fn row(coverage: &Coverage, plan: &ContainerPlan, facts: &Facts, policy: &ResolvedPolicy) -> Result<Row, Why> {
    let (key, _) = coverage.clause.split_once(": ").unwrap_or((&coverage.clause, ""));
    let note = coverage.note.as_deref();
    let row = match key {
        "fs.read" | "fs.write" => {
            let row = match plan.runtime {
                Runtime::Default => Row::by(&["bind mount", "Landlock"]),
                Runtime::Runsc => Row::by(&["bind mount"]),
            };
            match (note, &plan.image) {
                (Some(note), _) => row.noting(note),
                (None, Image::Pinned(_)) => row.noting("programs are the image's"),
                (None, Image::Skeleton { .. }) => row,
            }
        }
        "fs.deny" => match note {
            Some(note) => Row::by(&coverage.enforced_by).noting(note),
            None => Row::by(&["mount over it"]),
        },
        "network" => match plan.network {
            Network::None => Row::by(&["network mode `none`", "seccomp"]),
            Network::Host => Row::by(&["network mode `host`"]),
        },
        "network.allow" | "network.deny" => match facts.rights {
            Rights::Root | Rights::User => Row::by(&["network mode `none`", "companion", "seccomp"]),
            Rights::Daemon => {
                let help = "run as root, use `--backend podman` or `native`, or `network: false`";
                return Err((
                    "only root can open doors in the network namespace of a daemon's container",
                    help,
                ));
            }
        },
        "env" => Row::by(&["environment of exec"]).noting("loader and interpreter variables never pass"),
        "max_runtime_mins" => {
            Row::by(&["deadline"]).noting("ours: the engine's own timer has no exit status of its own")
        }
        "limits.memory_mb" => match plan.limits.memory_bytes {
            Some(_) => Row::by(&["control group of the container"]),
            None => Row::by(&["watchdog"]).noting(ORDINARY),
        },
        "limits.pids" => match plan.limits.pids {
            Some(_) => Row::by(&["control group of the container"]),
            None => Row::by(&["RLIMIT_NPROC"]).noting("counted in the container's own user namespace"),
        },
        "limits.cpus" => match plan.limits.cpu_millis {
            Some(_) => Row::by(&["control group of the container"]),
            None if is_default(policy, key) => Row::by(&[])
                .noting("a built-in profile's bound, left out and reported: an ordinary user's engine has none here"),
            None => {
                return Err((ORDINARY, "run as root, or say `limits: {cpus: none}` in the policy"));
            }
        },
        "limits.open_files" => Row::by(&["RLIMIT_NOFILE"]),
        "limits.file_size_mb" => Row::by(&["RLIMIT_FSIZE"]),
        "limits.disk_mb" => {
            Row::by(&["size of each private tmpfs"]).noting("divided among HOME, /tmp, /var/tmp and /dev/shm")
        }
        "limits.output_kb" => Row::by(&["capture"]).noting("where output is captured; `run` passes it through"),
        _ => return Err(("no setting of the engine enforces it", "use `--backend native`")),
    };
    Ok(row)
}
