//! What every sandbox has: the system's programs, a little of `/etc`, `/proc`, `/dev`, and private places.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;

use crate::plan::{Access, Identity, Kind, MadeFile, MountStep};
use crate::survey::{Entry, Terrain};

/// Is this made in the new root itself, and not in something mounted there?
pub(super) fn is_skeleton(path: &Path) -> bool {
    path.starts_with("/etc")
}

/// The system's own trees and files, some of them replaced by files made for the run.
pub(super) fn system(terrain: &Terrain, files: &[MadeFile]) -> Vec<MountStep> {
    let bind = |path: &Path, kind, access| MountStep::Bind {
        from: path.to_owned(),
        at: path.to_owned(),
        kind,
        access,
        idmap: None,
    };
    let mut steps: Vec<MountStep> = terrain
        .system
        .iter()
        .filter(|system| !files.iter().any(|file| file.at == system.path))
        .map(|system| match &system.entry {
            Entry::Dir => bind(&system.path, Kind::Dir, Access::ReadOnly),
            Entry::File => bind(&system.path, Kind::File, Access::ReadOnly),
            Entry::Device => bind(&system.path, Kind::File, Access::Device),
            Entry::SmallFile => MountStep::Copy {
                from: system.path.clone(),
                at: system.path.clone(),
            },
            Entry::Made(contents) => MountStep::File {
                at: system.path.clone(),
                contents: contents.clone(),
            },
            Entry::Link(target) => MountStep::Symlink {
                at: system.path.clone(),
                target: target.clone(),
            },
        })
        .collect();
    steps.extend(
        files
            .iter()
            .filter(|file| is_skeleton(&file.at))
            .map(|file| MountStep::File {
                at: file.at.clone(),
                contents: file.contents.clone(),
            }),
    );
    steps.push(MountStep::Proc { at: "/proc".into() });
    steps.extend(terrain.proc_hidden.iter().map(|(at, kind)| MountStep::Hide {
        at: at.clone(),
        kind: *kind,
    }));
    steps.push(MountStep::Devpts { at: "/dev/pts".into() });
    for (at, target) in [
        ("/dev/ptmx", "pts/ptmx"),
        ("/dev/fd", "/proc/self/fd"),
        ("/dev/stdin", "/proc/self/fd/0"),
        ("/dev/stdout", "/proc/self/fd/1"),
        ("/dev/stderr", "/proc/self/fd/2"),
        ("/etc/mtab", "/proc/self/mounts"),
    ] {
        steps.push(MountStep::Symlink {
            at: at.into(),
            target: target.into(),
        });
    }
    steps
}

/// A passwd and a group that know root, nobody, and the sandbox's own user.
pub(super) fn accounts(identity: &Identity, home: &Path) -> Vec<MountStep> {
    let Identity { uid, gid, .. } = identity;
    // A name goes into a line of fields: what would end a field or a line is not a name.
    let user: String = identity
        .user
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "._-$".contains(*c))
        .collect();
    let user = if user.is_empty() || user == "root" {
        "sandbox".to_owned()
    } else {
        user
    };
    let home: String = home
        .to_string_lossy()
        .chars()
        .filter(|c| *c != ':' && !c.is_control())
        .collect();
    let mut passwd = String::from("root:x:0:0:root:/:/usr/sbin/nologin\n");
    let mut group = String::from("root:x:0:\ntty:x:5:\n");
    if *uid != 65534 {
        passwd.push_str("nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n");
    }
    if *gid != 65534 {
        group.push_str("nogroup:x:65534:\n");
    }
    passwd.push_str(&format!("{user}:x:{uid}:{gid}:{user}:{home}:/bin/sh\n"));
    if *gid != 5 {
        group.push_str(&format!("{user}:x:{gid}:\n"));
    }
    let file = |at: &str, text: String| MountStep::File {
        at: at.into(),
        contents: text.into_bytes(),
    };
    vec![file("/etc/passwd", passwd), file("/etc/group", group)]
}

/// Root's own name is not that of the user it becomes. What somebody set is what they said.
pub(super) fn named(
    env: Vec<(OsString, OsString)>,
    identity: &Identity,
    policy: &ResolvedPolicy,
) -> Vec<(OsString, OsString)> {
    let is_a_name = |name: &OsString| name == "USER" || name == "LOGNAME";
    let is_set = |name: &OsString| name.to_str().is_some_and(|name| policy.env.set.contains_key(name));
    env.into_iter()
        .map(|(name, value)| {
            let foreign = identity.from_root && is_a_name(&name) && !is_set(&name);
            let value = if foreign { identity.user.clone().into() } else { value };
            (name, value)
        })
        .collect()
}

/// Places that exist for this run only, besides HOME.
pub(super) fn private() -> [(PathBuf, &'static str); 3] {
    [
        ("/tmp".into(), "tmp"),
        ("/var/tmp".into(), "var-tmp"),
        ("/dev/shm".into(), "shm"),
    ]
}
