//! What the host looks like where the policy points: read once, before anything is planned.
//!
//! Reads files and directories, changes nothing. Everything found here is checked again by the mounts themselves, which
//! follow no link: a host that changes meanwhile makes the run fail, never wider.

pub(crate) mod aside;
mod asked;
mod before;
mod closed;
mod command;
mod deny;
mod git;
mod git_islands;
mod git_shown;
mod gitconfig;
mod home;
mod home_names;
mod islands;
pub(crate) mod links;
mod named;
mod own_git;
mod remotes;
mod scan;
pub(crate) mod search;
mod secrets;
mod shown;
mod system;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::grants::Cover;
use glee_policy::resolved::FsAccess;

pub use asked::KEY_FILE;
pub use command::{FoundCommand, NotFound, find as find_command};
pub use git::GitDir;
pub(crate) use git::{back_of, common_dir_of, common_way, git_dir_of, looks_like_git, modules, pointer_way};
pub use home::is_of_a_home;
pub use islands::{Island, IslandState};
pub use secrets::{OF_A_HOME, SECRETS};
pub(crate) use shown::Shown;
pub use system::{Entry, SystemPath};

use crate::launch::placeholders;
use crate::plan::{GitPlan, GlobWatch, Kind, Watch};
use crate::sys::path;

/// Who called, to the kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    pub uid: u32,
    pub gid: u32,
    /// As in the host's passwd, or the number.
    pub user: String,
}

/// A path that is mounted because someone said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub kind: Kind,
    pub node: Node,
    pub uid: u32,
    pub gid: u32,
}

/// What an inode is, as far as it decides how it may be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    Directory,
    Regular,
    CharDevice,
    /// A pipe, a socket, a block device.
    Special,
}

/// `.glee` of the project, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GleeDir {
    pub path: PathBuf,
    pub children: Vec<(OsString, Kind)>,
}

/// A denied path and what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hidden {
    Present {
        path: PathBuf,
        kind: Kind,
    },
    /// Not there, in a writable tree: the name (or the first missing directory above it) must not come into being.
    Absent {
        dir: PathBuf,
        name: OsString,
    },
}

/// Everything `lower` must know of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Terrain {
    pub caller: Caller,
    pub project: PathBuf,
    pub project_owner: (u32, u32),
    pub cwd: PathBuf,
    /// Where the private home goes.
    pub home: Option<PathBuf>,
    pub system: Vec<SystemPath>,
    pub proc_hidden: Vec<(PathBuf, Kind)>,
    pub places: BTreeMap<PathBuf, Place>,
    /// Granted for writing, but not writable for the caller either.
    pub readonly: BTreeSet<PathBuf>,
    pub glee: Option<GleeDir>,
    pub git: Vec<GitDir>,
    pub islands: Vec<Island>,
    pub hidden: Vec<Hidden>,
    /// Socket files of the host in what is granted, and pipes in what is granted for reading.
    pub sockets: Vec<PathBuf>,
    /// Denied names and patterns, for what the host creates during the run.
    pub watches: Vec<Watch>,
    pub glob_watches: Vec<GlobWatch>,
    /// Denied paths as they were written.
    pub ways: Vec<Watch>,
    pub command: FoundCommand,
    /// What there is of git.
    pub before: GitPlan,
    /// Not all of the granted trees was looked into for sockets and nested repositories.
    pub scan_cut: bool,
    /// Links that lead to the project and the home as the caller names them.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// What lies in `/`, if all of it is granted.
    pub top: Vec<PathBuf>,
    /// Directories in writable trees that are not renamed, besides those above islands.
    pub pinned: Vec<PathBuf>,
    /// Files behind 0, 1 and 2 that may be opened again, by number, and whether they are open for writing.
    pub stdio: Vec<(i32, FsAccess)>,
}

/// What the engine already knows.
#[derive(Debug)]
pub struct Setting<'a> {
    pub project: &'a Path,
    pub cwd: &'a Path,
    pub home: Option<&'a Path>,
    /// Those of everybody, by the table of users, as written there and without links: `HOME` may say another, as after `sudo`.
    pub homes: Vec<PathBuf>,
    /// This program's own configuration, trust included.
    pub config: Option<&'a Path>,
    /// The file that the caller named as the policy, which the next run will obey.
    pub policy: Option<&'a Path>,
    /// Where this program keeps its audit log and its keys: neither writable nor seen inside, whatever is granted around it.
    pub state: Option<&'a Path>,
    /// Where the report goes.
    pub report: Option<&'a Path>,
    /// Where the key of a model's API was read.
    pub key: Option<&'a Path>,
    pub caller: Caller,
    pub command: FoundCommand,
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Something could not be looked at that the policy depends on.
#[derive(Debug, thiserror::Error)]
#[error("cannot look at `{}`: {error}", .path.display())]
pub struct SurveyError {
    pub path: PathBuf,
    pub error: std::io::Error,
}

