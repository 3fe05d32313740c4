//! Makes the groups of one run, and acts on them.

use std::cell::Cell;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use super::facts::{Facts, Place, Unified};
use super::plan::{Absent, Invalid, Setting, settings};
use super::proc_text::{Version, membership};
use crate::sys::path;
use crate::sys::process::Pid;

use super::{Action, Controller, Missing, Reason, Request, Tree, Verdict, files, remove};

/// One directory in one hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) version: Version,
    pub(super) dir: PathBuf,
    /// The limits set here. Never empty on v1; on v2 the group can be worth having for `cgroup.kill`.
    pub(super) holds: Vec<Controller>,
}

/// The groups of one run.
///
/// Dropping it removes what is empty by then, without waiting; `remove` waits. A forked child must not drop its copy.
#[derive(Debug)]
pub struct Group {
    name: String,
    members: Vec<Member>,
    /// Nothing is left for `drop` to try again.
    removed: Cell<bool>,
}

/// Makes the groups that the request needs; the v2 one also for a loose tree. Limits that none of them enforces come
/// back as `Missing`; what failed half-way has been removed.
pub fn create(facts: &Facts, request: &Request) -> (Group, Vec<Missing>) {
    let Some(name) = facts.owner.name(&request.run) else {
        let reason = Reason::BadRunId(request.run.clone());
        let missing = wanted(request)
            .map(|limit| Missing {
                limit,
                reason: reason.clone(),
            })
            .collect();
        return (
            Group {
                name: String::new(),
                members: Vec::new(),
                removed: Cell::new(false),
            },
            missing,
        );
    };
    let mut build = Build {
        request,
        group: Group {
            name,
            members: Vec::new(),
            removed: Cell::new(false),
        },
        missing: Vec::new(),
    };
    let mut on_v1: Vec<(&Path, Vec<Controller>)> = Vec::new();
    let mut on_v2 = Vec::new();
    for controller in wanted(request) {
        match facts.place(controller) {
            Place::V2 => on_v2.push(controller),
            Place::None { reason } => build.miss(controller, reason.clone()),
            Place::V1 { dir } => match on_v1.iter_mut().find(|(known, _)| known == dir) {
                Some((_, controllers)) => controllers.push(controller),
                None => on_v1.push((dir, vec![controller])),
            },
        }
    }
    if let Some(unified) = facts.v2.as_ref().filter(|_| makes_v2(facts, request)) {
        build.on_v2(unified, &on_v2);
    }
    for (dir, controllers) in on_v1 {
        build.on_v1(dir, &controllers);
    }
    build.missing.sort_by_key(|missing| missing.limit);
    (build.group, build.missing)
}

/// Does `create` try for a v2 group? A process can only be born into one; those of v1 it can enter later.
#[must_use]
pub fn makes_v2(facts: &Facts, request: &Request) -> bool {
    let limits = || wanted(request).any(|controller| *facts.place(controller) == Place::V2);
    facts.v2.is_some() && (request.tree == Tree::Loose || limits())
}

/// Could `create` make a group? False only where every attempt would be refused.
#[must_use]
pub fn may_create(facts: &Facts) -> bool {
    facts.dirs().into_iter().any(path::is_writable)
}

fn wanted(request: &Request) -> impl Iterator<Item = Controller> {
    Controller::ALL.into_iter().filter(|controller| match controller {
        Controller::Memory => request.memory_mb.is_some(),
        Controller::Pids => request.pids.is_some(),
        Controller::Cpu => request.cpu_millis.is_some(),
    })
}

struct Build<'a> {
    request: &'a Request,
    group: Group,
    missing: Vec<Missing>,
}

