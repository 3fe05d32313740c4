//! What lies at one path of the finished sandbox: which mount is on top there, and what it shows.
//!
//! INVARIANT: mounts are laid one on the other in the order of the plan. A later one at or above a path covers every earlier
//! one, but for a cover made of what it covers (`Pin`, `Protect`), which takes along what lies below it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::host::{Look, Seen};
use crate::plan::{Access, Containment, MountStep, PlaceholderKind, SandboxPlan};

/// The plan, and the host that its binds show.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) plan: &'a SandboxPlan,
    pub(super) look: &'a dyn Look,
}

/// What is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Absent,
    Dir,
    File,
    Link(PathBuf),
    Device,
    Socket,
    /// Nobody can open it, or enter it.
    Masked,
    /// Depends on the processes of the run.
    RunTime,
}

/// Whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layer {
    /// The new root itself, and directories laid over a tree.
    Skeleton,
    /// A tree of the host.
    Host,
    /// A single device of the host.
    Device,
    Private,
    /// `/proc`, and pseudo-terminals.
    Proc,
    Terminals,
    /// A mask that lies at this path.
    Mask(PathBuf),
}

/// Why nothing can be written there, as far as mounts decide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lock {
    Open,
    ReadOnly,
    Protected(PathBuf),
    /// The name is taken by a placeholder.
    Held(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) node: Node,
    pub(super) layer: Layer,
    pub(super) lock: Lock,
}

