//! A path that the caller named for something to be written there, and whether a command had a say in where it leads.
//!
//! Reads links; opens and changes nothing. What lies in a project may be the work of an earlier run: a link there is a
//! stranger's word, however the caller came to type its name.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf, absolute};

use glee_policy::grants::Cover;
use glee_policy::resolved::{FsAccess, Mode};
use glee_policy::{ResolvedPolicy, Walk};
use glee_sandbox::sys::fd;

use super::Destination;
use crate::host::walk;
use crate::project::Scene;

/// Filesystems of which a sandbox has its own: what lies there is not a command's doing, also if `/` is the project.
const KERNELS: [&str; 2] = ["/dev", "/proc"];

/// A file to be written, as the caller named it.
#[derive(Debug, Clone, Copy)]
pub struct Named<'a> {
    pub flag: &'static str,
    pub to: &'a Path,
    /// As given with `--project`.
    pub project: Option<&'a Path>,
}

/// Why nothing can be written there.
#[derive(Debug, thiserror::Error)]
pub enum DestinationError {
    #[error("`{flag} {}` leads to `{}`, through a symbolic link in the project", .to.display(), .leads_to.display())]
    Link {
        flag: &'static str,
        to: PathBuf,
        leads_to: PathBuf,
    },
    #[error("`{flag} {}` leads to `{}`, through a symbolic link where a command may write", .to.display(), .leads_to.display())]
    Writable {
        flag: &'static str,
        to: PathBuf,
        leads_to: PathBuf,
    },
    #[error("`{flag} {}` is a pipe or a device in the project", .to.display())]
    Special { flag: &'static str, to: PathBuf },
    #[error("`{flag} {}` is a pipe from which nobody reads", .to.display())]
    NoReader { flag: &'static str, to: PathBuf },
    #[error("cannot write to `{}`: {error}", .to.display())]
    Io { to: PathBuf, error: io::Error },
}

impl DestinationError {
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::Link { flag, leads_to, .. } | Self::Writable { flag, leads_to, .. } => {
                format!("if that is meant: {flag} {}", leads_to.display())
            }
            Self::Special { .. } => "a command may have made it: remove it, or name another file".to_owned(),
            Self::NoReader { .. } => "start its reader first".to_owned(),
            Self::Io { error, .. } if error.kind() == io::ErrorKind::IsADirectory => "name a file in it".to_owned(),
            Self::Io { .. } => "the directory must exist and be writable for you".to_owned(),
        }
    }
}

/// Where a path leads without the help of a project's links.
#[derive(Debug)]
pub(super) struct Way {
    /// Absolute, as it was named.
    pub(super) whole: PathBuf,
    /// Absolute, as it was named.
    pub(super) parent: PathBuf,
    end: Walk,
    dir: Walk,
    grounds: Grounds,
}

impl Named<'_> {
    /// Refuses links that lie in the project.
    pub(super) fn way(&self) -> Result<Way, DestinationError> {
        let parent = self.to.parent().filter(|dir| !dir.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        let whole = absolute(self.to).map_err(|error| self.failed(error))?;
        let parent = absolute(parent).map_err(|error| self.failed(error))?;
        let grounds = Grounds::around(self.project);
        let (end, dir) = (walk(&whole), walk(&parent));
        if [&end, &dir].into_iter().any(|walked| grounds.lead(walked)) {
            return Err(self.led(end.path));
        }
        Ok(Way {
            whole,
            parent,
            end,
            dir,
            grounds,
        })
    }

    /// Refuses a link where this policy lets a command make one, too.
    fn is_not_a_commands(&self, policy: &ResolvedPolicy) -> Result<(), DestinationError> {
        let (way, cover) = (self.way()?, Cover::new(policy));
        let writable = |link: &Path| cover.access(link) == Some(FsAccess::ReadWrite);
        if policy.mode == Mode::Restricted && way.descriptor().is_none() && way.links().any(writable) {
            return Err(DestinationError::Writable {
                flag: self.flag,
                to: self.to.to_owned(),
                leads_to: way.end.path,
            });
        }
        Ok(())
    }

    /// Is the name itself a link to another file? Whose, the policy says.
    fn is_link(&self) -> bool {
        self.way().is_ok_and(|way| way.descriptor().is_none() && way.is_link())
    }

    pub(super) fn failed(&self, error: io::Error) -> DestinationError {
        let to = self.to.to_owned();
        DestinationError::Io { to, error }
    }

    pub(super) fn led(&self, leads_to: PathBuf) -> DestinationError {
        DestinationError::Link {
            flag: self.flag,
            to: self.to.to_owned(),
            leads_to,
        }
    }
}

/// Whose link is it, if the name is one?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Link {
    /// No policy has told yet.
    Doubtful,
    Callers,
    /// A command could have made it. The refusal says so.
    Commands,
}

