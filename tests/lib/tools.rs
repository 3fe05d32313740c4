//! Programs that the harness installs once per machine: the attack binary, and a copy of the binary under test.
//!
//! nextest runs each test in its own process, so what is made once is kept in a directory of root's and guarded by a lock.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

const STORE: &str = "/var/lib/glee-escape";

/// The attack programs of `escape/attack/*.c`, compiled into one static binary that chooses by its first argument.
pub fn attack_tool() -> &'static Path {
    static TOOL: OnceLock<PathBuf> = OnceLock::new();
    TOOL.get_or_init(compile)
}

fn compile() -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("escape/attack");
    let mut sources: Vec<PathBuf> = fs::read_dir(&dir)
        .expect("list escape/attack")
        .flatten()
        .map(|e| e.path())
        .collect();
    sources.sort();
    let mut digest = DefaultHasher::new();
    for source in &sources {
        fs::read(source).expect("read an attack source").hash(&mut digest);
    }
    let _lock = lock("attack");
    let tool = store().join(format!("attack-{:016x}", digest.finish()));
    if tool.is_file() {
        return tool;
    }
    let draft = store().join(format!(".attack-{}", std::process::id()));
    let gcc = Command::new("gcc")
        .args([
            "-static",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-D_GNU_SOURCE",
            "-pthread",
            "-o",
        ])
        .arg(&draft)
        .args(sources.iter().filter(|s| s.extension().is_some_and(|e| e == "c")))
        .output()
        .expect("the suite compiles its attacks with gcc, which is not installed");
    assert!(
        gcc.status.success(),
        "the attack programs do not compile:\n{}",
        String::from_utf8_lossy(&gcc.stderr)
    );
    fs::rename(&draft, &tool).expect("install the attack binary");
    forget_old();
    tool
}

/// What earlier suites installed and no running one can need any more.
fn forget_old() {
    let day = Duration::from_secs(24 * 60 * 60);
    let old = |path: &Path| {
        fs::metadata(path)
            .and_then(|m| m.modified())
            .is_ok_and(|t| t.elapsed().is_ok_and(|age| age > day))
    };
    for path in fs::read_dir(store())
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| old(p))
    {
        let _ = if path.is_dir() {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
    }
}

/// A root-owned copy that every caller may execute, made anew only when the original has changed.
pub fn installed_copy(original: &Path, name: &str) -> PathBuf {
    let meta = fs::metadata(original).expect("stat the binary under test");
    let mut digest = DefaultHasher::new();
    (original, meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()).hash(&mut digest);
    let _lock = lock("binary");
    let dir = store().join(format!("bin-{:016x}", digest.finish()));
    let copy = dir.join(name);
    if !copy.is_file() {
        fs::create_dir_all(&dir).expect("make the directory of the copy");
        let draft = dir.join(format!(".draft-{}", std::process::id()));
        fs::copy(original, &draft).expect("copy the binary under test");
        fs::set_permissions(&draft, fs::Permissions::from_mode(0o755)).expect("make the copy executable");
        fs::rename(&draft, &copy).expect("install the copy");
    }
    copy
}

/// Held until dropped, also against other test processes.
pub(crate) fn lock(name: &str) -> File {
    let file = File::create(store().join(format!("{name}.lock"))).expect("open a lock file");
    file.lock().expect("take a lock");
    file
}

pub(crate) fn store() -> &'static Path {
    static READY: OnceLock<PathBuf> = OnceLock::new();
    READY.get_or_init(|| {
        let store = PathBuf::from(STORE);
        let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(&store);
        made.unwrap_or_else(|e| panic!("the suite must be started by root: cannot make {STORE}: {e}"));
        let meta = fs::symlink_metadata(&store).expect("stat the store");
        assert!(
            meta.is_dir() && meta.uid() == 0,
            "{STORE} must be a directory of root's"
        );
        store
    })
}
