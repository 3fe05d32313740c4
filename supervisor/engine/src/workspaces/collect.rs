//! From the layer that took the changes to a list of them.
//!
//! Everything that wrote the layer is dead: it holds still, and what overlayfs says in it (a device for a name that is gone,
//! an attribute for a directory that was replaced) is the kernel's word, which no command could have written. The project
//! behind it is alive: what it is now is looked at once, and whoever applies compares.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Seek};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_sandbox::launch::placeholder_at;
use glee_sandbox::sys::dir::{self, Facts, FileKind, Listing};
use glee_sandbox::sys::path;
use glee_sandbox::workspace::Layer;

use super::node::{Node, digest, look, open};
use super::{Change, MOST};

/// Directories within each other that are looked into.
const DEEPEST: usize = 256;
/// A directory that was made anew, and has nothing of the one it replaced.
const OPAQUE: &std::ffi::CStr = c"user.overlay.opaque";

/// A copy, as the run left it.
#[derive(Debug, Clone, Copy)]
pub struct Copy<'a> {
    pub project: &'a Path,
    /// Trees elsewhere that belong to it.
    pub outside: &'a [PathBuf],
    pub layers: &'a [Layer],
    /// Bytes that are kept.
    pub bytes: u64,
    /// When the run began, since 1970.
    pub since: Duration,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Listed {
    pub(super) changes: Vec<Change>,
    pub(super) not_kept: Vec<String>,
    pub(super) passed_over: Vec<String>,
}

/// Lists the changes, and writes what files hold to `content`.
pub(super) fn collect(copy: Copy<'_>, content: File) -> io::Result<Listed> {
    let mut collector = Collector {
        copy,
        content: BufWriter::new(content),
        end: 0,
        known: HashMap::new(),
        outside: None,
        found: Listed::default(),
    };
    for layer in copy.layers {
        let tree = copy.outside.iter().position(|tree| layer.at.starts_with(tree));
        let root = tree
            .and_then(|number| copy.outside.get(number))
            .map_or(copy.project, PathBuf::as_path);
        let inside = layer.at.strip_prefix(root).unwrap_or(Path::new(""));
        collector.outside = tree;
        let upper = path::open_dir_beneath(layer.upper.as_fd(), Path::new("."))?;
        let lower = path::open_dir_beneath(layer.lower.as_fd(), Path::new("."))?;
        collector.directory(upper.as_fd(), Some(lower.as_fd()), inside, Beneath::Shown, 0);
    }
    let mut found = collector.found;
    found
        .changes
        .sort_by(|a, b| (a.outside, &a.path).cmp(&(b.outside, &b.path)));
    let content = collector.content.into_inner().map_err(io::IntoInnerError::into_error)?;
    content.set_len(collector.end)?;
    Ok(found)
}

/// Does what lies below a directory of the layer show through it?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beneath {
    Shown,
    Replaced,
}

struct Collector<'a> {
    copy: Copy<'a>,
    content: BufWriter<File>,
    /// Bytes written.
    end: u64,
    /// Contents by inode: a file of many names is kept once.
    known: HashMap<u64, (u64, u64, String)>,
    /// The tree outside the project that is being looked through.
    outside: Option<usize>,
    found: Listed,
}

