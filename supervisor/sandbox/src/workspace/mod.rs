//! The project as a run sees it, where that is not the project itself: put in its place before anything else looks.
//!
//! The supervisor enters a mount namespace of its own, in which a copy lies at the project's path. Whatever follows (survey,
//! placeholders, mounts, watches, the list of changes) works on the copy without knowing of it; nobody else sees it, and
//! it is gone with the last process of the run.
//! INVARIANT: after `copy_on_write` nothing that this process or a child of it opens by path is the project. The handles on
//! it are read through, never written through.

pub(crate) mod below;

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::launch::idmap;
use crate::lower;
use crate::plan::{IdMap, Identity};
use crate::sys::errand::Holder;
use crate::sys::mount::{self, NODEV, NOSUID, RDONLY};
use crate::sys::{caps, path, process};

/// What to put in place.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// Real, absolute.
    pub project: &'a Path,
    /// Directories elsewhere that belong to it: a git directory.
    pub outside: &'a [PathBuf],
    /// Where the caller is.
    pub cwd: &'a Path,
    /// How much may be written, in bytes.
    pub bytes: u64,
}

/// One filesystem of the project, and what takes its changes.
#[derive(Debug)]
pub struct Layer {
    pub at: PathBuf,
    /// The project itself, for reading.
    pub lower: OwnedFd,
    /// What was written, as overlayfs keeps it.
    pub upper: OwnedFd,
}

impl Layer {
    /// A path to the project's own directory, for as long as this lives.
    #[must_use]
    pub fn behind(&self) -> PathBuf {
        Path::new("/proc/self/fd").join(self.lower.as_raw_fd().to_string())
    }
}

/// A copy that is in place.
#[derive(Debug, Default)]
pub struct Copied {
    /// The project's own first.
    pub layers: Vec<Layer>,
}

/// The copy could not be put in place.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("cannot make a mount namespace for the copy of the project: {0}")]
    Namespace(io::Error),
    #[error("cannot lay a copy over `{}`: {step}: {error}", .at.display())]
    Overlay {
        at: PathBuf,
        step: &'static str,
        error: io::Error,
    },
    #[error("cannot lay a copy over `{}`: `{}` in it is a mount of its own", .project.display(), .mount.display())]
    Nested { project: PathBuf, mount: PathBuf },
}

impl WorkspaceError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Namespace(_) => "needs user namespaces, or root; `glee-supervisor doctor` says what is missing",
            Self::Overlay { .. } => {
                "needs overlayfs with `userxattr` (Linux 5.11) over a filesystem that allows it; leave out `--workspace cow`"
            }
            Self::Nested { .. } => "only root can lay a copy over it; unmount it, or leave out `--workspace cow`",
        }
    }
}

/// Lays a writable view over the project that leaves the project as it is. The process must have one thread.
pub fn copy_on_write(wish: Wish<'_>) -> Result<Copied, WorkspaceError> {
    let is_root = process::geteuid() == 0;
    let mut places = Vec::new();
    for tree in std::iter::once(wish.project).chain(wish.outside.iter().map(PathBuf::as_path)) {
        let nested = below::mounts(tree).map_err(WorkspaceError::Namespace)?;
        if let (false, Some(mount)) = (is_root, nested.first()) {
            // The kernel shows nobody but root what lies under a mount.
            return Err(WorkspaceError::Nested {
                project: tree.to_owned(),
                mount: mount.clone(),
            });
        }
        places.push(tree.to_owned());
        places.extend(nested);
    }
    own_namespace(is_root).map_err(WorkspaceError::Namespace)?;
    let copied = lay(wish, &places)?;
    let entered = path::chdir(wish.cwd).and_then(|()| if is_root { Ok(()) } else { caps::drop_all() });
    entered.map_err(WorkspaceError::Namespace)?;
    Ok(copied)
}

/// A mount namespace in which nothing is shared with the host's. An ordinary user needs a user namespace for it, in which
/// there is only that user.
fn own_namespace(is_root: bool) -> io::Result<()> {
    if is_root {
        process::unshare(libc::CLONE_NEWNS)?;
    } else {
        let (uid, gid) = (process::geteuid(), process::getegid());
        process::unshare(libc::CLONE_NEWUSER | libc::CLONE_NEWNS)?;
        fs::write("/proc/self/setgroups", "deny")?;
        idmap::write_maps(
            process::getpid(),
            &format!("{uid} {uid} 1\n"),
            &format!("{gid} {gid} 1\n"),
        )?;
    }
    mount::make_all_private()
}

/// `places` are the project first, and every other tree before the mounts in it.
fn lay(wish: Wish<'_>, places: &[PathBuf]) -> Result<Copied, WorkspaceError> {
    let about = |at: &Path, step: &'static str| {
        let at = at.to_owned();
        move |error| WorkspaceError::Overlay { at, step, error }
    };
    let project = wish.project;
    // Opened while they can still be reached.
    let mut lowers = Vec::new();
    for at in places.iter().map(PathBuf::as_path) {
        lowers.push((at, path::open_exact(at).map_err(about(at, "open"))?));
    }
    let owner = fs::symlink_metadata(project).map_err(about(project, "look"))?;
    let identity = lower::identity_on((owner.uid(), owner.gid()));
    let size = CString::new(wish.bytes.to_string()).unwrap_or_default();
    let inodes = mount::inodes_for(wish.bytes);
    let options = [
        (c"size", size.as_c_str()),
        (c"mode", c"0700"),
        (c"nr_inodes", inodes.as_c_str()),
    ];
    let space = mount::new_filesystem(c"tmpfs", &options, NOSUID | NODEV).map_err(about(project, "tmpfs"))?;
    // A layer must lie in our namespace. It lies under the view, where no path leads.
    attach(&space, project).map_err(about(project, "tmpfs"))?;
    let mut copied = Copied::default();
    for (number, (at, lower)) in lowers.into_iter().enumerate() {
        let facts = path::lstat_at(lower.as_fd(), OsStr::new("")).map_err(about(at, "look"))?;
        if !facts.is_dir() {
            // A single file: what it shows is not part of the copy, so it cannot be written.
            let tree = mount::open_tree_clone(lower.as_fd()).map_err(about(at, "open_tree"))?;
            mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV).map_err(about(at, "mount_setattr"))?;
            attach(&tree, at).map_err(about(at, "move_mount"))?;
            continue;
        }
        let (view, upper) =
            overlay(&space, number, lower.as_fd(), &identity).map_err(|(step, error)| about(at, step)(error))?;
        attach(&view, at).map_err(about(at, "move_mount"))?;
        let at = at.to_owned();
        copied.layers.push(Layer { at, lower, upper });
    }
    Ok(copied)
}