/// Looks at the host.
pub fn survey(policy: &ResolvedPolicy, setting: Setting<'_>) -> Result<Terrain, SurveyError> {
    let project = setting.project.to_owned();
    let owner = stat(&project)?;
    let cover = Cover::new(policy);
    let mut places = BTreeMap::new();
    for grant in policy.grants.iter().filter(|grant| grant.exists) {
        let path = grant.path.as_path();
        places.insert(path.to_owned(), place(path)?);
    }
    let top = if cover.access(Path::new("/")).is_some() {
        top()
    } else {
        Vec::new()
    };
    for path in &top {
        places.insert(path.clone(), place(path)?);
    }
    if cover.access(&project).is_some() {
        places.insert(project.clone(), place(&project)?);
    }
    let command = named::keep(setting.command, &project);
    for file in &command.files {
        places.insert(file.clone(), place(file)?);
    }
    let mut git = git::find(&project, cover.access(&project));
    let mut trees: Vec<PathBuf> = policy
        .grants
        .iter()
        .filter(|g| g.exists && g.access == FsAccess::ReadWrite)
        .map(|g| g.path.as_path().to_owned())
        .filter(|path| !is_own(path))
        .filter(|path| places.get(path).is_some_and(|p| p.kind == Kind::Dir) && !private_dirs(&project).contains(path))
        .collect();
    git.retain(|dir| cover.access(&dir.path).is_none() || !dir.outside);
    for dir in git.iter().filter(|dir| dir.outside) {
        places.insert(dir.path.clone(), place(&dir.path)?);
    }
    // What the caller cannot write the command gets read-only: it has the same owner, and could make itself a way in.
    let readonly: BTreeSet<PathBuf> = trees.iter().filter(|tree| !path::is_writable(tree)).cloned().collect();
    trees.retain(|tree| !readonly.contains(tree));
    trees.sort();
    let reach = scan::Reach::needed(&trees, &git);
    let mut seen = scan::scan(scan::roots(policy, &places, &project, setting.home), reach);
    let here = below(&trees, [setting.cwd, &project]);
    let (own, identity) = own_git::needed(reach, setting.home, setting.cwd);
    let remotes = remotes::find(&trees, &here, &own, setting.home, &mut seen);
    let homes: BTreeSet<&Path> = setting.homes.iter().map(PathBuf::as_path).chain(setting.home).collect();
    let own_files = [setting.policy, setting.state].into_iter().flatten();
    let mut more: Vec<PathBuf> = own_files.map(Path::to_owned).collect();
    more.extend(home::names(&homes, setting.home, &trees));
    let held: Vec<PathBuf> = asked::links_to(setting.report)
        .into_iter()
        .chain(seen.closed.clone())
        .collect();
    let islands = islands::find(islands::Area {
        trees: &trees,
        here: &here,
        git: &git,
        nested: &seen.repositories,
        bare: &seen.bare,
        home: setting.home,
        own: &own,
        more: &more,
        held: &held,
        config: setting.config,
        state: setting.state,
        unprotected: &policy.unprotected,
    });
    let islands = closed::as_whole(islands, &setting.caller, (owner.uid(), owner.gid()), &places);
    let before = before::find(&trees, &here, &git, &seen, &islands, remotes, &policy.unprotected);
    let shown = Shown::new(policy, &git);
    let mut denied = deny::find(policy, &shown, [&project, setting.cwd])?;
    let is_foreign = |path: &PathBuf| matches!(placeholders::look(path), placeholders::Found::Other(_));
    let sockets = seen.sockets.into_iter().filter(is_foreign);
    // Where the command may write, a pipe is a file like any other.
    let is_writable = |path: &PathBuf| trees.iter().any(|tree| path.starts_with(tree));
    let pipes = seen.pipes.into_iter().filter(|path| !is_writable(path));
    let sockets = sockets.chain(pipes).filter(|path| !policy.names(path)).collect();
    secrets::find([&project, setting.cwd], &homes, &cover, &mut denied);
    denied.hide_closed();
    for of_ours in [secrets::of_ours, secrets::keys] {
        let hidden = setting.state.and_then(|state| of_ours(state, policy, &shown));
        denied.hidden.extend(hidden);
    }
    if let Some((hidden, watch)) = asked::key(setting.key, policy, &shown) {
        denied.hidden.push(hidden);
        denied.later.push(watch);
    }
    let mut pinned = asked::pins(setting.report, &trees);
    pinned.append(&mut denied.in_the_way);
    Ok(Terrain {
        pinned,
        caller: setting.caller,
        project_owner: (owner.uid(), owner.gid()),
        cwd: setting.cwd.to_owned(),
        home: setting.home.map(Path::to_owned),
        system: system::find(&identity),
        proc_hidden: system::proc_hidden(),
        glee: glee_dir(&project),
        hidden: denied.hidden,
        sockets,
        watches: denied.later,
        glob_watches: denied.globs,
        ways: denied.ways,
        git,
        islands,
        places,
        readonly,
        command,
        links: setting.links,
        before,
        scan_cut: seen.cut,
        top,
        stdio: system::stdio(),
        project,
    })
}

