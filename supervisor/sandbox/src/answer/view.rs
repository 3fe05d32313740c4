//! What lies at one path of the finished sandbox: which mount is on top there, and what it shows.
//!
//! INVARIANT: mounts are laid one on the other in the order of the plan. A later one at or above a path covers every earlier
//! one, but for a cover made of what it covers (`Pin`, `Protect`), which takes along what lies below it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::host::{Look, Seen};
use super::walk::{End, walk};
use crate::plan::{Access, Containment, MountStep, PlaceholderKind, SandboxPlan};

/// Directories of a process whose contents follow what it does.
const CHANGING: &[&str] = &["fd", "fdinfo", "task", "map_files", "net"];

/// What the kernel shows of a process only to who may trace it. Nobody may trace the first process of a sandbox.
const GUARDED: &[&str] = &[
    "auxv",
    "clear_refs",
    "cwd",
    "environ",
    "exe",
    "fd",
    "fdinfo",
    "io",
    "ksm_merging_pages",
    "ksm_stat",
    "map_files",
    "maps",
    "mem",
    "mountstats",
    "ns",
    "numa_maps",
    "pagemap",
    "patch_state",
    "personality",
    "root",
    "seccomp_cache",
    "smaps",
    "smaps_rollup",
    "stack",
    "syscall",
    "timers",
];

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
    Pipe,
    /// Of the first process, which lets nobody look into it.
    Guarded,
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

/// What a step does to what is seen at a path at or below it.
enum Effect {
    Nothing,
    /// Puts something at exactly this path.
    Makes(Node),
    Protects,
    /// Lays a mount on top. `top`: the path is its own top directory, made with it.
    Lays {
        layer: Layer,
        lock: Lock,
        top: Option<Node>,
    },
}

