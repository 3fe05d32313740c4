//! One run, from what the caller typed to the report.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use glee_policy::resolved::{Backend, Isolation, Mode, Network};
use glee_policy::{Flags, ResolvedPolicy};
use glee_sandbox::launch::{self, LaunchError, Serve};
use glee_sandbox::lower::{self, Kernel, LowerError, Request};
use glee_sandbox::plan::SandboxPlan;
use glee_sandbox::survey::{self, Caller, NotFound, Setting, SurveyError, find_command};
use glee_sandbox::sys::{landlock, process, term};

use crate::agent::key::KeyError;
use crate::agent::overlay::{self, Overlay};
use crate::container::{self, ContainerError};
use crate::egress::{self, Egress, EgressError};
use crate::library::config_dir;
use crate::project::{Scene, SceneError};
use crate::report::{Destination, ModelReport, PolicyId, Report};
use crate::select::{self, SelectError, Selected};

/// What the caller typed.
#[derive(Debug)]
pub struct Options {
    pub policy: Option<String>,
    pub project: Option<PathBuf>,
    pub flags: Flags,
    pub report: Option<PathBuf>,
    /// Holds the key of a model's API.
    pub key_file: Option<PathBuf>,
    /// In place of the policy's own word.
    pub backend: Option<Backend>,
    pub command: Vec<OsString>,
}

