//! Mounts that lie in a directory.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::cgroup::unescape;

/// Every mount point below `dir`, parents first.
pub(super) fn mounts(dir: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(points(&fs::read("/proc/self/mountinfo")?, dir))
}

pub(crate) fn points(mountinfo: &[u8], dir: &Path) -> Vec<PathBuf> {
    places(mountinfo.split(|byte| *byte == b'\n'), dir)
}

/// As `points`, those that can be written to.
pub(crate) fn writable(mountinfo: &[u8], dir: &Path) -> Vec<PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    places(lines.filter(|line| !is_read_only(line)), dir)
}

/// As `points`, those that show a part of their filesystem: a file, or a directory that is not its top.
pub(crate) fn parts(mountinfo: &[u8], dir: &Path) -> Vec<PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
    let is_part = |line: &&[u8]| line.split(|byte| *byte == b' ').nth(3).is_some_and(|root| root != b"/");
    places(lines.filter(is_part), dir)
}

/// The mount's own options are the sixth field, those of its filesystem the last.
fn is_read_only(line: &[u8]) -> bool {
    let fields = || line.split(|byte| *byte == b' ');
    let options = fields().nth(5).into_iter().chain(fields().next_back());
    options
        .flat_map(|options| options.split(|byte| *byte == b','))
        .any(|option| option == b"ro")
}

fn places<'a>(lines: impl Iterator<Item = &'a [u8]>, dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = lines
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|point| PathBuf::from(OsString::from_vec(unescape(point))))
        .filter(|point| point != dir && point.starts_with(dir))
        .collect();
    found.sort();
    // One on top of another is one place.
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_in_the_directory_counts_parents_first() {
        let text = b"1 0 8:1 / / rw - ext4 x rw\n2 1 0:1 / /p rw - tmpfs x rw\n3 1 0:1 / /p/b\\040c/d rw - tmpfs x rw\n\
            4 1 0:1 / /p/b\\040c rw - tmpfs x rw\n5 1 0:1 / /p/b\\040c rw - tmpfs x rw\n6 1 0:1 / /pp rw - tmpfs x rw\n";
        let expected: Vec<PathBuf> = vec!["/p/b c".into(), "/p/b c/d".into()];
        assert_eq!(points(text, Path::new("/p")), expected);
    }

    #[test]
    fn the_top_of_a_filesystem_is_no_part_of_it() {
        let text = b"1 0 8:1 / /p/a rw - ext4 x rw\n2 0 8:1 /run/x.sock /p/b rw - tmpfs x rw\n";
        assert_eq!(parts(text, Path::new("/p")), [PathBuf::from("/p/b")]);
    }

    #[test]
    fn what_is_read_only_is_not_writable() {
        let text = b"1 0 8:1 / /p/a rw - ext4 x rw\n2 0 8:1 / /p/b ro,nosuid - ext4 x rw\n3 0 8:1 / /p/c rw - ext4 x ro,noatime\n\
            4 0 8:1 / /p/ro rw shared:1 - ext4 x rw,errors=remount-ro\n";
        let expected: Vec<PathBuf> = vec!["/p/a".into(), "/p/ro".into()];
        assert_eq!(writable(text, Path::new("/p")), expected);
    }
}
