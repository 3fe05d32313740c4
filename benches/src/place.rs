//! Where a measurement works: a directory of its own, and the programs it finds.

use crate::BenchError;
use std::env;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process;

/// A scratch directory with an empty project and an empty home, removed when dropped.
///
/// Below `/var/tmp`: some peers refuse to keep their state below `/tmp`.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    pub fn new(purpose: &str) -> Result<Self, BenchError> {
        let root = PathBuf::from(format!("/var/tmp/glee-bench-{purpose}-{}", process::id()));
        // Fails if it exists: a predictable name in a shared directory must be our own creation.
        fs::DirBuilder::new()
            .mode(0o755)
            .create(&root)
            .map_err(BenchError::io("make", &root))?;
        let place = Place { root };
        place.dir("project")?;
        place.dir("home")?;
        Ok(place)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    /// A directory in this place, made if it is not there.
    pub fn dir(&self, name: &str) -> Result<PathBuf, BenchError> {
        let path = self.root.join(name);
        fs::create_dir_all(&path).map_err(BenchError::io("make", &path))?;
        Ok(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            eprintln!("warning: cannot remove `{}`: {error}", self.root.display());
        }
    }
}

/// The binary under test: `GLEE_BIN`, or the one that the same build put beside this program.
pub fn supervisor() -> Result<PathBuf, BenchError> {
    let beside = env::current_exe().ok().map(|me| me.with_file_name("glee-supervisor"));
    let named = env::var_os("GLEE_BIN").map(PathBuf::from);
    named
        .or(beside)
        .filter(|path| is_executable(path))
        .and_then(|path| fs::canonicalize(path).ok())
        .ok_or(BenchError::NoSupervisor)
}

/// The first executable of that name in PATH.
pub fn program(name: &str) -> Result<PathBuf, BenchError> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|dir| dir.join(name))
        .find(|candidate| candidate.is_absolute() && is_executable(candidate))
        .ok_or_else(|| BenchError::NotFound {
            program: name.to_string(),
        })
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}
