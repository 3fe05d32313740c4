//! The coverage ledger: for each clause of the policy, the steps that enforce it.
//!
//! Written last, from the finished plan. `lower` has refused what nothing enforces; this says what does.

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::minutes::minutes;
use glee_policy::resolved::{DenyTarget, FsAccess, Network};

use crate::plan::{Containment, Coverage, MountStep, SandboxPlan, Workspace};

pub(super) fn write(policy: &ResolvedPolicy, plan: &SandboxPlan) -> Vec<Coverage> {
    let mut ledger = Ledger {
        policy,
        list: Vec::new(),
    };
    ledger.workspace(plan);
    ledger.filesystem(plan);
    ledger.network(plan);
    ledger.environment();
    ledger.limits(plan);
    ledger.list
}

struct Ledger<'a> {
    policy: &'a ResolvedPolicy,
    list: Vec<Coverage>,
}

impl Ledger<'_> {
    fn origin(&self, key: &str) -> String {
        self.policy
            .origins
            .get(key)
            .map(ToString::to_string)
            .unwrap_or_else(|| self.policy.name.clone())
    }

    fn add(&mut self, clause: String, origin: String, enforced_by: &[&'static str], note: Option<&str>) {
        self.list.push(Coverage {
            clause,
            origin,
            enforced_by: enforced_by.to_vec(),
            note: note.map(str::to_owned),
        });
    }

    fn workspace(&mut self, plan: &SandboxPlan) {
        let (by, note): (&[&'static str], _) = match plan.workspace {
            Workspace::Shared => return,
            Workspace::Cow => (
                &["overlayfs"],
                "the project stays as it is; `runs diff` and `runs apply` show and take what changed",
            ),
            Workspace::Worktree => (
                &["mount namespace"],
                "a worktree of the last commit lies at the project's path",
            ),
        };
        let clause = format!("--workspace {}", plan.workspace.name());
        self.add(clause, "the command line".to_owned(), by, Some(note));
    }

    fn filesystem(&mut self, plan: &SandboxPlan) {
        let by: &[&'static str] = match plan.containment {
            Containment::Namespaces => &["mount namespace", "Landlock"],
            Containment::Landlock => &["Landlock"],
            Containment::Inherit => &["the caller's own rights"],
        };
        for grant in &self.policy.grants {
            let key = match grant.access {
                FsAccess::Read => "fs.read",
                FsAccess::ReadWrite => "fs.write",
            };
            let note = (!grant.exists).then_some("not there: nothing is granted");
            self.add(format!("{key}: {}", grant.written), grant.origin.to_string(), by, note);
        }
        let cover = Cover::new(self.policy);
        for deny in &self.policy.deny {
            let covered = |step: &MountStep| match step {
                MountStep::Hide { at, .. } | MountStep::Protect { at } => {
                    let place = deny.target.place().as_path();
                    at.starts_with(place) || place.starts_with(at)
                }
                MountStep::Dir { .. }
                | MountStep::Symlink { .. }
                | MountStep::File { .. }
                | MountStep::Copy { .. }
                | MountStep::Bind { .. }
                | MountStep::Private { .. }
                | MountStep::Compose { .. }
                | MountStep::Proc { .. }
                | MountStep::Devpts { .. }
                | MountStep::Pin { .. } => false,
            };
            let (by, note): (&[&'static str], _) = match (&deny.target, plan.containment) {
                (_, Containment::Landlock) => (&["Landlock"], Some("outside what is granted")),
                (DenyTarget::Glob { .. }, _) => (
                    &["mount over it"],
                    Some("inside what is granted; later matches when they appear"),
                ),
                (DenyTarget::Literal(path), _)
                    if plan.mounts.iter().any(covered)
                        || cover.access(path.as_path()).is_some()
                        || plan.watches.iter().any(|watch| watch.path == path.as_path()) =>
                {
                    (&["mount over it"], None)
                }
                (DenyTarget::Literal(_), _) => (&["mount namespace"], Some("nothing of the host is there")),
            };
            self.add(format!("fs.deny: {}", deny.written), deny.origin.to_string(), by, note);
        }
    }

    fn network(&mut self, plan: &SandboxPlan) {
        let origin = self.origin("network");
        match (&self.policy.network, plan.containment) {
            (Network::Off, Containment::Namespaces) => {
                self.add("network: false".into(), origin, &["network namespace", "seccomp"], None);
            }
            (Network::Off, Containment::Landlock) => {
                self.add("network: false".into(), origin, &["seccomp", "Landlock"], None);
            }
            (Network::Host, _) | (_, Containment::Inherit) => {
                self.add("network: true".into(), origin, &["the host's network namespace"], None);
            }
            (Network::Names { allow, deny }, _) => {
                let rules = [("allow", allow), ("deny", deny)];
                for (key, name) in rules
                    .into_iter()
                    .flat_map(|(key, names)| names.iter().map(move |name| (key, name)))
                {
                    let origin = self.origin(&format!("network.{key}.{name}"));
                    let by = &["network namespace", "companion", "seccomp"];
                    self.add(format!("network.{key}: {name}"), origin, by, None);
                }
            }
        }
    }

    fn environment(&mut self) {
        let origin = self.origin("env.allow");
        let note = "loader and interpreter variables never pass";
        self.add("env".into(), origin, &["environment of exec"], Some(note));
    }

    fn limits(&mut self, plan: &SandboxPlan) {
        if let Some(time) = plan.deadline {
            let origin = self.origin("max_runtime_mins");
            self.add(
                format!("max_runtime_mins: {}", minutes(time)),
                origin,
                &["deadline"],
                None,
            );
        }
        let pids: (&[&'static str], _) = match plan.containment {
            Containment::Namespaces => {
                let note = "RLIMIT_NPROC only where no cgroup can be had";
                (&["cgroup", "RLIMIT_NPROC"], Some(note))
            }
            Containment::Landlock | Containment::Inherit => (&["cgroup"], None),
        };
        let disk: (&[&'static str], _) = match (plan.containment, plan.workspace) {
            (Containment::Landlock | Containment::Inherit, _) => (&[], "nothing is private: not bounded"),
            (Containment::Namespaces, Workspace::Cow) => (
                &["size of the private space"],
                "HOME, /tmp, /var/tmp and /dev/shm together, and as much again for the copy",
            ),
            (Containment::Namespaces, Workspace::Shared | Workspace::Worktree) => (
                &["size of the private space"],
                "HOME, /tmp, /var/tmp and /dev/shm together",
            ),
        };
        let rows: [(&str, &[&'static str], Option<&str>); 7] = [
            (
                "memory_mb",
                &["cgroup", "watchdog"],
                Some("the watchdog only where no cgroup can be had"),
            ),
            ("pids", pids.0, pids.1),
            (
                "cpus",
                &["cgroup"],
                Some("only where a cgroup can be had; the report says"),
            ),
            ("open_files", &["RLIMIT_NOFILE"], None),
            ("file_size_mb", &["RLIMIT_FSIZE"], None),
            ("disk_mb", disk.0, Some(disk.1)),
            (
                "output_kb",
                &["capture"],
                Some("where output is captured; `run` passes it through"),
            ),
        ];
        let limits = &self.policy.limits;
        let set = [
            limits.memory_mb,
            limits.pids,
            limits.cpu_millis,
            limits.open_files,
            limits.file_size_mb,
            limits.disk_mb,
            limits.output_kb,
        ];
        for ((name, by, note), value) in rows.into_iter().zip(set) {
            let Some(value) = value else { continue };
            let key = format!("limits.{name}");
            let shown = if name == "cpus" {
                format!("{}", value as f64 / 1000.0)
            } else {
                value.to_string()
            };
            let origin = self.origin(&key);
            self.add(format!("{key}: {shown}"), origin, by, note);
        }
    }
}
