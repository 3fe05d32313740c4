//! Standard files that are hidden or read-only inside, in a tree that is granted for more.
//!
//! A descriptor of the caller's lies on the host's mounts, where nothing is covered, and Landlock gives it what it gives to the tree
//! around: opened again through `/proc/self/fd`, a file that was lent for reading could be written, one for appending be read.
//! INVARIANT: of such a file the command holds a copy that nobody can change, or nothing of what it held before.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::outcome::LaunchError;
use super::stdio::{NAMES, WayOut};
use crate::answer;
use crate::plan::{MountStep, SandboxPlan};
use crate::sys::fd;

/// As much as is copied: a prompt, not a disk image.
const MOST: u64 = 16 << 20;

/// A copy behind a standard descriptor, as long as this lives.
pub(super) struct StandIn {
    number: RawFd,
    lent: File,
    copy: File,
}

/// Puts copies in place of covered files that are open for reading, and refuses others.
pub(super) fn stand_ins(plan: &SandboxPlan) -> Result<Vec<StandIn>, LaunchError> {
    let mut all = Vec::new();
    for (number, name) in (0..3).zip(NAMES) {
        let Some(file) = Covered::find(plan, number) else {
            continue;
        };
        let refuse = |way| Err(LaunchError::StandardFile { name, way });
        if fd::is_writable(number) {
            // Whoever redirects with `>` has emptied it: what the command finds there is its own.
            if file.bytes > 0 {
                return refuse(WayOut::CoveredOutput(file.path));
            }
            continue;
        }
        match StandIn::new(number) {
            Ok(Some(copy)) => all.push(copy),
            Ok(None) => return refuse(WayOut::CoveredInput(file.path)),
            Err(error) => return Err(LaunchError::step(name, error)),
        }
    }
    Ok(all)
}

struct Covered {
    path: PathBuf,
    bytes: u64,
}

impl Covered {
    fn find(plan: &SandboxPlan, number: RawFd) -> Option<Self> {
        let link = format!("/proc/self/fd/{number}");
        let facts = fs::metadata(&link).ok()?;
        if !facts.is_file() {
            return None;
        }
        let path = where_it_was(fs::read_link(&link).ok()?, (facts.dev(), facts.ino()));
        let above: Vec<(&Path, Option<Identity>)> = path.ancestors().map(|dir| (dir, identity(dir))).collect();
        let mut shown = plan.mounts.iter().filter_map(|step| inside(step, &path, &above));
        let is_covered = shown.any(|at| answer::is_wider_than_mounts(plan, &at));
        let bytes = facts.len();
        is_covered.then_some(Self { path, bytes })
    }
}

/// Landlock knows a file whose name was removed by the directory in which it lay, and so do we.
fn where_it_was(shown: PathBuf, itself: Identity) -> PathBuf {
    let name = shown.as_os_str().as_bytes().strip_suffix(b" (deleted)");
    match name {
        Some(name) if identity(&shown) != Some(itself) => PathBuf::from(OsStr::from_bytes(name)),
        Some(_) | None => shown,
    }
}

/// By which a directory is the same under another name: Landlock knows it by that.
type Identity = (u64, u64);

fn identity(path: &Path) -> Option<Identity> {
    let facts = fs::symlink_metadata(path).ok()?;
    Some((facts.dev(), facts.ino()))
}

/// Where the file is, or would be, in the tree that this step shows.
fn inside(step: &MountStep, path: &Path, above: &[(&Path, Option<Identity>)]) -> Option<PathBuf> {
    let MountStep::Bind { from, at, .. } = step else {
        return None;
    };
    let tree = identity(from);
    let is_it = |(dir, known): &&(&Path, Option<Identity>)| *dir == from || (known.is_some() && *known == tree);
    let (top, _) = above.iter().find(is_it)?;
    let below = path.strip_prefix(top).ok()?;
    Some(if below.as_os_str().is_empty() {
        at.clone()
    } else {
        at.join(below)
    })
}

impl StandIn {
    /// `None` if there is too much to copy.
    fn new(number: RawFd) -> io::Result<Option<Self>> {
        let lent = File::from(fd::dup_from(fd::borrow(number), 3)?);
        let Some(copy) = copy_of(&lent)? else {
            return Ok(None);
        };
        (&copy).seek(SeekFrom::Start((&lent).stream_position()?))?;
        fd::put_at(copy.as_fd(), number)?;
        Ok(Some(Self { number, lent, copy }))
    }
}

impl Drop for StandIn {
    /// Who reads on after us goes on where the command stopped.
    fn drop(&mut self) {
        if let Ok(at) = self.copy.stream_position() {
            let _ = self.lent.seek(SeekFrom::Start(at));
        }
        let _ = fd::put_at(self.lent.as_fd(), self.number);
    }
}

/// Open for reading, at its start.
fn copy_of(lent: &File) -> io::Result<Option<File>> {
    let mut copy = File::from(fd::memory_file(c"standard file")?);
    let mut part = vec![0; 1 << 16];
    let mut end = 0;
    loop {
        let read = match lent.read_at(&mut part, end) {
            Ok(0) => break,
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        end += read as u64;
        if end > MOST {
            return Ok(None);
        }
        copy.write_all(part.get(..read).unwrap_or_default())?;
    }
    fd::seal(copy.as_fd())?;
    File::open(format!("/proc/self/fd/{}", copy.as_raw_fd())).map(Some)
}
