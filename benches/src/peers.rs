//! The other sandboxes, each asked for the nearest thing to `run --policy restricted`.
//!
//! Only `bwrap` can be asked for the same namespaces and mounts, so only `bwrap` is what ratios refer to.

use crate::BenchError;
use crate::place::{self, Place};
use crate::subject::Subject;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Of `/etc`, what programs need to run.
const ETC: [&str; 9] = [
    "/etc/ld.so.cache",
    "/etc/ssl",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/etc/nsswitch.conf",
    "/etc/resolv.conf",
    "/etc/alternatives",
];

/// Directories that are links into `/usr` on most systems and directories of their own on some.
const MERGED: [&str; 6] = ["/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

const FLOOR: &str = include_str!("floor.c");

pub fn bare(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let (name, args) = command
        .split_first()
        .ok_or_else(|| BenchError::NotFound { program: String::new() })?;
    Ok(Subject::new("bare", place::program(name)?, &place.project(), &place.home()).args(args))
}

pub fn glee(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let program = place::supervisor()?;
    Ok(Subject::new("glee", program, &place.project(), &place.home())
        .args(["run", "--policy", "restricted", "--"])
        .args(command))
}

/// The same namespaces and mounts as `restricted`; no Landlock, no seccomp filter, no report.
pub fn bwrap(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let (project, home) = (place.project(), place.home());
    let mut args = walls(&home);
    push(&mut args, "--ro-bind", &[&project, &project]);
    around(args, command, &project, &home)
}

/// The same with the project writable and the user's Rust toolchain, as in `workspace`; nothing in it is kept from writing.
pub fn bwrap_workspace(project: &Path, home: &Path, command: &[&str]) -> Result<Subject, BenchError> {
    let mut args = walls(home);
    for name in [".cargo", ".rustup"] {
        let dir = home.join(name);
        push(&mut args, "--ro-bind-try", &[&dir, &dir]);
    }
    push(&mut args, "--bind", &[project, project]);
    around(args, command, project, home)
}

/// Landlock and a system call filter alone, by a program that is compiled for it: what the kernel charges for these two, whoever asks.
pub fn floor(place: &Place, project: &Path, home: &Path, command: &[&str]) -> Result<Subject, BenchError> {
    let (source, program) = (place.root().join("floor.c"), place.root().join("walls-alone"));
    fs::write(&source, FLOOR).map_err(BenchError::io("write", &source))?;
    Subject::new("cc", place::program("cc")?, place.root(), home)
        .args(["-O2", "-o"])
        .args([&program, &source])
        .check()?;
    Ok(Subject::new("floor", program, project, home)
        .args([project.as_os_str(), "--".as_ref()])
        .args(command))
}

/// All of it but the project.
fn walls(home: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec![
        "--unshare-all".into(),
        "--new-session".into(),
        "--die-with-parent".into(),
    ];
    push(&mut args, "--ro-bind", &["/usr".as_ref(), "/usr".as_ref()]);
    for path in MERGED.map(Path::new) {
        match fs::read_link(path) {
            Ok(target) => push(&mut args, "--symlink", &[&target, path]),
            Err(_) => push(&mut args, "--ro-bind-try", &[path, path]),
        }
    }
    for path in ETC.map(Path::new) {
        push(&mut args, "--ro-bind-try", &[path, path]);
    }
    push(&mut args, "--proc", &["/proc".as_ref()]);
    push(&mut args, "--dev", &["/dev".as_ref()]);
    for path in [Path::new("/tmp"), Path::new("/var/tmp"), home] {
        push(&mut args, "--tmpfs", &[path]);
    }
    args
}

fn around(mut args: Vec<OsString>, command: &[&str], project: &Path, home: &Path) -> Result<Subject, BenchError> {
    push(&mut args, "--chdir", &[project]);
    args.push("--".into());
    Ok(Subject::new("bwrap", place::program("bwrap")?, project, home)
        .args(args)
        .args(command))
}

pub fn firejail(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let program = place::program("firejail")?;
    Ok(Subject::new("firejail", program, &place.project(), &place.home())
        .args([
            "--quiet",
            "--noprofile",
            "--net=none",
            "--private",
            "--private-dev",
            "--private-tmp",
        ])
        .args(["--ipc-namespace", "--caps.drop=all", "--nonewprivs", "--seccomp", "--"])
        .args(command))
}

/// A container from a directory, not from an image: none needs to be fetched.
///
/// With the engine's own runtime; with `runc` where that one cannot work (crun refuses hybrid control groups).
pub fn podman(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let program = place::program("podman")?;
    let root = rootfs(place)?;
    let project = place.project();
    let mut share = OsString::from("--volume=");
    share.push(&project);
    share.push(":/project:ro");
    let with = |runtime: &[&str]| {
        Subject::new("podman", program.clone(), &project, &place.home())
            .args(runtime)
            .args([
                "run",
                "--rm",
                "--network=none",
                "--cap-drop=all",
                "--security-opt=no-new-privileges",
            ])
            // The engine's own defaults are above what a caller in a container may set.
            .args(["--ulimit=nofile=1024:1024", "--ulimit=nproc=1024:1024"])
            .args(["--volume=/usr:/usr:ro", "--tmpfs=/tmp", "--workdir=/project"])
            .args([share.clone(), "--rootfs".into(), root.clone().into()])
            .args(command)
    };
    let subject = with(&[]);
    match subject.check() {
        Err(_) if place::program("runc").is_ok() => Ok(with(&["--runtime=runc"])),
        Ok(()) | Err(_) => Ok(subject),
    }
}

pub fn codex(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let program = place::program("codex")?;
    Ok(Subject::new("codex sandbox", program, &place.project(), &place.home())
        .args(["sandbox", "--"])
        .args(command))
}

pub fn srt(place: &Place, command: &[&str]) -> Result<Subject, BenchError> {
    let program = place::program("srt")?;
    Ok(Subject::new("srt", program, &place.project(), &place.home()).args(command))
}

/// A root directory of links and mount points, for `podman --rootfs`.
fn rootfs(place: &Place) -> Result<PathBuf, BenchError> {
    let root = place.dir("rootfs")?;
    for name in ["usr", "etc", "proc", "dev", "sys", "run", "tmp", "project"] {
        place.dir(&format!("rootfs/{name}"))?;
    }
    for path in MERGED.map(Path::new) {
        if let (Ok(target), Ok(name)) = (fs::read_link(path), path.strip_prefix("/")) {
            let link = root.join(name);
            symlink(&target, &link).map_err(BenchError::io("link", &link))?;
        }
    }
    Ok(root)
}

fn push(args: &mut Vec<OsString>, flag: &str, values: &[&Path]) {
    args.push(flag.into());
    args.extend(values.iter().map(|value| value.as_os_str().to_owned()));
}
