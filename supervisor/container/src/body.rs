//! The plan in the words of the engine's API.
//!
//! Pure. Podman and Docker share most of them; where they differ, it is said here and nowhere else.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, MountBindOptions, MountType, ResourcesUlimits,
};
use glee_policy::resolved::Runtime;
use glee_sandbox::contained::{NAME, PROGRAM};
use glee_sandbox::sys::limits::{Resource, hard};

use crate::facts::Engine;
use crate::names::{self, Form};
use crate::plan::{Access, ContainerPlan, Mount, Network, Users};
use crate::rundir::RunDir;

/// Labels by which the next run knows what a dead supervisor left.
pub(crate) const LABEL_RUN: &str = "glee.run";
pub(crate) const LABEL_OWNER: &str = "glee.owner";

pub(crate) fn body(
    plan: &ContainerPlan,
    dir: &RunDir,
    engine: Engine,
    image: &str,
    labels: HashMap<String, String>,
    whole: &BTreeSet<PathBuf>,
) -> ContainerCreateBody {
    let (uid, gid) = plan.user;
    ContainerCreateBody {
        image: Some(image.to_owned()),
        // The name is how our program knows that it is pid 1 here; it says nothing about the command.
        entrypoint: Some(vec![PROGRAM.to_owned()]),
        cmd: Some(vec![NAME.to_owned()]),
        hostname: (plan.network == Network::None).then(|| "sandbox".to_owned()),
        user: Some(format!("{uid}:{gid}")),
        working_dir: Some("/".to_owned()),
        env: Some(Vec::new()),
        labels: Some(labels),
        // An image's own would be started by the engine, beside pid 1 and without our filter and Landlock.
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..HealthConfig::default()
        }),
        // Else it is `/dev/null`, whose owner gVisor changes, on the whole machine.
        open_stdin: (plan.runtime == Runtime::Runsc).then_some(true),
        host_config: Some(host(plan, dir, engine, whole)),
        ..ContainerCreateBody::default()
    }
}

fn host(plan: &ContainerPlan, dir: &RunDir, engine: Engine, whole: &BTreeSet<PathBuf>) -> HostConfig {
    let masked: Vec<String> = plan.masked.iter().filter_map(|path| text(path)).collect();
    let mut security = vec!["no-new-privileges".to_owned(), "label=disable".to_owned()];
    match engine {
        Engine::Podman => {
            security.extend(text(&dir.seccomp()).map(|path| format!("seccomp={path}")));
            security.push(format!("mask={}", masked.join(":")));
        }
        Engine::Docker => security.push(format!("seccomp={}", plan.seccomp)),
    }
    let signed = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let memory = plan.limits.memory_bytes.map(signed);
    let (binds, mounts) = mounts(plan, dir, engine, whole);
    HostConfig {
        network_mode: Some(match plan.network {
            Network::None => "none".to_owned(),
            Network::Host => "host".to_owned(),
        }),
        userns_mode: match plan.users {
            Users::Host => None,
            Users::KeepId => Some("keep-id".to_owned()),
        },
        readonly_rootfs: Some(true),
        cap_drop: Some(vec!["ALL".to_owned()]),
        security_opt: Some(security),
        masked_paths: (engine == Engine::Docker).then_some(masked),
        ipc_mode: Some("private".to_owned()),
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        memory,
        memory_swap: memory,
        pids_limit: plan.limits.pids.map(signed),
        // In billionths.
        nano_cpus: plan
            .limits
            .cpu_millis
            .map(|millis| signed(millis.saturating_mul(1_000_000))),
        ulimits: Some(ulimits()),
        tmpfs: Some(private(plan, engine)),
        binds: Some(binds),
        mounts: Some(mounts),
        ..HostConfig::default()
    }
}

/// An engine's defaults may be above what it can set here, and it lowers its own to this number. The policy's are set by
/// pid 1.
const MOST: u64 = 32_768;

fn ulimits() -> Vec<ResourcesUlimits> {
    [("nofile", Resource::Nofile), ("nproc", Resource::Nproc)]
        .into_iter()
        .filter_map(|(name, resource)| {
            let most = i64::try_from(hard(resource).ok()?.min(MOST)).ok()?;
            Some(ResourcesUlimits {
                name: Some(name.to_owned()),
                soft: Some(most),
                hard: Some(most),
            })
        })
        .collect()
}

fn private(plan: &ContainerPlan, engine: Engine) -> HashMap<String, String> {
    let options = match engine {
        // Without copying up what lies below, which is nothing.
        Engine::Podman => "rw,nosuid,nodev,exec,notmpcopyup",
        Engine::Docker => "rw,nosuid,nodev,exec",
    };
    plan.mounts
        .iter()
        .filter_map(|(at, mount)| match mount {
            Mount::Private { bytes } => Some((text(at)?, format!("{options},mode=1777,size={bytes}"))),
            Mount::Bind { .. } => None,
        })
        .collect()
}

/// Binds as lines where they can say more (`nosuid`, `nodev`), else as objects.
fn mounts(
    plan: &ContainerPlan,
    dir: &RunDir,
    engine: Engine,
    whole: &BTreeSet<PathBuf>,
) -> (Vec<String>, Vec<bollard::models::Mount>) {
    let (mut lines, mut objects) = (Vec::new(), Vec::new());
    for (at, mount) in &plan.mounts {
        let Mount::Bind { source, access } = mount else {
            continue;
        };
        let (Some(from), Some(to)) = (text(&dir.source(source)), text(at)) else {
            continue;
        };
        let alone = !whole.contains(at);
        if names::form(engine, &from, &to) == Form::Line {
            let access = match access {
                Access::ReadOnly => "ro",
                Access::ReadWrite => "rw",
            };
            let bind = if alone { "bind" } else { "rbind" };
            lines.push(format!("{from}:{to}:{access},nosuid,nodev,{bind},rprivate"));
        } else {
            objects.push(bollard::models::Mount {
                typ: Some(MountType::BIND),
                source: Some(from),
                target: Some(to),
                read_only: Some(*access == Access::ReadOnly),
                bind_options: Some(MountBindOptions {
                    non_recursive: Some(alone),
                    ..MountBindOptions::default()
                }),
                ..bollard::models::Mount::default()
            });
        }
    }
    (lines, objects)
}

/// `lower` has refused every other name.
fn text(path: &Path) -> Option<String> {
    path.to_str().map(str::to_owned)
}
