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

fn points(mountinfo: &[u8], dir: &Path) -> Vec<PathBuf> {
    let lines = mountinfo.split(|byte| *byte == b'\n');
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
}
