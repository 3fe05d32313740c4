//! The trees a policy grants, as mounts: grants, private places, protected names, hidden paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::grants::{Cover, in_private_place};
use glee_policy::resolved::{FsAccess, Grant};

use super::covers::{Covers, glee, hidden, islands};
use super::{Request, base};
use crate::plan::{Access, IdMap, Identity, KeptDir, Kind, MadeFile, MountStep, Placeholder, Watch, Workspace};
use crate::seccomp::Observe;
use crate::survey::{GitDir, Node, Place, Shown, Terrain, is_own, private_dirs};

/// Directories of the system: their owners are not mapped to the sandbox's user, whatever is granted.
const SYSTEM_DIRS: &[&str] = &[
    "/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/proc", "/run", "/sbin",
    "/srv", "/sys", "/usr", "/var",
];

/// Files of the kernel's: their filesystems know no mapping of owners, and need none to be read.
const KERNEL: &[&str] = &["/dev", "/proc", "/sys"];

/// What the trees come to.
#[derive(Debug, Default)]
pub(super) struct Trees {
    pub(super) steps: Vec<MountStep>,
    pub(super) placeholders: Vec<Placeholder>,
    pub(super) omitted: Vec<String>,
    pub(super) watches: Vec<Watch>,
    /// Private places, for Landlock.
    pub(super) private: Vec<PathBuf>,
    /// Trees mounted beyond the policy's own grants (git directories), for Landlock.
    pub(super) extra: Vec<(PathBuf, FsAccess)>,
}

impl Trees {
    /// Where the command has the rights of another owner, what it changes of a file must not go unnoticed (`launch::witness`).
    pub(super) fn observe(&self, asked: Observe) -> Observe {
        match asked {
            Observe::Nothing if self.steps.iter().any(MountStep::is_written_as_owner) => Observe::Attributes,
            Observe::Nothing | Observe::Attributes | Observe::Attempts | Observe::Everything => asked,
        }
    }
}

pub(super) fn lower(policy: &ResolvedPolicy, terrain: &Terrain, identity: &Identity, request: &Request) -> Trees {
    let files = &request.files;
    let mut trees = Trees {
        steps: base::system(terrain, files),
        ..Trees::default()
    };
    let home = request.home.clone().or_else(|| terrain.home.clone());
    let home = home.unwrap_or_else(|| PathBuf::from("/home/sandbox"));
    trees.steps.extend(base::accounts(identity, &home));
    let cover = Cover::new(policy);
    let mut layout: BTreeMap<PathBuf, MountStep> = BTreeMap::new();
    for (at, name) in base::private().into_iter().chain([(home, "home")]) {
        // A place that was granted is not private. "Everything, for reading" means HOME too, but not `/tmp`.
        let granted = cover
            .at(&at)
            .is_some_and(|(_, grant)| name == "home" || !is_too_wide(grant));
        if !granted && !is_system(&at) {
            trees.private.push(at.clone());
            layout.insert(at.clone(), MountStep::Private { at, name });
        }
    }
    grants(policy, terrain, identity, request, &mut layout, &mut trees);
    let links = links(policy, terrain, &layout);
    trees.steps.extend(layout.into_values());
    made(files, &mut trees);
    kept(&request.kept, identity, &mut trees);
    trees.steps.extend(links);
    let mut covers = Covers::default();
    islands(terrain, identity, &mut covers, &mut trees);
    glee(terrain, &cover, &mut covers, &mut trees);
    hidden(terrain, &Shown::new(policy, &terrain.git), &mut covers, &mut trees);
    let covers = covers.into_steps(&mut trees);
    trees.steps.extend(covers);
    trees.watches.extend(terrain.watches.iter().cloned());
    if terrain.scan_cut {
        trees
            .omitted
            .push("sockets and nested repositories deep in the granted trees were not looked for".to_owned());
    }
    trees
}

/// Above the private places, but not meaning them.
fn is_too_wide(grant: &Grant) -> bool {
    ["/", "/dev"].iter().any(|dir| Path::new(dir) == grant.path.as_path())
}

/// Is the path granted, and does the sandbox show what is granted there?
fn is_seen(cover: &Cover<'_>, path: &Path) -> bool {
    let grant = cover.at(path).map(|(_, grant)| grant);
    grant.is_some_and(|grant| !is_too_wide(grant) || !in_private_place(path))
}

/// Files of the run's own that lie in a private place. Anywhere else they would be written to the host.
fn made(files: &[MadeFile], trees: &mut Trees) {
    for file in files.iter().filter(|file| !base::is_skeleton(&file.at)) {
        if trees.private.iter().any(|dir| file.at.starts_with(dir)) {
            trees.steps.push(MountStep::File {
                at: file.at.clone(),
                contents: file.contents.clone(),
            });
        } else {
            trees
                .omitted
                .push(format!("{}: not in a private place", file.at.display()));
        }
    }
}

/// Directories that outlive the run, where a private place would not.
fn kept(dirs: &[KeptDir], identity: &Identity, trees: &mut Trees) {
    for dir in dirs {
        if !trees.private.iter().any(|place| dir.at.starts_with(place)) {
            trees
                .omitted
                .push(format!("{}: not in a private place", dir.at.display()));
            continue;
        }
        let differs = (dir.uid, dir.gid) != (identity.uid, identity.gid);
        trees.steps.push(MountStep::Bind {
            from: dir.from.clone(),
            at: dir.at.clone(),
            kind: Kind::Dir,
            access: Access::ReadWrite,
            idmap: (identity.from_root && differs).then_some(IdMap {
                from_uid: dir.uid,
                from_gid: dir.gid,
            }),
        });
    }
}

