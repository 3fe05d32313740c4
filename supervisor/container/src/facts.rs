//! What this machine's engine can do, as far as the settings depend on it.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use glee_sandbox::cgroup::{self, Controller, Place};
use glee_sandbox::sys::process;

use crate::rundir;

/// Where Podman looks for a runtime by name.
const RUNSC: [&str; 6] = [
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/bin",
    "/sbin",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    Podman,
    Docker,
}

impl Engine {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Podman => "podman",
            Self::Docker => "docker",
        }
    }
}

/// Whose rights the engine has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// Root's, and so have we.
    Root,
    /// The calling user's own.
    User,
    /// Root's, but we are an ordinary user who may only speak to it.
    Daemon,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    pub engine: Engine,
    pub rights: Rights,
    /// Limits that its groups can carry. Others it would ignore with a mere warning.
    pub controllers: BTreeSet<Controller>,
    /// Is gVisor's `runsc` where Podman looks for it?
    pub has_runsc: bool,
    /// Where something is mounted on this machine: a bind does not show what is mounted below it.
    pub mount_points: BTreeSet<PathBuf>,
}

impl Facts {
    #[must_use]
    pub fn of(engine: Engine) -> Self {
        let rights = match (process::geteuid(), engine) {
            (0, _) => Rights::Root,
            (_, Engine::Podman) => Rights::User,
            (_, Engine::Docker) => Rights::Daemon,
        };
        let found = cgroup::detect();
        let controllers = Controller::ALL.into_iter().filter(|controller| match rights {
            // Looked at once the container is there.
            Rights::Root | Rights::Daemon => true,
            // On v1 nothing can be handed to a user, on v2 what the machine delegates.
            Rights::User => matches!(found.place(*controller), Place::V2),
        });
        Self {
            engine,
            rights,
            controllers: controllers.collect(),
            has_runsc: RUNSC.iter().any(|dir| Path::new(dir).join("runsc").exists()),
            mount_points: shown(&fs::read("/proc/self/mountinfo").unwrap_or_default()),
        }
    }
}

/// Those that the caller can get to, but for those of other runs and of other containers and for namespaces, which come and go.
fn shown(mountinfo: &[u8]) -> BTreeSet<PathBuf> {
    let (runs, handles) = (rundir::base(), namespaces(mountinfo));
    let lasting = |point: &Path| !point.starts_with(&runs) && !is_containers(point) && !handles.contains(point);
    let mut points = mount_points(mountinfo);
    points.retain(|point| lasting(point) && fs::symlink_metadata(point).is_ok());
    points
}

/// Engines name what belongs to one container or layer by 64 hexadecimal digits.
fn is_containers(point: &Path) -> bool {
    point.iter().any(|part| {
        let name = part.as_encoded_bytes();
        name.len() == 64 && name.iter().all(u8::is_ascii_hexdigit)
    })
}

pub(crate) fn mount_points(mountinfo: &[u8]) -> BTreeSet<PathBuf> {
    points(mountinfo.split(|byte| *byte == b'\n'))
}

/// Where a namespace is kept under a name, as `ip netns` does. To get into it takes a right that nobody inside has.
pub(crate) fn namespaces(mountinfo: &[u8]) -> BTreeSet<PathBuf> {
    let is_namespace = |line: &&[u8]| line.windows(8).any(|words| words == b" - nsfs ");
    points(mountinfo.split(|byte| *byte == b'\n').filter(is_namespace))
}

/// The fifth field of each line, with its octal escapes undone.
fn points<'l>(lines: impl Iterator<Item = &'l [u8]>) -> BTreeSet<PathBuf> {
    lines
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(|field| PathBuf::from(OsString::from_vec(unescape(field))))
        .collect()
}

fn unescape(field: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..3)
            .filter(|_| *first == b'\\')
            .and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_escapes() {
        let text = b"22 1 8:1 / / rw - ext4 /dev/sda rw\n23 22 0:5 / /a\\040b\\134c rw shared:1 - tmpfs tmpfs rw\n";
        let expected = ["/", "/a b\\c"].map(PathBuf::from).into_iter().collect();
        assert_eq!(mount_points(text), expected);
        let text = b"22 1 8:1 / / rw - ext4 /dev/sda rw\n24 22 0:4 net:[4] /run/netns/lab rw shared:9 - nsfs nsfs rw\n";
        assert_eq!(namespaces(text), [PathBuf::from("/run/netns/lab")].into());
    }

    #[test]
    fn mounts_of_other_containers_are_told_by_their_names() {
        let id = "0f".repeat(32);
        for (point, expected) in [
            (format!("/var/lib/containers/storage/overlay/{id}/merged"), true),
            (format!("/var/lib/docker/containers/{id}/mounts/shm"), true),
            (format!("/srv/{}", &id[1..]), false),
            ("/var/lib/containers/storage/overlay".to_owned(), false),
        ] {
            assert_eq!(is_containers(Path::new(&point)), expected, "{point}");
        }
    }
}
