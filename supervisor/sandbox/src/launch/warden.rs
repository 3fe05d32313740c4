//! Keeps covers in place while the command runs.
//!
//! A file that the host replaces (`git config` writes a new one and renames it) is a new file, and what covered the old
//! one is gone; a denied name that the host creates was never covered. The supervisor watches the directories in question and
//! covers what appears, from a short-lived process that enters the sandbox's mount namespace. Between the appearance and the
//! cover lie some hundred microseconds: that is why every such event is also in the report.
//!
//! INVARIANT: a turn is short, whatever there is to do; the rest is for the next one. Names come before directories.
//! INVARIANT: nothing waits for long. Who makes more changes than can be looked at is not run any further (`is_beaten`).

mod aside;
mod covers;
mod leads;
mod post;
mod queue;
mod tree;
mod twins;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use glee_policy::glob::Glob;

use super::inside::Namespaces;
use super::outcome::Appeared;
use crate::plan::{GlobWatch, MountStep, Response, SandboxPlan};
use crate::survey::search::Search;
use crate::sys::inotify::{Change, Inotify, WatchId};
use crate::sys::process::Pid;
use crate::workspace::Layer;
use covers::Failed;
use leads::Leads;
pub(super) use post::Post;
use queue::Queue;
use tree::Tree;
use twins::Twins;
use walk::{Listing, Missed};

/// More than a full queue of the longest names takes.
const LAST_READS: u32 = 256;

/// How long each part of a turn may take: reading, covering, looking at directories that came, listing.
const SLICE: Duration = Duration::from_millis(5);

/// How soon one goes on with what is left.
const SOON: Duration = Duration::from_millis(1);

/// How long a change may wait. An honest command makes pauses, and what it does costs more than a look at it.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it may take to look at everything again after changes were lost.
const RECOVERY: Duration = Duration::from_secs(10);

/// How long a directory may be between two places. One that went elsewhere is forgotten then.
const ADRIFT: Duration = Duration::from_millis(200);

/// Protected names that the host removed while the command ran.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) removed: BTreeSet<PathBuf>,
    /// Of these nobody was told all.
    pub(super) doubtful: BTreeSet<PathBuf>,
}

/// What is left of the watch: what appeared, what was not watched, and the protected names that the host removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) appeared: Vec<Appeared>,
    pub(super) unwatched: Vec<PathBuf>,
    pub(super) lost: Lost,
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

impl Pattern {
    fn search(&self) -> Search<'_> {
        Search {
            glob: &self.glob,
            base: &self.watch.base,
            granted: &self.watch.granted,
        }
    }
}

/// A name in a watched directory.
type Named = (WatchId, OsString);