/// Why nothing ran.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    Scene(#[from] SceneError),
    #[error(transparent)]
    Select(#[from] SelectError),
    #[error(transparent)]
    Command(#[from] NotFound),
    #[error(transparent)]
    Survey(#[from] SurveyError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Egress(#[from] EgressError),
    #[error(transparent)]
    Lower(#[from] LowerError),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error(transparent)]
    Container(#[from] ContainerError),
    #[error("cannot write the report to `{}`: {error}", .to.display())]
    Report { to: PathBuf, error: std::io::Error },
    #[error("no command was given")]
    NoCommand,
}

impl Refusal {
    /// 125, but for a command that is not there or cannot be executed.
    #[must_use]
    pub fn exit_status(&self) -> i32 {
        match self {
            Self::Command(not_found) => not_found.exit_status(),
            Self::Scene(_)
            | Self::Select(_)
            | Self::Survey(_)
            | Self::Key(_)
            | Self::Egress(_)
            | Self::Lower(_)
            | Self::Launch(_)
            | Self::Container(_)
            | Self::Report { .. }
            | Self::NoCommand => 125,
        }
    }

    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Lower(error) => Some(error.help().to_owned()),
            Self::Launch(error) => error.help(),
            Self::Container(error) => error.help(),
            Self::Key(error) => Some(error.help().to_owned()),
            Self::Select(SelectError::Trust(error)) => Some(error.help().to_owned()),
            Self::Scene(_)
            | Self::Select(_)
            | Self::Command(_)
            | Self::Survey(_)
            | Self::Egress(_)
            | Self::NoCommand => None,
            Self::Report { .. } => Some("the directory must exist and be writable for you".to_owned()),
        }
    }
}

/// What the caller should hear besides the command's own output.
#[derive(Debug)]
pub struct Finished {
    pub status: i32,
    pub report: Report,
    pub refusal: Option<Refusal>,
    pub report_error: Option<std::io::Error>,
}

/// Runs the command. `notice` is called with what must be said before it starts.
pub fn run(options: &Options, notice: &mut dyn FnMut(&Prepared)) -> Finished {
    let mut report = Report::new(&run_id(), &options.command, SystemTime::now());
    let opened = options
        .report
        .as_ref()
        .map(|to| Destination::open(to).map_err(|error| Refusal::Report { to: to.clone(), error }));
    let (destination, result) = match opened.transpose() {
        Ok(destination) => (destination, attempt(options, &mut report, notice)),
        Err(refusal) => (None, Err(refusal)),
    };
    let (status, refusal) = match result {
        Ok(status) => (status, None),
        Err(refusal) => {
            report.reason = Some(refusal.to_string());
            report.exit_code = Some(refusal.exit_status());
            (refusal.exit_status(), Some(refusal))
        }
    };
    let report_error = destination.and_then(|to| report.write(&to).err());
    Finished {
        status,
        report,
        refusal,
        report_error,
    }
}

fn attempt(options: &Options, report: &mut Report, notice: &mut dyn FnMut(&Prepared)) -> Result<i32, Refusal> {
    let prepared = prepare(options, &report.run_id)?;
    notice(&prepared);
    let policy = &prepared.selected.policy;
    report.policy = PolicyId {
        name: known_as(&policy.name),
        // For the written report only: a digest at each start is not free.
        sha256: options.report.as_ref().map(|_| policy.sha256()).unwrap_or_default(),
    };
    report.withheld_env = prepared
        .withheld
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    report.omitted.clone_from(&prepared.plan.omitted);
    describe(policy, report);
    report.model = prepared.overlay.as_ref().map(ModelReport::new);
    let egress = prepared.egress.as_ref().map(|egress| egress as &dyn Serve);
    let outcome = match container::engine(policy.backend) {
        None => launch::run(&prepared.plan, egress)?,
        Some(engine) => {
            report.backend = engine.name();
            report.layers.isolation = "container";
            container::run(&prepared.plan, policy, engine, &report.run_id, egress)?
        }
    };
    Ok(report.conclude(&outcome))
}

/// A profile by the name it is asked for, any other policy by its file.
fn known_as(name: &str) -> String {
    let file = Path::new(name);
    let is_profile = file.parent().is_some_and(|dir| dir.ends_with("policies"));
    match file.file_stem() {
        Some(stem) if is_profile => stem.to_string_lossy().into_owned(),
        Some(_) | None => name.to_owned(),
    }
}

/// Writes the report on a run that was refused before anything was looked at.
pub fn refused(options: &Options, reason: &str) -> Option<std::io::Error> {
    let mut report = Report::new(&run_id(), &options.command, SystemTime::now());
    report.reason = Some(reason.to_owned());
    report.exit_code = Some(125);
    let to = options.report.as_ref()?;
    Destination::open(to).and_then(|to| report.write(&to)).err()
}

/// Everything decided, nothing done.
#[derive(Debug)]
pub struct Prepared {
    pub selected: Selected,
    pub plan: SandboxPlan,
    /// What the command gets because it is an agent's.
    pub overlay: Option<Overlay>,
    pub egress: Option<Egress>,
    /// Variables that do not pass.
    pub withheld: Vec<OsString>,
}

/// From what was typed to a plan.
pub fn prepare(options: &Options, run_id: &str) -> Result<Prepared, Refusal> {
    let scene = Scene::find(options.project.as_deref())?;
    let mut selected = select::select(options.policy.as_deref(), &scene)?;
    select::add_flags(&mut selected, &options.flags, &scene)?;
    selected.policy.backend = options.backend.unwrap_or(selected.policy.backend);
    let name = options.command.first().ok_or(Refusal::NoCommand)?;
    let here = env::current_dir().map_err(SceneError::NoCwd)?;
    let found = || find_command(name, &here, env::var_os("PATH").as_deref());
    let command = container::command(&selected.policy, name, found)?;
    let key_file = options.key_file.as_deref();
    let overlay = overlay::lay(&mut selected.policy, &scene, &command, key_file, &egress::broker_url())?;
    let policy = &selected.policy;
    let egress = egress::plan(policy, overlay.as_ref())?;
    let (mut passed, withheld) = policy.env.apply(env::vars_os());
    add_terminal(&mut passed);
    add(&mut passed, egress.as_ref().map(Egress::env));
    add(&mut passed, overlay.as_ref().map(|overlay| overlay.env.clone()));
    let config = config_dir();
    let setting = Setting {
        project: &scene.project,
        cwd: &scene.cwd,
        home: scene.home.as_deref(),
        config: config.as_deref(),
        caller: caller(),
        command,
        links: scene.links.clone(),
    };
    let terrain = survey::survey(policy, setting)?;
    let kernel = Kernel {
        landlock_abi: landlock::abi(),
    };
    let files = egress.iter().flat_map(Egress::files);
    let files = files.chain(overlay.iter().flat_map(|overlay| overlay.files.clone()));
    let request = Request {
        run_id: run_id.to_owned(),
        argv: options.command.clone(),
        env: passed,
        doors: egress.as_ref().map(Egress::doors).unwrap_or_default(),
        home: overlay.as_ref().and_then(|overlay| overlay.home.clone()),
        files: files.collect(),
    };
    let plan = lower::lower(policy, &terrain, kernel, request)?;
    Ok(Prepared {
        selected,
        plan,
        overlay,
        egress,
        withheld,
    })
}

/// Adds variables, where the caller's own word has not set them. A home of the run's own takes the place of the caller's.
fn add(env: &mut Vec<(OsString, OsString)>, more: Option<Vec<(OsString, OsString)>>) {
    for (name, value) in more.into_iter().flatten() {
        if name == "HOME" {
            env.retain(|(known, _)| *known != name);
        }
        if !env.iter().any(|(known, _)| *known == name) {
            env.push((name, value));
        }
    }
}

/// A program on a terminal must know which one: TERM passes when the command gets a terminal of ours.
fn add_terminal(env: &mut Vec<(OsString, OsString)>) {
    let on_terminal = [
        std::io::stdin().as_fd(),
        std::io::stdout().as_fd(),
        std::io::stderr().as_fd(),
    ]
    .into_iter()
    .any(term::is_terminal);
    if on_terminal
        && !env.iter().any(|(name, _)| name == "TERM")
        && let Some(term) = env::var_os("TERM")
    {
        env.push(("TERM".into(), term));
    }
}

fn caller() -> Caller {
    let uid = process::geteuid();
    let user = fs::read_to_string("/etc/passwd")
        .unwrap_or_default()
        .lines()
        .find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next()?;
            (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
        })
        .unwrap_or_else(|| uid.to_string());
    Caller {
        uid,
        gid: process::getegid(),
        user,
    }
}

fn describe(policy: &ResolvedPolicy, report: &mut Report) {
    report.layers.network = match policy.network {
        Network::Off => "loopback only",
        Network::Names { .. } => "loopback, and the names allowed through the supervisor",
        Network::Host => "the host's network namespace",
    };
    let (isolation, not_given): (&'static str, &[&'static str]) = match (policy.mode, policy.isolation) {
        (Mode::Inherit, _) => ("none", NOT_IN_INHERIT),
        (Mode::Restricted, Isolation::Namespaces) => ("namespaces", &[]),
        (Mode::Restricted, Isolation::Landlock) => ("landlock", NOT_IN_LANDLOCK),
    };
    report.layers.isolation = isolation;
    report.layers.not_given = not_given.to_vec();
}

