//! What lies where in the container: the sandbox's mount steps, one mount per place, and what they are mounted on.
//!
//! Pure.
//! INVARIANT (last word wins): at one place inside, a later step of the plan replaces an earlier one, but a pin replaces nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use glee_sandbox::contained::Made;
use glee_sandbox::plan::{self, Kind, MountStep, SandboxPlan};

use crate::facts::Facts;
use crate::lower::Refused;
use crate::plan::{Access, Mount, Source, Staged};
use crate::trees::trees;

/// What a container engine has for every container, whatever is mounted.
const ENGINES_OWN: [&str; 3] = ["/proc", "/dev", "/sys"];

/// Names in `/etc` that engines lay their own files over, unless we mount ours.
pub(crate) const ETC_FILES: [&str; 5] = ["passwd", "group", "hosts", "hostname", "resolv.conf"];

/// Programs and libraries: the host's with a skeleton, the image's own otherwise.
const PROGRAMS: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// Masked by engines anyway, by one or another version; and `/sys` as a whole, which the native sandbox does not have.
const MASKED: [&str; 3] = ["/sys", "/proc/interrupts", "/proc/mtrr"];

pub(crate) struct Layout<'a> {
    sandbox: &'a SandboxPlan,
    /// The image has its own programs and its own `/etc`.
    pinned: bool,
    pub(crate) mounts: BTreeMap<PathBuf, Mount>,
    pub(crate) staged: BTreeMap<PathBuf, Staged>,
    pub(crate) made: Vec<Made>,
    pub(crate) links: BTreeMap<PathBuf, PathBuf>,
    pub(crate) masked: Vec<PathBuf>,
    privates: Vec<PathBuf>,
}

pub(crate) fn is_engines(path: &Path) -> bool {
    ENGINES_OWN.iter().any(|own| path.starts_with(own))
}

/// `/etc` of `/etc/ssl/certs`.
fn top(path: &Path) -> PathBuf {
    let mut parts = path.components();
    parts.by_ref().take(2).collect()
}

fn is_top(path: &Path) -> bool {
    path.components().count() == 2
}

impl<'a> Layout<'a> {
    pub(crate) fn of(sandbox: &'a SandboxPlan, pinned: bool, facts: &Facts) -> Result<Self, Refused> {
        let mut layout = Self {
            sandbox,
            pinned,
            mounts: BTreeMap::new(),
            staged: BTreeMap::new(),
            made: Vec::new(),
            links: BTreeMap::new(),
            masked: MASKED.map(PathBuf::from).to_vec(),
            privates: Vec::new(),
        };
        for (number, step) in sandbox.mounts.iter().enumerate() {
            layout.step(number, step)?;
        }
        layout.engines_names();
        layout.below(facts);
        layout.own();
        layout.points();
        layout.share(sandbox.private_bytes);
        Ok(layout)
    }
}