/// System places are never replaced by something private.
fn is_system(path: &Path) -> bool {
    path == Path::new("/")
        || ["/usr", "/etc", "/proc", "/dev", "/bin", "/sbin", "/lib"]
            .iter()
            .any(|dir| path.starts_with(dir) && path != Path::new("/dev/shm"))
}

/// The owner of a granted tree becomes the sandbox's user, where root started us and the two differ.
pub(super) fn idmap(path: &Path, place: &Place, identity: &Identity) -> Option<IdMap> {
    let system = place.kind == Kind::Dir && SYSTEM_DIRS.iter().any(|dir| Path::new(dir) == path);
    let kernels = is_kernels(path);
    let differs = place.uid != identity.uid || place.gid != identity.gid;
    (identity.from_root && differs && !system && !kernels).then_some(IdMap {
        from_uid: place.uid,
        from_gid: place.gid,
    })
}

/// On a filesystem of the kernel's own.
pub(super) fn is_kernels(path: &Path) -> bool {
    KERNEL.iter().any(|dir| path.starts_with(dir)) && !path.starts_with("/dev/shm")
}

/// In a tree of programs that every sandbox sees.
fn in_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
        .iter()
        .any(|dir| path.starts_with(dir))
}

fn grants(
    policy: &ResolvedPolicy,
    terrain: &Terrain,
    identity: &Identity,
    request: &Request,
    layout: &mut BTreeMap<PathBuf, MountStep>,
    trees: &mut Trees,
) {
    let private = private_dirs(&terrain.project);
    let mut bind = |path: &Path, access: FsAccess| {
        let Some(place) = terrain.places.get(path) else { return };
        let access = match access {
            FsAccess::ReadWrite if terrain.readonly.contains(path) => Access::ReadOnly,
            // A character device does what its driver does; a file beside it (`/dev/shm/x`) is a file like any other.
            _ if place.node == Node::CharDevice && path.starts_with("/dev") => Access::Device,
            FsAccess::Read => Access::ReadOnly,
            FsAccess::ReadWrite => Access::ReadWrite,
        };
        // A view is mapped below, not itself.
        let outside = |dir: &GitDir| dir.outside && path.starts_with(&dir.path);
        let copied = path.starts_with(&terrain.project) || terrain.git.iter().any(outside);
        let viewed = request.workspace == Workspace::Cow && copied;
        let idmap = idmap(path, place, identity).filter(|_| !viewed);
        let (from, at) = (path.to_owned(), path.to_owned());
        layout.insert(
            at.clone(),
            MountStep::Bind {
                from,
                at,
                kind: place.kind,
                access,
                idmap,
            },
        );
    };
    for grant in &policy.grants {
        let path = grant.path.as_path();
        if private.iter().any(|dir| dir == path) {
            continue;
        }
        if !grant.exists {
            trees
                .omitted
                .push(format!("{} ({}): not there", grant.written, grant.origin));
        } else if terrain.readonly.contains(path) && grant.access == FsAccess::ReadWrite {
            trees.omitted.push(format!(
                "{} ({}): you cannot write there either",
                grant.written, grant.origin
            ));
            bind(path, grant.access);
        } else if is_own(path) {
            trees
                .omitted
                .push(format!("{} ({}): the sandbox has its own", grant.written, grant.origin));
        } else if grant.access == FsAccess::Read && in_system(path) {
            // There already, as it is.
        } else if path == Path::new("/") {
            terrain.top.iter().for_each(|dir| bind(dir, grant.access));
        } else {
            bind(path, grant.access);
        }
    }
    for dir in terrain.git.iter().filter(|dir| dir.outside) {
        bind(&dir.path, dir.access);
        trees.extra.push((dir.path.clone(), dir.access));
    }
    let cover = Cover::new(policy);
    let project = &terrain.project;
    if let Some((access, _)) = cover.at(project).filter(|_| !is_seen(&cover, project)) {
        bind(project, access);
        trees.extra.push((project.clone(), access));
    }
    for file in &terrain.command.files {
        let seen = is_seen(&cover, file) || in_system(file);
        let regular = terrain.places.get(file).is_some_and(|p| p.node == Node::Regular);
        if !seen && regular {
            bind(file, FsAccess::Read);
            trees.extra.push((file.clone(), FsAccess::Read));
        }
    }
}

/// Links that lead to what was granted, where they lie in the skeleton and not in a mounted tree.
fn links(policy: &ResolvedPolicy, terrain: &Terrain, layout: &BTreeMap<PathBuf, MountStep>) -> Vec<MountStep> {
    let all = policy
        .grants
        .iter()
        .flat_map(|g| &g.links)
        .chain(&terrain.command.links)
        .chain(&terrain.links);
    let mut seen = BTreeSet::new();
    let in_a_tree = |at: &Path| {
        let nearest = at.ancestors().find_map(|dir| layout.get(dir));
        matches!(nearest, Some(MountStep::Bind { .. }))
    };
    all.filter(|(at, _)| !is_system(at) && !in_a_tree(at) && seen.insert(at.clone()))
        .map(|(at, target)| MountStep::Symlink {
            at: at.clone(),
            target: target.clone(),
        })
        .collect()
}