/// Where programs look next, from where the caller stands and from the project's top: each directory from there up to the
/// tree it lies in, without the trees.
fn below(trees: &[PathBuf], places: [&Path; 2]) -> Vec<PathBuf> {
    let up = |place: &Path| {
        let tree = trees.iter().filter(|tree| place.starts_with(tree)).min();
        let above = place.ancestors().map(Path::to_owned);
        let within = above.take_while(move |dir| tree.is_some_and(|tree| dir.starts_with(tree)));
        within.filter(|dir| !trees.contains(dir)).collect::<Vec<_>>()
    };
    let found: BTreeSet<PathBuf> = places.into_iter().flat_map(up).collect();
    found.into_iter().collect()
}

/// Names that are protected at the top of every tree that a command can write.
pub fn protected_names() -> impl Iterator<Item = &'static str> {
    islands::NAMES.iter().copied()
}

/// A git directory of the project that lies outside of it, if there is one.
#[must_use]
pub fn outside_git(project: &Path) -> Option<PathBuf> {
    let found = git::find(project, Some(FsAccess::Read)).into_iter();
    found.filter(|dir| dir.outside).map(|dir| dir.path).next()
}

/// Of these every sandbox has its own, whatever is granted.
pub(crate) fn is_own(path: &Path) -> bool {
    ["/proc", "/dev", "/dev/pts"].iter().any(|dir| Path::new(dir) == path)
}

/// The directories of a project that are private to each run when granted.
#[must_use]
pub fn private_dirs(project: &Path) -> [PathBuf; 2] {
    [project.join(".glee/agent_sessions"), project.join(".glee/stream_logs")]
}

fn stat(path: &Path) -> Result<fs::Metadata, SurveyError> {
    fs::symlink_metadata(path).map_err(|error| SurveyError {
        path: path.to_owned(),
        error,
    })
}

fn place(path: &Path) -> Result<Place, SurveyError> {
    let meta = stat(path)?;
    Ok(Place {
        kind: kind(&meta),
        node: node(&meta),
        uid: meta.uid(),
        gid: meta.gid(),
    })
}

fn kind(meta: &fs::Metadata) -> Kind {
    if meta.is_dir() { Kind::Dir } else { Kind::File }
}

fn node(meta: &fs::Metadata) -> Node {
    let kind = meta.file_type();
    if kind.is_dir() {
        Node::Directory
    } else if kind.is_file() {
        Node::Regular
    } else if kind.is_char_device() {
        Node::CharDevice
    } else {
        Node::Special
    }
}

fn glee_dir(project: &Path) -> Option<GleeDir> {
    let path = project.join(".glee");
    if !fs::symlink_metadata(&path).ok()?.is_dir() {
        return None;
    }
    let mut children: Vec<(OsString, Kind)> = fs::read_dir(&path)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_type().ok().map(|t| (entry, t)))
        // A link inside could lead anywhere; it is simply not there.
        .filter(|(_, t)| t.is_dir() || t.is_file())
        .map(|(entry, t)| (entry.file_name(), if t.is_dir() { Kind::Dir } else { Kind::File }))
        .collect();
    children.sort_by(|a, b| a.0.cmp(&b.0));
    Some(GleeDir { path, children })
}

/// The directories in `/` that can be shown as they are. Links at the top are part of the system's own trees.
fn top() -> Vec<PathBuf> {
    let own = ["/proc", "/dev", "/sys", "/tmp", "/usr"];
    let mut dirs: Vec<PathBuf> = fs::read_dir("/")
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()))
        .map(|entry| entry.path())
        .filter(|path| !own.iter().any(|dir| Path::new(dir) == path))
        .collect();
    dirs.sort();
    dirs
}