impl Layout<'_> {
    fn step(&mut self, number: usize, step: &MountStep) -> Result<(), Refused> {
        match step {
            MountStep::Dir { at } => self.lay(at, Staged::Dir),
            MountStep::Symlink { at, target } if is_top(at) => {
                self.links.insert(at.clone(), target.clone());
            }
            MountStep::Symlink { at, target } => self.lay(at, Staged::Link(target.clone())),
            MountStep::File { at, contents } => self.lay(at, Staged::File(contents.clone())),
            MountStep::Copy { from, at } => self.lay(at, Staged::Copy(from.clone())),
            MountStep::Bind { access, at, .. } if *access == plan::Access::Device => self.device(at)?,
            MountStep::Bind { at, .. } if self.pinned && self.is_images(at) => {}
            MountStep::Bind {
                from,
                at,
                access,
                idmap,
                ..
            } => {
                let source = match idmap {
                    Some(_) => Source::Mapped {
                        step: number,
                        below: PathBuf::new(),
                        host: from.clone(),
                    },
                    None => Source::Host(from.clone()),
                };
                let access = match access {
                    plan::Access::ReadOnly | plan::Access::Device => Access::ReadOnly,
                    plan::Access::ReadWrite => Access::ReadWrite,
                };
                self.mounts.insert(at.clone(), Mount::Bind { source, access });
            }
            MountStep::Private { at, .. } => self.private(at),
            MountStep::Compose {
                at, children, private, ..
            } => self.compose(at, children, private),
            // Every container has its own.
            MountStep::Proc { .. } | MountStep::Devpts { .. } => {}
            MountStep::Pin { at } | MountStep::Protect { at } | MountStep::Hide { at, .. } if self.is_hidden(at) => {}
            MountStep::Pin { at } => {
                if !self.mounts.contains_key(at) {
                    let access = self.access_at(at);
                    self.again(at, access);
                }
            }
            MountStep::Protect { at } => self.again(at, Access::ReadOnly),
            // The engine makes what is there, and covers it last.
            MountStep::Hide { at, .. }
                if at.starts_with("/proc") || (at.starts_with("/dev") && !self.is_private(at)) =>
            {
                self.masked.push(at.clone());
            }
            MountStep::Hide { at, kind } => {
                // What lies below is gone with it.
                self.mounts.retain(|known, _| known == at || !known.starts_with(at));
                let source = Source::Nothing(*kind);
                let access = Access::ReadOnly;
                self.mounts.insert(at.clone(), Mount::Bind { source, access });
            }
        }
        Ok(())
    }

    /// Programs and `/etc` of an image of the user's.
    fn is_images(&self, at: &Path) -> bool {
        PROGRAMS.iter().any(|dir| at == Path::new(dir)) || at.starts_with("/etc")
    }

    /// The engine makes these six itself; it has a list of devices for others, which no policy can name.
    fn device(&mut self, at: &Path) -> Result<(), Refused> {
        let own = ["null", "zero", "full", "random", "urandom", "tty"];
        if own.iter().any(|name| at == Path::new("/dev").join(name)) {
            return Ok(());
        }
        let (path, reason) = (at.to_owned(), "it is a device, and the engine would not confine it");
        Err(Refused::Path { path, reason })
    }

    fn is_private(&self, at: &Path) -> bool {
        self.privates.iter().any(|dir| at.starts_with(dir))
    }

    /// Something small that is made for the run: in the skeleton, or by our pid 1 in a private place.
    fn lay(&mut self, at: &Path, what: Staged) {
        if is_engines(at) {
            return;
        }
        if self.is_private(at) {
            let place = at.as_os_str().to_owned();
            match what {
                Staged::Dir | Staged::OpenDir => self.made.push(Made::Dir { at: place }),
                Staged::Link(target) => self.made.push(Made::Link {
                    at: place,
                    target: target.into_os_string(),
                }),
                Staged::File(contents) => self.made.push(Made::File { at: place, contents }),
                Staged::Empty => self.made.push(Made::File {
                    at: place,
                    contents: Vec::new(),
                }),
                Staged::Copy(from) => {
                    let (source, access) = (Source::Host(from), Access::ReadOnly);
                    self.mounts.insert(at.to_owned(), Mount::Bind { source, access });
                }
            }
            return;
        }
        if self.pinned && at.starts_with("/etc") {
            if let Staged::File(_) = what {
                self.staged.insert(at.to_owned(), what);
                self.bind_staged(at);
            }
            return;
        }
        self.staged.insert(at.to_owned(), what);
    }

    fn bind_staged(&mut self, at: &Path) {
        let (source, access) = (Source::Staged(at.to_owned()), Access::ReadOnly);
        self.mounts.insert(at.to_owned(), Mount::Bind { source, access });
    }

    fn private(&mut self, at: &Path) {
        self.privates.push(at.to_owned());
        self.mounts.insert(at.to_owned(), Mount::Private { bytes: 0 });
    }

    /// The host's own again at the same place: it cannot be renamed then, and with `ReadOnly` not written.
    fn again(&mut self, at: &Path, access: Access) {
        let source = self.source(at);
        self.mounts.insert(at.to_owned(), Mount::Bind { source, access });
    }

    /// The mount in which a path lies.
    fn around(&self, at: &Path) -> Option<(&PathBuf, &Mount)> {
        at.ancestors().find_map(|above| self.mounts.get_key_value(above))
    }

    /// Below something that is covered as a whole.
    fn is_hidden(&self, at: &Path) -> bool {
        let around = at.parent().and_then(|above| self.around(above));
        matches!(
            around,
            Some((
                _,
                Mount::Bind {
                    source: Source::Nothing(_),
                    ..
                }
            ))
        )
    }

    fn access_at(&self, at: &Path) -> Access {
        match self.around(at) {
            Some((_, Mount::Bind { access, .. })) => *access,
            Some((_, Mount::Private { .. })) | None => Access::ReadWrite,
        }
    }

    /// A path that the plan has granted, with the owner that its tree shows.
    fn source(&self, at: &Path) -> Source {
        let around = trees(self.sandbox).filter(|tree| at.starts_with(tree.at));
        match around.max_by_key(|tree| tree.at.components().count()) {
            Some(tree) if tree.mapped => Source::Mapped {
                step: tree.step,
                below: at.strip_prefix(tree.at).map(Path::to_owned).unwrap_or_default(),
                host: at.to_owned(),
            },
            Some(_) | None => Source::Host(at.to_owned()),
        }
    }

    fn compose(&mut self, at: &Path, children: &[(std::ffi::OsString, Kind)], private: &[std::ffi::OsString]) {
        let below: Vec<(PathBuf, Source)> = children
            .iter()
            .map(|(child, _)| (at.join(child), self.source(&at.join(child))))
            .collect();
        self.mounts.retain(|known, _| !known.starts_with(at));
        self.staged.insert(at.to_owned(), Staged::Dir);
        for (child, kind) in children {
            let point = match kind {
                Kind::Dir => Staged::Dir,
                Kind::File => Staged::Empty,
            };
            self.staged.insert(at.join(child), point);
        }
        self.bind_staged(at);
        for (place, source) in below {
            let access = Access::ReadOnly;
            self.mounts.insert(place, Mount::Bind { source, access });
        }
        for child in private {
            let place = at.join(child);
            self.staged.insert(place.clone(), Staged::OpenDir);
            self.private(&place);
        }
    }

    /// Files that the engine would else lay its own over.
    fn engines_names(&mut self) {
        for name in ETC_FILES {
            let at = Path::new("/etc").join(name);
            if self.mounts.contains_key(&at) || self.is_hidden(&at) {
                continue;
            }
            let text = if name == "hostname" { "sandbox\n" } else { "" };
            let file = Staged::File(text.as_bytes().to_vec());
            self.staged.entry(at.clone()).or_insert(file);
            self.bind_staged(&at);
        }
    }

    /// What the host has mounted below a tree, with the tree's own access: a bind alone does not show it.
    fn below(&mut self, facts: &Facts) {
        let mut more = Vec::new();
        for point in &facts.mount_points {
            let Some((above, Mount::Bind { source, access })) = self.around(point) else {
                continue;
            };
            let shown = matches!(source, Source::Host(_) | Source::Mapped { .. });
            if above != point && shown && !is_engines(point) {
                let bind = Mount::Bind {
                    source: self.source(point),
                    access: *access,
                };
                more.push((point.clone(), bind));
            }
        }
        self.mounts.extend(more);
    }

    /// What our pid 1 needs, and an empty `/run` in place of the engine's.
    fn own(&mut self) {
        use glee_sandbox::contained::{DIR, PROGRAM};
        let bind = |source| Mount::Bind {
            source,
            access: Access::ReadOnly,
        };
        self.staged.insert(PROGRAM.into(), Staged::Empty);
        // The socket itself is bound there when the run starts.
        self.mounts.insert(DIR.into(), bind(Source::Staged(DIR.into())));
        self.mounts.insert(PROGRAM.into(), bind(Source::Program));
        for (dir, what) in [("/run", Staged::Dir), ("/var/tmp", Staged::OpenDir)] {
            let dir = Path::new(dir);
            if !self.mounts.contains_key(dir) {
                self.staged.entry(dir.to_owned()).or_insert(what);
                self.bind_staged(dir);
            }
        }
    }

    /// Every mount needs something to be mounted on, in a directory that is mounted itself: made in the skeleton, which is
    /// bound by its top directories.
    fn points(&mut self) {
        let places: Vec<(PathBuf, Staged)> = self
            .mounts
            .iter()
            .filter(|(at, _)| !is_top(at) && !is_engines(at))
            .map(|(at, mount)| (at.clone(), self.point_for(mount)))
            .collect();
        for (at, point) in places {
            let above = at.parent().and_then(|above| self.around(above));
            let in_skeleton = match above {
                None => !(self.pinned && at.starts_with("/etc")),
                Some((_, Mount::Bind { source, .. })) => matches!(source, Source::Staged(_)),
                Some((_, Mount::Private { .. })) => false,
            };
            if in_skeleton {
                self.staged.entry(at).or_insert(point);
            }
        }
        let tops: Vec<PathBuf> = self
            .staged
            .keys()
            .map(|at| top(at))
            .filter(|at| !(self.pinned && at == Path::new("/etc")))
            .collect();
        for at in tops {
            self.staged.entry(at.clone()).or_insert(Staged::Dir);
            if !self.mounts.contains_key(&at) {
                self.bind_staged(&at);
            }
        }
    }

    fn point_for(&self, mount: &Mount) -> Staged {
        let kind = |path: &Path| trees(self.sandbox).find(|tree| tree.at == path).map(|tree| tree.kind);
        match mount {
            Mount::Private { .. } => Staged::OpenDir,
            Mount::Bind { source, .. } => match source {
                Source::Host(path) | Source::Mapped { host: path, .. } => match kind(path) {
                    Some(Kind::File) => Staged::Empty,
                    Some(Kind::Dir) | None => Staged::Dir,
                },
                Source::Staged(path) => match self.staged.get(path) {
                    Some(Staged::File(_) | Staged::Copy(_) | Staged::Empty) => Staged::Empty,
                    Some(Staged::Dir | Staged::OpenDir | Staged::Link(_)) | None => Staged::Dir,
                },
                Source::Nothing(Kind::File) | Source::Program => Staged::Empty,
                Source::Nothing(Kind::Dir) => Staged::Dir,
            },
        }
    }

    /// An engine bounds each private place by itself: together they are never more than the policy says. HOME and `/tmp`
    /// get most of it.
    fn share(&mut self, bytes: u64) {
        let weight = |at: &Path| match at.to_str() {
            Some("/var/tmp" | "/dev/shm") => 1,
            Some(_) | None => 3,
        };
        let all: u64 = self.privates.iter().map(|at| weight(at)).sum();
        for at in &self.privates {
            if let Some(Mount::Private { bytes: share }) = self.mounts.get_mut(at) {
                *share = (bytes / all.max(1)).saturating_mul(weight(at));
            }
        }
    }
}