const NOT_IN_INHERIT: &[&str] = &[
    "filesystem isolation",
    "network isolation",
    "system call filter",
    "private HOME and /tmp",
];

const NOT_IN_LANDLOCK: &[&str] = &[
    "names, sizes and times of files outside what is granted stay visible",
    "no private HOME, /tmp or /dev/shm",
    "no process namespace: other processes of the user are visible, and ending the tree is best effort",
    "nothing protects .git/hooks and its kin inside writable trees",
    "permissions, owners, times and attributes of files outside are protected by their owners only",
];

/// Time-ordered and unique: 48 bits of milliseconds and 80 random bits, in lower-case base 32.
#[must_use]
pub fn run_id() -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let millis = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_millis();
    let mut random = [0u8; 10];
    // Without the device the time and the pid still tell runs apart.
    if fs::File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut random))
        .is_err()
    {
        for (to, from) in random.iter_mut().zip(std::process::id().to_le_bytes()) {
            *to = from;
        }
    }
    let low = random
        .iter()
        .fold(0u128, |value, byte| (value << 8) | u128::from(*byte));
    let value = (millis << 80) | low;
    (0..26)
        .rev()
        .map(|place| {
            let index = usize::try_from((value >> (place * 5)) & 31).unwrap_or(0);
            ALPHABET.get(index).map_or('0', |byte| char::from(*byte))
        })
        .collect()
}
