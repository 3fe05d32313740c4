//! Keeps covers in place while the command runs.
//!
//! A file that the host replaces (`git config` writes a new one and renames it) is a new file, and what covered the old
//! one is gone; a denied name that the host creates was never covered. The supervisor watches the directories in question and
//! covers what appears, from a short-lived process that enters the sandbox's mount namespace. Between the appearance and the
//! cover lie some hundred microseconds: that is why every such event is also in the report.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_policy::glob::Glob;

use super::inside::Namespaces;
use super::outcome::Appeared;
use crate::plan::{GlobWatch, MountStep, Response, SandboxPlan};
use crate::survey::Hidden;
use crate::survey::search::{Looked, Search};
use crate::sys::inotify::{Change, Inotify, WatchId};
use crate::sys::process::Pid;
use crate::workspace::Layer;

/// Events that are remembered.
const MOST: usize = 1000;

/// How often a new directory is searched. Who makes directories faster than that is seen by the watches on those before.
const SEARCHES: u32 = 8;

/// More than a full queue of the longest names takes.
const LAST_READS: u32 = 256;

/// Protected names that the host removed while the command ran.
#[derive(Debug, Default)]
pub(super) struct Lost {
    pub(super) removed: BTreeSet<PathBuf>,
    /// Of these nobody was told all.
    pub(super) doubtful: BTreeSet<PathBuf>,
}

/// The top of a tree of the host.
fn root_of(step: &MountStep) -> Option<&PathBuf> {
    if let MountStep::Bind { at, .. } = step {
        Some(at)
    } else {
        None
    }
}

#[derive(Debug)]
struct Pattern {
    watch: GlobWatch,
    glob: Glob,
}

fn searching<'a>(watch: &'a GlobWatch, glob: &'a Glob) -> Search<'a> {
    Search {
        glob,
        base: &watch.base,
        granted: &watch.granted,
    }
}

/// Watches what must stay covered.
#[derive(Debug)]
pub(super) struct Warden {
    inotify: Inotify,
    dirs: BTreeMap<WatchId, PathBuf>,
    /// Full paths to be covered when they appear.
    names: BTreeMap<PathBuf, (Response, String)>,
    /// Those of them that are protected, whether or not they are hidden as well.
    protected: BTreeSet<PathBuf>,
    patterns: Vec<Pattern>,
    namespaces: Namespaces,
    appeared: Vec<Appeared>,
    /// Protected names that the host removed.
    lost: BTreeSet<PathBuf>,
    /// There were changes that nobody was told of.
    forgetful: bool,
    /// The directories that are watched, by path.
    ids: BTreeMap<PathBuf, WatchId>,
    /// Directories that could not be watched, for the report.
    blind: BTreeSet<PathBuf>,
    /// The trees of the host that the sandbox shows: what lies above them may move without changing what is inside.
    roots: Vec<PathBuf>,
    /// What lies behind a copy, by the path of the copy: what the host does there shows through, and the copy is not told.
    behind: Vec<(PathBuf, PathBuf)>,
}

