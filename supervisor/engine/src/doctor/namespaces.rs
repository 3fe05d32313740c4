//! Namespaces, mounts, and a whole sandbox.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use glee_policy::Flags;
use glee_policy::resolved::Backend;
use glee_sandbox::launch::{self, End};
use glee_sandbox::lower::SANDBOX_ID;
use glee_sandbox::plan::{Records, Workspace};
use glee_sandbox::receipt::Wish;
use glee_sandbox::seccomp::Observe;
use glee_sandbox::sys::mount::{self, NODEV, NOSUID, RDONLY};
use glee_sandbox::sys::process::{self, Side};
use glee_sandbox::sys::{fd, path};

use super::trial::{Account, account, attempt};
use super::{Check, Draft, plain};
use crate::audit::record::Need;
use crate::project::Scene;
use crate::run::{self, Options, Purpose};
use crate::run_id::run_id;

const NO_NAMESPACE: &str = "one of:
- sysctl -w kernel.unprivileged_userns_clone=1
- sysctl -w user.max_user_namespaces=15000
- an AppArmor profile: `glee-supervisor doctor --apparmor` prints it
- start as root: privileges are dropped before the command starts
- in a chroot nobody can make one: `pivot_root`, or a container engine
- `isolation: landlock` in a policy: weaker, and the report says how";

/// The rows on namespaces and mounts.
pub(super) fn all(sysctl: &BTreeMap<&'static str, Option<String>>, project: Option<&Path>) -> Vec<Check> {
    let is_root = process::geteuid() == 0;
    let user = attempt(|| {
        user_namespace()
            .and_then(|()| process::unshare(libc::CLONE_NEWNS))
            .and_then(|()| tmpfs())
    });
    let mut checks = Vec::new();
    // Root can do without: its own capabilities build the same sandbox.
    let row = Draft::new("user namespace", "everything below, unless root starts it", !is_root);
    checks.push(match &user {
        Ok(()) => row.there("yes, with mounts in it"),
        Err(error) => row.failed(error, reason(error, sysctl), NO_NAMESPACE),
    });
    let inside = user.is_ok();
    // What an ordinary user cannot try without a user namespace fails for the same reason.
    let enter = move || if inside { user_namespace() } else { Ok(()) };
    for (name, flag, needed_by) in [
        ("mount namespace", libc::CLONE_NEWNS, "a root of the run's own"),
        (
            "pid namespace",
            libc::CLONE_NEWPID,
            "ending the whole tree; no process of the host in sight",
        ),
        ("net namespace", libc::CLONE_NEWNET, "`network: false`"),
        (
            "ipc namespace",
            libc::CLONE_NEWIPC,
            "no shared memory or queues of the host",
        ),
        ("uts namespace", libc::CLONE_NEWUTS, "a host name of the run's own"),
        (
            "cgroup namespace",
            libc::CLONE_NEWCGROUP,
            "no names of the host's cgroups",
        ),
    ] {
        let tried = attempt(|| enter().and_then(|()| process::unshare(flag)));
        checks.push(Draft::new(name, needed_by, true).of(tried, "yes", "see `user namespace`"));
    }
    let tried = attempt(|| {
        enter()
            .and_then(|()| process::unshare(libc::CLONE_NEWNS))
            .and_then(|()| mount_api())
    });
    let row = Draft::new("mount API", "the new root (open_tree, move_mount, mount_setattr)", true);
    checks.push(row.of(tried, "yes", "Linux 5.12 or later; see `user namespace`"));
    let tried = attempt(|| {
        enter()
            .and_then(|()| process::unshare(libc::CLONE_NEWNS))
            .and_then(|()| devpts())
    });
    let row = Draft::new("pseudo-terminals", "interactive programs", true);
    checks.push(row.of(tried, "yes", "a kernel with CONFIG_UNIX98_PTYS; see `user namespace`"));
    checks.push(id_mapped(is_root, project));
    checks
}

/// The refusal, and the switch that may be behind it.
fn reason(error: &io::Error, sysctl: &BTreeMap<&'static str, Option<String>>) -> String {
    let closed = |name: &str, value: &str| match name {
        "kernel.apparmor_restrict_unprivileged_userns" => value != "0",
        _ => value == "0",
    };
    let mut text = plain(error);
    for (name, value) in sysctl {
        if let Some(value) = value.as_deref().filter(|value| closed(name, value)) {
            text.push_str(&format!("\n{name} = {value}"));
        }
    }
    text
}

/// Enters a user namespace in which we are who we were, as the sandbox does.
fn user_namespace() -> io::Result<()> {
    let (uid, gid) = (process::geteuid(), process::getegid());
    process::unshare(libc::CLONE_NEWUSER)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{uid} {uid} 1\n"))?;
    fs::write("/proc/self/gid_map", format!("{gid} {gid} 1\n"))
}

fn tmpfs() -> io::Result<()> {
    mount::new_filesystem(c"tmpfs", &[(c"size", c"65536")], NOSUID | NODEV).map(drop)
}

fn devpts() -> io::Result<()> {
    mount::new_filesystem(c"devpts", &[(c"ptmxmode", c"0666")], NOSUID).map(drop)
}

/// A copy of a tree, made read-only and attached over itself, in a mount namespace that ends with us.
fn mount_api() -> io::Result<()> {
    mount::make_all_private()?;
    let root = path::open_exact(Path::new("/"))?;
    let tree = mount::open_tree_clone(root.as_fd())?;
    mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV)?;
    mount::attach(tree.as_fd(), root.as_fd())
}

