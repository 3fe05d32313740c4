//! What is laid over the trees: protected names, private directories, hidden paths, and pins that keep them in place.
//!
//! Pure. INVARIANT (parents first): covers are ordered by path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use glee_policy::grants::Cover;
use glee_policy::resolved::FsAccess;

use super::deny;
use super::trees::{Trees, idmap};
use crate::plan::{Access, Identity, Kind, MountStep, Placeholder, PlaceholderKind, Response, Watch};
use crate::survey::{Hidden, IslandState, Shown, Terrain, private_dirs};

/// Mounts on top of the trees, by path: parents first, and at one path in the order of the fields.
#[derive(Debug, Default)]
pub(super) struct Covers {
    by_path: BTreeMap<PathBuf, Vec<MountStep>>,
}

impl Covers {
    fn add(&mut self, step: MountStep, at: &Path) {
        let steps = self.by_path.entry(at.to_owned()).or_default();
        if !steps.contains(&step) {
            steps.push(step);
        }
    }

    /// Without what lies in a hidden directory: nothing can be reached there, and no mount point found.
    pub(super) fn into_steps(self, trees: &mut Trees) -> Vec<MountStep> {
        let is_mask = |step: &MountStep| matches!(step, MountStep::Hide { .. });
        let masks: BTreeSet<&Path> = self
            .by_path
            .iter()
            .filter(|(_, steps)| steps.iter().any(is_mask))
            .map(|(path, _)| path.as_path())
            .collect();
        let covered = |path: &Path| path.ancestors().skip(1).any(|above| masks.contains(above));
        trees.placeholders.retain(|held| !covered(&held.dir.join(&held.name)));
        trees
            .watches
            .retain(|watch| watch.response == Response::Hide || !covered(&watch.path));
        let shown = self.by_path.iter().filter(|(path, _)| !covered(path));
        shown.flat_map(|(_, steps)| steps.iter().cloned()).collect()
    }
}

pub(super) fn islands(terrain: &Terrain, identity: &Identity, covers: &mut Covers, trees: &mut Trees) {
    for pin in &terrain.pinned {
        covers.add(MountStep::Pin { at: pin.clone() }, pin);
    }
    for island in &terrain.islands {
        for pin in &island.pins {
            covers.add(MountStep::Pin { at: pin.clone() }, pin);
            if pin.file_name() == Some(OsStr::new(".git")) {
                // A host that makes its repository anew: the new one is not the command's to write.
                let clause = format!("read-only: {}", pin.display());
                let watch = Watch {
                    path: pin.clone(),
                    response: Response::Protect,
                    clause,
                };
                if !trees.watches.contains(&watch) {
                    trees.watches.push(watch);
                }
            }
        }
        let at = &island.path;
        if terrain.glee.as_ref().is_some_and(|glee| glee.path == *at) {
            // `.glee` is covered with its private directories by `glee`.
            continue;
        }
        if island.reopened {
            let owner = terrain
                .places
                .iter()
                .rev()
                .find(|(path, _)| at.starts_with(path))
                .map(|(_, place)| place);
            let idmap = owner.and_then(|place| idmap(at, place, identity));
            let (from, access) = (at.clone(), Access::ReadWrite);
            covers.add(
                MountStep::Bind {
                    from,
                    at: at.clone(),
                    kind: Kind::Dir,
                    access,
                    idmap,
                },
                at,
            );
            continue;
        }
        if let IslandState::Missing(kind) = island.state {
            placeholder(at, kind, trees);
        }
        covers.add(MountStep::Protect { at: at.clone() }, at);
        let clause = format!("read-only: {}", at.display());
        trees.watches.push(Watch {
            path: at.clone(),
            response: Response::Protect,
            clause,
        });
    }
}

fn placeholder(at: &Path, kind: PlaceholderKind, trees: &mut Trees) {
    if let (Some(dir), Some(name)) = (at.parent(), at.file_name()) {
        trees.placeholders.push(Placeholder {
            dir: dir.to_owned(),
            name: name.to_owned(),
            kind,
        });
    }
}

