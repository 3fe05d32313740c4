//! The report of a run, as the contract fixes it. Keys are only ever added.

mod attempts;
mod changes;
mod denials;
mod destination;
mod interpreter;
mod layers;
mod limits;
mod model;
mod named;
mod paths;
mod receipt;
mod time;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use glee_egress::record::Attempt;
use glee_egress::report::Report as Served;
use glee_policy::ResolvedPolicy;
use glee_sandbox::Cause;
use glee_sandbox::launch::{self, End, Outcome};
use glee_sandbox::plan::Workspace;
use glee_sandbox::receipt::{Receipt, Wish};
use serde::Serialize;

use crate::audit::Mark;
use crate::later::Later;
use crate::run::Prepared;

pub use changes::{ChangeSummary, ChangedFile, Unsure};
pub use denials::{Denial, What};
pub use destination::Destination;
pub use model::ModelReport;
pub(crate) use named::Link;
pub use named::{DestinationError, Named};
pub use receipt::{CanaryRow, NotTried, ReceiptReport};
pub use time::rfc3339;

#[derive(Debug, Serialize)]
pub struct Report {
    pub run_id: String,
    pub policy: PolicyId,
    pub backend: &'static str,
    pub layers: LayerReport,
    pub receipt: ReceiptReport,
    pub command: Vec<String>,
    /// Where it ran. `null` if that was not found out.
    pub project: Option<String>,
    /// What lay there, and what became of it.
    pub workspace: WorkspaceReport,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub outcome: &'static str,
    /// What ended the run, where the status does not say: `memory`, `pids`, `deadline`, `listener`.
    pub cause: Option<&'static str>,
    /// Why nothing ran, for `refused`.
    pub reason: Option<String>,
    pub started_at: String,
    pub duration_ms: u64,
    pub user_ms: u64,
    pub sys_ms: u64,
    pub max_rss_kb: u64,
    pub denials: Vec<Denial>,
    /// Refusals beyond the thousand that are listed.
    pub denials_omitted: u64,
    /// Refusals that the kernel counted and whose records were lost (`--kernel-audit`); at least 1 if whoever noted them is lost.
    pub denials_lost: u64,
    /// Calls of the command that were looked at, allowed or not.
    pub observed_calls: u64,
    pub egress: Vec<Attempt>,
    /// How an agent CLI reached its model, and what it used. `null` for any other command.
    pub model: Option<ModelReport>,
    pub changed_files: Vec<ChangedFile>,
    /// How many, and what could not be looked at. `null` if nothing was looked for.
    pub changes: Option<ChangeSummary>,
    /// Names (never values) of variables that did not pass.
    pub withheld_env: Vec<String>,
    /// Denied or protected names that the host created or replaced during the run.
    pub appeared: Vec<Appeared>,
    /// Directories in which such names would not have been seen.
    pub unwatched: Vec<String>,
    /// Hooks and configuration of a repository that the run itself made, renamed so that the host's git runs nothing.
    pub set_aside: Vec<String>,
    /// The same, but it could not be renamed: the host's git would run it.
    pub not_disarmed: Vec<String>,
    /// Files that the run changed and that had a setuid or setgid bit or capabilities: they were removed.
    pub privileges_removed: Vec<String>,
    /// Trees that could not be looked through for such files.
    pub privileges_unknown: Vec<String>,
    /// Trees that the host moved or removed while the command ran. What was to be done there at the end was done where they are now.
    pub moved: Vec<Moved>,
    /// Clauses left out because the machine has nothing for them.
    pub omitted: Vec<String>,
    /// The entry in the audit log that was written before the command started. `null` if there is none.
    pub audit: Option<Mark>,
}

/// The copy of the project that the command worked on, if it was one.
#[derive(Debug, Serialize)]
pub struct WorkspaceReport {
    /// `shared`, `cow` or `worktree`.
    pub kind: &'static str,
    /// Names that are not what they are in the project.
    pub created: u64,
    pub changed: u64,
    pub deleted: u64,
    /// Where what changed is kept: the run for `runs diff` and `runs apply`.
    pub kept: Option<String>,
    /// What was changed and is not kept.
    pub not_kept: Vec<String>,
    /// Why nothing of it is kept.
    pub lost: Option<String>,
    /// The branch of a worktree that is kept, and where it lies.
    pub branch: Option<String>,
    pub path: Option<String>,
    /// Commits on that branch since it began.
    pub commits: u64,
    /// Is there work in the worktree that is in no commit?
    pub uncommitted: bool,
}

