//! What the arguments of a call point to: read from the caller's memory, for the report only.
//!
//! Another thread may change it at any time, so nothing is decided by it.

use std::ffi::{CString, OsStr};
use std::fs;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::address::{self, Address};
use super::own_terms::{Theirs, in_own_terms};
use super::{people, question};
use crate::seccomp::Place;
use crate::sys::process::{self, Pid};
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

/// A name that a call gives and that is no path.
pub(super) fn name(notice: &Notice, arg: u8) -> Option<CString> {
    let text = string(notice.pid, *notice.args.get(usize::from(arg))?)?;
    CString::new(text).ok()
}

pub(super) fn absolute(notice: &Notice, dir: Option<libc::c_int>, path: PathBuf) -> Option<PathBuf> {
    if path.is_absolute() {
        return in_own_terms(path, |theirs| match theirs {
            Theirs::Cwd => cwd(notice.pid),
            Theirs::Open(number) => opened(notice.pid, number),
        });
    }
    let from = match dir {
        None | Some(libc::AT_FDCWD) => cwd(notice.pid),
        Some(number) => opened(notice.pid, number),
    };
    let path = from?.join(path);
    // What only `.` makes too long for a path of its own.
    let is_long = path.as_os_str().len() >= PATH_MAX;
    Some(if is_long { path.components().collect() } else { path })
}

fn cwd(thread: u32) -> Option<PathBuf> {
    led(&format!("/proc/{thread}/cwd"))
}

/// The directory behind a descriptor.
fn opened(thread: u32, number: libc::c_int) -> Option<PathBuf> {
    led(&format!("/proc/{thread}/fd/{number}")).or_else(|| borrowed(thread, number))
}

/// The same of a process whose list of them is closed to us: one that is not dumpable.
fn borrowed(thread: u32, number: libc::c_int) -> Option<PathBuf> {
    // A handle is on a process, not on one of its threads.
    let process = people::process_of(thread)?;
    let process = process::pidfd_open(Pid(i32::try_from(process).ok()?)).ok()?;
    let dir = process::pidfd_getfd(process.as_fd(), number).ok()?;
    led(&format!("/proc/self/fd/{}", dir.as_raw_fd()))
}

/// The directory that a link of a process leads to.
fn led(link: &str) -> Option<PathBuf> {
    let dir = look::read_link(Path::new(link)).ok()?;
    let gone = || fs::metadata(link).map_or(true, |dir| dir.nlink() == 0);
    let is_gone = dir.as_os_str().as_bytes().ends_with(b" (deleted)") && gone();
    (dir.is_absolute() && !is_gone).then_some(dir)
}

pub(super) fn socket_address(notice: &Notice, address: u8, length: u8) -> Option<Address> {
    let address = *notice.args.get(usize::from(address))?;
    address_at(notice.pid, address, *notice.args.get(usize::from(length))?)
}

fn address_at(pid: u32, address: u64, length: u64) -> Option<Address> {
    let length = usize::try_from(length).ok()?;
    let mut bytes = [0; address::LONGEST];
    let bytes = bytes.get_mut(..length.min(address::LONGEST))?;
    let read = memory::read(pid, address, bytes).ok()?;
    address::parse(bytes.get(..read)?)
}

/// What is sent in one message.
pub(super) struct Datagram {
    pub(super) to: Option<Address>,
    /// Where its first bytes are, and how many.
    start: (u64, u64),
}

/// Messages of one call that are looked at.
const MOST_MESSAGES: usize = 8;
/// `struct msghdr`, and `struct mmsghdr` with what was sent of it.
const HEADER: usize = 56;
const COUNTED_HEADER: usize = 64;

/// The message of `sendto`.
pub(super) fn datagram(notice: &Notice, address: u8, length: u8) -> Datagram {
    let [_, start, bytes, ..] = notice.args;
    Datagram {
        to: socket_address(notice, address, length),
        start: (start, bytes),
    }
}

/// The messages of `sendmsg` or `sendmmsg`: a header, or as many as an argument says.
pub(super) fn messages(notice: &Notice, list: u8, count: Option<u8>) -> Vec<Datagram> {
    let arg = |arg: u8| notice.args.get(usize::from(arg)).copied().unwrap_or(0);
    let (each, count) = match count {
        None => (HEADER, 1),
        Some(count) => (COUNTED_HEADER, (arg(count) as u32 as usize).min(MOST_MESSAGES)),
    };
    let mut bytes = [0; COUNTED_HEADER * MOST_MESSAGES];
    let room = bytes.get_mut(..each * count).unwrap_or_default();
    let read = memory::read(notice.pid, arg(list), room).unwrap_or(0);
    let headers = room.get(..read).unwrap_or_default().chunks_exact(each);
    headers.filter_map(|header| message(notice.pid, header)).collect()
}

fn message(pid: u32, header: &[u8]) -> Option<Datagram> {
    let (name, length, parts) = (word(header, 0)?, word(header, 8)? & 0xffff_ffff, word(header, 16)?);
    let mut part = [0; 16];
    let start = match word(header, 24)? {
        0 => (0, 0),
        _ if memory::read(pid, parts, &mut part).ok()? == part.len() => (word(&part, 0)?, word(&part, 8)?),
        _ => return None,
    };
    let to = if name == 0 { None } else { address_at(pid, name, length) };
    Some(Datagram { to, start })
}

/// A number of eight bytes, as both architectures have them.
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_ne_bytes(*bytes))
}

/// The name that a message asks a resolver for.
pub(super) fn question(notice: &Notice, datagram: &Datagram) -> Option<String> {
    let (start, length) = datagram.start;
    let length = usize::try_from(length).ok()?;
    if !(question::SHORTEST..=question::LONGEST).contains(&length) {
        return None;
    }
    let mut bytes = [0; question::LONGEST];
    let bytes = bytes.get_mut(..length)?;
    let read = memory::read(notice.pid, start, bytes).ok()?;
    question::name(bytes.get(..read)?)
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
