//! Covers a path from inside the sandbox's mount namespace, in a short-lived process that enters it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use crate::plan::{Kind, Response, SandboxPlan};
use crate::sys::mount::{self, NODEV, NOEXEC, NOSUID, RDONLY};
use crate::sys::path;
use crate::sys::process::{self, Pid, Side};

/// The namespaces of the sandbox, held open.
#[derive(Debug)]
pub(super) struct Namespaces {
    user: Option<OwnedFd>,
    mount: OwnedFd,
    /// Who to be inside, if we are root outside: root itself is nobody there.
    identity: Option<(u32, u32)>,
}

impl Namespaces {
    /// Those of init, before it gives up what lets us look.
    pub(super) fn of(plan: &SandboxPlan, init: Pid) -> io::Result<Self> {
        let open = |name: &str| fs::File::open(format!("/proc/{}/ns/{name}", init.0)).map(OwnedFd::from);
        let ours = fs::read_link("/proc/self/ns/user")?;
        let theirs = fs::read_link(format!("/proc/{}/ns/user", init.0))?;
        let user = if ours == theirs { None } else { Some(open("user")?) };
        let identity = plan
            .identity
            .from_root
            .then_some((plan.identity.uid, plan.identity.gid));
        Ok(Self {
            user,
            mount: open("mnt")?,
            identity,
        })
    }

    /// Covers a path from inside, in a process made for it.
    pub(super) fn cover(&self, full: &Path, response: Response) -> io::Result<()> {
        match process::clone_into(0, None)? {
            Side::Child => {
                let done = self.enter().and_then(|()| cover_here(full, response));
                process::exit_now(i32::from(done.is_err()))
            }
            Side::Parent { pid, .. } => match process::wait(pid.0, libc::__WALL)? {
                Some((_, process::Change::Exited(0), _)) => Ok(()),
                _ => Err(io::Error::from_raw_os_error(libc::EIO)),
            },
        }
    }

    fn enter(&self) -> io::Result<()> {
        if let Some(user) = &self.user {
            process::setns(user.as_fd())?;
        }
        process::setns(self.mount.as_fd())?;
        match (self.identity, &self.user) {
            (Some((uid, gid)), Some(_)) => process::become_ids(uid, gid),
            // Root in its own user namespace: as the sandbox's user it could not make the mask.
            (Some(_), None) | (None, _) => Ok(()),
        }
    }
}

/// We are in the sandbox's mount namespace, with every capability there and none outside.
fn cover_here(full: &Path, response: Response) -> io::Result<()> {
    let target = path::open_exact(full)?;
    let tree = match response {
        Response::Protect => {
            let tree = mount::open_tree_clone(target.as_fd())?;
            mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV)?;
            tree
        }
        Response::Hide => {
            let there = path::lstat_at(target.as_fd(), OsStr::new(""))?;
            let above = path::open_exact(full.parent().unwrap_or(full))?;
            let above = path::lstat_at(above.as_fd(), OsStr::new(""))?;
            if there.mode & 0o7777 == 0 && there.dev != above.dev {
                // A mask of ours came along with a directory that was moved. One is enough: mounts are counted.
                return Ok(());
            }
            mask(if there.is_dir() { Kind::Dir } else { Kind::File })?
        }
    };
    mount::attach(tree.as_fd(), target.as_fd())
}

/// Something empty that nobody can open, as a detached tree.
fn mask(kind: Kind) -> io::Result<OwnedFd> {
    let space = mount::new_filesystem(
        c"tmpfs",
        &[(c"mode", c"0"), (c"size", c"4096")],
        NOSUID | NODEV | NOEXEC,
    )?;
    if kind == Kind::Dir {
        mount::set_attr(space.as_fd(), RDONLY | NOSUID | NODEV | NOEXEC)?;
        return Ok(space);
    }
    drop(path::create_at(space.as_fd(), Path::new("file"), 0)?);
    let file = path::open_beneath(space.as_fd(), Path::new("file"))?;
    let tree = mount::open_tree_clone(file.as_fd())?;
    mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV | NOEXEC)?;
    Ok(tree)
}
