//! Covers paths from inside the sandbox's mount namespace, in a short-lived process that enters it.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::plan::{Kind, Response, SandboxPlan};
use crate::sys::dir::is_read_only;
use crate::sys::mount::{self, NODEV, NOEXEC, NOSUID, RDONLY};
use crate::sys::process::{self, Pid, Side};
use crate::sys::{fd, look, path};

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

    /// The descriptors that must stay open.
    pub(super) fn kept(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.user.iter().chain([&self.mount]).map(AsFd::as_fd)
    }

    /// Covers paths from inside, in a process made for it, until the time is over: what came of each, as far as it got.
    pub(super) fn cover(&self, wanted: &[(&Path, Response, Tries)], end: Instant) -> io::Result<Vec<io::Result<()>>> {
        let (read, write) = fd::pipe()?;
        match process::clone_into(0, None)? {
            Side::Child => {
                drop(read);
                let inside = self.enter();
                for (path, response, tries) in wanted {
                    let entered = inside.as_ref().map_err(errno_of);
                    let done = entered
                        .and_then(|()| cover_as_often(path, *response, *tries).map_err(|error| errno_of(&error)));
                    let word = done.err().unwrap_or(0);
                    if fd::write(write.as_fd(), &[word]).is_err() || Instant::now() >= end {
                        break;
                    }
                }
                process::exit_now(0)
            }
            Side::Parent { pid, .. } => {
                drop(write);
                let mut words = Vec::new();
                // It ends by itself, and the pipe with it.
                let heard = fs::File::from(read).read_to_end(&mut words);
                process::wait(pid.0, libc::__WALL)?;
                heard?;
                Ok(words.into_iter().map(result_of).collect())
            }
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

/// How often a name is tried that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tries {
    Once,
    /// A directory above it is moved to and fro: for a moment, in which it may come by.
    Often,
}

/// How long that is.
const MOMENT: Duration = Duration::from_millis(1);

fn cover_as_often(path: &Path, response: Response, tries: Tries) -> io::Result<()> {
    let end = Instant::now() + MOMENT;
    loop {
        match cover_here(path, response) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && tries == Tries::Often && Instant::now() < end => {}
            done => return done,
        }
    }
}

/// All that a cover can fail with fits in a byte.
fn errno_of(error: &io::Error) -> u8 {
    let errno = error.raw_os_error().unwrap_or(libc::EIO);
    u8::try_from(errno).unwrap_or(u8::MAX)
}

fn result_of(errno: u8) -> io::Result<()> {
    if errno == 0 {
        return Ok(());
    }
    Err(io::Error::from_raw_os_error(errno.into()))
}

/// We are in the sandbox's mount namespace, with every capability there and none outside.
fn cover_here(full: &Path, response: Response) -> io::Result<()> {
    let target = path::open_exact(full)?;
    let tree = match response {
        Response::Hold => {
            let there = path::lstat_at(target.as_fd(), OsStr::new(""))?;
            if there.kind() != libc::S_IFLNK || look::facts(target.as_fd())?.is_mount {
                // No link any more, or held already.
                return Ok(());
            }
            let tree = mount::open_tree_clone(target.as_fd())?;
            mount::set_attr(tree.as_fd(), NOSUID | NODEV)?;
            tree
        }
        // One cover is enough: mounts are counted.
        Response::Protect if is_read_only(target.as_fd())? => return Ok(()),
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
