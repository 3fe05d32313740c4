//! Builds the new root: carries out the mount steps of the plan, then makes the result the root.
//!
//! We are pid 1 of the new namespaces, with every capability in our own user namespace and none outside.
//! INVARIANT (no link is followed): every source and target is opened with `RESOLVE_NO_SYMLINKS`, so that what was
//! resolved before the run is what is mounted, or the run is refused.
//! INVARIANT (parents first): steps are carried out in order; `lower` has put parents before what lies in them.

mod masks;

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::{CString, OsStr};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::gate::OldRoot;
use crate::launch::idmap::Trees;
use crate::plan::{Access, Kind, MountStep, SandboxPlan};
use crate::sys::mount::{self, NODEV, NOEXEC, NOSUID, RDONLY};
use crate::sys::path;

/// A step that failed, with what it was about.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) what: String,
    pub(crate) error: io::Error,
}

fn fail<T>(what: impl FnOnce() -> String, result: io::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure { what: what(), error })
}

/// What the supervisor opens for us while we begin: none of it if we open ours ourselves.
pub(crate) struct Sources<'a> {
    /// Waits for the trees.
    pub(crate) trees: &'a dyn Fn() -> io::Result<Trees>,
    /// Waits until the owners of those that need it are mapped.
    pub(crate) mapped: &'a dyn Fn() -> io::Result<()>,
}

/// Private space (`space`) and the new root inside it (`root`), both open.
struct Build<'a> {
    space: OwnedFd,
    root: OwnedFd,
    sources: Sources<'a>,
    /// Waited for once, when the first is needed.
    trees: OnceCell<RefCell<Trees>>,
    is_mapped: Cell<bool>,
    /// The directory in which the last name was made.
    last: RefCell<Option<(PathBuf, OwnedFd)>>,
    /// A mask of each kind that is mounted already: others are copies of it.
    masks: RefCell<[Option<OwnedFd>; 2]>,
    /// Directories that are hidden in place of what lies in them.
    shut: RefCell<Vec<PathBuf>>,
}

/// Builds the new root from the plan and switches to it.
pub(crate) fn build(plan: &SandboxPlan, sources: Sources<'_>) -> Result<OldRoot, Failure> {
    let size = CString::new(plan.private_bytes.to_string()).unwrap_or_default();
    let inodes = mount::inodes_for(plan.private_bytes);
    let options = [
        (c"size", size.as_c_str()),
        (c"mode", c"0700"),
        (c"nr_inodes", inodes.as_c_str()),
    ];
    let space = fail(
        || "private space".into(),
        mount::new_filesystem(c"tmpfs", &options, NOSUID | NODEV),
    )?;
    let host_root = fail(|| "host root".into(), path::open_path(Path::new("/")))?;
    // Laid over the host's root: lookups by absolute path still start below it, and no directory of the host is hidden.
    let attached = mount::attach(space.as_fd(), host_root.as_fd());
    fail(|| "attach private space".into(), attached)?;
    for (name, mode) in [("root", 0o755), ("private", 0o700), ("masks", 0o700), ("masks/dir", 0)] {
        fail(|| name.into(), path::mkdir_at(space.as_fd(), Path::new(name), mode))?;
    }
    fail(
        || "masks/file".into(),
        path::create_at(space.as_fd(), Path::new("masks/file"), 0),
    )?;
    let inner = path::open_beneath(space.as_fd(), Path::new("root"));
    let root = fail(
        || "new root".into(),
        inner.and_then(|inner| mount::open_tree_clone(inner.as_fd())),
    )?;
    let attached = mount::attach(root.as_fd(), host_root.as_fd());
    fail(|| "attach new root".into(), attached)?;
    let build = Build {
        space,
        root,
        sources,
        trees: OnceCell::new(),
        is_mapped: Cell::new(false),
        last: RefCell::default(),
        masks: RefCell::default(),
        shut: RefCell::default(),
    };
    for (number, step) in plan.mounts.iter().enumerate() {
        build.apply(number, step).map_err(|e| Failure {
            what: describe(step, &e.what),
            error: e.error,
        })?;
    }
    fail(
        || "read-only root".into(),
        mount::set_attr_here(build.root.as_fd(), RDONLY | NOSUID | NODEV),
    )?;
    // The private space (with the new root on it) leaves the top of the host's root, where it would have to be detached
    // by itself: each detaching waits for all CPUs.
    let aside = path::open_path(Path::new("/proc")).and_then(|aside| mount::attach(build.space.as_fd(), aside.as_fd()));
    let layers = if aside.is_ok() { 1 } else { 2 };
    fail(|| "pivot_root".into(), mount::switch_root(build.root.as_fd()))?;
    Ok(OldRoot {
        new: build.root,
        old: host_root,
        layers,
    })
}

