//! This machine's directories.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use glee_policy::Walk;

use super::wish::Yard;
use crate::host;

/// Of a file so much is looked at.
const HEAD: u64 = 64 * 1024;

#[derive(Debug, Clone, Copy)]
pub struct OnDisk;

impl Yard for OnDisk {
    fn is_dir(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir())
    }

    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn walk(&self, path: &Path) -> Walk {
        host::walk(path)
    }

    fn list(&self, dir: &Path) -> Option<Vec<PathBuf>> {
        let entries = fs::read_dir(dir).ok()?;
        entries.map(|entry| entry.ok().map(|entry| entry.path())).collect()
    }

    fn head(&self, file: &Path) -> Option<Vec<u8>> {
        // Opening a pipe or a device may do something.
        fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file)?;
        let mut options = fs::OpenOptions::new();
        options
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY);
        let opened = options.open(file).ok()?;
        opened.metadata().ok().filter(fs::Metadata::is_file)?;
        let mut head = Vec::new();
        opened.take(HEAD).read_to_end(&mut head).ok()?;
        Some(head)
    }

    fn is_closed(&self, file: &Path) -> bool {
        let meta = fs::symlink_metadata(file).ok().filter(fs::Metadata::is_file);
        // What can be executed is a program, and an empty file tells nothing.
        meta.is_some_and(|meta| meta.permissions().mode() & 0o177 == 0 && meta.len() > 0)
    }
}