impl Default for WorkspaceReport {
    fn default() -> Self {
        Self {
            kind: Workspace::Shared.name(),
            created: 0,
            changed: 0,
            deleted: 0,
            kept: None,
            not_kept: Vec::new(),
            lost: None,
            branch: None,
            path: None,
            commits: 0,
            uncommitted: false,
        }
    }
}

#[derive(Debug, Default, Serialize)]
pub struct PolicyId {
    pub name: String,
    pub sha256: String,
}

impl PolicyId {
    pub(crate) fn of(policy: &ResolvedPolicy) -> Self {
        Self {
            name: known_as(&policy.name),
            sha256: policy.sha256(),
        }
    }
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

#[derive(Debug, Default, Serialize)]
pub struct LayerReport {
    pub isolation: &'static str,
    pub landlock_abi: u32,
    pub seccomp: bool,
    pub namespaces: Vec<&'static str>,
    pub cgroup: Vec<&'static str>,
    pub network: &'static str,
    pub no_new_privs: bool,
    /// Limits that nothing or only a watchdog enforces, with the reason.
    pub missing_limits: Vec<String>,
    /// What the chosen isolation does not give.
    pub not_given: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct Appeared {
    pub path: String,
    pub rule: String,
    /// Covered right after it was seen; before that the command may have seen it.
    pub covered: bool,
}

/// A tree that is not where it was when the command started.
#[derive(Debug, Serialize)]
pub struct Moved {
    pub from: String,
    /// `null` if it was not found again: nothing that the command may have left there for git was looked for.
    pub to: Option<String>,
}

impl Moved {
    fn of(moved: &launch::Moved) -> Self {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        Self {
            from: text(&moved.from),
            to: moved.to.as_ref().map(text),
        }
    }
}

impl Report {
    /// A report on something that has not ended (or not begun).
    #[must_use]
    pub fn new(run_id: &str, command: &[OsString], started: SystemTime) -> Self {
        Self {
            run_id: run_id.to_owned(),
            policy: PolicyId::default(),
            backend: "native",
            layers: LayerReport::default(),
            receipt: ReceiptReport::default(),
            command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
            project: None,
            workspace: WorkspaceReport::default(),
            exit_code: None,
            signal: None,
            outcome: "refused",
            cause: None,
            reason: None,
            started_at: rfc3339(started),
            duration_ms: 0,
            user_ms: 0,
            sys_ms: 0,
            max_rss_kb: 0,
            denials: Vec::new(),
            denials_omitted: 0,
            denials_lost: 0,
            observed_calls: 0,
            egress: Vec::new(),
            model: None,
            changed_files: Vec::new(),
            changes: None,
            withheld_env: Vec::new(),
            appeared: Vec::new(),
            unwatched: Vec::new(),
            set_aside: Vec::new(),
            not_disarmed: Vec::new(),
            privileges_removed: Vec::new(),
            privileges_unknown: Vec::new(),
            moved: Vec::new(),
            omitted: Vec::new(),
            audit: None,
        }
    }

    /// A canary was a surprise: nothing ran, and this is why.
    pub fn fail_receipt(&mut self, receipt: &Receipt) {
        self.receipt.take(receipt, Wish::Take);
        self.receipt.sign(&self.policy.sha256, &self.layers);
    }

    /// For the written report: what the receipt is for.
    pub fn sign_receipt(&mut self) {
        self.receipt.sign(&self.policy.sha256, &self.layers);
    }

    /// What the companion says went in and out.
    fn take_egress(&mut self, served: Option<&[u8]>) {
        let Some(served) = served.and_then(self::served) else {
            return;
        };
        let nameless = |attempt| Attempt {
            clients: Vec::new(),
            others: 0,
            ..attempt
        };
        self.egress = served.attempts.into_iter().map(nameless).collect();
        if let Some(model) = &mut self.model {
            model.usage = served.model.and_then(|usage| serde_json::from_value(usage).ok());
            self.egress
                .extend(model.usage.as_ref().and_then(model::through_the_broker));
        }
    }

    /// Variables that did not pass.
    pub(crate) fn withhold(&mut self, names: &[OsString]) {
        let names = names.iter().filter(|name| !SHELLS_OWN.iter().any(|own| name == own));
        self.withheld_env = names.map(|name| name.to_string_lossy().into_owned()).collect();
    }

