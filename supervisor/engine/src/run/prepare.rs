//! Everything that is decided before a run: the policy, what the command gets, what lies where it points, and the plan.
//!
//! Changes nothing, but for what is put at the project's path between the decisions and the look.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::Network;
use glee_sandbox::lower::{self, Kernel, Request};
use glee_sandbox::plan::{SandboxPlan, Workspace};
use glee_sandbox::survey::{self, FoundCommand, Setting, find_command};
use glee_sandbox::sys::landlock;

use crate::agent::overlay::{self, Addresses, Overlay};
use crate::audit::guard;
use crate::audit::place::state_dir;
use crate::container;
use crate::egress::{self, Egress};
use crate::endpoint::{self, Endpoint};
use crate::host::people;
use crate::learn::run::DRAFT;
use crate::library::config_dir;
use crate::options::{Options, Purpose};
use crate::passed::{add, add_terminal};
use crate::project::{Scene, SceneError};
use crate::refusal::Refusal;
use crate::select::{self, Selected};
use crate::stage::{self, StageError};
use crate::tasks::job::Job;

/// Everything decided, nothing done.
#[derive(Debug)]
pub struct Prepared {
    pub selected: Selected,
    pub plan: SandboxPlan,
    /// Real, absolute.
    pub project: PathBuf,
    /// What the command gets because it is an agent's.
    pub overlay: Option<Overlay>,
    pub egress: Option<Egress>,
    /// Variables that do not pass.
    pub withheld: Vec<OsString>,
    pub home: Option<PathBuf>,
    /// What the caller should hear of what lies at the project's path.
    pub remark: Option<&'static str>,
    settled: Settled,
}

/// What is decided before anything is looked at.
#[derive(Debug)]
struct Settled {
    scene: Scene,
    command: FoundCommand,
    passed: Vec<(OsString, OsString)>,
    /// The file that the caller named as the policy.
    named: Option<PathBuf>,
}

impl Prepared {
    /// Looks at the host again: something that was there is gone. What was decided stays so.
    pub(super) fn look_again(&mut self, options: &Options, run_id: &str) -> Result<(), Refusal> {
        let (policy, overlay, egress) = (&self.selected.policy, self.overlay.as_ref(), self.egress.as_ref());
        self.plan = self.settled.look(options, run_id, policy, (overlay, egress))?;
        Ok(())
    }
}

/// From what was typed to a plan. Changes nothing.
pub fn prepare(options: &Options, run_id: &str) -> Result<Prepared, Refusal> {
    prepare_on(options, run_id, &mut |_, _, _| Ok(()), &mut |_| {})
}

/// What a run reaches of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Nothing,
    Something,
}

/// Called when all is decided but what the survey finds, to put in place what it is to see.
pub(super) type Set<'a> = &'a mut dyn FnMut(&ResolvedPolicy, &Scene, Reach) -> Result<(), StageError>;

/// As `prepare`; `refused` is called with the policy of a run that nothing comes of.
pub(super) fn prepare_on(
    options: &Options,
    run_id: &str,
    set: Set<'_>,
    refused: &mut dyn FnMut(&ResolvedPolicy),
) -> Result<Prepared, Refusal> {
    let scene = Scene::find(options.project.as_deref())?;
    let mut selected = select(options, &scene)?;
    lay_out(options, run_id, scene, &mut selected.policy, set)
        .inspect_err(|_| refused(&selected.policy))
        .map(|laid| Prepared {
            selected,
            plan: laid.plan,
            project: laid.settled.scene.project.clone(),
            overlay: laid.overlay,
            egress: laid.egress,
            withheld: laid.withheld,
            home: laid.settled.scene.home.clone(),
            remark: None,
            settled: laid.settled,
        })
}

/// The policy, with the caller's own word.
fn select(options: &Options, scene: &Scene) -> Result<Selected, Refusal> {
    let mut selected = select::select(options.policy.as_deref(), scene)?;
    // A lesson begins with a profile, and goes on with a file that has no name.
    let file = options.policy.as_deref().is_some_and(|name| name.contains('/'));
    if options.purpose == Purpose::Learning && file {
        selected.policy.name = DRAFT.to_owned();
    }
    select::add_flags(&mut selected, &options.flags, scene)?;
    container::choose(&mut selected.policy, options.backend);
    if options.workspace != Workspace::Shared {
        stage::check(options.workspace, &selected.policy)?;
        select::add_workspace(&mut selected, scene)?;
    }
    if let Some(job) = &options.job {
        selected.policy = job.narrow(selected.policy, scene)?;
    }
    Ok(selected)
}

