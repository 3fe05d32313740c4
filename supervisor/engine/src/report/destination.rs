//! Where a report, or a policy that was learned, goes, and how it gets there whole.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Report;
use crate::text::plain_json;

impl Report {
    /// The report as it is written and stored.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        // Strings, numbers and lists of them: serialising them cannot fail.
        let mut text = plain_json(serde_json::to_string_pretty(self).unwrap_or_default());
        text.push('\n');
        text.into_bytes()
    }

    /// Writes the report where the caller wants it: whole or not at all.
    pub fn write(&self, to: &Destination) -> std::io::Result<()> {
        to.put(&self.text())
    }
}

/// Where a report goes, opened before the command starts: what it renames or links meanwhile leads nowhere else.
#[derive(Debug)]
pub enum Destination {
    /// A pipe, a terminal or a device: it cannot be replaced, only written to.
    Stream(fs::File),
    File {
        dir: fs::File,
        name: OsString,
    },
}

impl Destination {
    /// Finds out whether a report can be put there.
    pub fn open(to: &Path) -> std::io::Result<Self> {
        if fs::metadata(to).is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
            return fs::OpenOptions::new().write(true).open(to).map(Self::Stream);
        }
        let name = to.file_name().filter(|_| !to.is_dir());
        let name = name.ok_or_else(|| std::io::Error::from(std::io::ErrorKind::IsADirectory))?;
        let parent = to
            .parent()
            .filter(|dir| !dir.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        let dir = fs::File::open(parent)?;
        let draft = in_dir(&dir, &temporary(name));
        fs::OpenOptions::new()
            .create_new(true)
            .write(true)
            .mode(0o644)
            .open(&draft)?;
        fs::remove_file(&draft)?;
        Ok(Self::File {
            dir,
            name: name.to_owned(),
        })
    }

    /// Writes it: whole or not at all.
    pub fn put(&self, text: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Stream(stream) => (&*stream).write_all(text),
            Self::File { dir, name } => {
                let (draft, target) = (in_dir(dir, &temporary(name)), in_dir(dir, name));
                let put = || -> std::io::Result<()> {
                    let mut options = fs::OpenOptions::new();
                    options
                        .create_new(true)
                        .write(true)
                        .mode(0o644)
                        .open(&draft)?
                        .write_all(text)?;
                    fs::rename(&draft, &target)
                };
                put().inspect_err(|_| {
                    // What could not be put in place is of no use to anybody.
                    let _ = fs::remove_file(&draft);
                })
            }
        }
    }
}

/// A name in a directory that is held open, whatever became of its path.
fn in_dir(dir: &fs::File, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(dir.as_raw_fd().to_string()).join(name)
}

/// A name beside the report, of this process.
fn temporary(name: &OsStr) -> OsString {
    let mut draft = name.to_owned();
    draft.push(format!(".tmp.{}", std::process::id()));
    draft
}
