//! A caller's place, and what of theirs an engine still has.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use glee_tests::{Caller, Policy, Run, World};
use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) world: World,
    caller: Caller,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        let world = World::new(caller);
        Self { world, caller }
    }

    /// `run --backend podman --policy NAME`; the command is still to be said.
    pub(crate) fn run(&self, policy: &'static str) -> Run<'_> {
        Run::sandboxed(&self.world, Policy::Named(policy)).flags(["--backend", "podman"])
    }

    pub(crate) fn sh(&self, policy: &'static str, script: &str) -> Run<'_> {
        self.run(policy).command(["sh", "-euc", script])
    }

    pub(crate) fn report(&self) -> (String, PathBuf) {
        let path = self.world.root().join("report.json");
        (path.display().to_string(), path)
    }

    pub(crate) fn read(path: &PathBuf) -> Value {
        let text = fs::read_to_string(path).expect("a report was written");
        serde_json::from_str(&text).expect("the report is JSON")
    }

    /// What Podman itself prints, as this caller.
    pub(crate) fn podman(&self, arguments: &[&str]) -> String {
        let out = self.podman_ends(arguments);
        String::from_utf8_lossy(&out.stdout).trim().to_owned()
    }

    /// Podman itself, as this caller, to its end.
    pub(crate) fn podman_ends(&self, arguments: &[&str]) -> Output {
        let mut command = match self.caller {
            Caller::Root => Command::new("podman"),
            Caller::User => {
                let mut command = Command::new("setpriv");
                let (uid, gid) = (self.caller.uid(), self.caller.gid());
                command.args([format!("--reuid={uid}"), format!("--regid={gid}")]);
                command.args(["--clear-groups", "--", "podman"]);
                command
            }
        };
        let home = match self.caller {
            Caller::Root => "/root".to_owned(),
            Caller::User => format!("/home/{}", self.caller.name()),
        };
        command
            .args(arguments)
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("HOME", home)
            .current_dir("/")
            .output()
            .expect("podman runs")
    }

    /// Containers of ours that this caller's engine knows, and directories of runs that are still there.
    pub(crate) fn left(&self, runs: &[String]) -> Vec<String> {
        let known = self.podman(&["ps", "--all", "--format", "{{.Names}}", "--filter", "label=glee.run"]);
        let base = match self.caller {
            Caller::Root => PathBuf::from("/run/glee-containers"),
            Caller::User => PathBuf::from(format!("/dev/shm/glee-containers-{}", self.caller.uid())),
        };
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mut left = Vec::new();
        for run in runs {
            if known.contains(run.as_str()) {
                left.push(format!("container of {run}"));
            }
            if base.join(run).exists() {
                left.push(format!("directory of {run}"));
            }
            if mounts.contains(run.as_str()) {
                left.push(format!("mount of {run}"));
            }
        }
        left
    }

    /// The runs whose containers there are now.
    pub(crate) fn running(&self) -> Vec<String> {
        let names = self.podman(&["ps", "--format", "{{.Names}}", "--filter", "label=glee.run"]);
        names
            .lines()
            .filter_map(|name| name.strip_prefix("glee-"))
            .map(str::to_owned)
            .collect()
    }
}
