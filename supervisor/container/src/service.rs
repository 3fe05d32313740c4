//! Finds the engine's socket; for Podman, which needs no daemon, starts a service for this run where none listens.
//!
//! The service gets the caller's own rights and a home that depends on no variable: two runs of one user must find the
//! same images.

use std::env;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use glee_policy::resolved::Runtime;
use glee_sandbox::sys::process::{self, Pid};
use glee_sandbox::sys::socket;

use crate::facts::Engine;

/// How long it may take to listen, and how long it stays without being asked anything.
const START: Duration = Duration::from_secs(20);
const IDLE_SECONDS: u32 = 30;
const PAUSE: Duration = Duration::from_millis(2);

/// Variables by which a user tells the engine where things are.
const PASSED: [&str; 3] = [
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "CONTAINERS_REGISTRIES_CONF",
];

/// A socket to speak to, and the processes behind it if they are ours.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) socket: PathBuf,
    ours: Option<Own>,
}

/// Podman of an ordinary user that has no namespace yet goes on in a child of its own, which would outlive it.
#[derive(Debug)]
struct Own {
    started: Child,
    /// A handle on who listens.
    listens: Option<OwnedFd>,
}

impl Service {
    pub(crate) fn find(engine: Engine, runtime: Runtime, dir: &Path) -> Result<Self, String> {
        if runtime == Runtime::Runsc {
            // Nobody else's has the flags that it takes.
            return start(dir, runtime);
        }
        if let Some((variable, value)) = told(engine) {
            // Who names a socket means that one: another would have other images, and other rights.
            return named(variable, &value).map(|socket| Self { socket, ours: None });
        }
        let listening = usual(engine).into_iter().find(|path| is_listening(path));
        match (listening, engine) {
            (Some(socket), _) => Ok(Self { socket, ours: None }),
            (None, Engine::Podman) => start(dir, runtime),
            (None, Engine::Docker) => {
                Err("no Docker daemon listens on /var/run/docker.sock, and DOCKER_HOST names no socket".to_owned())
            }
        }
    }
}

impl Service {
    /// Who listens: what is to be bound must be mounted where that process sees it.
    pub(crate) fn listener(&self) -> io::Result<Pid> {
        let stream = UnixStream::connect(&self.socket)?;
        socket::peer(stream.as_fd()).map(|(pid, _)| pid)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if let Some(Own { started, listens }) = &mut self.ours {
            // It ends by itself, too, when it is idle.
            if let Some(listens) = listens {
                let _ = process::pidfd_kill(listens.as_fd(), libc::SIGKILL);
            }
            let _ = started.kill();
            let _ = started.wait();
        }
    }
}

/// The variable by which the engine's own client is told where to go, if it is set.
fn told(engine: Engine) -> Option<(&'static str, String)> {
    let variable = match engine {
        Engine::Podman => "CONTAINER_HOST",
        Engine::Docker => "DOCKER_HOST",
    };
    let value = env::var(variable).ok().filter(|value| !value.is_empty())?;
    Some((variable, value))
}

fn named(variable: &str, value: &str) -> Result<PathBuf, String> {
    let Some(path) = value.strip_prefix("unix://").map(PathBuf::from) else {
        return Err(format!(
            "{variable} is `{value}`: only an engine of this machine can mount its files, by a socket like unix:///run/podman/podman.sock"
        ));
    };
    if is_listening(&path) {
        Ok(path)
    } else {
        Err(format!(
            "nobody listens on `{}`, which {variable} names",
            path.display()
        ))
    }
}

/// Where the engine listens if nobody says anything else.
fn usual(engine: Engine) -> Vec<PathBuf> {
    let uid = process::geteuid();
    match engine {
        Engine::Podman if uid == 0 => vec!["/run/podman/podman.sock".into()],
        Engine::Podman => {
            let runtime = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            let runtime = runtime.unwrap_or_else(|| PathBuf::from(format!("/run/user/{uid}")));
            vec![runtime.join("podman/podman.sock")]
        }
        Engine::Docker => vec!["/var/run/docker.sock".into(), "/run/docker.sock".into()],
    }
}

