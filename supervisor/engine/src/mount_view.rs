//! One mount step in words.

use std::path::Path;

use glee_sandbox::plan::{Access, Kind, MountStep};
use serde::Serialize;

#[derive(Debug, Serialize)]
pub struct MountRow {
    pub kind: &'static str,
    pub at: String,
    pub about: String,
}

/// What the step does, to which path of the new root.
pub(crate) fn mount(step: &MountStep) -> MountRow {
    let (kind, at, about) = match step {
        MountStep::Dir { at } => ("directory", at, String::new()),
        MountStep::Symlink { at, target } => ("link", at, format!("-> {}", lossy(target))),
        MountStep::File { at, contents } => ("file", at, format!("made here, {} bytes", contents.len())),
        MountStep::Copy { from, at } => ("copy", at, elsewhere(from, at)),
        MountStep::Bind {
            from,
            at,
            kind,
            access,
            idmap,
        } => {
            let mut words = vec![access_words(*access).to_owned()];
            if *kind == Kind::File && *access != Access::Device {
                words.push("one file".to_owned());
            }
            if let Some(map) = idmap {
                words.push(format!(
                    "owner {}:{} appears as the run's user",
                    map.from_uid, map.from_gid
                ));
            }
            let from = elsewhere(from, at);
            if !from.is_empty() {
                words.push(from);
            }
            ("bind", at, words.join(", "))
        }
        MountStep::Private { at, .. } => ("private", at, "writable, empty, gone afterwards".to_owned()),
        MountStep::Compose {
            at, children, private, ..
        } => {
            let names = |list: &mut dyn Iterator<Item = &std::ffi::OsString>| {
                list.map(|name| name.to_string_lossy().into_owned())
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            let shown = names(&mut children.iter().map(|(name, _)| name));
            let private = names(&mut private.iter());
            (
                "compose",
                at,
                format!("read-only: [{shown}]; private to the run: [{private}]"),
            )
        }
        MountStep::Proc { at } => ("proc", at, "processes of the run only, read-only".to_owned()),
        MountStep::Devpts { at } => ("devpts", at, "terminals of the run only".to_owned()),
        MountStep::Pin { at } => ("pin", at, "cannot be renamed".to_owned()),
        MountStep::Protect { at } => ("protect", at, "read-only inside a writable tree".to_owned()),
        MountStep::Hide { at, .. } => ("hide", at, "covered by something empty".to_owned()),
    };
    MountRow {
        kind,
        at: lossy(at),
        about,
    }
}

fn access_words(access: Access) -> &'static str {
    match access {
        Access::ReadOnly => "read-only",
        Access::ReadWrite => "writable",
        Access::Device => "device",
    }
}

fn elsewhere(from: &Path, at: &Path) -> String {
    if from == at {
        String::new()
    } else {
        format!("from {}", lossy(from))
    }
}

fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}
