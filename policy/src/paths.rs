//! A path as written to an absolute path.
//!
//! Pure, and lexical: `..` is taken away before any symlink is looked at. Bytes, not necessarily UTF-8.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// `None` where `~` is meant and there is no home.
pub(crate) fn absolute(written: &OsStr, relative_to: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let bytes = written.as_bytes();
    let joined = match bytes.strip_prefix(b"~") {
        Some(b"") => home?.to_path_buf(),
        Some(rest) if rest.starts_with(b"/") => {
            let below = rest
                .iter()
                .position(|b| *b != b'/')
                .and_then(|start| rest.get(start..))
                .unwrap_or_default();
            home?.join(OsStr::from_bytes(below))
        }
        Some(_) | None => relative_to.join(written),
    };
    Some(lexical(&joined))
}

/// Without `.`, `..`, double and final slashes. `..` at the root stays at the root.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    out
}