impl Build<'_> {
    fn miss(&mut self, limit: Controller, reason: Reason) {
        self.missing.push(Missing { limit, reason });
    }

    fn on_v2(&mut self, unified: &Unified, controllers: &[Controller]) {
        let Some(dir) = self.make(&unified.dir, controllers) else {
            return;
        };
        let mut holds = Vec::new();
        for controller in controllers.iter().copied() {
            match offer(unified, controller).and_then(|()| self.set(&dir, controller, Version::V2)) {
                Ok(()) => holds.push(controller),
                Err(reason) => self.miss(controller, reason),
            }
        }
        self.group.members.push(Member {
            version: Version::V2,
            dir,
            holds,
        });
    }

    fn on_v1(&mut self, own: &Path, controllers: &[Controller]) {
        let Some(dir) = self.make(own, controllers) else { return };
        let mut holds = Vec::new();
        for controller in controllers.iter().copied() {
            match self.set(&dir, controller, Version::V1) {
                Ok(()) => holds.push(controller),
                Err(reason) => self.miss(controller, reason),
            }
        }
        let member = Member {
            version: Version::V1,
            dir,
            holds,
        };
        if member.holds.is_empty() {
            remove::once(&member.dir);
        } else {
            self.group.members.push(member);
        }
    }

    /// An existing directory is a refusal: it is another run's, or a link or file that somebody put in our way.
    fn make(&mut self, own: &Path, controllers: &[Controller]) -> Option<PathBuf> {
        let dir = own.join(&self.group.name);
        match DirBuilder::new().mode(0o755).create(&dir) {
            Ok(()) => Some(dir),
            Err(error) => {
                for controller in controllers.iter().copied() {
                    self.miss(controller, Reason::refused(Action::Create, &dir, &error));
                }
                None
            }
        }
    }

    fn set(&self, dir: &Path, controller: Controller, version: Version) -> Result<(), Reason> {
        settings(self.request, controller, version)
            .unwrap_or_default()
            .iter()
            .try_for_each(|setting| write_setting(dir, setting))
    }
}

/// Sees to it that a group below `unified` has the controller.
///
/// Only the root of the hierarchy (it alone has no `cgroup.type`) may have both processes and controllers for its
/// children. Elsewhere our own presence forbids it, and for pids and cpu the attempt would turn every group below into
/// an unusable `domain invalid` one: never try.
fn offer(unified: &Unified, controller: Controller) -> Result<(), Reason> {
    if unified.delegated.contains(&controller) {
        return Ok(());
    }
    if unified.dir.join("cgroup.type").exists() {
        return Err(Reason::InternalProcesses {
            dir: unified.dir.clone(),
        });
    }
    let path = unified.dir.join("cgroup.subtree_control");
    files::write(&path, format!("+{controller}").as_bytes())
        .map_err(|error| Reason::refused(Action::Write, &path, &error))
}

fn write_setting(dir: &Path, setting: &Setting) -> Result<(), Reason> {
    let path = dir.join(setting.file);
    let Err(error) = files::write(&path, setting.value.as_bytes()) else {
        return Ok(());
    };
    let refused = |path: &Path, error: &io::Error| Err(Reason::refused(Action::Write, path, error));
    match (error.kind(), setting.absent, setting.invalid) {
        (io::ErrorKind::NotFound, Absent::Skipped, _) | (io::ErrorKind::InvalidInput, _, Invalid::Nested) => Ok(()),
        (io::ErrorKind::NotFound, Absent::Instead(file, value), _) => {
            let path = dir.join(file);
            files::write(&path, value.as_bytes()).or_else(|error| refused(&path, &error))
        }
        _ => refused(&path, &error),
    }
}

impl Group {
    /// No group at all.
    pub fn none() -> Self {
        Self {
            name: String::new(),
            members: Vec::new(),
            removed: Cell::new(true),
        }
    }

    /// Those of the requested limits that hold for a process only as they hold for us: it is in the same group.
    pub fn not_apart(pid: Pid, request: &Request) -> io::Result<Vec<Controller>> {
        let read = |who: &str| files::read(Path::new(&format!("/proc/{who}/cgroup"))).map(|text| membership(&text));
        let (ours, theirs) = (read("self")?, read(&pid.0.to_string())?);
        let same = |controller: &Controller| match (ours.of_v1(*controller), theirs.of_v1(*controller)) {
            (Some(ours), Some(theirs)) => ours == theirs,
            (None, _) | (_, None) => ours.v2 == theirs.v2,
        };
        Ok(wanted(request).filter(same).collect())
    }

