//! What the command opened for writing, as the kernel saw it: so that after a run nobody has to look at every file.
//!
//! Only through a file that is open for writing can a mapping change it (`setids`). Every mount through which the command
//! can write to the host is marked before the command starts; it can make no mount of its own (the filter). Without writing, an
//! access list changes who may use a setuid file: the filter asks about those, and who was asked has seen something.
//! INVARIANT: `Nothing` is an answer about every such file. Where one could be missing (a queue that ran over, a mount that
//! somebody still holds, a filesystem that others change too) the answer is `Perhaps`, and all files are looked at.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use super::idmap::Trees;
use super::setids::{self, Mounts};
use super::sources;
use super::supervise::Asked;
use crate::plan::{Access, Kind, MountStep, SandboxPlan};
use crate::seccomp::Observe;
use crate::sys::dir::{self, Times};
use crate::sys::fanotify::{Event, Fanotify, FsId};
use crate::sys::{fd, path};

/// Beyond this, looking at all files is hardly more work.
const MOST: usize = 4096;
/// How long the last file may take to be closed, and how often one looks.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_micros(100);

/// Has the command written to a file that has a setuid or setgid bit or capabilities?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Nothing,
    Perhaps,
}

#[derive(Debug)]
pub(super) struct Witness {
    queue: Fanotify,
}

impl Witness {
    /// Marks every writable mount. The command must not have started. `None` where that would not tell all.
    pub(super) fn post(plan: &SandboxPlan, trees: &Trees, mounts: &Mounts) -> Option<Self> {
        // Without the filter the command could make copies of the mounts, which have no marks. One that asks about other things, too,
        // does not tell which it was.
        let observe = plan.seccomp.as_ref().map(|spec| spec.observe);
        if !setids::concerns(plan) || observe != Some(Observe::Attributes) || !sources::are_all(plan) {
            return None;
        }
        let queue = Fanotify::new().ok()?;
        let mut marked = 0;
        for (number, source) in sources::of(plan) {
            let tree = trees.get(number)?.as_fd();
            if may_receive(plan.mounts.get(number)) && path::lstat_at(tree, OsStr::new("")).ok()?.is_socket() {
                // Whoever listens there could hand in a file that it opened itself.
                return None;
            }
            match source.access {
                Access::ReadOnly | Access::Device => continue,
                Access::ReadWrite => {}
            }
            let (times, _) = dir::habits_of(tree).ok()?;
            let is_local = match times {
                Times::Tell | Times::MissMappings => true,
                Times::Elsewhere => false,
            };
            // What is mounted in a tree is a mount of its own.
            if !is_local || mounts.any_below(&source.from) {
                return None;
            }
            queue.mark(tree).ok()?;
            marked += 1;
        }
        // Whoever cannot see them now could not see that they are gone.
        (queue.marks().ok()? == marked).then_some(Self { queue })
    }

    /// Nothing of the sandbox may be left.
    pub(super) fn ask(&self, plan: &SandboxPlan, asked: Asked) -> Seen {
        match asked {
            Asked::Nothing => self.look(plan).unwrap_or(Seen::Perhaps),
            Asked::Something => Seen::Perhaps,
        }
    }

    fn look(&self, plan: &SandboxPlan) -> io::Result<Seen> {
        if !self.all_closed()? {
            return Ok(Seen::Perhaps);
        }
        let mut files = HashSet::new();
        loop {
            let events = self.queue.read()?;
            if events.is_empty() {
                break;
            }
            for event in events {
                match event {
                    Event::Closed { on, file } => files.insert((on, file)),
                    Event::Overflow | Event::Unknown => return Ok(Seen::Perhaps),
                };
            }
            if files.len() > MOST {
                return Ok(Seen::Perhaps);
            }
        }
        let grounds = if files.is_empty() { Vec::new() } else { grounds(plan)? };
        for (on, file) in &files {
            let Some(ground) = grounds.iter().find(|ground| ground.id == *on) else {
                return Ok(Seen::Perhaps);
            };
            match file.open(ground.dir.as_fd()) {
                Ok(file) if setids::is_privileged(file.as_fd())? => return Ok(Seen::Perhaps),
                Ok(_) => {}
                // It was deleted.
                Err(error) if error.raw_os_error() == Some(libc::ESTALE) => {}
                Err(error) => return Err(error),
            }
        }
        // These were opened by the caller, through mounts of the caller's.
        for number in 0..3 {
            if setids::is_privileged(fd::borrow(number))? {
                return Ok(Seen::Perhaps);
            }
        }
        Ok(Seen::Nothing)
    }

    /// Are the mounts gone? A file is a part of what keeps its mount, and a file that is sent over a socket which nobody can reach
    /// any more is closed some time after its last process: its event would come too late.
    fn all_closed(&self) -> io::Result<bool> {
        for _ in 0..TRIES {
            if self.queue.marks()? == 0 {
                return Ok(true);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(false)
    }
}

/// Single files, among which a socket can be.
fn may_receive(step: Option<&MountStep>) -> bool {
    let Some(MountStep::Bind { kind, access, .. }) = step else {
        return false;
    };
    *kind == Kind::File && *access != Access::Device
}

/// A filesystem on which the command could write.
struct Ground {
    id: FsId,
    device: u64,
    dir: OwnedFd,
}

fn grounds(plan: &SandboxPlan) -> io::Result<Vec<Ground>> {
    let mut grounds: Vec<Ground> = Vec::new();
    for (_, source) in sources::of(plan) {
        if source.access != Access::ReadWrite {
            continue;
        }
        let held = path::open_exact(&source.from)?;
        let facts = path::lstat_at(held.as_fd(), OsStr::new(""))?;
        let (id, device) = (FsId::of(held.as_fd())?, facts.dev);
        if let Some(same) = grounds.iter().find(|ground| ground.id == id) {
            if same.device == device {
                continue;
            }
            return Err(io::Error::from_raw_os_error(libc::EXDEV));
        }
        let dir = if facts.is_dir() {
            path::open_dir_exact(&source.from)?
        } else {
            path::open_dir_exact(source.from.parent().unwrap_or(Path::new("/")))?
        };
        if path::lstat_at(dir.as_fd(), OsStr::new(""))?.dev != device {
            return Err(io::Error::from_raw_os_error(libc::EXDEV));
        }
        grounds.push(Ground { id, device, dir });
    }
    Ok(grounds)
}