/// `.glee` as it is, read-only, with the run's own session and log directories where they are granted.
pub(super) fn glee(terrain: &Terrain, cover: &Cover<'_>, covers: &mut Covers, trees: &mut Trees) {
    let Some(glee) = &terrain.glee else { return };
    let granted: Vec<PathBuf> = private_dirs(&terrain.project)
        .into_iter()
        .filter(|dir| cover.access(dir) == Some(FsAccess::ReadWrite))
        .collect();
    let protected = terrain.islands.iter().any(|island| island.path == glee.path);
    if granted.is_empty() {
        if protected {
            covers.add(MountStep::Protect { at: glee.path.clone() }, &glee.path);
        }
        return;
    }
    match cover.access(&glee.path) {
        // The project itself is not granted, so there is nothing to lay the directories over.
        None => return,
        // The author opted out of protecting `.glee`: only the private directories are laid over what is there.
        Some(FsAccess::ReadWrite) if !protected => {
            for (dir, name) in granted.into_iter().zip(["glee-first", "glee-second"]) {
                if glee.children.iter().any(|(child, _)| dir.file_name() == Some(child)) {
                    covers.add(MountStep::Private { at: dir.clone(), name }, &dir);
                    trees.private.push(dir);
                }
            }
            return;
        }
        Some(FsAccess::Read | FsAccess::ReadWrite) => {}
    }
    let private = granted
        .iter()
        .filter_map(|dir| dir.file_name())
        .map(ToOwned::to_owned)
        .collect::<Vec<_>>();
    let children = glee
        .children
        .iter()
        .filter(|(name, _)| !private.contains(name))
        .cloned()
        .collect();
    trees.private.extend(granted);
    covers.add(
        MountStep::Compose {
            at: glee.path.clone(),
            name: "glee",
            children,
            private,
        },
        &glee.path,
    );
}

pub(super) fn hidden(terrain: &Terrain, shown: &Shown<'_>, covers: &mut Covers, trees: &mut Trees) {
    let denied = deny::in_view(&terrain.hidden, trees);
    let top: Vec<PathBuf> = denied
        .iter()
        .filter_map(|hidden| match hidden {
            Hidden::Present { path, .. } => Some(path.clone()),
            Hidden::Absent { .. } => None,
        })
        .collect();
    let sockets = terrain.sockets.iter().map(|path| Hidden::Present {
        path: path.clone(),
        kind: Kind::File,
    });
    for held in terrain.watches.iter().filter(|watch| watch.response == Response::Hold) {
        pin(&held.path, shown, covers);
        covers.add(MountStep::Pin { at: held.path.clone() }, &held.path);
    }
    for hidden in denied.into_iter().chain(sockets) {
        match &hidden {
            Hidden::Present { path, kind } => {
                // What lies in a hidden directory needs no cover of its own.
                if !top.iter().any(|above| above != path && path.starts_with(above)) && deny::is_shown(path, trees) {
                    pin(path, shown, covers);
                    covers.add(
                        MountStep::Hide {
                            at: path.clone(),
                            kind: *kind,
                        },
                        path,
                    );
                }
            }
            Hidden::Absent { dir, name } => {
                let at = dir.join(name);
                pin(&at, shown, covers);
                placeholder(&at, PlaceholderKind::Shut, trees);
                covers.add(MountStep::Protect { at: at.clone() }, &at);
            }
        }
    }
}

/// Directories of a writable tree above a hidden name cannot be renamed: a new one would come without the cover.
fn pin(path: &Path, shown: &Shown<'_>, covers: &mut Covers) {
    let Some((FsAccess::ReadWrite, top)) = shown.at(path) else {
        return;
    };
    let above = path.ancestors().skip(1);
    for dir in above.take_while(|dir| *dir != top && dir.starts_with(top)) {
        covers.add(MountStep::Pin { at: dir.to_owned() }, dir);
    }
}
