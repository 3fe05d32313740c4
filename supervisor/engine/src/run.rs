//! One run, from what the caller typed to the report.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use glee_container::Container;
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode, Network};
use glee_sandbox::launch::vessel::Vessel;
use glee_sandbox::launch::{self, Aid, Judge, LaunchError, Leaving, Porter, Serve};
use glee_sandbox::lower::{self, Kernel, Request};
pub use glee_sandbox::plan::Records;
use glee_sandbox::plan::{SandboxPlan, Workspace};
pub use glee_sandbox::seccomp::Observe;
use glee_sandbox::survey::{self, Setting, find_command};
use glee_sandbox::sys::landlock;

use crate::agent::overlay::{self, Addresses, Overlay};
use crate::audit::LogError;
use crate::audit::guard;
use crate::audit::place::state_dir;
use crate::audit::record::Recorder;
use crate::container;
use crate::egress::{self, Egress};
use crate::endpoint::{self, Endpoint};
use crate::host::people;
use crate::later::Later;
use crate::learn::run::DRAFT;
use crate::library::config_dir;
pub use crate::options::{Options, Purpose};
use crate::passed::{add, add_terminal};
use crate::project::{Scene, SceneError};
pub use crate::refusal::Refusal;
use crate::report::{Destination, Link, ModelReport, Named, PolicyId, Report};
use crate::run_id::run_id;
use crate::select::{self, Selected};
use crate::stage::{self, Stage, StageError};
use crate::tasks::job::Job;
use crate::workspaces::StoreError;

/// What the caller should hear besides the command's own output.
#[derive(Debug)]
pub struct Finished {
    pub status: i32,
    pub report: Report,
    pub refusal: Option<Refusal>,
    pub report_error: Option<std::io::Error>,
    /// A directory that the command made where the report belongs, and its new name.
    pub displaced: Option<[String; 2]>,
    /// Why the run is not, or not wholly, in the audit log.
    pub audit_error: Option<LogError>,
    /// Why what changed in a copy is lost.
    pub lost: Option<StoreError>,
}

/// Runs the command. `notice` is called with what must be said before it starts.
pub fn run(options: &Options, notice: &mut dyn FnMut(&Prepared)) -> Finished {
    let id = options
        .job
        .as_ref()
        .map_or_else(run_id, |job| job.task.as_str().to_owned());
    let mut report = Report::new(&id, &options.command, SystemTime::now());
    let mut audit = Recorder::open();
    let opened = named(options).as_ref().map(Destination::open);
    let (mut lost, mut link) = (None, Link::Doubtful);
    let (destination, result) = match opened.transpose() {
        Ok(destination) => {
            let mut stage = None;
            let result = attempt(options, &mut report, &mut audit, (&mut stage, &mut link), notice);
            lost = stage.and_then(|stage| stage.finish(&mut report));
            (destination, result)
        }
        Err(error) => (None, Err(error.into())),
    };
    // Who is leaving has done so when this function returns.
    let (status, refusal, _leaving) = match result {
        Ok((status, leaving)) => (status, None, Some(leaving)),
        Err(refusal) => {
            report.reason = Some(refusal.to_string());
            report.exit_code = Some(refusal.exit_status());
            report.project = report.project.or_else(|| found_project(options));
            (refusal.exit_status(), Some(refusal), None)
        }
    };
    let (destination, doubt) = link.pass(named(options), destination);
    let displaced = destination.as_ref().and_then(|to| to.set_aside().ok().flatten());
    let displaced = displaced.map(|(was, is)| [was, is].map(|path| path.to_string_lossy().into_owned()));
    report.set_aside.extend(displaced.iter().map(|[was, _]| was.clone()));
    audit.finished(&report);
    let report_error = destination.and_then(|to| report.write(&to).err()).or(doubt);
    Finished {
        status,
        report,
        refusal,
        report_error,
        displaced,
        audit_error: audit.trouble,
        lost,
    }
}

/// Where the report goes.
fn named(options: &Options) -> Option<Named<'_>> {
    let (flag, project) = ("--report", options.project.as_deref());
    options.report.as_deref().map(|to| Named { flag, to, project })
}

fn found_project(options: &Options) -> Option<String> {
    let scene = Scene::find(options.project.as_deref()).ok()?;
    Some(scene.project.to_string_lossy().into_owned())
}

