//! Starts one command in a world, bare or through the supervisor, and keeps what came out.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::chown;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::{World, attack_tool, binary, wait_until};

/// What `--policy` says.
#[derive(Debug, Clone)]
pub enum Policy {
    /// A built-in profile.
    Named(&'static str),
    /// A file with this text, a template; it lies outside the project.
    Yaml(String),
    /// No `--policy` at all: the project's own configuration decides.
    Unstated,
}

impl Policy {
    /// What `GLEE_BACKEND` names, for a policy that means the same there: no container has the host's own file system.
    fn backend(&self) -> Option<OsString> {
        let native = match self {
            Self::Named(name) => *name == "inherit",
            Self::Yaml(text) => ["mode: inherit", "isolation: landlock", "backend:"]
                .iter()
                .any(|clause| text.contains(clause)),
            Self::Unstated => false,
        };
        std::env::var_os("GLEE_BACKEND").filter(|_| !native)
    }
}

#[derive(Debug, Clone)]
enum Jail {
    None,
    Supervisor(Policy),
}

/// A command to be run. Everything that takes a `&str` fills it as a template of the world.
#[derive(Debug, Clone)]
pub struct Run<'w> {
    world: &'w World,
    jail: Jail,
    flags: Vec<String>,
    through: Vec<String>,
    command: Vec<OsString>,
    env: BTreeMap<String, String>,
    stdin: Option<Vec<u8>>,
    cwd: PathBuf,
    limit: Duration,
}

impl<'w> Run<'w> {
    /// The same command as in the sandbox, as the same user, without it.
    pub fn bare(world: &'w World) -> Self {
        Self::new(world, Jail::None)
    }

    pub fn sandboxed(world: &'w World, policy: Policy) -> Self {
        Self::new(world, Jail::Supervisor(policy))
    }

    fn new(world: &'w World, jail: Jail) -> Self {
        let env = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin".to_owned()),
            ("HOME", world.home().display().to_string()),
            ("USER", world.caller().name().to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm".to_owned()),
            // Not in the home, whose content many tests compare.
            ("XDG_STATE_HOME", world.root().join("state").display().to_string()),
        ];
        // Where the engine that `GLEE_BACKEND` names listens.
        let engine = std::env::var("DOCKER_HOST").ok().map(|host| ("DOCKER_HOST", host));
        let env = env.into_iter().chain(engine);
        Self {
            world,
            jail,
            flags: Vec::new(),
            through: Vec::new(),
            command: Vec::new(),
            env: env.map(|(k, v)| (k.to_owned(), v)).collect(),
            stdin: None,
            cwd: world.project(),
            limit: Duration::from_secs(60),
        }
    }

    /// Flags of `run`, before the `--`. Ignored when bare.
    pub fn flags<S: AsRef<str>>(mut self, flags: impl IntoIterator<Item = S>) -> Self {
        self.flags
            .extend(flags.into_iter().map(|f| self.world.fill(f.as_ref())));
        self
    }

    /// Another program that starts the supervisor (or the bare command): `["@A", "fds", "@OUT"]`.
    pub fn through<S: AsRef<str>>(mut self, program: impl IntoIterator<Item = S>) -> Self {
        self.through
            .extend(program.into_iter().map(|p| self.world.fill(p.as_ref())));
        self
    }

    /// A program and its arguments, as they are; stdout and stderr stay apart.
    pub fn command<S: AsRef<str>>(mut self, command: impl IntoIterator<Item = S>) -> Self {
        self.command = command
            .into_iter()
            .map(|c| self.world.fill(c.as_ref()).into())
            .collect();
        self
    }

    /// A program and its arguments that need not be UTF-8.
    pub fn raw_command(mut self, command: impl IntoIterator<Item = OsString>) -> Self {
        self.command = command.into_iter().collect();
        self
    }

    /// A shell script between two marks that prove that it ran, and to its end; stderr goes where stdout goes.
    pub fn script(mut self, script: &str) -> Self {
        let script = self.world.fill(&format!("{script}\n@A mark leave @ID"));
        let argv = ["enter", self.world.nonce(), "/bin/sh", "-c", &script].map(OsString::from);
        self.command = [attack_tool().into()].into_iter().chain(argv).collect();
        self
    }