impl View<'_> {
    /// What is at a path that has no link above its last name.
    pub(super) fn spot(&self, path: &Path) -> Spot {
        let mut spot = match self.plan.containment {
            Containment::Namespaces => Spot {
                node: Node::Absent,
                layer: Layer::Skeleton,
                lock: Lock::ReadOnly,
            },
            Containment::Landlock | Containment::Inherit => Spot {
                node: Node::Absent,
                layer: Layer::Host,
                lock: Lock::Open,
            },
        };
        // What was made at exactly this path, and the first step that could have made a directory of it.
        let (mut made, mut since) = (None, 0);
        for (number, step) in self.plan.mounts.iter().enumerate() {
            let Ok(below) = path.strip_prefix(step.at()) else {
                continue;
            };
            let exact = below.as_os_str().is_empty();
            let (layer, lock) = match step {
                MountStep::Dir { .. } if exact => {
                    made = Some(Node::Dir);
                    continue;
                }
                MountStep::Symlink { target, .. } if exact && made.is_none() => {
                    made = Some(Node::Link(target.clone()));
                    continue;
                }
                MountStep::File { .. } | MountStep::Copy { .. } if exact => {
                    made = Some(Node::File);
                    continue;
                }
                MountStep::Dir { .. }
                | MountStep::Symlink { .. }
                | MountStep::File { .. }
                | MountStep::Copy { .. }
                | MountStep::Pin { .. } => continue,
                MountStep::Protect { at } => {
                    spot.lock = self.protected(at, spot.lock);
                    continue;
                }
                MountStep::Bind { access, .. } => match access {
                    Access::ReadOnly => (Layer::Host, Lock::ReadOnly),
                    Access::ReadWrite => (Layer::Host, Lock::Open),
                    Access::Device => (Layer::Device, Lock::Open),
                },
                MountStep::Private { .. } => (Layer::Private, Lock::Open),
                MountStep::Proc { .. } => (Layer::Proc, Lock::ReadOnly),
                MountStep::Devpts { .. } => (Layer::Terminals, Lock::Open),
                MountStep::Hide { at, .. } => (Layer::Mask(at.clone()), Lock::ReadOnly),
                MountStep::Compose { children, private, .. } => {
                    let child = below.components().next().map(|c| c.as_os_str());
                    let is = |name: &OsStr| child == Some(name);
                    if children.iter().any(|(name, _)| is(name)) {
                        (spot.layer, Lock::ReadOnly)
                    } else if private.iter().any(|name| is(name)) {
                        if below.components().count() == 1 {
                            made = Some(Node::Dir);
                        }
                        (spot.layer, spot.lock) = (Layer::Private, Lock::Open);
                        since = number;
                        continue;
                    } else {
                        made = exact.then_some(Node::Dir);
                        (spot.layer, spot.lock) = (Layer::Skeleton, Lock::ReadOnly);
                        since = number;
                        continue;
                    }
                }
            };
            // The mount point of something that is a directory or a file by itself.
            made = match step {
                MountStep::Private { .. } | MountStep::Proc { .. } | MountStep::Devpts { .. } => {
                    exact.then_some(Node::Dir)
                }
                MountStep::Dir { .. }
                | MountStep::Symlink { .. }
                | MountStep::File { .. }
                | MountStep::Copy { .. }
                | MountStep::Bind { .. }
                | MountStep::Compose { .. }
                | MountStep::Pin { .. }
                | MountStep::Protect { .. }
                | MountStep::Hide { .. } => None,
            };
            (spot.layer, spot.lock, since) = (layer, lock, number);
        }
        spot.node = self.node(path, &spot, made, since);
        spot
    }

    /// A name that must not come into being is taken by a placeholder; anything else is read-only from now on.
    fn protected(&self, at: &Path, lock: Lock) -> Lock {
        match lock {
            Lock::Open if self.placeholder(at).is_some() => Lock::Held(at.to_owned()),
            Lock::Open => Lock::Protected(at.to_owned()),
            Lock::ReadOnly | Lock::Protected(_) | Lock::Held(_) => lock,
        }
    }

    fn placeholder(&self, at: &Path) -> Option<PlaceholderKind> {
        let ours = |dir: &Path, name: &OsStr| at.parent() == Some(dir) && at.file_name() == Some(name);
        let mut list = self.plan.placeholders.iter();
        list.find(|held| ours(&held.dir, &held.name)).map(|held| held.kind)
    }

    fn node(&self, path: &Path, spot: &Spot, made: Option<Node>, since: usize) -> Node {
        if path == Path::new("/") {
            return Node::Dir;
        }
        if let (Lock::Held(at), true) = (&spot.lock, matches!(spot.layer, Layer::Host)) {
            return match self.placeholder(at) {
                Some(PlaceholderKind::Socket) if at == path => Node::Socket,
                Some(PlaceholderKind::CommonDir | PlaceholderKind::GitConfig) if at == path => Node::File,
                Some(_) | None => Node::Absent,
            };
        }
        match &spot.layer {
            Layer::Mask(_) => Node::Masked,
            Layer::Host | Layer::Device => self.on_host(path),
            Layer::Proc => self.proc(path),
            Layer::Terminals => match path.file_name() {
                _ if made.is_some() => Node::Dir,
                Some(name) if name == "ptmx" => Node::Device,
                Some(_) | None => Node::RunTime,
            },
            // Directories are made for what is mounted below them.
            Layer::Skeleton | Layer::Private => made.unwrap_or_else(|| {
                let mut later = self.plan.mounts.iter().skip(since);
                let leads = later.any(|step| step.at() != path && step.at().starts_with(path));
                if leads { Node::Dir } else { Node::Absent }
            }),
        }
    }

    fn on_host(&self, path: &Path) -> Node {
        match self.look.look(path) {
            None => Node::Absent,
            Some(Seen::Dir) => Node::Dir,
            Some(Seen::File) => Node::File,
            Some(Seen::Link(target)) => Node::Link(target),
            Some(Seen::Device) => Node::Device,
            Some(Seen::Socket) => Node::Socket,
        }
    }

    /// The kernel shows the same names in every `/proc`, but for those of processes.
    fn proc(&self, path: &Path) -> Node {
        let rest = path.strip_prefix("/proc").unwrap_or(path);
        let mut names = rest.components().map(|c| c.as_os_str());
        let Some(first) = names.next() else { return Node::Dir };
        if first == "self" || first == "thread-self" {
            return match (names.next(), names.next()) {
                (None, _) => Node::Dir,
                (Some(name), None) if name == "cwd" => Node::Link(self.plan.command.cwd.clone()),
                (Some(name), None) if name == "root" => Node::Link("/".into()),
                (Some(name), _) if name == "exe" => Node::RunTime,
                (Some(_), _) => match self.on_host(path) {
                    Node::Link(_) => Node::RunTime,
                    node if in_process_dir(rest) => {
                        if node == Node::Absent {
                            Node::RunTime
                        } else {
                            node
                        }
                    }
                    node => node,
                },
            };
        }
        if first.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            return Node::RunTime;
        }
        self.on_host(path)
    }
}

/// In one of the directories whose contents follow what a process does.
fn in_process_dir(rest: &Path) -> bool {
    let second = rest.components().nth(1);
    let changing = ["fd", "fdinfo", "task", "map_files", "net"];
    second.is_some_and(|c| changing.iter().any(|name| c.as_os_str() == *name))
}
