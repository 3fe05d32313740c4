//! The run's own directory on the host: what is mounted into the container, and the socket over which pid 1 is met.
//!
//! Closed to everybody else. Whoever holds the lock on it lives; a directory that nobody holds is removed by the next run.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use glee_sandbox::launch::LaunchError;
use glee_sandbox::launch::vessel::{detach_trees, stage_trees};
use glee_sandbox::plan::{Kind, SandboxPlan};
use glee_sandbox::sys::fd::{Lock, flock};
use glee_sandbox::sys::process::Pid;
use glee_sandbox::sys::{mount, process};

use crate::facts::mount_points;
use crate::layout::ETC_FILES;
use crate::plan::{ContainerPlan, Mount, Source, Staged};

/// How often what is mounted is looked for before it is left to the next run.
const ROUNDS: u32 = 8;
/// A directory without a lock this old was left by somebody who died in between.
const OLD: Duration = Duration::from_secs(120);

#[derive(Debug, thiserror::Error)]
#[error("cannot make the run's directory `{}`: {error}", .at.display())]
pub struct RunDirError {
    at: PathBuf,
    error: io::Error,
}

#[derive(Debug, Clone)]
pub(crate) struct RunDir {
    at: PathBuf,
    /// The supervisor's own program, to be mounted.
    program: PathBuf,
}

impl RunDir {
    pub(crate) fn new(run_id: &str) -> Result<Self, RunDirError> {
        let base = base();
        let at = base.join(run_id);
        let make = |dir: &Path| match DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => own(dir),
            other => other,
        };
        // Whoever ends last removes the place of all, which may be just now.
        (0..ROUNDS)
            .map(|_| make(&base).and_then(|()| make(&at)))
            .find(|made| !matches!(made, Err(error) if error.kind() == io::ErrorKind::NotFound))
            .unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()))
            .map_err(|error| RunDirError { at: at.clone(), error })?;
        let mut dir = Self {
            program: PathBuf::new(),
            at,
        };
        dir.program = own_program().unwrap_or_else(|| dir.own_copy());
        Ok(dir)
    }

    fn own_copy(&self) -> PathBuf {
        self.at.join("init")
    }

    pub(crate) fn path(&self) -> &Path {
        &self.at
    }

    /// Held for as long as the run lasts, by the carrier.
    pub(crate) fn lock(&self) -> io::Result<File> {
        // Under its name it is held from the first moment: another run that looks takes an unheld one for a dead one's.
        let early = self.at.join("lock.new");
        let file = File::create(&early)?;
        flock(file.as_fd(), Lock::TryExclusive)?;
        fs::rename(early, self.at.join("lock"))?;
        Ok(file)
    }

    /// Where the files and directories of the skeleton lie.
    fn root(&self) -> PathBuf {
        self.at.join("root")
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.in_skeleton(Path::new(glee_sandbox::contained::SOCKET))
    }

    pub(crate) fn seccomp(&self) -> PathBuf {
        self.at.join("seccomp.json")
    }

    fn in_skeleton(&self, at: &Path) -> PathBuf {
        self.root().join(at.strip_prefix("/").unwrap_or(at))
    }

    /// A path that the engine can bind.
    pub(crate) fn source(&self, source: &Source) -> PathBuf {
        match source {
            Source::Host(path) => path.clone(),
            Source::Mapped { step, below, .. } => {
                let tree = self.at.join("trees").join(step.to_string());
                if below.as_os_str().is_empty() {
                    tree
                } else {
                    tree.join(below)
                }
            }
            Source::Staged(at) => self.in_skeleton(at),
            Source::Nothing(glee_sandbox::plan::Kind::Dir) => self.at.join("nothing.dir"),
            Source::Nothing(glee_sandbox::plan::Kind::File) => self.at.join("nothing"),
            Source::Program => self.program.clone(),
        }
    }

    /// Makes everything that is mounted.
    pub(crate) fn stage(&self, plan: &ContainerPlan) -> Result<(), LaunchError> {
        let step = |at: &Path, error| LaunchError::Step {
            step: "stage".to_owned(),
            detail: at.display().to_string(),
            error,
        };
        for (at, mount) in &plan.mounts {
            let Mount::Bind { source, .. } = mount else { continue };
            let followed = match source {
                Source::Host(host) | Source::Mapped { host, .. } => host,
                Source::Nothing(Kind::File) if at.is_dir() => at,
                Source::Staged(_) | Source::Nothing(_) | Source::Program => continue,
            };
            if followed.is_symlink() {
                return Err(LaunchError::Engine(format!(
                    "`{}` is a symbolic link, and an engine would mount what it leads to: use `--backend native`",
                    followed.display()
                )));
            }
        }
        fs::create_dir(self.root()).map_err(|error| step(&self.root(), error))?;
        for (at, what) in &plan.staged {
            let to = self.in_skeleton(at);
            put(&to, what).map_err(|error| step(at, error))?;
        }
        self.fixed(plan).map_err(|error| step(&self.at, error))
    }

    /// Mounts the trees whose owners are mapped, where the engine sees them.
    pub(crate) fn stage_trees(&self, sandbox: &SandboxPlan, engine: Pid) -> Result<(), LaunchError> {
        let trees = self.at.join("trees");
        fs::create_dir(&trees).map_err(|error| LaunchError::Engine(error.to_string()))?;
        stage_trees(sandbox, &trees, engine)
    }

    /// Takes them away again.
    pub(crate) fn detach_trees(&self, engine: Pid) {
        // What fails is tried again by `remove`, and by the next run.
        let _ = detach_trees(&|| mounted_below(&self.at).unwrap_or_default(), engine);
    }

    fn fixed(&self, plan: &ContainerPlan) -> io::Result<()> {
        let (file, dir) = (self.at.join("nothing"), self.at.join("nothing.dir"));
        fs::write(&file, b"")?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000))?;
        fs::create_dir(&dir)?;
        // An engine mounts its own files here even if `/etc` is hidden; nobody gets to see them.
        for name in ETC_FILES {
            fs::write(dir.join(name), b"")?;
        }
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o000))?;
        fs::write(self.seccomp(), plan.seccomp.to_string())?;
        if self.program == self.own_copy() {
            fs::copy("/proc/self/exe", &self.program)?;
            fs::set_permissions(&self.program, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }

    /// Takes mounts and files away.
    pub(crate) fn remove(&self) {
        remove(&self.at);
        // Others may still have theirs in it.
        let _ = fs::remove_dir(base());
    }
}