fn attempt(
    options: &Options,
    report: &mut Report,
    audit: &mut Recorder,
    (stage, link): (&mut Option<Stage>, &mut Link),
    notice: &mut dyn FnMut(&Prepared),
) -> Result<(i32, Leaving), Refusal> {
    report.workspace.kind = options.workspace.name();
    let run_id = report.run_id.clone();
    let mut scout = None;
    let mut set = |policy: &ResolvedPolicy, scene: &Scene, reach| {
        *stage = Stage::set(options.workspace, policy, scene, &run_id)?;
        let walled = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
        let native = container::engine(policy.backend).is_none();
        scout = (walled && native && reach == Reach::Nothing)
            .then(launch::Scout::send)
            .flatten();
        Ok(())
    };
    let mut refused = |policy: &ResolvedPolicy| {
        report.policy = PolicyId::of(policy);
        let _ = link.judge(named(options), policy);
    };
    let prepared = prepare_on(options, &run_id, &mut set, &mut refused)?;
    let remark = stage.as_ref().and_then(Stage::remark);
    let prepared = Prepared { remark, ..prepared };
    notice(&prepared);
    let policy = &prepared.selected.policy;
    link.judge(named(options), policy)?;
    let egress = prepared.egress.as_ref().filter(|egress| egress.has_companion());
    let egress = egress.map(|egress| egress as &dyn Serve);
    let server = options.job.as_ref().map(|job| job.server(&prepared.project));
    let contained = container::settings(&prepared.plan, policy).inspect_err(|_| describe(report, &prepared, None))?;
    let contained_by = contained
        .as_ref()
        .map(|settings| (settings.engine.name(), settings.walls()));
    let git = stage.as_ref().and_then(Stage::git);
    let later = Later {
        project: &prepared.project,
        git: git.as_ref(),
    };
    // For the written report only: looking at every file is not free.
    let judge = options.report.as_ref().map(|_| &later as &dyn Judge);
    let container = contained
        .map(|settings| settings.container(&prepared.plan, &run_id))
        .transpose()
        .inspect_err(|_| describe(report, &prepared, contained_by))?;
    let (mut unrecorded, mut is_described) = (None, false);
    // Nobody waits for it then.
    let mut enter = || {
        describe(report, &prepared, contained_by);
        is_described = true;
        match audit.started(report, options.audit) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                unrecorded = Some(error);
                ControlFlow::Break(())
            }
        }
    };
    let aid = Aid {
        serve: egress,
        porter: server.as_ref().map(|server| server as &dyn Porter),
        judge,
        scout,
        layers: stage.as_ref().map(Stage::layers).unwrap_or_default(),
        vessel: container.as_ref().map(|container| container as &dyn Vessel),
        meanwhile: &mut enter,
    };
    let plan = container.as_ref().map_or(&prepared.plan, Container::sandbox);
    let launched = launch::run(plan, aid);
    if !is_described {
        describe(report, &prepared, contained_by);
    }
    if let Some(error) = unrecorded {
        return Err(Refusal::Audit(error));
    }
    if let Err(LaunchError::Canary { receipt }) = &launched {
        report.fail_receipt(receipt);
    }
    let (outcome, leaving) = launched.map_err(|error| Refusal::launch(error, policy))?;
    report.deny(&outcome, &prepared);
    report.take_changes(&outcome, &later);
    let status = report.conclude(&outcome, prepared.plan.receipt);
    report.name_interpreter(&prepared.plan);
    report.sign_receipt();
    Ok((status, leaving))
}

/// What is known of a run before it starts. `contained`: the engine, and the walls that it gives.
fn describe(report: &mut Report, prepared: &Prepared, contained: Option<(&'static str, container::Walls)>) {
    let policy = &prepared.selected.policy;
    report.policy = PolicyId::of(policy);
    report.project = Some(prepared.project.to_string_lossy().into_owned());
    report.withhold(&prepared.withheld);
    report.omitted.clone_from(&prepared.plan.omitted);
    report.describe(policy);
    report.model = prepared.overlay.as_ref().map(ModelReport::new);
    if let Some((engine, (isolation, not_given))) = contained {
        report.backend = engine;
        report.layers.isolation = isolation;
        report.layers.not_given = not_given.to_vec();
    }
}

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
}

/// From what was typed to a plan. Changes nothing.
pub fn prepare(options: &Options, run_id: &str) -> Result<Prepared, Refusal> {
    prepare_on(options, run_id, &mut |_, _, _| Ok(()), &mut |_| {})
}

/// What a run reaches of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Nothing,
    Something,
}

/// Called when all is decided but what the survey finds, to put in place what it is to see.
type Set<'a> = &'a mut dyn FnMut(&ResolvedPolicy, &Scene, Reach) -> Result<(), StageError>;

