//! A run in a container, as the sandbox's launcher sees it.

use std::path::{Path, PathBuf};

use glee_policy::resolved::Runtime;
use glee_sandbox::cgroup;
use glee_sandbox::contained::{Inside, PROGRAM};
use glee_sandbox::launch::LaunchError;
use glee_sandbox::launch::vessel::{Line, Vessel};
use glee_sandbox::plan::{Namespace, SandboxPlan};

use crate::carry::Errand;
use crate::facts::{Engine, Rights};
use crate::plan::{ContainerPlan, Mount, Network, Source, Users};
use crate::rundir::{RunDir, RunDirError};

/// Everything decided, and the run's directory made.
#[derive(Debug)]
pub struct Container {
    plan: ContainerPlan,
    sandbox: SandboxPlan,
    dir: RunDir,
    engine: Engine,
    run_id: String,
}

impl Container {
    pub fn new(plan: ContainerPlan, sandbox: &SandboxPlan, engine: Engine, run_id: &str) -> Result<Self, RunDirError> {
        Ok(Self {
            sandbox: SandboxPlan {
                canaries: plan.inside.canaries.clone(),
                left_out: [sandbox.left_out.as_slice(), &plan.left_out].concat(),
                seccomp: Some(plan.inside.filter),
                landlock: sandbox.landlock.clone().filter(|_| plan.inside.landlock.is_some()),
                ..sandbox.clone()
            },
            plan,
            dir: RunDir::new(run_id)?,
            engine,
            run_id: run_id.to_owned(),
        })
    }

    /// The plan with what is tried in a container.
    #[must_use]
    pub fn sandbox(&self) -> &SandboxPlan {
        &self.sandbox
    }

    /// Below something that is covered as a whole.
    fn is_hidden(&self, at: &Path) -> bool {
        at.ancestors().skip(1).any(|above| {
            let mount = self.plan.mounts.get(above);
            matches!(
                mount,
                Some(Mount::Bind {
                    source: Source::Nothing(_),
                    ..
                })
            )
        })
    }
}

impl Vessel for Container {
    fn carry(&self, line: &Line) {
        let errand = Errand {
            plan: &self.plan,
            sandbox: &self.sandbox,
            dir: &self.dir,
            engine: self.engine,
            run_id: &self.run_id,
        };
        errand.run(line);
    }

    fn stage(&self) -> Result<(), LaunchError> {
        self.dir.stage(&self.plan)
    }

    fn socket(&self) -> PathBuf {
        self.dir.socket()
    }

    fn inside(&self) -> &Inside {
        &self.plan.inside
    }

    fn expected(&self) -> Vec<(PathBuf, PathBuf)> {
        self.plan
            .mounts
            .iter()
            .filter(|(at, _)| !self.is_hidden(at))
            .filter_map(|(at, mount)| match mount {
                Mount::Bind {
                    source: Source::Host(host) | Source::Mapped { host, .. },
                    ..
                } => Some((host.clone(), at.clone())),
                Mount::Bind {
                    source: Source::Program,
                    ..
                } => Some((self.dir.source(&Source::Program), PROGRAM.into())),
                Mount::Bind {
                    source: Source::Staged(_) | Source::Nothing(_),
                    ..
                }
                | Mount::Private { .. } => None,
            })
            .collect()
    }

    fn has_network(&self) -> bool {
        // Only root gets into that of a daemon's container; a policy that needs doors there was refused.
        let enters = match self.plan.rights {
            Rights::Root | Rights::User => true,
            Rights::Daemon => false,
        };
        enters && self.plan.network == Network::None && self.plan.runtime == Runtime::Default
    }

    fn namespaces(&self) -> Vec<Namespace> {
        let mut list = vec![Namespace::Mount, Namespace::Pid, Namespace::Ipc, Namespace::Uts];
        if self.plan.users == Users::KeepId {
            list.push(Namespace::User);
        }
        if self.plan.network == Network::None {
            list.push(Namespace::Net);
        }
        list
    }

    fn limits(&self) -> cgroup::Request {
        let limits = &self.plan.limits;
        cgroup::Request {
            run: self.run_id.clone(),
            memory_mb: limits.memory_bytes.map(|bytes| bytes >> 20),
            pids: limits.pids,
            cpu_millis: limits.cpu_millis,
            tree: cgroup::Tree::Namespace,
        }
    }

    fn missing_limits(&self) -> Vec<String> {
        self.plan.missing_limits.clone()
    }
}