const DOUBT: &str = "it is a symbolic link, and without a policy nobody knows whether a command could have made it";

impl Link {
    /// By the policy of the run.
    pub(crate) fn judge(&mut self, named: Option<Named<'_>>, policy: &ResolvedPolicy) -> Result<(), DestinationError> {
        let judged = named.map_or(Ok(()), |named| named.is_not_a_commands(policy));
        *self = match judged {
            Ok(()) => Self::Callers,
            Err(_) => Self::Commands,
        };
        judged
    }

    /// Where the report goes, or why not there.
    pub(crate) fn pass(
        self,
        named: Option<Named<'_>>,
        to: Option<Destination>,
    ) -> (Option<Destination>, Option<io::Error>) {
        match self {
            Self::Callers => (to, None),
            Self::Doubtful if !named.is_some_and(|named| named.is_link()) => (to, None),
            Self::Doubtful => (None, Some(io::Error::other(DOUBT))),
            Self::Commands => (None, None),
        }
    }
}

impl Way {
    /// Could a command have put there what is there?
    pub(super) fn ends_in_the_project(&self) -> bool {
        self.grounds.hold(&self.end.path)
    }

    /// Is what was opened there what was looked at? If not, somebody has put a link on the way meanwhile.
    pub(super) fn ends_at(&self, place: &Path) -> bool {
        is_at(&self.end, place)
    }

    /// The directory to put it in, and the name there. A link under the name that was given is followed.
    pub(super) fn place(&self) -> Option<(PathBuf, OsString)> {
        let (dir, name) = (self.parent.as_path(), self.whole.file_name()?);
        if !self.is_link() {
            return Some((dir.to_owned(), name.to_owned()));
        }
        Some((
            self.end.path.parent()?.to_owned(),
            self.end.path.file_name()?.to_owned(),
        ))
    }

    /// Is what was opened there the directory that was looked at?
    pub(super) fn passes(&self, place: &Path) -> bool {
        if self.is_link() {
            self.end.path.parent() == Some(place)
        } else {
            is_at(&self.dir, place)
        }
    }

    fn is_link(&self) -> bool {
        let name = self.whole.file_name().map(|name| self.dir.path.join(name));
        self.end.links.iter().any(|(at, _)| Some(at) == name.as_ref())
    }

    /// Those on the way, and from the name that was given on, where it is a link.
    fn links(&self) -> impl Iterator<Item = &Path> {
        self.end.links.iter().map(|(at, _)| at.as_path())
    }

    /// The name in `/proc` of the open file that it leads to (`/dev/stdout`, `/dev/fd/3`).
    pub(super) fn descriptor(&self) -> Option<&Path> {
        let (at, target) = self.end.links.last()?;
        let dir = at
            .parent()
            .filter(|dir| dir.starts_with("/proc") && dir.ends_with("fd"))?;
        let is_file = || fs::metadata(at).is_ok_and(|meta| !meta.is_dir());
        (dir.join(target) == self.end.path && is_file()).then_some(at)
    }

    /// The number of the open file that the caller gave us, if that is where it leads: not one that we have opened.
    pub(super) fn own_descriptor(&self) -> Option<RawFd> {
        let own = Path::new("/proc").join(fs::read_link("/proc/self").ok()?).join("fd");
        let raw: RawFd = self.descriptor()?.strip_prefix(own).ok()?.to_str()?.parse().ok()?;
        (raw > 0 && fd::is_inherited(raw) && fd::is_writable(raw)).then_some(raw)
    }
}

/// Links in `/proc` are more than their text, so that nothing can be told of what lies behind them.
fn is_at(walked: &Walk, place: &Path) -> bool {
    walked.path == place || walked.links.iter().any(|(at, _)| at.starts_with("/proc"))
}

/// Directories in which a command may have put what it liked: the project and those around it, by their real paths. A link
/// by which a project itself is reached lies in none of them.
#[derive(Debug)]
struct Grounds(Vec<PathBuf>);

impl Grounds {
    fn around(project: Option<&Path>) -> Self {
        // Nothing runs where the named one is none, but the refusal is reported.
        let scene = Scene::find(project).or_else(|_| Scene::find(None));
        let all = |scene: Scene| {
            scene
                .around()
                .map(|outer| outer.project)
                .chain([scene.project.clone()])
                .collect()
        };
        Self(scene.map(all).unwrap_or_default())
    }

    fn lead(&self, walked: &Walk) -> bool {
        walked.links.iter().any(|(at, _)| self.hold(at))
    }

    fn hold(&self, path: &Path) -> bool {
        let is_in = |dir: &PathBuf| {
            let kernels = KERNELS.iter().any(|own| path.starts_with(own) && !dir.starts_with(own));
            path.starts_with(dir) && !kernels
        };
        self.0.iter().any(is_in)
    }
}