impl Collector<'_> {
    fn directory(
        &mut self,
        upper: BorrowedFd<'_>,
        lower: Option<BorrowedFd<'_>>,
        inside: &Path,
        beneath: Beneath,
        depth: usize,
    ) {
        let Ok(names) = names(upper) else {
            return self.lose(inside);
        };
        for name in &names {
            if self
                .entry(upper, lower, name, &inside.join(name), beneath, depth)
                .is_err()
            {
                self.lose(&inside.join(name));
            }
        }
        if let (Some(lower), Beneath::Replaced) = (lower, beneath) {
            let before = self.names_of(lower, inside);
            for name in before.into_iter().filter(|name| names.binary_search(name).is_err()) {
                self.gone(lower, &name, &inside.join(&name), depth);
            }
        }
    }

    fn entry(
        &mut self,
        upper: BorrowedFd<'_>,
        lower: Option<BorrowedFd<'_>>,
        name: &OsStr,
        inside: &Path,
        beneath: Beneath,
        depth: usize,
    ) -> io::Result<()> {
        let facts = dir::facts_at(upper, name)?;
        if facts.kind != FileKind::Dir
            && facts.kind != FileKind::CharDevice
            && let Some(lower) = lower
            && let Ok(Some((Node::Dir { .. }, _))) = look(lower, name)
        {
            // Something else took the place of a directory: what was in it is gone, and was not said so.
            self.emptied(lower, name, inside, depth);
        }
        match facts.kind {
            FileKind::CharDevice => {
                if let Some(lower) = lower {
                    self.gone(lower, name, inside, depth);
                }
                Ok(())
            }
            FileKind::Fifo | FileKind::Socket | FileKind::BlockDevice => {
                self.found.passed_over.push(inside.to_string_lossy().into_owned());
                Ok(())
            }
            FileKind::Dir => {
                if depth >= DEEPEST {
                    return Err(io::ErrorKind::Unsupported.into());
                }
                self.enter(upper, name, facts, 0o700)?;
                let here = path::open_dir_on_mount(upper, name)?;
                let below = lower
                    .map(|lower| path::open_dir_on_mount(lower, name))
                    .and_then(Result::ok);
                self.add(
                    lower,
                    name,
                    inside,
                    Node::Dir {
                        mode: facts.mode & 0o777,
                    },
                    None,
                )?;
                let replaced = beneath == Beneath::Replaced || path::has_attribute(here.as_fd(), OPAQUE, b"y")?;
                let beneath = if replaced { Beneath::Replaced } else { Beneath::Shown };
                self.directory(
                    here.as_fd(),
                    below.as_ref().map(AsFd::as_fd),
                    inside,
                    beneath,
                    depth + 1,
                );
                Ok(())
            }
            FileKind::Symlink => {
                let target = dir::read_link_at(upper, name)?.into();
                self.add(lower, name, inside, Node::Symlink { target }, None)
            }
            FileKind::File => self.file(upper, lower, name, inside, facts),
        }
    }

    /// The owner may have locked itself out.
    fn enter(&self, upper: BorrowedFd<'_>, name: &OsStr, facts: Facts, needed: u32) -> io::Result<()> {
        if facts.mode & needed == needed {
            return Ok(());
        }
        path::chmod_at(upper, name, facts.mode & 0o777 | needed)
    }

    fn file(
        &mut self,
        upper: BorrowedFd<'_>,
        lower: Option<BorrowedFd<'_>>,
        name: &OsStr,
        inside: &Path,
        facts: Facts,
    ) -> io::Result<()> {
        let node = |size, sum: &str| Node::File {
            mode: facts.mode & 0o777,
            size,
            sha256: Some(sum.to_owned()),
        };
        if let Some((at, size, sum)) = self.known.get(&facts.ino) {
            let (at, now) = (*at, node(*size, sum));
            return self.add(lower, name, inside, now, Some(at));
        }
        if self.end.saturating_add(facts.size) > self.copy.bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.enter(upper, name, facts, 0o400)?;
        let at = self.end;
        let (size, sum) = digest(&mut open(upper, name)?, &mut self.content)?;
        let before = self.found.changes.len();
        self.add(lower, name, inside, node(size, &sum), Some(at))?;
        if self.found.changes.len() == before {
            // Opened for writing, and what it holds is what it held.
            self.content.seek(io::SeekFrom::Start(at))?;
            return Ok(());
        }
        self.end += size;
        self.known.insert(facts.ino, (at, size, sum));
        Ok(())
    }

    fn add(
        &mut self,
        lower: Option<BorrowedFd<'_>>,
        name: &OsStr,
        inside: &Path,
        now: Node,
        at: Option<u64>,
    ) -> io::Result<()> {
        let was = match lower {
            Some(lower) => look(lower, name)?,
            None => None,
        };
        if was.as_ref().is_some_and(|(was, _)| was.is(&now)) {
            return Ok(());
        }
        self.push(inside, was, Some(now), at);
        Ok(())
    }

    fn push(&mut self, inside: &Path, was: Option<(Node, Facts)>, now: Option<Node>, at: Option<u64>) {
        if self.found.changes.len() >= MOST {
            return self.lose(inside);
        }
        let is_dir = matches!(was, Some((Node::Dir { .. }, _)));
        let unsettled = was
            .as_ref()
            .is_some_and(|(_, facts)| !is_dir && facts.changed >= self.copy.since);
        self.found.changes.push(Change {
            outside: self.outside,
            path: inside.into(),
            was: was.map(|(node, _)| node),
            now,
            at,
            unsettled,
        });
    }

    /// A name of the project, and everything below it, is not in the copy.
    fn gone(&mut self, lower: BorrowedFd<'_>, name: &OsStr, inside: &Path, depth: usize) {
        // Of another run that works in the project itself. Whoever tidied the copy took it for its own; nobody's work is gone.
        if placeholder_at(lower, name).is_some() {
            return;
        }
        let was = match look(lower, name) {
            Ok(Some(was)) => was,
            // Gone from the project as well.
            Ok(None) => return,
            Err(_) => return self.lose(inside),
        };
        let is_dir = matches!(was.0, Node::Dir { .. });
        self.push(inside, Some(was), None, None);
        if is_dir {
            self.emptied(lower, name, inside, depth);
        }
    }

    /// Everything below a directory of the project is not in the copy.
    fn emptied(&mut self, lower: BorrowedFd<'_>, name: &OsStr, inside: &Path, depth: usize) {
        match path::open_dir_on_mount(lower, name) {
            Ok(dir) if depth < DEEPEST => {
                for name in self.names_of(dir.as_fd(), inside) {
                    self.gone(dir.as_fd(), &name, &inside.join(&name), depth + 1);
                }
            }
            Ok(_) | Err(_) => self.lose(inside),
        }
    }

    fn names_of(&mut self, lower: BorrowedFd<'_>, inside: &Path) -> Vec<OsString> {
        names(lower).unwrap_or_else(|_| {
            self.lose(inside);
            Vec::new()
        })
    }

    fn lose(&mut self, inside: &Path) {
        const NAMED: usize = 1000;
        match self.found.not_kept.len() {
            0..NAMED => self.found.not_kept.push(inside.to_string_lossy().into_owned()),
            NAMED => self.found.not_kept.push("and more".to_owned()),
            _ => {}
        }
    }
}

/// The names in a directory, sorted.
pub(super) fn names(dir: BorrowedFd<'_>) -> io::Result<Vec<OsString>> {
    let fresh = path::open_dir_beneath(dir, Path::new("."))?;
    let mut names = Vec::new();
    Listing::default().read(fresh.as_fd(), &mut |entry| names.push(entry.name.to_owned()))?;
    names.sort();
    Ok(names)
}
