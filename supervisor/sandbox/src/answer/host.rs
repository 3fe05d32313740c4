//! The host's own trees, as far as a question needs them.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// What lies at a path of the host. The last link is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    Dir,
    File,
    Link(PathBuf),
    Device,
    Socket,
    Pipe,
}

pub trait Look {
    /// `None`: nothing is there, or the caller cannot look.
    fn look(&self, path: &Path) -> Option<Seen>;
}

/// This machine.
#[derive(Debug, Clone, Copy)]
pub struct OnHost;

impl Look for OnHost {
    fn look(&self, path: &Path) -> Option<Seen> {
        let kind = fs::symlink_metadata(path).ok()?.file_type();
        Some(if kind.is_symlink() {
            Seen::Link(fs::read_link(path).ok()?)
        } else if kind.is_dir() {
            Seen::Dir
        } else if kind.is_socket() {
            Seen::Socket
        } else if kind.is_fifo() {
            Seen::Pipe
        } else if kind.is_char_device() || kind.is_block_device() {
            Seen::Device
        } else {
            Seen::File
        })
    }
}
