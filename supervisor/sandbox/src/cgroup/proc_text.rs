//! Parses /proc/self/mountinfo and /proc/self/cgroup.
//!
//! Pure. Paths stay bytes: a mount point may hold anything but NUL, and the kernel escapes it in octal.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use super::Controller;

/// Which cgroup interface a hierarchy speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    V1,
    V2,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    ReadOnly,
    ReadWrite,
}

/// A place where a cgroup hierarchy, or a part of it, can be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mount {
    pub(super) version: Version,
    /// The cgroup shown at `point`: not `/` when a container bind-mounts its own part.
    pub(super) root: PathBuf,
    pub(super) point: PathBuf,
    pub(super) access: Access,
    /// Of v1 only; co-mounted controllers share a mount. On v2 the files of the cgroup tell.
    pub(super) controllers: BTreeSet<Controller>,
}

impl Mount {
    /// Where `own`, a path as in /proc/self/cgroup, lies below this mount.
    pub(super) fn locate(&self, own: &Path) -> Option<PathBuf> {
        let below = own.strip_prefix(&self.root).ok()?;
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return None;
        }
        // `join("")` would leave a trailing slash.
        Some(if below.as_os_str().is_empty() {
            self.point.clone()
        } else {
            self.point.join(below)
        })
    }
}

/// Our own cgroup in each hierarchy that has one of our controllers, and on v2.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Membership {
    pub(super) v1: Vec<(BTreeSet<Controller>, PathBuf)>,
    pub(super) v2: Option<PathBuf>,
}

impl Membership {
    pub(super) fn of_v1(&self, controller: Controller) -> Option<&Path> {
        self.v1
            .iter()
            .find(|(controllers, _)| controllers.contains(&controller))
            .map(|(_, path)| path.as_path())
    }
}

/// The cgroup mounts, in mount order. Lines of other file systems cost one scan each.
pub(super) fn mounts(mountinfo: &[u8]) -> Vec<Mount> {
    lines(mountinfo).filter_map(mount).collect()
}

fn mount(line: &[u8]) -> Option<Mount> {
    let dash = line
        .windows(10)
        .position(|window| window == b" - cgroup ".as_slice() || window == b" - cgroup2")?;
    let (before, after) = line.split_at_checked(dash)?;
    let mut before = before.split(|byte| *byte == b' ').skip(3);
    let (root, point, options) = (before.next()?, before.next()?, before.next()?);
    let mut after = after.split(|byte| *byte == b' ').skip(2);
    let version = match after.next()? {
        b"cgroup" => Version::V1,
        b"cgroup2" => Version::V2,
        _ => return None,
    };
    // The source may be empty or hold anything; the super options are the last field.
    let super_options = after.last()?;
    let read_only = [options, super_options]
        .into_iter()
        .any(|list| words(list, b',').any(|word| word == b"ro"));
    Some(Mount {
        version,
        root: path(unescape(root)),
        point: path(unescape(point)),
        access: if read_only { Access::ReadOnly } else { Access::ReadWrite },
        controllers: match version {
            Version::V1 => controllers(super_options, b','),
            Version::V2 => BTreeSet::new(),
        },
    })
}

/// `/proc/PID/cgroup`: `id:controllers:path`. The kernel forbids newlines in names and escapes nothing here.
pub(super) fn membership(text: &[u8]) -> Membership {
    let mut membership = Membership::default();
    for line in lines(text) {
        let mut fields = line.splitn(3, |byte| *byte == b':');
        let (Some(id), Some(list), Some(own)) = (fields.next(), fields.next(), fields.next()) else {
            continue;
        };
        let own = path(own.to_vec());
        if id == b"0" && list.is_empty() {
            membership.v2 = Some(own);
            continue;
        }
        let controllers = controllers(list, b',');
        if !controllers.is_empty() {
            membership.v1.push((controllers, own));
        }
    }
    membership
}

/// Those of our controllers that a list of the kernel names.
pub(super) fn controllers(list: &[u8], separator: u8) -> BTreeSet<Controller> {
    words(list, separator)
        .filter_map(|word| {
            Controller::ALL
                .into_iter()
                .find(|controller| controller.name().as_bytes() == word)
        })
        .collect()
}

/// Undoes the kernel's `\040` for space, tab, newline, backslash and hash.
pub(crate) fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, tail)) = rest.split_first() {
        if let (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) = (*first, tail) {
            plain.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
            rest = after;
        } else {
            plain.push(*first);
            rest = tail;
        }
    }
    plain
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty())
}

fn words(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    text.split(move |byte| *byte == separator)
        .map(<[u8]>::trim_ascii)
        .filter(|word| !word.is_empty())
}

fn path(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes))
}
