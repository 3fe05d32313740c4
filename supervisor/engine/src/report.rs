//! The report of a run, as the contract fixes it. Keys are only ever added.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use glee_egress::broker::{BrokerReport, Endpoint};
use glee_egress::record::{Attempt, Outcome as Verdict, Via};
use glee_egress::report::Report as Served;
use glee_sandbox::Cause;
use glee_sandbox::launch::{End, Outcome};
use serde::Serialize;

use crate::agent::overlay::{Overlay, Way};
use crate::agent::profile::InnerSandbox;

#[derive(Debug, Serialize)]
pub struct Report {
    pub run_id: String,
    pub policy: PolicyId,
    pub backend: &'static str,
    pub layers: LayerReport,
    pub receipt: serde_json::Value,
    pub command: Vec<String>,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub outcome: &'static str,
    /// What ended the run, where the status does not say: `memory`, `pids`, `deadline`.
    pub cause: Option<&'static str>,
    /// Why nothing ran, for `refused`.
    pub reason: Option<String>,
    pub started_at: String,
    pub duration_ms: u64,
    pub user_ms: u64,
    pub sys_ms: u64,
    pub max_rss_kb: u64,
    pub denials: Vec<Denial>,
    pub egress: Vec<Attempt>,
    /// How an agent CLI reached its model, and what it used. `null` for any other command.
    pub model: Option<ModelReport>,
    pub changed_files: Vec<serde_json::Value>,
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
    /// Clauses left out because the machine has nothing for them.
    pub omitted: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
pub struct PolicyId {
    pub name: String,
    pub sha256: String,
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

#[derive(Debug, Serialize)]
pub struct Denial {
    pub kind: &'static str,
    pub syscall: String,
    #[serde(flatten)]
    pub what: What,
    pub pid: u32,
    pub program: String,
    pub rule: String,
    pub hint: String,
    pub count: u64,
}

/// What was refused: exactly one of `path`, `host` and `name`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum What {
    Host(String),
    Name(String),
}

/// An agent CLI and its model.
#[derive(Debug, Serialize)]
pub struct ModelReport {
    pub agent: String,
    /// `broker`, `mount`, `host` or `none`.
    pub access: &'static str,
    pub endpoint: Option<String>,
    /// What became of the CLI's own sandbox, and why.
    pub inner_sandbox: InnerSandbox,
    /// Files with a login that the command could read.
    pub exposed: Vec<String>,
    /// What the broker counted.
    pub usage: Option<BrokerReport>,
}

impl ModelReport {
    #[must_use]
    pub fn new(overlay: &Overlay) -> Self {
        let (access, endpoint, exposed) = match &overlay.way {
            Way::Broker { endpoint, .. } => ("broker", Some(endpoint.clone()), None),
            Way::Login { file } => ("mount", None, Some(file)),
            Way::Host => ("host", None, None),
            Way::Closed { .. } => ("none", None, None),
        };
        Self {
            agent: overlay.profile.name.clone(),
            access,
            endpoint,
            inner_sandbox: overlay.profile.inner_sandbox.clone(),
            exposed: exposed.iter().map(|file| file.to_string_lossy().into_owned()).collect(),
            usage: None,
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
            receipt: serde_json::json!({}),
            command: command.iter().map(|arg| arg.to_string_lossy().into_owned()).collect(),
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
            egress: Vec::new(),
            model: None,
            changed_files: Vec::new(),
            withheld_env: Vec::new(),
            appeared: Vec::new(),
            unwatched: Vec::new(),
            set_aside: Vec::new(),
            not_disarmed: Vec::new(),
            privileges_removed: Vec::new(),
            privileges_unknown: Vec::new(),
            omitted: Vec::new(),
        }
    }

    /// What the companion says went in and out; what was refused is a denial too.
    fn take_egress(&mut self, served: Option<&[u8]>) {
        let Some(served) = served.and_then(|bytes| serde_json::from_slice::<Served>(bytes).ok()) else {
            return;
        };
        let refused = served
            .attempts
            .iter()
            .filter(|attempt| attempt.verdict == Verdict::Refused);
        self.denials.extend(refused.map(|attempt| Denial {
            kind: "network",
            syscall: "connect".to_owned(),
            what: What::Host(format!("{}:{}", attempt.host, attempt.port)),
            pid: 0,
            program: String::new(),
            rule: match (&attempt.rule, &attempt.reason) {
                (Some(rule), _) => format!("network.deny `{rule}`"),
                (None, Some(reason)) => reason.clone(),
                (None, None) => "network.allow does not name it".to_owned(),
            },
            hint: attempt.hint.clone().unwrap_or_default(),
            count: attempt.count,
        }));
        self.egress = served.attempts;
        if let Some(model) = &mut self.model {
            model.usage = served.model.and_then(|usage| serde_json::from_value(usage).ok());
            self.egress.extend(model.usage.as_ref().and_then(through_the_broker));
        }
    }

