//! Which project, from where, and for whom.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use glee_sandbox::sys::process;

use crate::host::{RealHost, walk};

/// The place a command was called from.
#[derive(Debug, Clone)]
pub struct Scene {
    /// Real, absolute.
    pub project: PathBuf,
    /// Below the project, or the project itself.
    pub cwd: PathBuf,
    pub home: Option<PathBuf>,
    /// Links by which the caller knows these places.
    pub links: Vec<(PathBuf, PathBuf)>,
}

#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    #[error("cannot find the working directory: {0}")]
    NoCwd(std::io::Error),
    #[error("`{}` is not a directory", .0.display())]
    NotADirectory(PathBuf),
}

impl SceneError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NoCwd(_) => "it was removed, or cannot be reached: change to a directory that is there",
            Self::NotADirectory(_) => "`--project` takes a directory that is there",
        }
    }
}

impl Scene {
    /// The given project, else the nearest directory above that has `.glee/`, else the working directory.
    pub fn find(given: Option<&Path>) -> Result<Self, SceneError> {
        let here = env::current_dir().map_err(SceneError::NoCwd)?;
        let cwd = walk(&here).path;
        let mut links = Vec::new();
        // The shell's own idea of where we are, if it is the same place under another name.
        let logical = env::var_os("PWD").map(PathBuf::from).filter(|path| path.is_absolute());
        let logical = logical.filter(|path| walk(path).path == cwd).unwrap_or(here);
        let project = match given {
            Some(dir) => {
                let walked = walk(&logical.join(dir));
                if !walked.path.is_dir() {
                    return Err(SceneError::NotADirectory(dir.to_owned()));
                }
                links.extend(walked.links);
                walked.path
            }
            None => cwd
                .ancestors()
                .find(|dir| has_glee(dir, &cwd))
                .unwrap_or(&cwd)
                .to_owned(),
        };
        let home = env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute())
            .map(|home| {
                let walked = walk(&home);
                links.extend(walked.links);
                walked.path
            });
        let cwd = if cwd.starts_with(&project) {
            links.extend(walk(&logical).links);
            cwd
        } else {
            project.clone()
        };
        Ok(Self {
            project,
            cwd,
            home,
            links,
        })
    }

    /// The same place, seen from each project around this one.
    pub fn around(&self) -> impl Iterator<Item = Self> {
        let above = self.project.ancestors().skip(1);
        above.filter(|dir| has_glee(dir, &self.cwd)).map(|dir| Self {
            project: dir.to_owned(),
            ..self.clone()
        })
    }

    #[must_use]
    pub fn host(&self) -> RealHost {
        RealHost {
            project: self.project.clone(),
            home: self.home.clone(),
        }
    }
}

/// Does the directory have a `.glee` that may speak for what lies below it?
///
/// In a directory that many can write (`/tmp`) anyone can plant one above somebody else's work. So above the working
/// directory only the caller's own counts, root's, or that of the owner of the working directory.
fn has_glee(dir: &Path, cwd: &Path) -> bool {
    let Ok(glee) = fs::symlink_metadata(dir.join(".glee")) else {
        return false;
    };
    let mine = [process::geteuid(), 0].contains(&glee.uid());
    let theirs = || fs::symlink_metadata(cwd).is_ok_and(|meta| meta.uid() == glee.uid());
    glee.is_dir() && (dir == cwd || mine || theirs())
}