/// Watches what must stay covered.
#[derive(Debug)]
pub(super) struct Warden {
    inotify: Inotify,
    tree: Tree,
    twins: Twins,
    /// Full paths to be covered when they appear.
    names: BTreeMap<PathBuf, (Response, String)>,
    /// Those of them that are protected, whether or not they are hidden as well.
    protected: BTreeSet<PathBuf>,
    /// The last parts of those, by which most other names are told apart.
    ends: BTreeSet<OsString>,
    patterns: Vec<Pattern>,
    leads: Leads,
    namespaces: Namespaces,
    /// Names that appeared and may have to be covered, and those of the rules that lie where something appeared.
    fresh: Queue<Named>,
    due: Queue<PathBuf>,
    /// What is hidden because of something else: a link leads there, or nobody can look into it. With the clause.
    extra: Queue<(PathBuf, String)>,
    /// Directories that appeared.
    arrived: Queue<Named>,
    /// Directories to be listed, and the one that is.
    unlisted: Queue<WatchId>,
    listing: Option<Listing>,
    failed: Failed,
    missed: Missed,
    appeared: Vec<Appeared>,
    /// Protected names that the host removed.
    lost: BTreeSet<PathBuf>,
    /// There were changes that nobody was told of.
    forgetful: bool,
    overflows: u64,
    /// Since when not all has been looked at again after such.
    behind_since: Option<Instant>,
    beaten: bool,
    /// Directories that could not be watched, for the report.
    blind: BTreeSet<PathBuf>,
    /// The trees of the host that the sandbox shows: what lies above them may move without changing what is inside.
    roots: Vec<PathBuf>,
    /// What lies behind a copy, by the path of the copy: what the host does there shows through, and the copy is not told.
    behind: Vec<(PathBuf, PathBuf)>,
    /// By which descriptors those paths lead there.
    held: Vec<RawFd>,
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
            tree: Tree::default(),
            twins: Twins::default(),
            names: BTreeMap::new(),
            protected: BTreeSet::new(),
            ends: BTreeSet::new(),
            patterns: Vec::new(),
            leads: Leads::default(),
            namespaces,
            fresh: Queue::default(),
            due: Queue::default(),
            extra: Queue::default(),
            arrived: Queue::default(),
            unlisted: Queue::default(),
            listing: None,
            failed: Failed::default(),
            missed: Missed::default(),
            appeared: Vec::new(),
            lost: BTreeSet::new(),
            forgetful: false,
            overflows: 0,
            behind_since: None,
            beaten: false,
            blind: BTreeSet::new(),
            roots: plan.mounts.iter().filter_map(root_of).cloned().collect(),
            behind: layers.iter().map(|layer| (layer.at.clone(), layer.behind())).collect(),
            held: layers.iter().map(|layer| layer.lower.as_raw_fd()).collect(),
        };
        for watch in &plan.watches {
            warden.watch_above(&watch.path);
            warden.ends.extend(watch.path.file_name().map(OsString::from));
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
        warden.first_leads(plan);
        Ok(Some(warden))
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.inotify.as_fd()
    }

    /// Changes come faster than they can be looked at, or the kernel has no room for one cover more: names are open, or soon
    /// will be.
    pub(super) fn is_beaten(&self) -> bool {
        self.beaten
    }

    /// When the next turn is due, whether or not there are changes.
    pub(super) fn patience(&self) -> Option<Duration> {
        if self.is_idle() {
            self.tree.has_adrift().then_some(ADRIFT)
        } else {
            Some(SOON)
        }
    }

    fn is_idle(&self) -> bool {
        self.fresh.is_empty()
            && self.leads.is_idle()
            && self.due.is_empty()
            && self.extra.is_empty()
            && self.arrived.is_empty()
            && self.unlisted.is_empty()
            && self.listing.is_none()
    }

    /// Ends the watch. Nothing of the sandbox may be left.
    pub(super) fn finish(mut self) -> Seen {
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
        let doubtful = doubtful.cloned().collect();
        Seen {
            appeared: self.appeared,
            unwatched: self.blind.into_iter().collect(),
            lost: Lost {
                doubtful,
                removed: self.lost,
            },
        }
    }

    /// Covers what has appeared, as far as a turn goes.
    pub(super) fn turn(&mut self) {
        let before = self.overflows;
        let all_read = self.read();
        if self.overflows > before {
            self.look_again();
        }
        self.cover_fresh();
        self.follow_leads();
        self.look_at_arrived();
        // At once, before what was between two places moves on.
        self.cover_fresh();
        self.list_some();
        self.resettle();
        self.tree.forget_adrift(ADRIFT);
        if all_read && self.is_idle() {
            self.behind_since = None;
        }
        let covers = self.fresh.waited(PATIENCE) || self.due.waited(PATIENCE) || self.extra.waited(PATIENCE);
        let late = covers || self.leads.is_late() || self.arrived.waited(PATIENCE) || self.unlisted.waited(PATIENCE);
        self.beaten |= late || self.behind_since.is_some_and(|since| since.elapsed() >= RECOVERY);
    }

    /// Takes note of what has changed. True if there is nothing more to read.
    fn read(&mut self) -> bool {
        let end = Instant::now() + SLICE;
        while let Ok(changes) = self.inotify.read() {
            if changes.is_empty() {
                return true;
            }
            changes.into_iter().for_each(|change| self.note(change));
            if Instant::now() >= end {
                break;
            }
        }
        false
    }

    fn note(&mut self, change: Change) {
        match change {
            Change::Overflow => {
                self.forgetful = true;
                self.behind_since.get_or_insert_with(Instant::now);
                self.overflows += 1;
            }
            Change::Appeared { dir, name, is_dir } => {
                let Some(dir) = self.tree.front(dir) else { return };
                if self.may_concern(&name) {
                    self.fresh.push((dir, name.clone()));
                }
                if is_dir {
                    self.arrived.push((dir, name));
                }
            }
            Change::Vanished { dir, name, is_dir } => self.vanished(dir, &name, is_dir),
            Change::Forgotten { dir } => {
                self.tree.forget(dir);
                self.twins.remove(&dir);
            }
        }
    }

    /// A protected name that the host removed: whoever makes it anew, it is judged at the end.
    fn vanished(&mut self, dir: WatchId, name: &OsString, is_dir: bool) {
        let Some(dir) = self.tree.front(dir) else { return };
        if !self.failed.is_empty() || !self.fresh.is_empty() {
            let named = (dir, name.clone());
            self.failed.remove(&named);
            self.fresh.cancel(&named);
        }
        if !is_dir && !self.ends.contains(name) {
            return;
        }
        for full in self.paths(dir, name) {
            // With a directory goes what lies in it.
            let below = self.protected.range(full.clone()..);
            let gone = below.take_while(|path| path.starts_with(&full));
            self.lost.extend(gone.cloned());
        }
        if is_dir {
            self.tree.detach(dir, name);
        }
    }
}