fn describe(step: &MountStep, what: &str) -> String {
    let mut text = step.at().display().to_string();
    if !what.is_empty() {
        let _ = write!(text, " ({what})");
    }
    text
}

/// A path of the new root, relative to it.
fn relative(at: &Path) -> &Path {
    at.strip_prefix("/").unwrap_or(at)
}

impl Build<'_> {
    fn apply(&self, number: usize, step: &MountStep) -> Result<(), Failure> {
        match step {
            MountStep::Dir { at } => self.directories(relative(at)),
            MountStep::Symlink { at, target } => self.symlink(relative(at), target),
            MountStep::File { at, contents } => self.file(relative(at), contents),
            MountStep::Copy { from, at } => {
                let contents = fail(String::new, fs::read(from))?;
                self.file(relative(at), &contents)
            }
            MountStep::Bind {
                from,
                at,
                kind,
                access,
                idmap,
            } => {
                let target = self.mountpoint(relative(at), *kind)?;
                let Some(tree) = self.take_tree(number)? else {
                    return attach(&prepare(from, *access)?, &target);
                };
                if idmap.is_some() && !self.is_mapped.replace(true) {
                    fail(|| "owners".into(), (self.sources.mapped)())?;
                }
                attach(&tree, &target)
            }
            MountStep::Private { at, name } => {
                let target = self.mountpoint(relative(at), Kind::Dir)?;
                attach(&self.private(name)?, &target)
            }
            MountStep::Compose {
                at,
                name,
                children,
                private,
            } => self.compose(relative(at), name, children, private),
            MountStep::Proc { at } => {
                let tree = fail(
                    || "proc".into(),
                    mount::new_filesystem(c"proc", &[], RDONLY | NOSUID | NODEV | NOEXEC),
                )?;
                attach(&tree, &self.mountpoint(relative(at), Kind::Dir)?)
            }
            MountStep::Devpts { at } => {
                let options = [(c"ptmxmode", c"0666"), (c"mode", c"0620"), (c"max", c"256")];
                let tree = fail(
                    || "devpts".into(),
                    mount::new_filesystem(c"devpts", &options, NOSUID | NOEXEC),
                )?;
                attach(&tree, &self.mountpoint(relative(at), Kind::Dir)?)
            }
            MountStep::Pin { at } => self.or_hide_above(relative(at), || match self.take_tree(number)? {
                // Its owners are mapped: those of the tree that it lies in were waited for.
                Some(tree) => self.attach(&tree, relative(at)),
                None => self.cover_with_itself(relative(at), NOSUID | NODEV),
            }),
            MountStep::Protect { at } => {
                let read_only = || self.cover_with_itself(relative(at), RDONLY | NOSUID | NODEV);
                self.or_hide_above(relative(at), read_only)
            }
            MountStep::Hide { at, kind } => self.or_hide_above(relative(at), || self.hide(relative(at), *kind)),
        }
    }

    /// Each is closed when it is mounted: there may be room for few open files.
    fn take_tree(&self, number: usize) -> Result<Option<OwnedFd>, Failure> {
        if self.trees.get().is_none() {
            let trees = fail(|| "sources".into(), (self.sources.trees)())?;
            let _ = self.trees.set(RefCell::new(trees));
        }
        Ok(self.trees.get().and_then(|trees| trees.borrow_mut().take(number)))
    }

    fn attach(&self, tree: &OwnedFd, at: &Path) -> Result<(), Failure> {
        self.covering(at);
        attach(tree, &self.open(at)?)
    }

    fn open(&self, at: &Path) -> Result<OwnedFd, Failure> {
        fail(|| "mount point".into(), path::open_beneath(self.root.as_fd(), at))
    }

    /// The directory and all above it, made in whatever lies there (the skeleton, as long as `lower` keeps its order).
    fn directories(&self, at: &Path) -> Result<(), Failure> {
        if at.as_os_str().is_empty() || path::open_beneath(self.root.as_fd(), at).is_ok() {
            return Ok(());
        }
        self.within(at, |dir, name| {
            fail(|| "mkdir".into(), path::mkdir_at(dir, name, 0o755))
        })
    }

    /// Makes something in the directory of `at`, by its last name alone: no link can lead the call elsewhere.
    ///
    /// Neighbours come one after the other, so the last directory stays open.
    fn within<T>(
        &self,
        at: &Path,
        make: impl FnOnce(BorrowedFd<'_>, &Path) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let (Some(parent), Some(name)) = (at.parent(), at.file_name()) else {
            return make(self.root.as_fd(), at);
        };
        let kept = self.last.take().filter(|(known, _)| known == parent);
        let (parent, dir) = match kept {
            Some(kept) => kept,
            None => {
                self.directories(parent)?;
                (parent.to_owned(), self.open(parent)?)
            }
        };
        let made = make(dir.as_fd(), Path::new(name));
        self.last.replace(Some((parent, dir)));
        made
    }

    /// Something is about to be laid over `at`: what was open at or below it is not what a path leads to any more.
    fn covering(&self, at: &Path) {
        self.last.borrow_mut().take_if(|(known, _)| known.starts_with(at));
    }

    /// What lies at the path, made if it is not there.
    fn mountpoint(&self, at: &Path, kind: Kind) -> Result<OwnedFd, Failure> {
        let made = self.within(at, |dir, name| match kind {
            Kind::Dir => fail(|| "mkdir".into(), path::mkdir_at(dir, name, 0o755))
                .and_then(|()| fail(|| "mount point".into(), path::open_beneath(dir, name))),
            // The new file is itself the place to mount on.
            Kind::File => fail(|| "create".into(), path::create_at(dir, name, 0o644)),
        });
        self.covering(at);
        // It was there already, or only its making was refused.
        made.or_else(|failure| self.open(at).map_err(|_| failure))
    }

    fn symlink(&self, at: &Path, target: &Path) -> Result<(), Failure> {
        self.within(at, |dir, name| match path::symlink_at(target, dir, name) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            other => fail(|| "symlink".into(), other),
        })
    }

    fn file(&self, at: &Path, contents: &[u8]) -> Result<(), Failure> {
        self.within(at, |dir, name| {
            let file = fail(|| "create".into(), path::create_at(dir, name, 0o644))?;
            fail(|| "write".into(), fs::File::from(file).write_all(contents))
        })
    }

    /// A directory of the private space, as a writable tree.
    fn private(&self, name: &str) -> Result<OwnedFd, Failure> {
        // Programs look for the sticky bit of places that are shared on an ordinary system.
        let mode = if name == "home" { 0o700 } else { 0o1777 };
        let tree = self.private_tree(Path::new(name), mode)?;
        fail(|| "mount_setattr".into(), mount::set_attr(tree.as_fd(), NOSUID | NODEV))?;
        Ok(tree)
    }

    fn private_tree(&self, name: &Path, mode: u32) -> Result<OwnedFd, Failure> {
        let inside = Path::new("private").join(name);
        fail(|| "mkdir".into(), path::mkdir_at(self.space.as_fd(), &inside, mode))?;
        let source = fail(|| "open".into(), path::open_beneath(self.space.as_fd(), &inside))?;
        fail(|| "open_tree".into(), mount::open_tree_clone(source.as_fd()))
    }

    fn cover_with_itself(&self, at: &Path, attributes: u64) -> Result<(), Failure> {
        self.covering(at);
        let target = fail(|| "open".into(), path::open_beneath(self.root.as_fd(), at))?;
        let tree = fail(|| "open_tree".into(), mount::open_tree_clone(target.as_fd()))?;
        fail(|| "mount_setattr".into(), mount::set_attr(tree.as_fd(), attributes))?;
        fail(|| "move_mount".into(), mount::attach(tree.as_fd(), target.as_fd()))
    }

    fn compose(
        &self,
        at: &Path,
        name: &str,
        children: &[(std::ffi::OsString, Kind)],
        private: &[std::ffi::OsString],
    ) -> Result<(), Failure> {
        let original = fail(|| "open".into(), path::open_beneath(self.root.as_fd(), at))?;
        let inside = Path::new("private").join(name);
        fail(|| "mkdir".into(), path::mkdir_at(self.space.as_fd(), &inside, 0o755))?;
        let base = fail(|| "open".into(), path::open_beneath(self.space.as_fd(), &inside))?;
        for (child, kind) in children {
            skeleton(base.as_fd(), child, *kind)?;
        }
        for child in private {
            fail(|| "mkdir".into(), path::mkdir_at(base.as_fd(), Path::new(child), 0o755))?;
        }
        let tree = fail(|| "open_tree".into(), mount::open_tree_clone(base.as_fd()))?;
        fail(
            || "mount_setattr".into(),
            mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV),
        )?;
        self.attach(&tree, at)?;
        for (child, _) in children {
            let source = fail(
                || "child".into(),
                path::open_beneath(original.as_fd(), Path::new(child)),
            )?;
            let tree = fail(|| "open_tree".into(), mount::open_tree_clone(source.as_fd()))?;
            fail(
                || "mount_setattr".into(),
                mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV),
            )?;
            self.attach(&tree, &at.join(child))?;
        }
        for child in private {
            let unique = PathBuf::from(format!("{name}-{}", child.to_string_lossy()));
            let tree = self.private_tree(&unique, 0o700)?;
            fail(|| "mount_setattr".into(), mount::set_attr(tree.as_fd(), NOSUID | NODEV))?;
            self.attach(&tree, &at.join(child))?;
        }
        Ok(())
    }
}

