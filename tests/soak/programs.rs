//! C programs of a test, compiled once per machine and kept where every caller may execute them.

use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;

const STORE: &str = "/var/lib/glee-soak";

/// `tests/SOURCE` as a static executable. The name changes with the text, so an old one is never taken for a new one.
pub(crate) fn compiled(source: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(source);
    let name = source
        .file_stem()
        .expect("a source has a name")
        .to_string_lossy()
        .into_owned();
    let mut digest = DefaultHasher::new();
    fs::read(&source)
        .unwrap_or_else(|e| panic!("read {}: {e}", source.display()))
        .hash(&mut digest);
    let store = store();
    let program = store.join(format!("{name}-{:016x}", digest.finish()));
    let lock = File::create(store.join("lock")).expect("open a lock file");
    lock.lock().expect("take a lock");
    if program.is_file() {
        return program;
    }
    let draft = store.join(format!(".{name}-{}", std::process::id()));
    let gcc = Command::new("gcc")
        .args(["-static", "-O1", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-o"])
        .args([&draft, &source])
        .output()
        .expect("this test compiles its programs with gcc, which is not installed");
    assert!(
        gcc.status.success(),
        "{} does not compile:\n{}",
        source.display(),
        String::from_utf8_lossy(&gcc.stderr)
    );
    fs::rename(&draft, &program).expect("install the program");
    program
}

fn store() -> &'static Path {
    let store = Path::new(STORE);
    let made = fs::DirBuilder::new().recursive(true).mode(0o755).create(store);
    made.unwrap_or_else(|e| panic!("this test must be started by root: cannot make {STORE}: {e}"));
    let meta = fs::symlink_metadata(store).expect("stat the store");
    assert!(
        meta.is_dir() && meta.uid() == 0,
        "{STORE} must be a directory of root's"
    );
    store
}
