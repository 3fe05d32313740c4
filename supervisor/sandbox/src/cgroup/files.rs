//! Reads and writes kernel files in as few syscalls as they need.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The whole file. One `read` for most, since /proc and cgroupfs report no size worth asking for.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut text = Vec::new();
    let mut chunk = [0_u8; 4096];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(text),
            Ok(length) => text.extend(chunk.iter().take(length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Never creates: a missing file is a missing feature, and a directory that is no cgroup must not pass for one.
pub(super) fn write(path: &Path, value: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.write_all(value)
}

/// The number after `key ` on a line of its own, as in `memory.events`.
pub(super) fn keyed(text: &[u8], key: &str) -> Option<u64> {
    text.split(|byte| *byte == b'\n').find_map(|line| {
        let value = line.strip_prefix(key.as_bytes())?.strip_prefix(b" ")?;
        number(value)
    })
}

pub(super) fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// Paths in reports are for reading; one byte that is not UTF-8 must not make `doctor --json` fail.
pub(super) fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(path.as_os_str().as_bytes()))
}
