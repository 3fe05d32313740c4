//! Images: one that has nothing in it but directories to mount on, and links, made here from no registry; and those of the user's.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use bollard::models::ImageInspect;
use sha2::{Digest, Sha256};

/// Directories of the root, with their modes.
const DIRS: [(&str, u32); 9] = [
    ("proc/", 0o555),
    ("dev/", 0o755),
    ("sys/", 0o555),
    ("usr/", 0o755),
    ("etc/", 0o755),
    ("run/", 0o755),
    ("var/", 0o755),
    ("tmp/", 0o1777),
    (".glee/", 0o755),
];

const BLOCK: usize = 512;

/// The image as a tar archive: the same bytes for the same links.
pub(crate) fn archive(links: &BTreeMap<PathBuf, PathBuf>) -> Vec<u8> {
    let mut tar = Vec::new();
    for (name, mode) in DIRS {
        tar.extend(header(Path::new(name), mode, b'5', Path::new("")));
    }
    for (at, target) in links {
        let name = at.strip_prefix("/").unwrap_or(at);
        tar.extend(header(name, 0o777, b'2', target));
    }
    tar.resize(tar.len() + 2 * BLOCK, 0);
    tar
}

/// A name for the contents.
pub(crate) fn digest(archive: &[u8]) -> String {
    let digest = Sha256::digest(archive);
    digest.iter().take(8).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The id of the image that the policy names by digest, if what the engine found under that name is the one, and has nothing
/// that an engine would do beside what it is told.
pub(crate) fn chosen(name: &str, found: &ImageInspect) -> Result<String, String> {
    let digest = name.rsplit_once('@').map_or(name, |(_, digest)| digest);
    let id = found.id.clone().unwrap_or_default();
    let own = id.strip_prefix("sha256:").unwrap_or(&id);
    let listed = found.repo_digests.iter().flatten();
    let is_it = digest.strip_prefix("sha256:") == Some(own)
        || listed
            .into_iter()
            .any(|known| known.rsplit_once('@').is_some_and(|(_, of)| of == digest));
    if own.is_empty() || !is_it {
        return Err(format!(
            "what the engine has as `{name}` is another image, `{id}`: name it by its own digest"
        ));
    }
    let volumes = found.config.as_ref().and_then(|config| config.volumes.as_ref());
    match volumes.into_iter().flatten().min() {
        None => Ok(id),
        Some(volume) => Err(format!(
            "the image `{name}` declares the volume `{volume}`, which an engine makes writable, on disk and without a limit: \
             build it without `VOLUME`"
        )),
    }
}

/// One ustar header. A name beyond its field is cut: no link of a root directory is that long.
fn header(name: &Path, mode: u32, kind: u8, target: &Path) -> [u8; BLOCK] {
    let mut block = [0; BLOCK];
    let mut put = |at: usize, bytes: &[u8]| {
        for (to, from) in block.iter_mut().skip(at).zip(bytes.iter().take(100)) {
            *to = *from;
        }
    };
    put(0, name.as_os_str().as_bytes());
    put(100, format!("{mode:07o}\0").as_bytes());
    put(108, b"0000000\0");
    put(116, b"0000000\0");
    put(124, b"00000000000\0");
    put(136, b"00000000000\0");
    put(148, b"        ");
    put(156, &[kind]);
    put(157, target.as_os_str().as_bytes());
    put(257, b"ustar\x0000");
    let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
    for (to, from) in block.iter_mut().skip(148).zip(format!("{sum:06o}\0 ").bytes()) {
        *to = from;
    }
    block
}
