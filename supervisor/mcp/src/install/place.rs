//! A file of the user's, read and replaced whole. A link is followed: it is the user's own.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use glee_engine::hex::hex;
use glee_engine::random;
use glee_sandbox::sys::process::geteuid;

use super::InstallError;

/// The largest configuration that is read.
const MOST: u64 = 16 << 20;

fn cannot(path: &Path) -> impl Fn(io::Error) -> InstallError + '_ {
    |error| InstallError::Io {
        path: path.to_owned(),
        error,
    }
}

/// The text; empty if there is no file.
pub(super) fn read(path: &Path) -> Result<String, InstallError> {
    let cannot = cannot(path);
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(String::new()),
        other => other.map_err(&cannot)?,
    };
    let mut text = String::new();
    let read = file.take(MOST + 1).read_to_string(&mut text).map_err(&cannot)?;
    if read as u64 > MOST {
        return Err(cannot(io::Error::from(io::ErrorKind::FileTooLarge)));
    }
    Ok(text)
}

/// Puts the new text in place, if the old one still is.
pub(super) fn replace(path: &Path, before: &str, after: &str) -> Result<(), InstallError> {
    let cannot = cannot(path);
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let dir = target.parent().map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&dir)
        .map_err(&cannot)?;
    if read(path)? != before {
        let meanwhile = io::Error::new(io::ErrorKind::Interrupted, "it was changed meanwhile; try again");
        return Err(cannot(meanwhile));
    }
    let nonce = random::bytes::<8>().map_err(&cannot)?;
    let draft = dir.join(format!(".glee-{}", hex(&nonce)));
    let write = || -> io::Result<()> {
        let like = fs::metadata(&target).or_else(|_| fs::metadata(&dir))?;
        let mode = if like.is_file() {
            like.permissions().mode() & 0o777
        } else {
            0o600
        };
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        if geteuid() == 0 {
            fchown(&file, Some(like.uid()), Some(like.gid()))?;
        }
        file.write_all(after.as_bytes())?;
        file.set_permissions(fs::Permissions::from_mode(mode))?;
        file.sync_all()?;
        fs::rename(&draft, &target)
    };
    write().inspect_err(|_| drop(fs::remove_file(&draft))).map_err(&cannot)
}