/// The file that we run, if it still lies where we were started from.
fn own_program() -> Option<PathBuf> {
    let path = fs::read_link("/proc/self/exe").ok()?;
    let identity = |meta: fs::Metadata| (meta.dev(), meta.ino());
    let running = fs::metadata("/proc/self/exe").map(identity).ok()?;
    let found = fs::symlink_metadata(&path).map(identity).ok()?;
    (running == found && path.to_str().is_some()).then_some(path)
}

fn put(to: &Path, what: &Staged) -> io::Result<()> {
    if let Some(above) = to.parent() {
        DirBuilder::new().recursive(true).mode(0o755).create(above)?;
    }
    let dir = |mode| {
        DirBuilder::new().recursive(true).create(to)?;
        fs::set_permissions(to, fs::Permissions::from_mode(mode))
    };
    let file = |bytes: &[u8]| {
        fs::write(to, bytes)?;
        fs::set_permissions(to, fs::Permissions::from_mode(0o644))
    };
    match what {
        Staged::Dir => dir(0o755),
        Staged::OpenDir => dir(0o1777),
        Staged::Empty => file(b""),
        Staged::File(bytes) => file(bytes),
        Staged::Copy(from) => file(&fs::read(from)?),
        Staged::Link(target) => symlink(target, to),
    }
}

/// INVARIANT: nothing is removed while anything is mounted below, for that may be the user's own files.
fn remove(dir: &Path) {
    for _ in 0..ROUNDS {
        let Ok(left) = mounted_below(dir) else { return };
        if left.is_empty() {
            let nothing = dir.join("nothing.dir");
            let _ = fs::set_permissions(nothing, fs::Permissions::from_mode(0o700));
            let _ = fs::remove_dir_all(dir);
            return;
        }
        // The deepest first.
        for point in left.iter().rev() {
            let _ = mount::detach(point);
        }
    }
}

fn mounted_below(dir: &Path) -> io::Result<Vec<PathBuf>> {
    let points = mount_points(&fs::read("/proc/self/mountinfo")?);
    Ok(points.into_iter().filter(|point| point.starts_with(dir)).collect())
}

/// Is somebody still at work there?
pub(crate) fn is_held(run_id: &str) -> bool {
    let dir = base().join(run_id);
    let young = fs::symlink_metadata(&dir)
        .and_then(|meta| meta.modified())
        .is_ok_and(|time| SystemTime::now().duration_since(time).unwrap_or_default() < OLD);
    match File::open(dir.join("lock")) {
        Ok(lock) => flock(lock.as_fd(), Lock::TryExclusive).is_err(),
        Err(_) => young,
    }
}

/// Removes what dead supervisors left.
pub(crate) fn sweep() {
    for entry in fs::read_dir(base()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().is_some_and(|run_id| !is_held(run_id)) {
            remove(&entry.path());
        }
    }
}

/// A place of this user's own, the same for all its runs.
pub(crate) fn base() -> PathBuf {
    let uid = process::geteuid();
    if uid == 0 {
        return PathBuf::from("/run/glee-containers");
    }
    let shared = Path::new("/dev/shm");
    let above = if shared.is_dir() { shared } else { Path::new("/tmp") };
    above.join(format!("glee-containers-{uid}"))
}

fn own(dir: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(dir)?;
    if meta.is_dir() && meta.uid() == process::geteuid() && meta.mode() & 0o077 == 0 {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "it is not this user's own, or open to others",
        ))
    }
}