    /// The groups in which somebody else has put a process, to read what the limits did. They are not ours to remove.
    pub fn of_process(pid: Pid, request: &Request) -> Self {
        let read = |path: &Path| files::read(path).ok();
        let facts = Facts::assemble(
            &read(Path::new("/proc/self/mountinfo")).unwrap_or_default(),
            &read(Path::new(&format!("/proc/{}/cgroup", pid.0))).unwrap_or_default(),
            super::owner::Owner::current(),
            read,
            path::is_writable,
        );
        let mut group = Self::none();
        for controller in wanted(request) {
            let (version, dir) = match facts.place(controller) {
                Place::V1 { dir } => (Version::V1, dir.clone()),
                Place::V2 => match &facts.v2 {
                    Some(unified) => (Version::V2, unified.dir.clone()),
                    None => continue,
                },
                Place::None { .. } => continue,
            };
            group.members.push(Member {
                version,
                dir,
                holds: vec![controller],
            });
        }
        group
    }

    /// For `CLONE_INTO_CGROUP`. Without it, the run has no `cgroup.kill` either.
    pub fn v2_dir(&self) -> Option<&Path> {
        self.on(Version::V2).next().map(|member| member.dir.as_path())
    }

    /// The limits that these groups enforce.
    pub fn holds(&self) -> impl Iterator<Item = Controller> {
        self.members.iter().flat_map(|member| member.holds.iter().copied())
    }

    /// Opens the v1 groups for a child that will enter them by itself, in microseconds. Nothing to enter on v2 only.
    pub fn entry(&self) -> io::Result<Entry> {
        Entry::open(self.on(Version::V1).map(|member| member.dir.as_path()))
    }

    /// Moves a process, from outside, into each group that it is not in yet.
    ///
    /// Waits for an RCU grace period (5 to 20 ms) unless it is in all of them: prefer [`Group::entry`].
    pub fn add(&self, pid: u32) -> io::Result<()> {
        let own = membership(&files::read(Path::new(&format!("/proc/{pid}/cgroup")))?);
        let pid = pid.to_string();
        for member in &self.members {
            let current = match member.version {
                Version::V1 => member.holds.first().and_then(|controller| own.of_v1(*controller)),
                Version::V2 => own.v2.as_deref(),
            };
            if current.and_then(Path::file_name) != Some(self.name.as_ref()) {
                files::write(&member.dir.join("cgroup.procs"), pid.as_bytes())?;
            }
        }
        Ok(())
    }

    /// Kills every process of the run at once, also those that fork meanwhile.
    ///
    /// `cgroup.kill`, Linux 5.14, v2. Else `Unsupported`: the run's pid namespace is then the only way.
    pub fn kill(&self) -> io::Result<()> {
        let Some(dir) = self.v2_dir() else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        match files::write(&dir.join("cgroup.kill"), b"1") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(io::ErrorKind::Unsupported.into()),
            other => other,
        }
    }

    /// What the limits did to the run so far. Read it after the end and before `remove`.
    pub fn verdict(&self) -> Verdict {
        Verdict::read(&self.members)
    }

    /// As `verdict`, but only what can have ended the run: each file takes a while to open.
    pub fn cause_of_death(&self) -> Verdict {
        Verdict::of_death(&self.members)
    }

    /// Removes every group, waiting up to 2 s for processes that are just dying.
    pub fn remove(&self) -> io::Result<()> {
        if self.removed.get() {
            return Ok(());
        }
        remove::remove_paths(&self.paths())?;
        self.removed.set(true);
        Ok(())
    }

    /// For another process, which is to remove them with [`super::remove_paths`]: this handle no longer does.
    #[must_use]
    pub fn hand_over(&self) -> Vec<PathBuf> {
        if self.removed.replace(true) {
            return Vec::new();
        }
        self.paths()
    }

    pub(super) fn paths(&self) -> Vec<PathBuf> {
        self.members.iter().map(|member| member.dir.clone()).collect()
    }

    fn on(&self, version: Version) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.version == version)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for member in self.members.iter().filter(|_| !self.removed.get()) {
            remove::once(&member.dir);
        }
    }
}