/// What `Prepared` has besides the policy and the project.
struct Laid {
    plan: SandboxPlan,
    overlay: Option<Overlay>,
    egress: Option<Egress>,
    withheld: Vec<OsString>,
    settled: Settled,
}

fn lay_out(
    options: &Options,
    run_id: &str,
    scene: Scene,
    policy: &mut ResolvedPolicy,
    set: Set<'_>,
) -> Result<Laid, Refusal> {
    let name = options.command.first().ok_or(Refusal::NoCommand)?;
    let here = env::current_dir().map_err(SceneError::NoCwd)?;
    let found = || find_command(name, &here, env::var_os("PATH").as_deref());
    let command = container::command(policy, name, found)?;
    let key_file = options.key_file.as_deref();
    let endpoint = options.job.as_ref().map_or(Endpoint::Absent, |job| job.endpoint);
    let endpoint = endpoint.and(Endpoint::under(policy));
    let addresses = Addresses {
        broker: &egress::broker_url(),
        servers: &endpoint::servers(endpoint),
    };
    let overlay = overlay::lay(policy, &scene, &command, key_file, &addresses)?;
    if options.purpose == Purpose::Learning && policy.network == Network::Off {
        // Nothing more is allowed: a list of names with none in it.
        let (allow, deny) = (BTreeSet::new(), BTreeSet::new());
        policy.network = Network::Names { allow, deny };
    }
    let policy = &*policy;
    let egress = egress::plan(policy, overlay.as_ref(), endpoint)?;
    let (mut passed, mut withheld) = policy.env.apply(env::vars_os());
    add_terminal(&mut passed);
    withheld.retain(|name| !passed.iter().any(|(known, _)| known == name));
    add(&mut passed, egress.as_ref().map(Egress::env));
    add(&mut passed, overlay.as_ref().map(|overlay| overlay.env.clone()));
    let named = options.policy.as_deref().filter(|name| select::is_path(name));
    let named = named.map(|name| here.join(name));
    guard::check(policy, state_dir().as_deref())?;
    let reach = match (&egress, &policy.network) {
        (None, Network::Off) => Reach::Nothing,
        (Some(_), _) | (None, Network::Names { .. } | Network::Host) => Reach::Something,
    };
    set(policy, &scene, reach)?;
    let settled = Settled {
        scene,
        command,
        passed,
        named,
    };
    let plan = settled.look(options, run_id, policy, (overlay.as_ref(), egress.as_ref()))?;
    Ok(Laid {
        plan,
        overlay,
        egress,
        withheld,
        settled,
    })
}

impl Settled {
    /// From what lies there now to a plan.
    fn look(
        &self,
        options: &Options,
        run_id: &str,
        policy: &ResolvedPolicy,
        (overlay, egress): (Option<&Overlay>, Option<&Egress>),
    ) -> Result<SandboxPlan, Refusal> {
        let scene = &self.scene;
        let (config, state) = (config_dir(), state_dir());
        let (caller, homes) = people();
        let setting = Setting {
            project: &scene.project,
            // A worktree has only what was committed.
            cwd: if scene.cwd.is_dir() { &scene.cwd } else { &scene.project },
            home: scene.home.as_deref(),
            config: config.as_deref(),
            policy: self.named.as_deref(),
            state: state.as_deref(),
            report: options.report.as_deref(),
            key: options.key_file.as_deref(),
            caller,
            homes,
            command: self.command.clone(),
            links: scene.links.clone(),
        };
        let terrain = survey::survey(policy, setting)?;
        let kernel = Kernel {
            landlock_abi: landlock::abi(),
        };
        let files = egress::files(egress, policy, options.observe).into_iter();
        let files = files
            .chain(overlay.iter().flat_map(|overlay| overlay.files.clone()))
            .chain(options.job.iter().flat_map(Job::made));
        let home = overlay.and_then(|overlay| overlay.home.clone());
        let home = home.or_else(|| scene.home.clone());
        let request = Request {
            run_id: run_id.to_owned(),
            argv: options.command.clone(),
            env: self.passed.clone(),
            doors: egress.map(Egress::doors).unwrap_or_default(),
            home: overlay.and_then(|overlay| overlay.home.clone()),
            files: files.collect(),
            kept: options.job.iter().flat_map(|job| job.kept(home.as_deref())).collect(),
            receipt: options.receipt,
            observe: options.observe,
            workspace: options.workspace,
            records: options.records,
        };
        Ok(lower::lower(policy, &terrain, kernel, request)?)
    }
}
