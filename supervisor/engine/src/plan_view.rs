//! A plan for readers: the same facts as data (`--json`) and as text, in the order in which they are carried out.
//!
//! Pure. INVARIANT: names of variables, never their values: a plan is pasted into issues.

use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use glee_sandbox::plan::{Containment, Coverage, Door, PlaceholderKind, Response, SandboxPlan, Transport};
use glee_sandbox::steps;
use serde::Serialize;

use crate::mount_view::{MountRow, mount};
use crate::plan_rows::{limits, rights, rights_in_short, seccomp, step_view};
use crate::text::{columns, visible};

/// Everything that will be done.
#[derive(Debug, Serialize)]
pub struct PlanView {
    pub policy: String,
    pub containment: &'static str,
    pub identity: IdentityView,
    pub steps: Vec<StepView>,
    pub namespaces: Vec<&'static str>,
    pub mounts: Vec<MountRow>,
    pub doors: Vec<DoorView>,
    pub placeholders: Vec<PlaceholderView>,
    pub watches: Vec<WatchView>,
    pub landlock: Option<LandlockView>,
    pub seccomp: Option<SeccompView>,
    pub limits: Vec<LimitView>,
    pub command: CommandView,
    pub ledger: Vec<CoverageView>,
    pub omitted: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct IdentityView {
    pub uid: u32,
    pub gid: u32,
    pub user: String,
    pub from_root: bool,
}

#[derive(Debug, Serialize)]
pub struct StepView {
    pub name: &'static str,
    pub who: &'static str,
    /// What of the plan it carries out.
    pub what: String,
    pub reason: &'static str,
}

#[derive(Debug, Serialize)]
pub struct PlaceholderView {
    pub path: String,
    pub kind: &'static str,
}

/// A socket that listens inside and is served outside.
#[derive(Debug, Serialize)]
pub struct DoorView {
    pub at: String,
    pub transport: &'static str,
    pub purpose: &'static str,
}

/// What is covered as soon as the host makes it during the run.
#[derive(Debug, Serialize)]
pub struct WatchView {
    /// `protect` or `hide`.
    pub response: &'static str,
    /// A path, or a pattern and the directory below which it counts.
    pub what: String,
    pub clause: String,
}

#[derive(Debug, Serialize)]
pub struct LandlockView {
    pub rules: Vec<RuleView>,
    pub deny_tcp: bool,
}

#[derive(Debug, Serialize)]
pub struct RuleView {
    pub path: String,
    pub rights: Vec<&'static str>,
}

#[derive(Debug, Serialize)]
pub struct SeccompView {
    pub network: &'static str,
    pub sockets: &'static str,
    pub denial: &'static str,
    /// What is looked at for the report besides what is denied.
    pub observed: &'static str,
    pub debug: bool,
    pub allowed: usize,
    pub by_argument: usize,
    pub denied: usize,
    pub unknown_to_the_command: usize,
    pub killed: usize,
}

#[derive(Debug, Serialize)]
pub struct LimitView {
    pub name: &'static str,
    pub value: String,
    pub by: &'static str,
}

#[derive(Debug, Serialize)]
pub struct CommandView {
    pub program: String,
    pub argv: Vec<String>,
    pub cwd: String,
    /// Names only.
    pub env: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct CoverageView {
    pub clause: String,
    pub origin: String,
    pub enforced_by: Vec<&'static str>,
    pub note: Option<String>,
}

impl PlanView {
    /// `policy` is the name under which the reader knows the policy.
    #[must_use]
    pub fn new(policy: &str, plan: &SandboxPlan) -> Self {
        let lossy = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            policy: policy.to_owned(),
            containment: match plan.containment {
                Containment::Namespaces => "namespaces",
                Containment::Landlock => "landlock",
                Containment::Inherit => "inherit",
            },
            identity: IdentityView {
                uid: plan.identity.uid,
                gid: plan.identity.gid,
                user: plan.identity.user.clone(),
                from_root: plan.identity.from_root,
            },
            steps: steps::of(plan).map(|step| step_view(step, plan)).collect(),
            namespaces: plan.namespaces.iter().map(|n| n.name()).collect(),
            mounts: plan.mounts.iter().map(mount).collect(),
            placeholders: plan
                .placeholders
                .iter()
                .map(|p| PlaceholderView {
                    path: lossy(&p.dir.join(&p.name)),
                    kind: match p.kind {
                        PlaceholderKind::Socket | PlaceholderKind::Shut => "socket",
                        PlaceholderKind::CommonDir => "commondir",
                        PlaceholderKind::GitConfig => "git config",
                    },
                })
                .collect(),
            doors: plan.doors.list.iter().map(door).collect(),
            watches: watches(plan),
            landlock: plan.landlock.as_ref().map(|rules| LandlockView {
                rules: rules
                    .rules
                    .iter()
                    .map(|(path, r)| RuleView {
                        path: lossy(path),
                        rights: rights(*r),
                    })
                    .collect(),
                deny_tcp: rules.deny_tcp,
            }),
            seccomp: seccomp(plan),
            limits: limits(plan),
            command: CommandView {
                program: lossy(&plan.command.program),
                argv: plan
                    .command
                    .argv
                    .iter()
                    .map(|a| a.to_string_lossy().into_owned())
                    .collect(),
                cwd: lossy(&plan.command.cwd),
                env: plan
                    .command
                    .env
                    .iter()
                    .map(|(n, _)| String::from_utf8_lossy(n.as_bytes()).into_owned())
                    .collect(),
            },
            ledger: plan.ledger.iter().map(coverage).collect(),
            omitted: plan.omitted.clone(),
        }
    }
}

fn watches(plan: &SandboxPlan) -> Vec<WatchView> {
    let names = plan.watches.iter().map(|watch| WatchView {
        response: match watch.response {
            Response::Protect => "protect",
            Response::Hide => "hide",
            Response::Hold => "hold",
        },
        what: watch.path.to_string_lossy().into_owned(),
        clause: watch.clause.clone(),
    });
    let patterns = plan.glob_watches.iter().map(|glob| WatchView {
        response: "hide",
        what: format!("{} below {}", glob.pattern, glob.base.to_string_lossy()),
        clause: glob.clause.clone(),
    });
    names.chain(patterns).collect()
}

fn door(door: &Door) -> DoorView {
    DoorView {
        at: door.at.to_string(),
        transport: match door.transport {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        },
        purpose: door.purpose,
    }
}

fn coverage(row: &Coverage) -> CoverageView {
    CoverageView {
        clause: row.clause.clone(),
        origin: row.origin.clone(),
        enforced_by: row.enforced_by.clone(),
        note: row.note.clone(),
    }
}

impl fmt::Display for PlanView {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let identity = &self.identity;
        writeln!(f, "policy    {}", visible(&self.policy))?;
        writeln!(f, "contained {}", self.containment)?;
        let from = if identity.from_root { ", from root" } else { "" };
        writeln!(
            f,
            "runs as   {} (uid {}, gid {}{from})",
            visible(&identity.user),
            identity.uid,
            identity.gid
        )?;
        let rows = self.steps.iter().enumerate().map(|(number, step)| {
            let what = if step.what.is_empty() {
                String::new()
            } else {
                format!(": {}", step.what)
            };
            [
                format!("{:>2}", number + 1),
                step.who.into(),
                format!("{}{what}", step.name),
                step.reason.into(),
            ]
        });
        section(f, "steps, in order", rows)?;
        section(
            f,
            "mounts, in order",
            self.mounts
                .iter()
                .map(|m| [m.kind.into(), m.at.clone(), m.about.clone()]),
        )?;
        let rows = self
            .doors
            .iter()
            .map(|d| [d.transport.to_owned(), d.at.clone(), d.purpose.to_owned()]);
        section(f, "doors, the only ways out", rows)?;
        let rows = self.placeholders.iter().map(|p| [p.kind.to_owned(), p.path.clone()]);
        section(f, "placeholders, made for the run and removed after it", rows)?;
        let rows = self
            .watches
            .iter()
            .map(|w| [w.response.to_owned(), w.what.clone(), w.clause.clone()]);
        section(f, "watched, for what the host makes during the run", rows)?;
        if let Some(landlock) = &self.landlock {
            let rows = landlock
                .rules
                .iter()
                .map(|rule| [rule.path.clone(), rights_in_short(&rule.rights)]);
            section(f, "Landlock rules", rows)?;
            if landlock.deny_tcp {
                writeln!(f, "  every TCP bind and connect is refused")?;
            }
        }
        if let Some(seccomp) = &self.seccomp {
            section(f, "seccomp", seccomp.rows())?;
        }
        section(
            f,
            "limits",
            self.limits
                .iter()
                .map(|l| [l.name.to_owned(), l.value.clone(), l.by.to_owned()]),
        )?;
        let env = if self.command.env.is_empty() {
            "none".to_owned()
        } else {
            self.command.env.join(", ")
        };
        let rows = [
            ("argv", self.command.argv.join(" ")),
            ("cwd", self.command.cwd.clone()),
            ("variables", env),
        ];
        section(f, "command", rows.map(|(name, value)| [name.to_owned(), value]))?;
        let rows = self.ledger.iter().map(|row| {
            let note = row.note.clone().unwrap_or_default();
            [row.clause.clone(), row.origin.clone(), row.enforced_by.join(", "), note]
        });
        section(f, "coverage: clause, where it stands, what enforces it", rows)?;
        section(
            f,
            "left out, because there is nothing for it here",
            self.omitted.iter().map(|o| [o.clone()]),
        )
    }
}

impl SeccompView {
    fn rows(&self) -> Vec<[String; 2]> {
        let row = |name: &str, value: String| [name.to_owned(), value];
        vec![
            row("network", self.network.to_owned()),
            row("sockets", self.sockets.to_owned()),
            row("denied calls", self.denial.to_owned()),
            row("told of", self.observed.to_owned()),
            row(
                "system calls",
                format!(
                    "{} allowed, {} by their arguments, {} denied, {} answered as unknown, {} end the process; \
                     a foreign ABI ends it too",
                    self.allowed, self.by_argument, self.denied, self.unknown_to_the_command, self.killed
                ),
            ),
        ]
    }
}

fn section<const N: usize>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    rows: impl IntoIterator<Item = [String; N]>,
) -> fmt::Result {
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|row| row.map(|cell| visible(&cell)).to_vec())
        .collect();
    if rows.is_empty() {
        return Ok(());
    }
    write!(f, "\n{title}\n{}", columns(&rows, "  "))
}