fn attach(tree: &OwnedFd, target: &OwnedFd) -> Result<(), Failure> {
    fail(|| "move_mount".into(), mount::attach(tree.as_fd(), target.as_fd()))
}

fn skeleton(base: BorrowedFd<'_>, name: &OsStr, kind: Kind) -> Result<(), Failure> {
    match kind {
        Kind::Dir => fail(|| "mkdir".into(), path::mkdir_at(base, Path::new(name), 0o755)),
        Kind::File => fail(|| "create".into(), path::create_at(base, Path::new(name), 0o644)).map(drop),
    }
}

/// A detached copy of a tree of the host with its attributes set. Done by the supervisor when that is root (it can see
/// every source), else by init.
pub(crate) fn prepare(from: &Path, access: Access) -> Result<OwnedFd, Failure> {
    let source = fail(|| "source".into(), path::open_exact(from))?;
    let tree = fail(|| "open_tree".into(), mount::open_tree_clone(source.as_fd()))?;
    fail(
        || "mount_setattr".into(),
        mount::set_attr(tree.as_fd(), attributes(access)),
    )?;
    Ok(tree)
}

fn attributes(access: Access) -> u64 {
    match access {
        Access::ReadOnly => RDONLY | NOSUID | NODEV,
        Access::ReadWrite => NOSUID | NODEV,
        Access::Device => NOSUID | NOEXEC,
    }
}