/// As `prepare`; `refused` is called with the policy of a run that nothing comes of.
fn prepare_on(
    options: &Options,
    run_id: &str,
    set: Set<'_>,
    refused: &mut dyn FnMut(&ResolvedPolicy),
) -> Result<Prepared, Refusal> {
    let scene = Scene::find(options.project.as_deref())?;
    let mut selected = select(options, &scene)?;
    let laid = lay_out(options, run_id, &scene, &mut selected, set).inspect_err(|_| refused(&selected.policy))?;
    Ok(Prepared {
        selected,
        plan: laid.plan,
        project: scene.project,
        overlay: laid.overlay,
        egress: laid.egress,
        withheld: laid.withheld,
        home: scene.home,
        remark: None,
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
}

fn lay_out(
    options: &Options,
    run_id: &str,
    scene: &Scene,
    selected: &mut Selected,
    set: Set<'_>,
) -> Result<Laid, Refusal> {
    let name = options.command.first().ok_or(Refusal::NoCommand)?;
    let here = env::current_dir().map_err(SceneError::NoCwd)?;
    let found = || find_command(name, &here, env::var_os("PATH").as_deref());
    let command = container::command(&selected.policy, name, found)?;
    let key_file = options.key_file.as_deref();
    let endpoint = options.job.as_ref().map_or(Endpoint::Absent, |job| job.endpoint);
    let endpoint = endpoint.and(Endpoint::under(&selected.policy));
    let addresses = Addresses {
        broker: &egress::broker_url(),
        servers: &endpoint::servers(endpoint),
    };
    let overlay = overlay::lay(&mut selected.policy, scene, &command, key_file, &addresses)?;
    if options.purpose == Purpose::Learning && selected.policy.network == Network::Off {
        // Nothing more is allowed: a list of names with none in it.
        let (allow, deny) = (BTreeSet::new(), BTreeSet::new());
        selected.policy.network = Network::Names { allow, deny };
    }
    let policy = &selected.policy;
    let egress = egress::plan(policy, overlay.as_ref(), endpoint)?;
    let (mut passed, mut withheld) = policy.env.apply(env::vars_os());
    add_terminal(&mut passed);
    withheld.retain(|name| !passed.iter().any(|(known, _)| known == name));
    add(&mut passed, egress.as_ref().map(Egress::env));
    add(&mut passed, overlay.as_ref().map(|overlay| overlay.env.clone()));
    let (config, state) = (config_dir(), state_dir());
    let named = options.policy.as_deref().filter(|name| select::is_path(name));
    let named = named.map(|name| here.join(name));
    guard::check(policy, state.as_deref())?;
    let reach = match (&egress, &policy.network) {
        (None, Network::Off) => Reach::Nothing,
        (Some(_), _) | (None, Network::Names { .. } | Network::Host) => Reach::Something,
    };
    set(policy, scene, reach)?;
    let (caller, homes) = people();
    let setting = Setting {
        project: &scene.project,
        // A worktree has only what was committed.
        cwd: if scene.cwd.is_dir() { &scene.cwd } else { &scene.project },
        home: scene.home.as_deref(),
        config: config.as_deref(),
        policy: named.as_deref(),
        state: state.as_deref(),
        report: options.report.as_deref(),
        key: key_file,
        caller,
        homes,
        command,
        links: scene.links.clone(),
    };
    let terrain = survey::survey(policy, setting)?;
    let kernel = Kernel {
        landlock_abi: landlock::abi(),
    };
    let files = egress::files(egress.as_ref(), policy, options.observe).into_iter();
    let files = files
        .chain(overlay.iter().flat_map(|overlay| overlay.files.clone()))
        .chain(options.job.iter().flat_map(Job::made));
    let home = overlay.as_ref().and_then(|overlay| overlay.home.clone());
    let home = home.or_else(|| scene.home.clone());
    let request = Request {
        run_id: run_id.to_owned(),
        argv: options.command.clone(),
        env: passed,
        doors: egress.as_ref().map(Egress::doors).unwrap_or_default(),
        home: overlay.as_ref().and_then(|overlay| overlay.home.clone()),
        files: files.collect(),
        kept: options.job.iter().flat_map(|job| job.kept(home.as_deref())).collect(),
        receipt: options.receipt,
        observe: options.observe,
        workspace: options.workspace,
        records: options.records,
    };
    let plan = lower::lower(policy, &terrain, kernel, request)?;
    Ok(Laid {
        plan,
        overlay,
        egress,
        withheld,
    })
}