impl Warden {
    /// Starts watching. `None` if there is nothing to watch.
    pub(super) fn start(plan: &SandboxPlan, init: Pid, layers: &[Layer]) -> io::Result<Option<Self>> {
        if plan.watches.is_empty() && plan.glob_watches.is_empty() {
            return Ok(None);
        }
        let namespaces = Namespaces::of(plan, init)?;
        let mut warden = Self {
            inotify: Inotify::new()?,
            dirs: BTreeMap::new(),
            names: BTreeMap::new(),
            protected: BTreeSet::new(),
            patterns: Vec::new(),
            namespaces,
            appeared: Vec::new(),
            lost: BTreeSet::new(),
            forgetful: false,
            ids: BTreeMap::new(),
            blind: BTreeSet::new(),
            roots: plan.mounts.iter().filter_map(root_of).cloned().collect(),
            behind: layers.iter().map(|layer| (layer.at.clone(), layer.behind())).collect(),
        };
        for watch in &plan.watches {
            warden.watch_above(&watch.path);
            if watch.response == Response::Protect {
                warden.protected.insert(watch.path.clone());
            }
            // What is to be hidden comes last, and counts.
            warden
                .names
                .insert(watch.path.clone(), (watch.response, watch.clause.clone()));
        }
        for glob in &plan.glob_watches {
            warden.watch_above(&glob.base);
            for dir in &glob.dirs {
                warden.watch(dir);
            }
            if let Ok(compiled) = Glob::new(&glob.pattern) {
                warden.patterns.push(Pattern {
                    watch: glob.clone(),
                    glob: compiled,
                });
            }
        }
        Ok(Some(warden))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// What appeared, what was not watched, and the protected names that the host removed. Nothing of the sandbox may be left.
    pub(super) fn finish(mut self) -> (Vec<Appeared>, Vec<PathBuf>, Lost) {
        // What was not told yet. There is nobody left to cover anything for.
        for _ in 0..LAST_READS {
            let changes = self.inotify.read().unwrap_or_default();
            if changes.is_empty() {
                break;
            }
            for change in changes {
                match change {
                    Change::Overflow => self.forgetful = true,
                    Change::Vanished { dir, name, is_dir } => self.vanished(dir, &name, is_dir),
                    Change::Appeared { .. } | Change::Forgotten { .. } => {}
                }
            }
        }
        let unseen = |path: &Path| path.parent().is_some_and(|dir| self.blind.contains(dir));
        let doubtful = self.names.keys().filter(|path| self.forgetful || unseen(path));
        let lost = Lost {
            doubtful: doubtful.cloned().collect(),
            removed: self.lost,
        };
        (self.appeared, self.blind.into_iter().collect(), lost)
    }

    /// Watches what is at this path now: a directory that was made anew or moved is another one. True if it was not known.
    fn watch(&mut self, dir: &Path) -> bool {
        self.watch_behind(dir);
        let id = match self.inotify.watch(dir) {
            Ok(id) => id,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return false;
            }
            Err(_) => {
                self.blind.insert(dir.to_owned());
                return false;
            }
        };
        if self.dirs.get(&id).is_some_and(|known| known == dir) {
            return false;
        }
        if let Some(before) = self.dirs.insert(id, dir.to_owned()) {
            self.ids.remove(&before);
        }
        if let Some(before) = self.ids.insert(dir.to_owned(), id) {
            self.dirs.remove(&before);
        }
        true
    }

    /// Watches the project's own directory where a copy of it is watched.
    fn watch_behind(&mut self, dir: &Path) {
        let layers = self.behind.iter().filter(|(at, _)| dir.starts_with(at));
        let Some((at, real)) = layers.max_by_key(|(at, _)| at.components().count()) else {
            return;
        };
        let real = dir.strip_prefix(at).map(|inside| real.join(inside));
        match real.map(|real| self.inotify.watch(&real)) {
            Ok(Ok(id)) => {
                self.dirs.insert(id, dir.to_owned());
            }
            Ok(Err(error)) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
            Ok(Err(_)) | Err(_) => {
                self.blind.insert(dir.to_owned());
            }
        }
    }

    /// Watches every directory between a path and the top of its tree: whichever of them is replaced, or missing now, must
    /// be seen to appear.
    fn watch_above(&mut self, path: &Path) {
        let roots = self.roots.iter().filter(|root| path.starts_with(root));
        let top = roots.max_by_key(|root| root.components().count()).cloned();
        let above = path.ancestors().skip(1);
        let dirs: Vec<PathBuf> = match &top {
            Some(top) => above
                .take_while(|dir| dir.starts_with(top))
                .map(Path::to_owned)
                .collect(),
            None => above.filter(|dir| dir.is_dir()).take(1).map(Path::to_owned).collect(),
        };
        // From the top: what is replaced meanwhile is seen by the watch above it.
        for dir in dirs.iter().rev() {
            self.watch(dir);
        }
    }

    /// The directory is no longer at this path, nor is what lies in it.
    fn forget(&mut self, dir: &Path) {
        let below = self
            .ids
            .range(dir.to_owned()..)
            .take_while(|(path, _)| path.starts_with(dir));
        let gone: Vec<(PathBuf, WatchId)> = below.map(|(path, id)| (path.clone(), *id)).collect();
        for (path, id) in gone {
            self.ids.remove(&path);
            self.dirs.remove(&id);
        }
    }

    /// Covers what has appeared.
    pub(super) fn turn(&mut self) {
        let changes = match self.inotify.read() {
            Ok(changes) => changes,
            Err(_) => return,
        };
        for change in changes {
            match change {
                Change::Overflow => {
                    self.forgetful = true;
                    let dirs: Vec<PathBuf> = self.dirs.values().cloned().collect();
                    dirs.iter().for_each(|dir| self.enter(dir));
                }
                Change::Appeared { dir, name, is_dir } => self.appeared(dir, &name, is_dir),
                Change::Vanished { dir, name, is_dir } => self.vanished(dir, &name, is_dir),
                Change::Forgotten { dir } => {
                    if let Some(path) = self.dirs.remove(&dir) {
                        self.ids.remove(&path);
                    }
                }
            }
        }
    }

