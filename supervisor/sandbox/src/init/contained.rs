//! Pid 1 of a container: takes what the supervisor sends over the mounted socket, then starts the command as in any other
//! sandbox.
//!
//! The engine has built the walls and has given us no capability, so nothing here mounts or changes identity.
//! INVARIANT: nothing of the command runs before the supervisor, which has looked at the walls from outside, says so.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{Failed, Inheritance, Named, Walls, give_up};
use crate::cgroup;
use crate::control::Unheld;
use crate::plan::{CommandPlan, Containment, Doors, GitPlan, Identity, LandlockPlan, Records, SandboxPlan, Workspace};
use crate::receipt::{Canary, Wish};
use crate::seccomp::{self, Arch, FilterSpec, Table};
use crate::sys::canary::BaitName;
use crate::sys::limits::Resource;
use crate::sys::socket::{self, Wait};
use crate::sys::{fd, path, process, term};

/// The name under which the supervisor's own program runs as pid 1.
pub const NAME: &str = "glee-container-init";

/// Where its program and its socket are mounted.
pub const DIR: &str = "/.glee";
pub const PROGRAM: &str = "/.glee/init";
pub const SOCKET: &str = "/.glee/control";

/// Made in a private place before the command starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Made {
    Dir { at: OsString },
    Link { at: OsString, target: OsString },
    File { at: OsString, contents: Vec<u8> },
}

/// How the file to execute is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lookup {
    /// Where the host has it.
    AsPlanned,
    /// A bare name is looked up inside: the image has programs of its own.
    Inside,
}

/// Whose calls the processes of a container make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kernel {
    /// This machine's.
    Host,
    /// gVisor's, which has neither Landlock nor a listener for a filter, and gives no descriptor of its own to the host.
    Gvisor,
}

/// What init needs of a plan. Paths are bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inside {
    pub program: OsString,
    pub lookup: Lookup,
    pub argv: Vec<OsString>,
    pub env: Vec<(OsString, OsString)>,
    pub cwd: OsString,
    pub uid: u32,
    pub gid: u32,
    pub made: Vec<Made>,
    pub rlimits: Vec<(Resource, u64)>,
    pub kernel: Kernel,
    /// `None`: the kernel has none.
    pub landlock: Option<Vec<(OsString, u64)>>,
    pub filter: FilterSpec,
    /// What is tried before the command starts.
    pub canaries: Vec<Canary>,
    /// The name of a socket of the host, for one of them.
    pub bait: Option<Vec<u8>>,
    pub deadline: Option<Duration>,
    pub grace: Duration,
    /// The bound on memory that init watches, where the engine sets none.
    pub watched_memory: Option<u64>,
    pub terminals: [bool; 3],
    /// Of the caller's terminal.
    pub size: Option<[u16; 4]>,
    pub modes: Option<term::Numbers>,
    pub ignored: Vec<i32>,
    /// Of the caller.
    pub umask: u32,
}

/// Descriptors that come with it, in this order: control socket, liveness pipe, 0, 1, 2, and a file with an `Inside`.
pub(crate) const HANDED: usize = 6;

/// Runs as pid 1 of a container. Never returns.
pub fn main() -> ! {
    let started = Instant::now();
    let (inside, control, alive) = match receive() {
        Ok(handed) => handed,
        Err(error) => {
            // Nobody else can be told: this goes to the engine's log.
            eprintln!("glee-supervisor: this is pid 1 of a sandbox's container and cannot be called by hand: {error}");
            process::exit_now(125)
        }
    };
    if let Err(failed) = make(&inside.made) {
        give_up(&control, failed);
    }
    path::umask(inside.umask);
    let ignored = inside.ignored.clone();
    let terminals = inside.terminals;
    let size = inside.size.map(term::Size::of_numbers);
    let modes = inside.modes;
    let bait = inside.bait.as_deref().and_then(BaitName::of_bytes);
    let plan = plan(inside);
    let table = Table::builtin().map_err(|_| io::Error::from_raw_os_error(libc::EINVAL));
    let filter = match (table.step("seccomp"), &plan.seccomp) {
        (Ok(table), Some(spec)) => seccomp::compile(&table, spec, Arch::NATIVE),
        (Err(failed), _) => give_up(&control, failed),
        (Ok(_), None) => Vec::new(),
    };
    super::main(Inheritance {
        plan: &plan,
        walls: Walls::Engine,
        namespaces: Vec::new(),
        filter: &filter,
        bait,
        control,
        alive,
        terminals,
        size,
        modes,
        ignored,
        started,
        // The supervisor does that before it sends its first order, which says what is watched.
        listed: false,
        unheld: Unheld::default(),
        has_network: true,
        maker: None,
    })
}