    /// Fills in what happened, and returns the exit status the contract gives it.
    pub fn conclude(&mut self, outcome: &Outcome) -> i32 {
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
        self.denials = outcome
            .denied
            .iter()
            .map(|denied| Denial {
                kind: "syscall",
                syscall: denied.syscall.clone(),
                what: What::Name(denied.syscall.clone()),
                pid: denied.pid,
                program: denied.program.clone(),
                rule: format!("seccomp: {}", denied.why),
                hint: "no policy key allows this call".to_owned(),
                count: denied.count,
            })
            .collect();
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
        self.cause = match outcome.cause {
            Some(Cause::Memory) => Some("memory"),
            Some(Cause::Deadline) => Some("deadline"),
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

    /// Writes the report where the caller wants it: whole or not at all.
    pub fn write(&self, to: &Destination) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self).map_err(std::io::Error::other)?;
        text.push(b'\n');
        match to {
            Destination::Stream(stream) => (&*stream).write_all(&text),
            Destination::File { dir, name } => {
                let (draft, target) = (in_dir(dir, &temporary(name)), in_dir(dir, name));
                let put = || -> std::io::Result<()> {
                    let mut options = fs::OpenOptions::new();
                    options
                        .create_new(true)
                        .write(true)
                        .mode(0o644)
                        .open(&draft)?
                        .write_all(&text)?;
                    fs::rename(&draft, &target)
                };
                put().inspect_err(|_| {
                    // What could not be put in place is of no use to anybody.
                    let _ = fs::remove_file(&draft);
                })
            }
        }
    }
}

fn texts(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

/// What the broker sent and received, as one row: it is egress like any other.
fn through_the_broker(usage: &BrokerReport) -> Option<Attempt> {
    let endpoint = Endpoint::parse(&usage.endpoint).ok()?;
    let forwarded = usage.requests.saturating_sub(usage.refused);
    (forwarded > 0).then(|| Attempt {
        host: endpoint.host().to_string(),
        port: endpoint.port(),
        verdict: Verdict::Allowed,
        via: Via::Broker,
        bytes_up: usage.bytes_up,
        bytes_down: usage.bytes_down,
        reason: None,
        rule: Some("model_access: auto".to_owned()),
        hint: None,
        count: forwarded,
    })
}

/// Where a report goes, opened before the command starts: what it renames or links meanwhile leads nowhere else.
#[derive(Debug)]
pub enum Destination {
    /// A pipe, a terminal or a device: it cannot be replaced, only written to.
    Stream(fs::File),
    File {
        dir: fs::File,
        name: OsString,
    },
}

impl Destination {
    /// Finds out whether a report can be put there.
    pub fn open(to: &Path) -> std::io::Result<Self> {
        if fs::metadata(to).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return fs::OpenOptions::new().write(true).open(to).map(Self::Stream);
        }
        let name = to.file_name().filter(|_| !to.is_dir());
        let name = name.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::IsADirectory))?;
        let parent = to
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let dir = fs::File::open(parent)?;
        let draft = in_dir(&dir, &temporary(name));
        fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o644)
            .open(&draft)?;
        fs::remove_file(&draft)?;
        Ok(Self::File {
            dir,
            name: name.to_owned(),
        })
    }
}

/// A name in a directory that is held open, whatever became of its path.
fn in_dir(dir: &fs::File, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}

/// A name beside the report, of this process.
fn temporary(name: &OsStr) -> OsString {
    let mut draft = name.to_owned();
    draft.push(format!(".tmp.{}", std::process::id()));
    draft
}

/// `2026-01-31T23:59:59.123Z`.
#[must_use]
pub fn rfc3339(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, rest) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Civil date from a day count: years of 365.2425 days that start in March.
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!(
        "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z",
        since.subsec_millis()
    )
}