fn effect(step: &MountStep, below: &Path, beneath: &Layer) -> Effect {
    let exact = below.as_os_str().is_empty();
    let lays = |layer, lock, top| Effect::Lays { layer, lock, top };
    let makes = |node| if exact { Effect::Makes(node) } else { Effect::Nothing };
    let dir = exact.then_some(Node::Dir);
    match step {
        MountStep::Dir { .. } => makes(Node::Dir),
        MountStep::Symlink { target, .. } => makes(Node::Link(target.clone())),
        MountStep::File { .. } | MountStep::Copy { .. } => makes(Node::File),
        MountStep::Pin { .. } => Effect::Nothing,
        MountStep::Protect { .. } => Effect::Protects,
        MountStep::Bind { access, .. } => match access {
            Access::ReadOnly => lays(Layer::Host, Lock::ReadOnly, None),
            Access::ReadWrite => lays(Layer::Host, Lock::Open, None),
            Access::Device => lays(Layer::Device, Lock::Open, None),
        },
        MountStep::Private { .. } => lays(Layer::Private, Lock::Open, dir),
        MountStep::Proc { .. } => lays(Layer::Proc, Lock::ReadOnly, dir),
        MountStep::Devpts { .. } => lays(Layer::Terminals, Lock::Open, dir),
        MountStep::Hide { at, .. } => lays(Layer::Mask(at.clone()), Lock::ReadOnly, None),
        MountStep::Compose { children, private, .. } => {
            let mut parts = below.components();
            let child = parts.next().map(|part| part.as_os_str());
            if children.iter().any(|(name, _)| child == Some(name)) {
                lays(beneath.clone(), Lock::ReadOnly, None)
            } else if private.iter().any(|name| child == Some(name)) {
                lays(Layer::Private, Lock::Open, parts.next().is_none().then_some(Node::Dir))
            } else {
                lays(Layer::Skeleton, Lock::ReadOnly, dir)
            }
        }
    }
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
        // What was made at exactly this path, and the step that laid what is on top there.
        let (mut made, mut since) = (None, 0);
        for (number, step) in self.plan.mounts.iter().enumerate() {
            let Ok(below) = path.strip_prefix(step.at()) else {
                continue;
            };
            match effect(step, below, &spot.layer) {
                Effect::Nothing => {}
                Effect::Makes(node) => made = made.or(Some(node)),
                Effect::Protects => spot.lock = self.protected(step.at(), spot.lock),
                Effect::Lays { layer, lock, top } => {
                    (spot.layer, spot.lock, made, since) = (layer, lock, top, number);
                }
            }
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
                Some(PlaceholderKind::Socket | PlaceholderKind::Shut) if at == path => Node::Socket,
                Some(PlaceholderKind::CommonDir | PlaceholderKind::GitConfig) if at == path => Node::File,
                Some(_) | None => Node::Absent,
            };
        }
        match &spot.layer {
            Layer::Mask(_) => Node::Masked,
            // Landlock lets nobody trace what is outside.
            Layer::Host if self.plan.containment == Containment::Landlock && is_guarded(path) => Node::Guarded,
            Layer::Host if self.plan.containment == Containment::Landlock && is_own(path) => self.proc(path),
            Layer::Host | Layer::Device => self.on_host(path),
            Layer::Proc => self.proc(path),
            Layer::Terminals => match path.file_name() {
                _ if made.is_some() => Node::Dir,
                Some(name) if name == "ptmx" => Node::Device,
                // The kernel numbers them, and lets nobody make another name.
                Some(name) if name.as_encoded_bytes().iter().all(u8::is_ascii_digit) => Node::RunTime,
                Some(_) | None => Node::Absent,
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
            Some(Seen::Pipe) => Node::Pipe,
        }
    }

    /// Where the command starts: at the top, if its directory is not shown.
    fn cwd(&self) -> PathBuf {
        let cwd = &self.plan.command.cwd;
        match walk(self, cwd).end {
            End::Reached(spot) if spot.node == Node::Dir => cwd.clone(),
            End::Reached(_) | End::Missing { .. } | End::Stopped { .. } | End::Circle => PathBuf::from("/"),
        }
    }

    /// The kernel shows the same names in every `/proc`, but for those of processes.
    fn proc(&self, path: &Path) -> Node {
        let rest = path.strip_prefix("/proc").unwrap_or(path);
        let mut names = rest.components().map(|c| c.as_os_str());
        let Some(first) = names.next() else { return Node::Dir };
        if first == "self" || first == "thread-self" {
            let Some(name) = names.next() else { return Node::Dir };
            let changes = CHANGING.iter().any(|dir| name == *dir);
            return match self.on_host(path) {
                Node::Link(_) if name == "cwd" => Node::Link(self.cwd()),
                Node::Link(_) if name == "root" => Node::Link("/".into()),
                // Whatever else a process is linked to is its own.
                Node::Link(_) => Node::RunTime,
                Node::Absent if changes => Node::RunTime,
                node @ (Node::Absent
                | Node::Dir
                | Node::File
                | Node::Device
                | Node::Socket
                | Node::Pipe
                | Node::Guarded
                | Node::Masked
                | Node::RunTime) => node,
            };
        }
        if first == "1" {
            return first_process(names);
        }
        if first.as_encoded_bytes().iter().all(u8::is_ascii_digit) {
            return Node::RunTime;
        }
        self.on_host(path)
    }
}

/// Of the process that looks: ours is not the command's.
fn is_own(path: &Path) -> bool {
    ["/proc/self", "/proc/thread-self"]
        .iter()
        .any(|own| path.starts_with(own))
}

fn is_guarded(path: &Path) -> bool {
    let below = path.strip_prefix("/proc/1");
    below.is_ok_and(|below| first_process(below.iter()) == Node::Guarded)
}

/// What lies in the directory of the sandbox's first process, or of its thread.
fn first_process<'a>(mut names: impl Iterator<Item = &'a OsStr>) -> Node {
    match names.next() {
        None => Node::Dir,
        Some(name) if GUARDED.iter().any(|guarded| name == *guarded) => Node::Guarded,
        Some(name) if name == "task" => match names.next() {
            None => Node::Dir,
            Some(thread) if thread == "1" => first_process(names),
            Some(_) => Node::Absent,
        },
        Some(_) => Node::RunTime,
    }
}
