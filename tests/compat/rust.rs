//! A rustup and a toolchain in a home, as their installer leaves them.
//!
//! What `cargo` and `rustc` need is copied once per machine from the toolchain that built this test, then hard-linked into
//! each home, so that no test can change the real one.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

const STORE: &str = "/var/lib/glee-compat";

/// Into a home; `give` makes the caller the owner of a directory.
pub(crate) fn install(home: &Path, give: &dyn Fn(&Path)) {
    let kept = kept();
    run("cp", &["-al", &text(&kept.join("cargo")), &text(&home.join(".cargo"))]);
    run(
        "cp",
        &["-al", &text(&kept.join("rustup")), &text(&home.join(".rustup"))],
    );
    give(&home.join(".cargo"));
    give(&home.join(".rustup"));
}

fn kept() -> PathBuf {
    let sysroot = PathBuf::from(run("rustc", &["--print", "sysroot"]).trim());
    let name = sysroot
        .file_name()
        .expect("a toolchain has a name")
        .to_string_lossy()
        .into_owned();
    fs::create_dir_all(STORE).expect("make the store");
    let lock = File::create(Path::new(STORE).join("lock")).expect("open the lock");
    lock.lock().expect("take the lock");
    let kept = Path::new(STORE).join(&name);
    if !kept.is_dir() {
        let draft = Path::new(STORE).join(format!(".{name}"));
        let _ = fs::remove_dir_all(&draft);
        copy(&sysroot, &name, &draft);
        fs::rename(&draft, &kept).expect("keep the toolchain");
    }
    kept
}

fn copy(sysroot: &Path, name: &str, draft: &Path) {
    let (toolchain, programs) = (draft.join("rustup/toolchains").join(name), draft.join("cargo/bin"));
    let rustups_own = ["downloads", "tmp", "update-hashes"].map(|dir| draft.join("rustup").join(dir));
    for dir in [toolchain.join("bin"), toolchain.join("lib/rustlib"), programs.clone()]
        .into_iter()
        .chain(rustups_own)
    {
        fs::create_dir_all(dir).expect("make a directory of the toolchain");
    }
    let settings = format!("version = \"12\"\ndefault_toolchain = \"{name}\"\nprofile = \"minimal\"\n");
    fs::write(draft.join("rustup/settings.toml"), settings).expect("write rustup's settings");
    let rustup = fs::canonicalize(run("sh", &["-c", "command -v rustup"]).trim()).expect("find rustup");
    for program in ["rustup", "cargo", "rustc", "rustdoc"] {
        fs::copy(&rustup, programs.join(program)).expect("copy rustup");
    }
    for program in ["cargo", "rustc", "rustdoc"] {
        fs::copy(sysroot.join("bin").join(program), toolchain.join("bin").join(program)).expect("copy the compiler");
    }
    let tuple = run("rustc", &["--print", "host-tuple"]);
    let libraries = format!("cp -a {0}/lib/*.so* {1}/lib/", text(sysroot), text(&toolchain));
    run("sh", &["-euc", &libraries]);
    let rustlib = sysroot.join("lib/rustlib").join(tuple.trim());
    run("cp", &["-a", &text(&rustlib), &text(&toolchain.join("lib/rustlib"))]);
}

fn run(program: &str, arguments: &[&str]) -> String {
    let done = Command::new(program).args(arguments).output();
    let done = done.unwrap_or_else(|e| panic!("`{program}` is needed to install a toolchain for the test: {e}"));
    assert!(
        done.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).expect("paths of the toolchain are UTF-8")
}

fn text(path: &Path) -> String {
    path.to_str().expect("paths of the toolchain are UTF-8").to_owned()
}