    /// What the command changed where it could write.
    pub fn take_changes(&mut self, outcome: &Outcome, later: &Later<'_>) {
        if let Some(changes) = &outcome.changes {
            let (rows, summary) = changes::of(changes, later);
            self.changed_files = rows;
            self.changes = Some(summary);
        }
    }

    /// What was refused, in the words of the run's policy.
    pub fn deny(&mut self, outcome: &Outcome, prepared: &Prepared) {
        let served = outcome.served.as_deref().and_then(served);
        let (named, attempts) = served.map(|served| (served.names, served.attempts)).unwrap_or_default();
        let explainer = denials::Explainer::new(prepared, &named);
        self.denials = denials::counted(outcome.refusals.list.iter().map(|denied| explainer.denial(denied)));
        self.denials.extend(explainer.limits(outcome));
        // What was refused outside is a denial too.
        let clients = &outcome.refusals.clients;
        self.denials
            .extend(attempts::of_attempts(&attempts, clients, &explainer));
        self.denials_omitted = outcome.refusals.omitted;
        self.denials_lost = outcome.refusals.lost;
        self.observed_calls = outcome.refusals.seen;
    }

    /// Fills in what happened, and returns the exit status the contract gives it.
    pub fn conclude(&mut self, outcome: &Outcome, wish: Wish) -> i32 {
        self.duration_ms = u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX);
        self.user_ms = outcome.usage.user_us / 1000;
        self.sys_ms = outcome.usage.sys_us / 1000;
        self.max_rss_kb = outcome.usage.max_rss_kb;
        self.layers.landlock_abi = outcome.layers.landlock_abi;
        self.layers.seccomp = outcome.layers.seccomp;
        self.layers.namespaces.clone_from(&outcome.layers.namespaces);
        self.layers.cgroup.clone_from(&outcome.layers.cgroup);
        self.layers.missing_limits.clone_from(&outcome.layers.missing_limits);
        self.layers.no_new_privs = true;
        if let Some(receipt) = &outcome.receipt {
            self.receipt.take(receipt, wish);
        }
        self.take_egress(outcome.served.as_deref());
        self.appeared = outcome
            .appeared
            .iter()
            .map(|a| Appeared {
                path: a.path.to_string_lossy().into_owned(),
                rule: a.clause.clone(),
                covered: a.covered,
            })
            .collect();
        self.unwatched = texts(&outcome.unwatched);
        self.set_aside = texts(&outcome.set_aside);
        self.not_disarmed = texts(&outcome.not_disarmed);
        self.privileges_removed = texts(&outcome.privileges_removed);
        self.privileges_unknown = texts(&outcome.privileges_unknown);
        self.omitted
            .extend(outcome.as_they_are.iter().map(|tree| as_it_is(tree)));
        self.moved = outcome.moved.iter().map(Moved::of).collect();
        self.cause = match outcome.cause {
            Some(Cause::Memory) => Some("memory"),
            Some(Cause::Deadline) => Some("deadline"),
            Some(Cause::Listener) => Some("listener"),
            Some(Cause::Warden) => Some("warden"),
            None if outcome.end == End::Timeout => Some("deadline"),
            None if outcome.out_of_memory => Some("memory"),
            None if outcome.out_of_pids => Some("pids"),
            None => None,
        };
        let (word, code, signal, status) = match outcome.end {
            End::Exited(code) => ("exited", Some(code), None, code),
            End::Signaled(signal) => ("signaled", None, Some(signal), 128 + signal),
            End::Timeout => ("timeout", Some(124), None, 124),
            End::NotExecuted { errno } => {
                let status = if errno == 2 { 127 } else { 126 };
                self.reason = Some(std::io::Error::from_raw_os_error(errno).to_string());
                ("refused", Some(status), None, status)
            }
        };
        self.outcome = word;
        self.exit_code = code;
        self.signal = signal;
        status
    }
}

/// Variables that every shell sets for itself, inside too: that they did not pass is no news. docs/denials.md repeats them.
const SHELLS_OWN: [&str; 4] = ["PWD", "OLDPWD", "SHLVL", "_"];

/// What the companion said at its end.
fn served(bytes: &[u8]) -> Option<Served> {
    serde_json::from_slice(bytes).ok()
}

/// A tree of root's that is shown, and whose owner the command is not.
fn as_it_is(tree: &Path) -> String {
    format!(
        "{}: its filesystem cannot map owners, so what is closed to others is closed to the command",
        tree.display()
    )
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}