fn receive() -> io::Result<(Inside, OwnedFd, OwnedFd)> {
    let malformed = || io::Error::from_raw_os_error(libc::EBADMSG);
    let stream = OwnedFd::from(UnixStream::connect(SOCKET)?);
    let (_, fds) = socket::receive_all(stream.as_fd(), Wait::Block)?;
    let fds: [OwnedFd; HANDED] = fds.try_into().map_err(|_| malformed())?;
    let [control, alive, input, output, error, text] = fds;
    for (number, file) in (0..3).zip([input, output, error]) {
        fd::put_at(file.as_fd(), number)?;
    }
    let mut bytes = Vec::new();
    fs::File::from(text).read_to_end(&mut bytes)?;
    let inside = serde_json::from_slice(&bytes).map_err(|_| malformed())?;
    Ok((inside, control, alive))
}

fn make(list: &[Made]) -> Result<(), Failed> {
    for made in list {
        let at = match made {
            Made::Dir { at } | Made::Link { at, .. } | Made::File { at, .. } => Path::new(at),
        };
        let above = at.parent().unwrap_or(at);
        let done = fs::create_dir_all(above).and_then(|()| match made {
            Made::Dir { at } => fs::create_dir_all(at),
            Made::Link { at, target } => std::os::unix::fs::symlink(target, at),
            Made::File { at, contents } => fs::write(at, contents),
        });
        match done {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            other => other.map_err(|error| Failed {
                step: "files",
                detail: at.display().to_string(),
                error,
            })?,
        }
    }
    Ok(())
}

/// As the program is known inside: a name without a slash is looked up in the sandbox's own PATH.
fn program(inside: &Inside) -> PathBuf {
    let planned = PathBuf::from(&inside.program);
    let name = inside.argv.first().cloned().unwrap_or_default();
    if inside.lookup == Lookup::AsPlanned || name.as_bytes().contains(&b'/') {
        return planned;
    }
    let path = inside.env.iter().find(|(name, _)| name == "PATH");
    let path = path.map_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"), |(_, value)| value);
    std::env::split_paths(path)
        .map(|dir| dir.join(&name))
        .find(|file| file.is_file())
        .unwrap_or(planned)
}

/// The plan as far as it is carried out here.
fn plan(inside: Inside) -> SandboxPlan {
    let program = program(&inside);
    SandboxPlan {
        records: Records::Leave,
        workspace: Workspace::Shared,
        containment: Containment::Namespaces,
        identity: Identity {
            uid: inside.uid,
            gid: inside.gid,
            user: String::new(),
            from_root: false,
        },
        namespaces: Vec::new(),
        cgroup: cgroup::Request {
            run: String::new(),
            memory_mb: None,
            pids: None,
            cpu_millis: None,
            tree: cgroup::Tree::Namespace,
        },
        mounts: Vec::new(),
        placeholders: Vec::new(),
        doors: Doors::default(),
        git: GitPlan {
            trees: Vec::new(),
            fresh: Vec::new(),
            not_bare: Vec::new(),
            repositories: Vec::new(),
            known: Default::default(),
            pointers: Default::default(),
            unlinked: Default::default(),
            own: Default::default(),
            named: Default::default(),
            shared: None,
            links: Default::default(),
            remotes: Vec::new(),
        },
        watches: Vec::new(),
        glob_watches: Vec::new(),
        ways: Vec::new(),
        private_bytes: 0,
        rlimits: inside.rlimits,
        landlock: inside.landlock.map(|rules| LandlockPlan {
            rules: rules.into_iter().map(|(at, rights)| (at.into(), rights)).collect(),
            deny_tcp: false,
        }),
        seccomp: Some(inside.filter),
        // What is tried was decided outside.
        receipt: Wish::Take,
        canaries: inside.canaries,
        left_out: Vec::new(),
        command: CommandPlan {
            program,
            argv: inside.argv,
            env: inside.env,
            cwd: inside.cwd.into(),
        },
        deadline: inside.deadline,
        grace: inside.grace,
        memory_bytes: inside.watched_memory,
        insisted: Vec::new(),
        ledger: Vec::new(),
        omitted: Vec::new(),
    }
}