fn id_mapped(is_root: bool, project: Option<&Path>) -> Check {
    let here = project.map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let roots = fs::metadata(&here).is_ok_and(|meta| meta.uid() == 0 || meta.gid() == 0);
    let row = Draft::new("id-mapped mounts", "root, on a project of root's own", is_root && roots);
    if !is_root {
        return row.there("not tried: only root needs them");
    }
    let tried = attempt(|| {
        process::unshare(libc::CLONE_NEWNS)?;
        let map = mapping()?;
        let tree = mount::open_tree_clone(path::open_exact(&here)?.as_fd())?;
        mount::set_idmap(tree.as_fd(), map.as_fd())
    });
    let remedy = match &tried {
        Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
            "a user namespace, which nobody can make in a chroot: see `user namespace`"
        }
        Ok(()) | Err(_) => {
            "Linux 5.12 or later and a filesystem that can map owners (overlayfs cannot): give the project to an ordinary user \
             (`chown`), or put it on a volume; what is only read works without"
        }
    };
    row.of(tried, "yes, on the project's filesystem", remedy)
}

/// A user namespace in which root on disk is the sandbox's user.
fn mapping() -> io::Result<OwnedFd> {
    let (read, write) = fd::pipe()?;
    match process::clone_into(libc::CLONE_NEWUSER, None)? {
        Side::Child => {
            drop(write);
            // We exist for our namespace only, and end when the other side has it.
            let _ = fd::read(read.as_fd(), &mut [0]);
            process::exit_now(0)
        }
        Side::Parent { pid, pidfd: _pidfd } => {
            drop(read);
            let map = format!("0 {SANDBOX_ID} 1\n");
            let made = fs::write(format!("/proc/{}/uid_map", pid.0), &map)
                .and_then(|()| fs::write(format!("/proc/{}/gid_map", pid.0), &map))
                .and_then(|()| fs::File::open(format!("/proc/{}/ns/user", pid.0)));
            drop(write);
            process::wait(pid.0, 0)?;
            made.map(OwnedFd::from)
        }
    }
}

/// The last word: `restricted`, around a command that does nothing, in the project at hand.
pub(super) fn whole(project: Option<&Path>) -> Check {
    let row = Draft::new("a sandbox can be built", "`restricted`", true);
    match account(|| build(project)) {
        Ok(Ok(found)) => row.there(found),
        Ok(Err((problem, remedy))) => {
            let remedy = if remedy.is_empty() {
                "see the rows above".to_owned()
            } else {
                remedy
            };
            row.missing(problem, remedy)
        }
        Err(error) => row.failed(&error, plain(&error), "see the rows above"),
    }
}

fn build(project: Option<&Path>) -> Account {
    let scene = Scene::find(project).map_err(|error| (error.to_string(), error.help().to_owned()))?;
    let options = |command: Vec<OsString>| Options {
        purpose: Purpose::Work,
        policy: Some("restricted".to_owned()),
        project: Some(scene.project.clone()),
        flags: Flags::none(scene.cwd.clone()),
        report: None,
        receipt: Wish::Take,
        key_file: None,
        audit: Need::Wanted,
        backend: Some(Backend::Native),
        observe: Observe::Nothing,
        workspace: Workspace::Shared,
        records: Records::Leave,
        job: None,
        command,
    };
    // A system without `true` (an image with nothing but us) still has us.
    let own = || {
        std::env::current_exe()
            .map(|exe| vec![exe.into_os_string(), "--version".into()])
            .unwrap_or_default()
    };
    let prepared =
        run::prepare(&options(vec!["true".into()]), &run_id()).or_else(|_| run::prepare(&options(own()), &run_id()));
    let prepared = prepared.map_err(|refusal| (refusal.to_string(), refusal.help().unwrap_or_default()))?;
    let started = Instant::now();
    let outcome =
        launch::run_plain(&prepared.plan).map_err(|error| (error.to_string(), error.help().unwrap_or_default()))?;
    match outcome.end {
        End::Exited(0) => Ok(format!("yes, in {:.1} ms", started.elapsed().as_secs_f64() * 1000.0)),
        End::Exited(status) => Err((
            format!("built, but the command in it ended with status {status}"),
            String::new(),
        )),
        End::Signaled(signal) => Err((
            format!("built, but signal {signal} ended the command in it"),
            String::new(),
        )),
        End::Timeout => Err(("built, but the command in it did not end".to_owned(), String::new())),
        End::NotExecuted { errno } => {
            let error = io::Error::from_raw_os_error(errno);
            Err((
                format!("built, but the command in it cannot be executed: {}", plain(&error)),
                String::new(),
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_switches_that_are_closed_and_no_others() {
        let sysctl = BTreeMap::from([
            ("kernel.apparmor_restrict_unprivileged_userns", Some("1".to_owned())),
            ("kernel.unprivileged_userns_clone", None),
            ("user.max_user_namespaces", Some("0".to_owned())),
        ]);
        let refused = io::Error::from_raw_os_error(libc::EPERM);
        let told =
            "Operation not permitted\nkernel.apparmor_restrict_unprivileged_userns = 1\nuser.max_user_namespaces = 0";
        assert_eq!(reason(&refused, &sysctl), told);
        let open = BTreeMap::from([
            ("kernel.apparmor_restrict_unprivileged_userns", Some("0".to_owned())),
            ("kernel.unprivileged_userns_clone", Some("1".to_owned())),
            ("user.max_user_namespaces", Some("15000".to_owned())),
        ]);
        assert_eq!(reason(&refused, &open), "Operation not permitted");
    }
}