    fn appeared(&mut self, dir: WatchId, name: &OsString, is_dir: bool) {
        let Some(dir) = self.dirs.get(&dir) else { return };
        let full = dir.join(name);
        if !self.judge(&full) && is_dir {
            self.enter(&full);
        }
    }

    /// A protected name that the host removed: whoever makes it anew, it is judged at the end.
    fn vanished(&mut self, dir: WatchId, name: &OsString, is_dir: bool) {
        let Some(dir) = self.dirs.get(&dir) else { return };
        let full = dir.join(name);
        if is_dir {
            self.forget(&full);
        }
        // With a directory goes what lies in it.
        let below = self.protected.range(full.clone()..);
        let gone = below.take_while(|path| path.starts_with(&full));
        self.lost.extend(gone.cloned());
    }

    /// Covers `full` if a rule says so. True if it did.
    fn judge(&mut self, full: &Path) -> bool {
        if let Some((response, clause)) = self.names.get(full).cloned() {
            self.cover(full, response, &clause);
            return response == Response::Hide;
        }
        let hides = |pattern: &&Pattern| pattern.watch.names(full).any(|name| pattern.glob.matches(&name));
        let Some(pattern) = self.patterns.iter().find(hides) else {
            return false;
        };
        let clause = pattern.watch.clause.clone();
        let behind = searching(&pattern.watch, &pattern.glob).behind(full);
        for path in behind.iter().map(PathBuf::as_path).chain([full]) {
            self.cover(path, Response::Hide, &clause);
        }
        true
    }

    /// A directory that is new (or in which events were lost): watched, and searched for what is in it already.
    fn enter(&mut self, dir: &Path) {
        let below: Vec<PathBuf> = self
            .names
            .keys()
            .filter(|name| name.starts_with(dir))
            .cloned()
            .collect();
        for name in below {
            self.watch_above(&name);
            if name.symlink_metadata().is_ok() {
                self.judge(&name);
            }
        }
        let bases: Vec<PathBuf> = self.patterns.iter().map(|pattern| pattern.watch.base.clone()).collect();
        for base in bases.iter().filter(|base| base.starts_with(dir)) {
            self.watch_above(base);
        }
        // A directory is watched first and searched then, so that nothing falls between the two: searched again until
        // there was no new one.
        let mut found = Vec::new();
        for _ in 0..SEARCHES {
            let mut seen = Vec::new();
            found = self.search(dir, &mut seen);
            let fresh = seen.iter().filter(|dir| self.watch(dir)).count();
            if fresh == 0 {
                break;
            }
        }
        for (hidden, clause) in found {
            if let Hidden::Present { path, .. } = hidden {
                self.cover(&path, Response::Hide, &clause);
            }
        }
    }

    /// What the patterns match in a directory now, and the directories in which they can match more.
    fn search(&mut self, dir: &Path, seen: &mut Vec<PathBuf>) -> Vec<(Hidden, String)> {
        let mut found = Vec::new();
        for Pattern { watch, glob } in &mut self.patterns {
            // The pattern's own directory may lie deeper than the one that appeared.
            let starts: Vec<(PathBuf, PathBuf)> = if watch.base.starts_with(dir) {
                vec![(watch.base.clone(), PathBuf::new())]
            } else {
                watch.names(dir).map(|name| (dir.to_owned(), name)).collect()
            };
            let mut looked = Looked::default();
            for (start, relative) in starts.iter().filter(|(_, relative)| glob.can_match_below(relative)) {
                searching(watch, glob).look(start, relative, &mut looked);
            }
            seen.append(&mut looked.dirs);
            looked.aliases.retain(|alias| !watch.aliases.contains(alias));
            watch.aliases.append(&mut looked.aliases);
            found.extend(looked.hidden.into_iter().map(|hidden| (hidden, watch.clause.clone())));
        }
        found
    }

    fn cover(&mut self, full: &Path, response: Response, clause: &str) {
        // A second name for a protected file is a way round its cover, whoever made it.
        let other_names = response == Response::Protect
            && std::fs::symlink_metadata(full).is_ok_and(|meta| meta.is_file() && meta.nlink() > 1);
        let covered = self.namespaces.cover(full, response).is_ok() && !other_names;
        if self
            .appeared
            .iter()
            .any(|known| known.path == full && known.covered == covered)
        {
            return;
        }
        if self.appeared.len() < MOST {
            self.appeared.push(Appeared {
                path: full.to_owned(),
                clause: clause.to_owned(),
                covered,
            });
        }
    }
}
