//! A place to call the supervisor from, and what is asserted of a call.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use glee_tests::{Caller, Run, World, binary};
use serde_json::Value;

use crate::seen::Seen;

pub(crate) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What `GLEE_BACKEND` names, for a run that does not choose for itself or mean the host's own file system.
fn backend(arguments: &[OsString]) -> Option<OsString> {
    let own = |a: &OsString| a == "inherit" || a == "--backend";
    std::env::var_os("GLEE_BACKEND").filter(|_| !arguments.iter().any(own))
}

/// A world of one caller's, with a configuration directory and a directory for temporary files of its own.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) world: World,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        let world = World::new(caller);
        world.define("BIN", binary().display());
        world.define("CONFIG", world.root().join("config").display());
        world.define("STATE", world.root().join("state").display());
        world.define("TMP", world.root().join("tmp").display());
        world.dir("@CONFIG");
        world.dir("@TMP");
        Self { world }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.world.project()
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.world.home()
    }

    /// `glee-supervisor` with these arguments, templates of the world, in the project; not yet started.
    pub(crate) fn call<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Run<'_> {
        let arguments = arguments
            .into_iter()
            .map(|a| OsString::from(self.world.fill(a.as_ref())));
        let mut arguments: Vec<OsString> = arguments.collect();
        if let (Some(backend), Some(0)) = (backend(&arguments), arguments.iter().position(|a| a == "run")) {
            arguments.splice(1..1, ["--backend".into(), backend]);
        }
        let argv = [OsString::from(binary())].into_iter().chain(arguments);
        let run = Run::bare(&self.world).raw_command(argv).limit(Duration::from_secs(60));
        run.env("PATH", PATH)
            .env("XDG_CONFIG_HOME", "@CONFIG")
            .env("TMPDIR", "@TMP")
            .without_env("USER")
    }

    pub(crate) fn seen<S: AsRef<str>>(&self, arguments: impl IntoIterator<Item = S>) -> Seen {
        Seen::of(&self.call(arguments).go())
    }

    /// `run --policy NAME -- sh -euc SCRIPT`; not yet started.
    pub(crate) fn shell(&self, policy: &str, script: &str) -> Run<'_> {
        self.call(["run", "--policy", policy, "--", "sh", "-euc", script])
    }

    pub(crate) fn run(&self, policy: &str, script: &str) -> Seen {
        Seen::of(&self.shell(policy, script).go())
    }

    /// A `run` with a report, and that report.
    pub(crate) fn reported(&self, arguments: &[&str]) -> (Seen, Value) {
        let report = self.world.root().join("report.json");
        let path = report.display().to_string();
        let seen = self.seen([&["run", "--report", &path], arguments].concat());
        let text =
            fs::read_to_string(&report).unwrap_or_else(|e| panic!("no report was written: {e}\n{}", seen.stderr));
        (
            seen,
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("the report is not JSON: {e}\n{text}")),
        )
    }

    /// The call, whose command would print, is refused with 125 before it starts, and says each of these words.
    #[track_caller]
    pub(crate) fn is_refused(&self, arguments: &[&str], words: &[&str]) {
        let seen = self.seen(arguments.iter().copied());
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""), "{}", seen.stderr);
        for word in words {
            let word = self.world.fill(word);
            assert!(
                seen.stderr.contains(&word),
                "`{word}` is not in the message: {}",
                seen.stderr
            );
        }
    }

    /// A shell on the host, as the caller.
    #[track_caller]
    pub(crate) fn host(&self, script: &str) -> String {
        let script = self.world.fill(script);
        let done = self
            .world
            .host_command("sh")
            .args(["-euc", &script])
            .output()
            .expect("start a shell");
        assert!(
            done.status.success(),
            "{script}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        String::from_utf8(done.stdout).expect("the shell prints UTF-8")
    }

    /// A script of root's in a mount namespace of its own, in which `as_caller COMMAND…` runs as the caller, and
    /// `become_caller COMMAND…` replaces the shell.
    pub(crate) fn in_mount_namespace(&self, script: &str) -> Seen {
        let (uid, gid) = (self.world.caller().uid(), self.world.caller().gid());
        let script = self.world.fill(&format!(
            "become_caller() {{
                 exec setpriv --reuid={uid} --regid={gid} --clear-groups env -i PATH={PATH} HOME=@HOME LANG=C.UTF-8 \
                     XDG_CONFIG_HOME=@CONFIG XDG_STATE_HOME=@STATE \"$@\"
             }}
             as_caller() {{ (become_caller \"$@\"); }}
             cd @PROJECT
             {script}"
        ));
        let mut command = Command::new("unshare");
        command
            .args(["--mount", "--propagation", "private", "sh", "-euc", &script])
            .stdin(Stdio::null());
        let done = command
            .output()
            .expect("`unshare` is not installed: this test needs the package `util-linux`");
        Seen {
            status: done.status.code().expect("the script was not killed"),
            stdout: String::from_utf8_lossy(&done.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
        }
    }

    /// Every path below the project with its kind, mode, size and modification time.
    pub(crate) fn listing(&self) -> String {
        self.host("find . -printf '%P %y %m %s %T@ %l\\n' | sort")
    }

    /// The same without the times of directories, which what came and went has changed.
    pub(crate) fn contents(&self) -> String {
        self.host("find . -type d -printf '%P %y %m\\n' -o -printf '%P %y %m %s %T@ %l\\n' | sort")
    }
}

/// The names in a JSON object, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().unwrap_or_else(|| panic!("not an object: {value}"));
    let mut keys: Vec<_> = object.keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

/// The path as text; the harness makes none that is not UTF-8.
pub(crate) fn text(path: &Path) -> String {
    path.to_str().expect("a path of the harness is UTF-8").to_owned()
}
