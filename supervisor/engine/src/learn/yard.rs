//! This machine's directories.

use std::fs;
use std::path::{Path, PathBuf};

use super::wish::Yard;

#[derive(Debug, Clone, Copy)]
pub struct OnDisk;

impl Yard for OnDisk {
    fn is_dir(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
    }

    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn list(&self, dir: &Path) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(dir).ok()?;
        entries.map(|entry| entry.ok().map(|entry| entry.path())).collect()
    }
}