    /// A variable of the supervisor's own environment. `HOME` and the like can be overridden.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), self.world.fill(value));
        self
    }

    pub fn without_env(mut self, name: &str) -> Self {
        self.env.remove(name);
        self
    }

    /// Written to stdin by a thread; without it stdin is `/dev/null`.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Where `run` is called; the project if not said.
    pub fn cwd(mut self, template: &str) -> Self {
        self.cwd = self.world.path(template);
        self
    }

    /// After this the supervisor is killed and the outcome says `hung`.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    fn argv(&self) -> Vec<OsString> {
        let entrance = self.world.lab.get().map(|lab| lab.entrance(self.world.caller()));
        let before = entrance.into_iter().flatten().chain(self.through.iter().cloned());
        let mut argv: Vec<OsString> = before.map(OsString::from).collect();
        if let Jail::Supervisor(policy) = &self.jail {
            argv.extend([binary().into(), "run".into()]);
            let chosen = self.flags.iter().any(|flag| flag == "--backend");
            let backend = policy.backend().filter(|_| !chosen);
            argv.extend(backend.into_iter().flat_map(|name| ["--backend".into(), name]));
            match policy {
                Policy::Named(name) => argv.extend(["--policy".into(), (*name).into()]),
                Policy::Yaml(text) => argv.extend(["--policy".into(), self.policy_file(text).into()]),
                Policy::Unstated => {}
            }
            argv.extend(self.flags.iter().map(OsString::from));
            argv.push("--".into());
        }
        argv.extend(self.command.iter().cloned());
        argv
    }

    fn policy_file(&self, text: &str) -> PathBuf {
        let path = self.world.root().join("policy.yml");
        fs::write(&path, self.world.fill(text)).expect("write the policy file");
        chown(&path, Some(self.world.caller().uid()), Some(self.world.caller().gid()))
            .expect("give the policy file away");
        path
    }

    pub fn spawn(self) -> Running {
        let argv = self.argv();
        let (program, args) = argv.split_first().expect("a run has a command");
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(&self.env).current_dir(&self.cwd);
        // A group of its own: an attack on "my process group" must not meet the harness.
        command.process_group(0);
        // Only root may enter a lab; its entrance changes to the caller.
        if self.world.lab.get().is_none() {
            command.uid(self.world.caller().uid()).gid(self.world.caller().gid());
        }
        command.stdin(if self.stdin.is_some() {
            Stdio::piped()
        } else {
            Stdio::null()
        });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .unwrap_or_else(|e| panic!("start {}: {e}", program.display()));
        if let (Some(bytes), Some(mut pipe)) = (self.stdin, child.stdin.take()) {
            thread::spawn(move || pipe.write_all(&bytes));
        }
        let out = Tap::on(child.stdout.take().expect("stdout is piped"));
        let err = Tap::on(child.stderr.take().expect("stderr is piped"));
        let mark: String = self.world.nonce().chars().rev().collect();
        Running {
            child,
            out,
            err,
            mark,
            started: Instant::now(),
            limit: self.limit,
        }
    }

    /// Starts the command and waits for its end.
    pub fn go(self) -> Outcome {
        self.spawn().finish()
    }
}

/// Reads a pipe to its end in a thread, for as long as anyone holds the other side.
#[derive(Debug)]
struct Tap {
    bytes: Arc<Mutex<Vec<u8>>>,
    thread: JoinHandle<()>,
}

impl Tap {
    fn on(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes: Arc<Mutex<Vec<u8>>> = Arc::default();
        let sink = Arc::clone(&bytes);
        let thread = thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = pipe.read(&mut buffer) {
                sink.lock()
                    .expect("no reader panics")
                    .extend_from_slice(buffer.get(..n).unwrap_or_default());
            }
        });
        Self { bytes, thread }
    }

    fn so_far(&self) -> Vec<u8> {
        self.bytes.lock().expect("no reader panics").clone()
    }

    /// Survivors may hold the pipe: then what came so far is all.
    fn settle(&self) -> Vec<u8> {
        wait_until(Duration::from_secs(1), || self.thread.is_finished());
        self.so_far()
    }
}

/// A command that has been started.
#[derive(Debug)]
pub struct Running {
    child: Child,
    out: Tap,
    err: Tap,
    mark: String,
    started: Instant,
    limit: Duration,
}

impl Running {
    /// The supervisor's pid, or that of the bare command.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stdout(&self) -> Vec<u8> {
        self.out.so_far()
    }

    pub fn stderr(&self) -> Vec<u8> {
        self.err.so_far()
    }

    /// Waits until stdout holds `text`; false if the limit of the run passes first.
    pub fn wait_for(&self, text: &str) -> bool {
        let seen = || String::from_utf8_lossy(&self.stdout()).contains(text);
        wait_until(self.limit, || seen() || !crate::alive(self.pid())) && seen()
    }

    /// Waits for `@A mark WORD @ID`.
    pub fn wait_for_mark(&self, word: &str) -> bool {
        self.wait_for(&format!("{word}:{}", self.mark))
    }

    /// Sends a signal by name: `TERM`, `KILL`.
    pub fn signal(&self, name: &str) {
        let _ = Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status();
    }

    pub fn finish(mut self) -> Outcome {
        let left = self.limit.saturating_sub(self.started.elapsed());
        let hung = !wait_until(left, || matches!(self.child.try_wait(), Ok(Some(_))));
        if hung {
            let _ = self.child.kill();
        }
        let status = self.child.wait().expect("wait for the command");
        let took = self.started.elapsed();
        Outcome {
            stdout: self.out.settle(),
            stderr: self.err.settle(),
            status,
            took,
            hung,
            mark: self.mark,
        }
    }
}

/// What a run left for its judge.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub status: ExitStatus,
    pub took: Duration,
    /// The harness had to kill it.
    pub hung: bool,
    pub(crate) mark: String,
}

impl Outcome {
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }

    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    pub fn says(&self, text: &str) -> bool {
        self.out().contains(text)
    }

    /// The script began. The mark is the nonce backwards, which is in no argument: an error message cannot quote it.
    pub fn entered(&self) -> bool {
        self.says(&format!("enter:{}", self.mark))
    }

    /// The script came to its end.
    pub fn left(&self) -> bool {
        self.says(&format!("leave:{}", self.mark))
    }

    /// For failure messages.
    pub fn describe(&self) -> String {
        let status = if self.hung {
            "killed by the harness, hung".to_owned()
        } else {
            self.status.to_string()
        };
        format!(
            "{status} after {:?}\n--- stdout\n{}\n--- stderr\n{}",
            self.took,
            brief(&self.out()),
            brief(&self.err())
        )
    }
}

fn brief(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() <= 40 {
        return text.to_owned();
    }
    let (head, tail) = (
        lines.get(..20).unwrap_or_default(),
        lines.get(lines.len() - 20..).unwrap_or_default(),
    );
    format!(
        "{}\n… {} lines …\n{}",
        head.join("\n"),
        lines.len() - 40,
        tail.join("\n")
    )
}
