//! A place to run in, and what is asserted of a run there.
//!
//! With `GLEE_TESTS_BARE=1` each command runs without the sandbox: a claim that fails then is this machine's fault or the
//! test's own, not the product's.

use std::cell::RefCell;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_tests::{Caller, Policy, Run, World};

use crate::seen::Seen;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const LIMIT: Duration = Duration::from_secs(120);

/// A world of one caller's, in which scripts run under the policy `workspace`.
#[derive(Debug)]
pub(crate) struct Place {
    world: World,
    policy: RefCell<Policy>,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        Self {
            world: World::new(caller),
            policy: RefCell::new(Policy::Named("workspace")),
        }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.world.home()
    }

    /// A file in the project, the caller's own.
    pub(crate) fn write(&self, name: &str, content: &[u8]) {
        let path = self.world.project().join(name);
        fs::write(&path, content).unwrap_or_else(|e| panic!("write `{}`: {e}", path.display()));
        self.give(&path);
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        let path = self.world.project().join(name);
        fs::read(&path).unwrap_or_else(|e| panic!("read `{}`: {e}", path.display()))
    }

    pub(crate) fn give(&self, path: &Path) {
        let caller = self.world.caller();
        chown(path, Some(caller.uid()), Some(caller.gid())).expect("give a path to the caller");
    }

    /// Runs from now on are in a lab, with these network rules and the lab's authority trusted.
    pub(crate) fn lab(&self, rules: &str) {
        self.world.join_lab();
        let trusting = "env: {set: {SSL_CERT_FILE: '@CA', GIT_SSL_CAINFO: '@CA', NODE_EXTRA_CA_CERTS: '@CA', \
                        CURL_CA_BUNDLE: '@CA'}}";
        let text = format!("extends: workspace\nnetwork: {{{rules}}}\n{trusting}\n");
        self.policy.replace(Policy::Yaml(self.world.fill(&text)));
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }

    /// The script in the sandbox, not yet started.
    pub(crate) fn inside(&self, script: &str) -> Run<'_> {
        let bare = std::env::var_os("GLEE_TESTS_BARE").is_some();
        let policy = self.policy.borrow().clone();
        self.shell(
            if bare {
                Run::bare(&self.world)
            } else {
                Run::sandboxed(&self.world, policy)
            },
            script,
        )
    }

    fn shell<'w>(&'w self, run: Run<'w>, script: &str) -> Run<'w> {
        let path = format!("{}/.cargo/bin:{PATH}", self.home().display());
        let run = run
            .env("PATH", &path)
            .without_env("USER")
            .without_env("TERM")
            .limit(LIMIT);
        run.raw_command(["sh", "-euc", script].map(OsString::from))
    }

    pub(crate) fn run(&self, script: &str) -> Seen {
        Seen::of(&self.inside(script).go())
    }

    /// The script outside the sandbox, as the caller.
    pub(crate) fn outside(&self, script: &str) -> Seen {
        Seen::of(&self.shell(Run::bare(&self.world), script).go())
    }

    /// The script succeeds in the sandbox and prints exactly this.
    #[track_caller]
    pub(crate) fn prints(&self, script: &str, expected: &str) {
        let Seen { status, stdout, stderr } = self.run(script);
        assert_eq!(
            (status, stdout.as_str()),
            (0, expected),
            "stderr: {stderr}\nscript: {script}"
        );
    }

    /// The script prints in the sandbox what it prints outside, and succeeds in both.
    #[track_caller]
    pub(crate) fn prints_as_bare(&self, script: &str) {
        let Seen { status, stdout, stderr } = self.outside(script);
        assert_eq!(status, 0, "outside: {stderr}\nscript: {script}");
        self.prints(script, &stdout);
    }

    /// The status with which the script ends in the sandbox.
    pub(crate) fn ends(&self, script: &str) -> i32 {
        self.run(script).status
    }

    /// Prepares the project outside the sandbox, as the caller.
    #[track_caller]
    pub(crate) fn stage(&self, script: &str) {
        let Seen { status, stderr, .. } = self.outside(script);
        assert_eq!(status, 0, "the test could not prepare its project: {stderr}");
    }

    /// Looks at the project from outside afterwards, as the caller.
    #[track_caller]
    pub(crate) fn finds(&self, script: &str, expected: &str) {
        let Seen { status, stdout, stderr } = self.outside(script);
        assert_eq!(
            (status, stdout.as_str()),
            (0, expected),
            "outside: {stderr}\nscript: {script}"
        );
    }

    /// Fails with the name of the package if a tool is not there.
    #[track_caller]
    pub(crate) fn needs(&self, tools: &[&str]) {
        for tool in tools {
            let found = PATH.split(':').any(|dir| Path::new(dir).join(tool).is_file());
            assert!(
                found,
                "`{tool}` is not installed: this test needs the package `{}`",
                package(tool)
            );
        }
    }

    #[track_caller]
    pub(crate) fn needs_python_module(&self, module: &str, package: &str) {
        let Seen { status, .. } = self.outside(&format!("python3 -c 'import {module}'"));
        assert_eq!(
            status, 0,
            "python has no `{module}`: this test needs the package `{package}`"
        );
    }

    /// A rustup and a toolchain in the place's home, as their installer leaves them.
    pub(crate) fn with_rust_in_home(&self) {
        crate::rust::install(&self.home(), &|path| self.give(path));
    }
}

fn package(tool: &str) -> &str {
    match tool {
        "rg" => "ripgrep",
        "node" => "nodejs",
        "ps" | "pgrep" => "procps",
        "script" => "bsdutils",
        "flock" => "util-linux",
        "fc-match" => "fontconfig",
        "getent" => "libc-bin",
        "man" => "man-db",
        "ssh-keygen" => "openssh-client",
        same => same,
    }
}