fn is_listening(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.file_type().is_socket()) && UnixStream::connect(path).is_ok()
}

/// The socket of the run's directory is mounted into the container, and pid 1 must be able to connect to it.
const RUNSC: &[&str] = &[
    "--runtime",
    "runsc",
    "--runtime-flag",
    "host-uds=open",
    "--runtime-flag",
    "network=none",
];

fn start(dir: &Path, runtime: Runtime) -> Result<Service, String> {
    let socket = dir.join("api.sock");
    let log = dir.join("service.log");
    let output = fs::File::create(&log).map_err(|error| format!("cannot write `{}`: {error}", log.display()))?;
    let errors = output.try_clone().map_err(|error| error.to_string())?;
    let mut command = Command::new("podman");
    match runtime {
        Runtime::Runsc => drop(
            command
                .args(RUNSC)
                .args(is_hybrid().then_some("--cgroup-manager=cgroupfs")),
        ),
        // crun refuses a machine with both kinds of control groups.
        Runtime::Default if is_hybrid() && Path::new("/usr/sbin/runc").exists() => {
            command.args(["--runtime", "/usr/sbin/runc", "--cgroup-manager", "cgroupfs"]);
        }
        Runtime::Default => {}
    }
    command
        .args([
            "--events-backend",
            "file",
            "system",
            "service",
            "--time",
            &IDLE_SECONDS.to_string(),
        ])
        .arg(format!("unix://{}", socket.display()))
        .env_clear()
        .envs(PASSED.iter().filter_map(|name| Some((*name, env::var_os(name)?))))
        .envs(runtime_dir().map(|dir| ("XDG_RUNTIME_DIR", dir)))
        .env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
        .env("HOME", home())
        // Where it is, conmon leaves a file `oom` when a container runs out of memory.
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors);
    let mut child = command
        .spawn()
        .map_err(|error| format!("cannot start `podman system service`: {error}"))?;
    let end = Instant::now() + START;
    loop {
        if let Ok(stream) = UnixStream::connect(&socket) {
            let listens = socket::peer(stream.as_fd()).and_then(|(pid, _)| process::pidfd_open(pid));
            return Ok(Service {
                socket,
                ours: Some(Own {
                    started: child,
                    listens: listens.ok(),
                }),
            });
        }
        let ended = child.try_wait().ok().flatten();
        if ended.is_some() || Instant::now() >= end {
            let _ = child.kill();
            let _ = child.wait();
            let said = fs::read_to_string(&log).unwrap_or_default();
            let last = said.lines().last().unwrap_or("it said nothing").to_owned();
            return Err(format!("`podman system service` does not listen: {last}"));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Memory on v1, and a v2 hierarchy beside it. Told by our own membership: the mounts may be out of sight.
fn is_hybrid() -> bool {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let on_v1 = own.lines().any(|line| {
        line.split(':')
            .nth(1)
            .is_some_and(|list| list.split(',').any(|c| c == "memory"))
    });
    on_v1 && own.lines().any(|line| line.starts_with("0::"))
}

/// The caller's, if it is this user's own.
fn runtime_dir() -> Option<PathBuf> {
    let dir = PathBuf::from(env::var_os("XDG_RUNTIME_DIR")?);
    let meta = fs::metadata(&dir).ok()?;
    (meta.is_dir() && meta.uid() == process::geteuid() && meta.mode() & 0o700 == 0o700).then_some(dir)
}

/// From the user database.
fn home() -> PathBuf {
    let uid = process::geteuid().to_string();
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let line = users.lines().find(|line| line.split(':').nth(2) == Some(&uid));
    let home = line.and_then(|line| line.split(':').nth(5)).map(PathBuf::from);
    home.or_else(|| env::var_os("HOME").map(PathBuf::from))
        .unwrap_or_else(|| PathBuf::from("/"))
}
