//! One run, from what the caller typed to the report.

mod prepare;

use std::ops::ControlFlow;
use std::time::SystemTime;

use glee_container::Container;
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode};
use glee_sandbox::launch::vessel::Vessel;
use glee_sandbox::launch::{self, Aid, Judge, LaunchError, Leaving, Porter, Scout, Serve};
pub use glee_sandbox::plan::Records;
pub use glee_sandbox::seccomp::Observe;

use crate::audit::LogError;
use crate::audit::record::Recorder;
use crate::container;
use crate::later::Later;
pub use crate::options::{Options, Purpose};
use crate::project::Scene;
pub use crate::refusal::Refusal;
use crate::report::{Destination, Link, ModelReport, Named, PolicyId, Report};
use crate::run_id::run_id;
use crate::stage::Stage;
use crate::workspaces::StoreError;
pub use prepare::{Prepared, prepare};
use prepare::{Reach, prepare_on};

/// How often the sandbox is planned anew because something was taken away while it was built, as a run that ends does with its own.
/// Each time everything is looked at again, so nothing is weaker for it.
const AGAIN: usize = 8;

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
    let mut prepared = prepare_on(options, &run_id, &mut set, &mut refused)?;
    prepared.remark = stage.as_ref().and_then(Stage::remark);
    notice(&prepared);
    link.judge(named(options), &prepared.selected.policy)?;
    let mut entered = Entered::NotYet;
    for _ in 0..AGAIN {
        let stage = stage.as_ref();
        match carry_out(options, report, audit, &prepared, (stage, scout.take(), &mut entered)) {
            Err(Refusal::Launch(error)) if error.is_of_what_is_gone() => {
                audit.start_again();
                prepared.look_again(options, &run_id)?;
            }
            done => return done,
        }
    }
    carry_out(options, report, audit, &prepared, (stage.as_ref(), None, &mut entered))
}

/// Is the run in the audit log?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entered {
    NotYet,
    Once,
}

/// Carries out the plan.
fn carry_out(
    options: &Options,
    report: &mut Report,
    audit: &mut Recorder,
    prepared: &Prepared,
    (stage, scout, entered): (Option<&Stage>, Option<Scout>, &mut Entered),
) -> Result<(i32, Leaving), Refusal> {
    let run_id = report.run_id.clone();
    let policy = &prepared.selected.policy;
    let egress = prepared.egress.as_ref().filter(|egress| egress.has_companion());
    let egress = egress.map(|egress| egress as &dyn Serve);
    let server = options.job.as_ref().map(|job| job.server(&prepared.project));
    let contained = container::settings(&prepared.plan, policy).inspect_err(|_| describe(report, prepared, None))?;
    let contained_by = contained
        .as_ref()
        .map(|settings| (settings.engine.name(), settings.walls()));
    let git = stage.and_then(Stage::git);
    let later = Later {
        project: &prepared.project,
        git: git.as_ref(),
    };
    // For the written report only: looking at every file is not free.
    let judge = options.report.as_ref().map(|_| &later as &dyn Judge);
    let container = contained
        .map(|settings| settings.container(&prepared.plan, &run_id))
        .transpose()
        .inspect_err(|_| describe(report, prepared, contained_by))?;
    let (mut unrecorded, mut is_described) = (None, false);
    // Nobody waits for it then.
    let mut enter = || {
        describe(report, prepared, contained_by);
        is_described = true;
        if std::mem::replace(entered, Entered::Once) == Entered::Once {
            return ControlFlow::Continue(());
        }
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
        layers: stage.map(Stage::layers).unwrap_or_default(),
        vessel: container.as_ref().map(|container| container as &dyn Vessel),
        meanwhile: &mut enter,
    };
    let plan = container.as_ref().map_or(&prepared.plan, Container::sandbox);
    let launched = launch::run(plan, aid);
    if !is_described {
        describe(report, prepared, contained_by);
    }
    if let Some(error) = unrecorded {
        return Err(Refusal::Audit(error));
    }
    if let Err(LaunchError::Canary { receipt }) = &launched {
        report.fail_receipt(receipt);
    }
    let (outcome, leaving) = launched.map_err(|error| Refusal::launch(error, policy))?;
    report.deny(&outcome, prepared);
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
