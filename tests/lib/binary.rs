//! Which `glee-supervisor` is tested.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;
use std::{env, fs};

/// `GLEE_BIN`, else the newest build in the target directory of this test or of the workspace.
///
/// A copy is returned: a build in another terminal must not change the program under a running suite, and the ordinary
/// user may be unable to reach the target directory.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| crate::tools::installed_copy(&found(), "glee-supervisor"))
}

fn found() -> PathBuf {
    if let Some(named) = env::var_os("GLEE_BIN") {
        let named = PathBuf::from(named);
        assert!(
            named.is_file(),
            "GLEE_BIN names `{}`, which is no file",
            named.display()
        );
        return named;
    }
    let newest = targets().iter().flat_map(|t| builds(t)).max_by_key(|p| modified(p));
    newest.unwrap_or_else(|| {
        panic!(
            "no glee-supervisor found below {:?}: build it with `cargo build --release`, or set GLEE_BIN",
            targets()
        )
    })
}

/// The test executable is `<target>[/<tuple>]/<profile>/deps/<test>`.
fn targets() -> Vec<PathBuf> {
    let exe = env::current_exe().expect("the test knows its own path");
    let own = exe
        .ancestors()
        .filter(|a| a.join("CACHEDIR.TAG").is_file())
        .map(Path::to_path_buf);
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    own.chain([workspace]).collect()
}

fn builds(target: &Path) -> Vec<PathBuf> {
    let tuples = fs::read_dir(target).into_iter().flatten().flatten().map(|e| e.path());
    let candidates = tuples
        .chain([target.to_path_buf()])
        .flat_map(|dir| ["release", "debug"].map(|profile| dir.join(profile).join("glee-supervisor")));
    candidates.filter(|p| p.is_file()).collect()
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path)
        .and_then(|m| m.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}