fn attach(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    mount::attach(tree.as_fd(), path::open_exact(at)?.as_fd())
}

/// A detached view of `lower`, and the directory that takes its changes.
fn overlay(
    space: &OwnedFd,
    number: usize,
    lower: BorrowedFd<'_>,
    identity: &Identity,
) -> Result<(OwnedFd, OwnedFd), (&'static str, io::Error)> {
    let directory = |name: &'static str| {
        let name = PathBuf::from(format!("{name}-{number}"));
        path::mkdir_at(space.as_fd(), &name, 0o700)
            .and_then(|()| path::open_dir_beneath(space.as_fd(), &name))
            .map_err(|error| (name_of_step(&name), error))
    };
    let (upper, work) = (directory("upper")?, directory("work")?);
    let place = || directory("lower").map_err(|(_, error)| error);
    let mapped = mapped(lower, identity, place).map_err(|e| ("id-mapped mount", e))?;
    let shown = mapped.as_ref().map_or(lower, AsFd::as_fd);
    like(upper.as_fd(), shown).map_err(|e| ("owner", e))?;
    let by_handle = |fd: BorrowedFd<'_>| CString::new(format!("/proc/self/fd/{}", fd.as_raw_fd())).unwrap_or_default();
    let (below, above, work) = (by_handle(shown), by_handle(upper.as_fd()), by_handle(work.as_fd()));
    let options = [
        (c"lowerdir", below.as_c_str()),
        (c"upperdir", above.as_c_str()),
        (c"workdir", work.as_c_str()),
        (c"userxattr", c""),
    ];
    let view = mount::new_filesystem(c"overlay", &options, NOSUID | NODEV).map_err(|e| ("overlayfs", e))?;
    Ok((view, upper))
}

fn name_of_step(name: &Path) -> &'static str {
    if name.as_os_str().as_encoded_bytes().starts_with(b"upper") {
        "upper layer"
    } else {
        "working directory of overlayfs"
    }
}

/// Started by root: the project with its owner as the sandbox's user, since a view itself cannot be mapped.
fn mapped(
    lower: BorrowedFd<'_>,
    identity: &Identity,
    place: impl FnOnce() -> io::Result<OwnedFd>,
) -> io::Result<Option<OwnedFd>> {
    if process::geteuid() != 0 {
        return Ok(None);
    }
    let owner = path::lstat_at(lower, OsStr::new(""))?;
    if (owner.uid, owner.gid) == (identity.uid, identity.gid) {
        return Ok(None);
    }
    let map = IdMap {
        from_uid: owner.uid,
        from_gid: owner.gid,
    };
    let tree = mount::open_mount_clone(lower)?;
    let mut holders = idmap::Holders::default();
    let userns = idmap::user_namespace(Holder::start()?, map, identity, &mut holders)?;
    mount::set_idmap(tree.as_fd(), userns.as_fd())?;
    let place = place()?;
    mount::attach(tree.as_fd(), place.as_fd())?;
    Ok(Some(tree))
}

/// The top of a view has the owner and the mode of the layer that changes go to.
fn like(upper: BorrowedFd<'_>, shown: BorrowedFd<'_>) -> io::Result<()> {
    let by_handle = |fd: BorrowedFd<'_>| PathBuf::from(format!("/proc/self/fd/{}", fd.as_raw_fd()));
    let facts = fs::metadata(by_handle(shown))?;
    if process::geteuid() == 0 {
        std::os::unix::fs::fchown(upper, Some(facts.uid()), Some(facts.gid()))?;
    }
    fs::set_permissions(by_handle(upper), fs::Permissions::from_mode(facts.mode() & 0o1777))
}

/// Lays directories and files of the host over others of its own, in order, each opened before the first is covered. The
/// process must have one thread.
pub fn substitute(project: &Path, binds: &[(PathBuf, PathBuf)]) -> Result<(), WorkspaceError> {
    let is_root = process::geteuid() == 0;
    own_namespace(is_root).map_err(WorkspaceError::Namespace)?;
    let about = |at: &Path| {
        let at = at.to_owned();
        move |error| WorkspaceError::Overlay {
            at,
            step: "bind",
            error,
        }
    };
    let mut trees = Vec::new();
    for (from, at) in binds {
        let tree = path::open_exact(from).and_then(|from| mount::open_tree_clone(from.as_fd()));
        trees.push((tree.map_err(about(from))?, at));
    }
    for (tree, at) in trees {
        attach(&tree, at).map_err(about(at))?;
    }
    let entered = path::chdir(project).and_then(|()| if is_root { Ok(()) } else { caps::drop_all() });
    entered.map_err(WorkspaceError::Namespace)
}
