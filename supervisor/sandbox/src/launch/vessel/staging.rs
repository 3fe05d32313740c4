//! Mounts that an engine is to bind, made where the engine sees them.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use crate::launch::idmap::{Mapped, Trees};
use crate::launch::outcome::LaunchError;
use crate::plan::SandboxPlan;
use crate::sys::process::{self, Pid, Side};
use crate::sys::{mount, path};

/// Trees whose owners are mapped, mounted below `dir` by the number of their step: an engine can only bind what has a path.
///
/// For root only; mounted where `engine` sees them, which may live in another mount namespace. Whoever removes `dir`
/// detaches them first.
pub fn stage_trees(plan: &SandboxPlan, dir: &Path, engine: Pid) -> Result<(), LaunchError> {
    let trees = Trees::prepare_mapped(plan)?;
    let Mapped { holders, as_they_are } = trees.map_owners(plan)?;
    if let Some(tree) = as_they_are.first() {
        // Whom an engine shows it to is not for us to say.
        return Err(LaunchError::not_mapped(tree));
    }
    let mut places = Vec::new();
    for number in 0..plan.mounts.len() {
        let Some(tree) = trees.get(number) else { continue };
        let at = dir.join(number.to_string());
        let is_dir = path::lstat_at(tree.as_fd(), "".as_ref()).is_ok_and(|stat| stat.is_dir());
        let made = if is_dir {
            fs::create_dir(&at)
        } else {
            fs::write(&at, b"")
        };
        made.map_err(|error| LaunchError::step("owners", error))?;
        places.push((tree, at));
    }
    drop(holders);
    if places.is_empty() {
        return Ok(());
    }
    let attach = || {
        places.iter().try_for_each(|(tree, at)| {
            let target = path::open_exact(at)?;
            mount::attach(tree.as_fd(), target.as_fd())
        })
    };
    where_it_sees(engine, &attach).map_err(|error| LaunchError::step("owners", error))
}

/// Takes away what is mounted below a directory where `engine` sees it.
pub fn detach_trees(points: &dyn Fn() -> Vec<PathBuf>, engine: Pid) -> io::Result<()> {
    where_it_sees(engine, &|| {
        for point in points().into_iter().rev() {
            mount::detach(&point)?;
        }
        Ok(())
    })
}

/// Does something in the mount namespace of another process, from a process made for it.
fn where_it_sees(engine: Pid, act: &dyn Fn() -> io::Result<()>) -> io::Result<()> {
    let theirs = format!("/proc/{}/ns/mnt", engine.0);
    if fs::read_link("/proc/self/ns/mnt")? == fs::read_link(&theirs)? {
        return act();
    }
    let namespace = OwnedFd::from(fs::File::open(theirs)?);
    match process::clone_into(0, None)? {
        Side::Child => {
            let done = process::setns(namespace.as_fd()).and_then(|()| act());
            let errno = done.err().map_or(0, |error| error.raw_os_error().unwrap_or(libc::EIO));
            process::exit_now(errno.min(255))
        }
        Side::Parent { pid, .. } => match process::wait(pid.0, libc::__WALL)? {
            Some((_, process::Change::Exited(0), _)) => Ok(()),
            Some((_, process::Change::Exited(errno), _)) => Err(io::Error::from_raw_os_error(errno)),
            _ => Err(io::Error::from_raw_os_error(libc::EIO)),
        },
    }
}
