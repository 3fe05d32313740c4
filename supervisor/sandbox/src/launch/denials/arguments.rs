//! What the arguments of a call point to: read from the caller's memory, for the report only.
//!
//! Another thread may change it at any time, so nothing is decided by it.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::address::{self, Address};
use crate::seccomp::Place;
use crate::sys::seccomp::Notice;
use crate::sys::{look, memory};

/// The kernel's bound on a path.
const PATH_MAX: usize = 4096;
/// What most paths fit in, and is read first.
const USUAL: usize = 256;

/// The path that a call names, made absolute.
pub(super) fn path(notice: &Notice, place: Place) -> Option<PathBuf> {
    let text = string(notice.pid, *notice.args.get(usize::from(place.path))?)?;
    if text.is_empty() {
        return None;
    }
    let dir = place.dir.and_then(|arg| notice.args.get(usize::from(arg)));
    let path = PathBuf::from(OsStr::from_bytes(&text));
    absolute(notice, dir.map(|dir| *dir as libc::c_int), path)
}

pub(super) fn absolute(notice: &Notice, dir: Option<libc::c_int>, path: PathBuf) -> Option<PathBuf> {
    if path.is_absolute() {
        // The caller's own, whoever looks: the same name means something else to us.
        let own = path.starts_with("/proc/self") || path.starts_with("/proc/thread-self");
        return (!own).then_some(path);
    }
    let from = match dir {
        None | Some(libc::AT_FDCWD) => format!("/proc/{}/cwd", notice.pid),
        Some(number) => format!("/proc/{}/fd/{number}", notice.pid),
    };
    let dir = look::read_link(Path::new(&from)).ok()?;
    let gone = dir.as_os_str().as_bytes().ends_with(b" (deleted)");
    (dir.is_absolute() && !gone).then(|| dir.join(path))
}

pub(super) fn socket_address(notice: &Notice, address: u8, length: u8) -> Option<Address> {
    let address = *notice.args.get(usize::from(address))?;
    let length = usize::try_from(*notice.args.get(usize::from(length))?).ok()?;
    let mut bytes = [0; address::LONGEST];
    let bytes = bytes.get_mut(..length.min(address::LONGEST))?;
    let read = memory::read(notice.pid, address, bytes).ok()?;
    address::parse(bytes.get(..read)?)
}

/// A string of another process, without its NUL. `None`: not readable, or longer than a path.
fn string(pid: u32, address: u64) -> Option<Vec<u8>> {
    for length in [USUAL, PATH_MAX] {
        let mut bytes = vec![0; length];
        let read = memory::read(pid, address, &mut bytes).ok()?;
        bytes.truncate(read);
        if let Some(end) = bytes.iter().position(|byte| *byte == 0) {
            bytes.truncate(end);
            return Some(bytes);
        }
        if read < length {
            return None;
        }
    }
    None
}
