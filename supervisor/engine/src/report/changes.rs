//! What a run changed, as the report lists it.

use std::borrow::Cow;
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use glee_sandbox::launch::{Change, Changed, Changes, Doubt};
use glee_sandbox::sys::dir::FileKind;
use serde::Serialize;

use crate::later::Later;

/// One name that is not what it was.
#[derive(Debug, Serialize)]
pub struct ChangedFile {
    /// From the project, or absolute outside of it.
    pub path: String,
    /// The bytes of the path in hexadecimal, where they are not UTF-8 and `path` can only come near them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    pub change: &'static str,
    pub kind: &'static str,
    /// Why the host would run it later.
    pub executes: Option<&'static str>,
    /// Bytes of a regular file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where a link leads, as it says itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
}

/// How many there were, listed or not, and what could not be looked at.
#[derive(Debug, Serialize)]
pub struct ChangeSummary {
    pub created: u64,
    pub changed: u64,
    pub deleted: u64,
    /// Files in git's store of objects: counted above, not listed.
    pub git_objects: u64,
    /// Changes that are not in the list because it is full.
    pub not_listed: u64,
    /// Places where a change could go unseen.
    pub unsure: Vec<Unsure>,
    /// Such places that are not listed.
    pub more_unsure: u64,
}

#[derive(Debug, Serialize)]
pub struct Unsure {
    pub path: String,
    pub why: &'static str,
}

pub(super) fn of(changes: &Changes, later: &Later<'_>) -> (Vec<ChangedFile>, ChangeSummary) {
    let mut found: Vec<(Cow<'_, Path>, &Changed)> =
        changes.rows.iter().map(|row| (later.real(&row.path), row)).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    let rows = found
        .iter()
        .map(|(path, row)| row_of(known_as(path, later.project), row))
        .collect();
    let unsure = changes.doubts.iter().map(|(path, doubt)| Unsure {
        path: known_as(&later.real(path), later.project)
            .to_string_lossy()
            .into_owned(),
        why: match doubt {
            Doubt::Unreadable => "it could not be looked into",
            Doubt::InMemory => "it lies in memory, where a write through a mapping leaves no trace",
            Doubt::ForeignTimes => "its filesystem keeps no time of changes that can be relied on",
            Doubt::TooMany => "it has more names than are remembered",
            Doubt::Mounted => "something was mounted or unmounted there during the run",
        },
    });
    let summary = ChangeSummary {
        created: changes.created,
        changed: changes.changed,
        deleted: changes.deleted,
        git_objects: changes.counted,
        not_listed: changes.not_listed,
        unsure: unsure.collect(),
        more_unsure: changes.more_doubts,
    };
    (rows, summary)
}

fn row_of(path: &Path, row: &Changed) -> ChangedFile {
    let hex = || {
        let bytes = path.as_os_str().as_bytes();
        bytes
            .iter()
            .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
                // Writing to a String cannot fail.
                let _ = write!(text, "{byte:02x}");
                text
            })
    };
    ChangedFile {
        path: path.to_string_lossy().into_owned(),
        path_hex: path.to_str().is_none().then(hex),
        change: match row.change {
            Change::Created => "created",
            Change::Changed => "changed",
            Change::Deleted => "deleted",
        },
        kind: match row.kind {
            FileKind::File => "file",
            FileKind::Dir => "dir",
            FileKind::Symlink => "symlink",
            FileKind::Fifo => "fifo",
            FileKind::Socket => "socket",
            FileKind::CharDevice => "char",
            FileKind::BlockDevice => "block",
        },
        executes: row.executes,
        size: row.size,
        target: row.target.as_ref().map(|to| to.to_string_lossy().into_owned()),
    }
}

/// The project itself is `.`.
fn known_as<'p>(path: &'p Path, project: &Path) -> &'p Path {
    match path.strip_prefix(project) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path,
    }
}
