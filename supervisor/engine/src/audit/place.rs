//! The user's state directory: where it is, and how it is opened.
//!
//! INVARIANT: neither the directory nor anything in it is reached through a link, it belongs to the caller, and nobody else
//! can enter it.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use glee_sandbox::sys::path::{Own, open_own_at};
use glee_sandbox::sys::process;

/// Root's, where its home is not its own or is not known.
const SYSTEM: &str = "/var/lib/glee";

#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    #[error(
        "there is no place for it: XDG_STATE_HOME is not set to an absolute path, and HOME not to a directory that is there"
    )]
    Nowhere,
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("`{}` is a link or not a directory", .path.display())]
    NotADirectory { path: PathBuf },
    #[error("`{}` is a link or not a regular file", .path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` belongs to uid {owner}", .path.display())]
    Foreign { path: PathBuf, owner: u32 },
}

impl PlaceError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Nowhere | Self::Foreign { .. } => "set XDG_STATE_HOME to a directory of your own",
            // Of what is used here only what our own filter refuses is missing on kernels that can sandbox.
            Self::Io { error, .. } if error.raw_os_error() == Some(libc::ENOSYS) => {
                "this seems to be the inside of a sandbox already, where nothing of a run is kept"
            }
            Self::Io { .. } => "make the directory writable, or set XDG_STATE_HOME to another one",
            Self::NotADirectory { .. } | Self::NotAFile { .. } => {
                "see who put it there and remove it, or set XDG_STATE_HOME to another directory"
            }
        }
    }

    #[must_use]
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// `$XDG_STATE_HOME/glee`, else `~/.local/state/glee` if that home is there; for root without a home of its own `/var/lib/glee`.
///
/// Root with another user's HOME (`sudo`) would leave files there that the user could not write afterwards.
#[must_use]
pub fn state_dir() -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let named = absolute("XDG_STATE_HOME").map(|base| (base.clone(), base));
    // A home that is not there is not ours to make.
    let home = || absolute("HOME").filter(|home| home.is_dir());
    let base = named.or_else(|| home().map(|home| (home.join(".local/state"), home)));
    let is_root = process::geteuid() == 0;
    match base {
        Some((base, owned)) if !is_root || is_roots(&owned) => Some(base.join("glee")),
        Some(_) | None => is_root.then(|| SYSTEM.into()),
    }
}

/// Does the nearest directory that is there belong to root?
fn is_roots(path: &Path) -> bool {
    let mut found = path.ancestors().filter_map(|dir| fs::metadata(dir).ok());
    found.next().is_some_and(|meta| meta.uid() == 0)
}

/// The state directory, held open.
#[derive(Debug)]
pub struct State {
    pub path: PathBuf,
    pub(crate) dir: File,
}

impl State {
    /// Opens the directory, and makes it if it is not there.
    pub fn make() -> Result<Self, PlaceError> {
        let path = state_dir().ok_or(PlaceError::Nowhere)?;
        match Self::at(path.clone()) {
            Err(error) if error.is_absence() => {
                let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(&path);
                made.map_err(|error| PlaceError::Io {
                    path: path.clone(),
                    error,
                })?;
                Self::at(path)
            }
            other => other,
        }
    }

    /// Opens the directory; `None` if nothing was ever kept.
    pub fn find() -> Result<Option<Self>, PlaceError> {
        let path = state_dir().ok_or(PlaceError::Nowhere)?;
        match Self::at(path) {
            Ok(state) => Ok(Some(state)),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens this directory.
    pub fn at(path: PathBuf) -> Result<Self, PlaceError> {
        let mut options = fs::OpenOptions::new();
        options.read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW);
        let dir = match options.open(&path) {
            Ok(dir) => dir,
            Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENOTDIR)) => {
                return Err(PlaceError::NotADirectory { path });
            }
            Err(error) => return Err(PlaceError::Io { path, error }),
        };
        private(&dir, &path, 0o700)?;
        Ok(Self { path, dir })
    }

    /// A regular file of the caller's in the directory, made if it is not there.
    pub(crate) fn own(&self, name: &str, how: Own) -> Result<(File, u64), PlaceError> {
        self.checked(name, open_own_at(self.dir.as_fd(), OsStr::new(name), how))
    }

    /// A file that is there, for reading.
    pub(crate) fn existing(&self, name: &str) -> Result<Option<(File, u64)>, PlaceError> {
        match self.own(name, Own::Read) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.is_absence() => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn checked(&self, name: &str, opened: io::Result<std::os::fd::OwnedFd>) -> Result<(File, u64), PlaceError> {
        let path = self.path.join(name);
        let file = match opened {
            Ok(file) => File::from(file),
            Err(error) if matches!(error.raw_os_error(), Some(libc::ELOOP | libc::ENXIO | libc::EISDIR)) => {
                return Err(PlaceError::NotAFile { path });
            }
            Err(error) => return Err(PlaceError::Io { path, error }),
        };
        let meta = private(&file, &path, 0o600)?;
        if !meta.is_file() {
            return Err(PlaceError::NotAFile { path });
        }
        Ok((file, meta.len()))
    }

    /// The names in the directory, sorted.
    pub(crate) fn names(&self) -> Result<Vec<String>, PlaceError> {
        names(&self.path)
    }
}

/// Every name in a directory that is UTF-8, sorted.
pub(crate) fn names(dir: &Path) -> Result<Vec<String>, PlaceError> {
    let failed = |error| PlaceError::Io {
        path: dir.to_owned(),
        error,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(dir).map_err(failed)? {
        names.extend(entry.map_err(failed)?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Checks the owner, and closes what others could open.
fn private(file: &File, path: &Path, mode: u32) -> Result<fs::Metadata, PlaceError> {
    let failed = |error| PlaceError::Io {
        path: path.to_owned(),
        error,
    };
    let meta = file.metadata().map_err(failed)?;
    if meta.uid() != process::geteuid() {
        return Err(PlaceError::Foreign {
            path: path.to_owned(),
            owner: meta.uid(),
        });
    }
    if meta.mode() & 0o077 != 0 {
        file.set_permissions(fs::Permissions::from_mode(mode)).map_err(failed)?;
    }
    Ok(meta)
}
