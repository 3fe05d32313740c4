//! Protected names in directories that the sandbox's user cannot enter: the directory is protected as a whole.
//!
//! Root sees everything, and its command does not: it has another user, to whom the owner of a granted tree is mapped. Nothing
//! can be mounted below a directory that this user cannot search.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::islands::{Island, IslandState, without_covered};
use super::{Caller, Place};
use crate::lower::{identity_on, idmap};
use crate::plan::Identity;

/// The same for an ordinary caller, who could not have looked there either.
pub(super) fn as_whole(
    islands: Vec<Island>,
    caller: &Caller,
    project_owner: (u32, u32),
    places: &BTreeMap<PathBuf, Place>,
) -> Vec<Island> {
    if caller.uid != 0 {
        return islands;
    }
    let identity = identity_on(project_owner);
    let mut known = BTreeMap::new();
    let mut whole: Vec<Island> = islands
        .into_iter()
        .map(|island| of_closed(&island, &identity, places, &mut known).unwrap_or(island))
        .collect();
    whole.sort_by(|a, b| a.path.cmp(&b.path));
    whole.dedup_by(|a, b| a.path == b.path);
    without_covered(whole)
}

/// The topmost closed directory above a name, in its place. `known`: whether a directory is closed.
fn of_closed(
    island: &Island,
    identity: &Identity,
    places: &BTreeMap<PathBuf, Place>,
    known: &mut BTreeMap<PathBuf, bool>,
) -> Option<Island> {
    let (top, place) = places.iter().rev().find(|(path, _)| island.path.starts_with(path))?;
    let owner = match idmap(top, place, identity) {
        Some(map) => (map.from_uid, map.from_gid),
        None => (identity.uid, identity.gid),
    };
    let above = island.path.ancestors().skip(1);
    let above: Vec<&Path> = above.take_while(|dir| dir != top && dir.starts_with(top)).collect();
    let mut pins = Vec::new();
    for dir in above.into_iter().rev() {
        let closed = *known
            .entry(dir.to_owned())
            .or_insert_with(|| fs::symlink_metadata(dir).is_ok_and(|meta| !is_searchable(&meta, owner)));
        if closed {
            return Some(Island {
                path: dir.to_owned(),
                state: IslandState::Present,
                pins,
                reopened: false,
            });
        }
        pins.push(dir.to_owned());
    }
    None
}

/// May who has these ids enter? To the owner of both kinds the mode is no obstacle while the sandbox is built.
fn is_searchable(meta: &fs::Metadata, (uid, gid): (u32, u32)) -> bool {
    let needed = match (meta.uid() == uid, meta.gid() == gid) {
        (true, true) => return true,
        (true, false) => 0o100,
        (false, true) => 0o010,
        (false, false) => 0o001,
    };
    meta.mode() & needed != 0
}
