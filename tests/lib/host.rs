//! What the caller does on the host, outside any sandbox.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::World;

impl World {
    /// Runs git on the host as the caller, in the project or below it, and returns what it printed.
    pub fn git(&self, dir: &str, args: &[&str]) -> String {
        let out = self
            .host_command("git")
            .args(args)
            .current_dir(self.path(dir))
            .output()
            .expect("run git");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            out.status.success(),
            "git {args:?}: {}{text}",
            String::from_utf8_lossy(&out.stderr)
        );
        text
    }

    /// A program of the host, as the caller and with a quiet environment.
    pub fn host_command(&self, program: &str) -> Command {
        let mut command = Command::new(self.fill(program));
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.home());
        command
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_AUTHOR_NAME", "t")
            .env("GIT_AUTHOR_EMAIL", "t@t");
        command
            .env("GIT_COMMITTER_NAME", "t")
            .env("GIT_COMMITTER_EMAIL", "t@t")
            .current_dir(self.project());
        command
            .uid(self.caller().uid())
            .gid(self.caller().gid())
            .stdin(Stdio::null());
        command
    }

    /// Makes the project a git repository with one commit of all that is in it.
    pub fn git_init(&self) {
        self.git("@PROJECT", &["-c", "init.defaultBranch=main", "init", "-q"]);
        self.file("@PROJECT/readme", "hello\n");
        self.git("@PROJECT", &["add", "-A"]);
        self.git("@PROJECT", &["commit", "-q", "--allow-empty", "-m", "first"]);
    }

    /// Runs a shell command on the host as the caller.
    pub fn host_does(&self, script: &str) {
        let out = self
            .host_command("/bin/sh")
            .args(["-c", &self.fill(script)])
            .output()
            .expect("run sh");
        assert!(
            out.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
    }

    /// The same, where the supervisor may stand in the way: a name that it protects cannot always be made meanwhile.
    pub fn host_tries(&self, script: &str) {
        self.host_command("/bin/sh")
            .args(["-c", &self.fill(script)])
            .output()
            .expect("run sh");
    }

    /// Leaves the supervisor a moment to notice what the host has done.
    pub fn settle(&self) {
        std::thread::sleep(Duration::from_millis(300));
    }
}
