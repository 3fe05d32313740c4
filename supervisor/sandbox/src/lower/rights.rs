//! Landlock rules: the second lock inside the mount namespace, the only one in the weaker mode.

use std::path::{Path, PathBuf};

use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{FsAccess, Network};

use super::LowerError;
use super::trees::Trees;
use crate::plan::LandlockPlan;
use crate::survey::{Entry, Hidden, Terrain, is_own, private_dirs};
use crate::sys::landlock::{ALL_FS, EXECUTE, IOCTL_DEV, READ_DIR, READ_FILE, TRUNCATE, WRITE_FILE};

const MAKE_CHAR: u64 = 1 << 6;
const MAKE_BLOCK: u64 = 1 << 11;

const READ: u64 = READ_FILE | READ_DIR | EXECUTE;
/// Everything a tree needs but devices: none can be made, and none that is there talks to a driver.
const WRITE: u64 = ALL_FS & !(MAKE_CHAR | MAKE_BLOCK | IOCTL_DEV);
const DEVICE: u64 = READ_FILE | READ_DIR | WRITE_FILE | TRUNCATE | IOCTL_DEV;

fn rights(access: FsAccess) -> u64 {
    match access {
        FsAccess::Read => READ,
        FsAccess::ReadWrite => WRITE,
    }
}

/// Rules for the new root, by its own paths.
pub(super) fn in_namespaces(policy: &ResolvedPolicy, terrain: &Terrain, trees: &Trees) -> LandlockPlan {
    let mut rules: Vec<(PathBuf, u64)> = vec![
        // The names of what the mount namespace shows; what it does not show has no name here.
        ("/".into(), READ_DIR),
        ("/etc".into(), READ_FILE | READ_DIR),
        ("/proc".into(), READ_FILE | READ_DIR),
        ("/dev".into(), DEVICE),
    ];
    rules.extend(programs(terrain));
    // What is denied all the same is covered, and what it is covered with may not even be looked into.
    let is_shown = |path: &Path| policy.denied_by(path).is_none();
    let laid = trees.private.iter().filter(|path| is_shown(path));
    rules.extend(laid.map(|path| (path.clone(), WRITE)));
    let private = private_dirs(&terrain.project);
    let is_granted = |path: &Path| is_shown(path) && !is_own(path) && !private.iter().any(|p| p == path);
    let granted = policy
        .grants
        .iter()
        .filter(|g| g.exists && is_granted(g.path.as_path()));
    for grant in granted {
        if grant.path.as_path() == Path::new("/") {
            rules.extend(terrain.top.iter().map(|dir| (dir.clone(), rights(grant.access))));
        } else {
            rules.push((grant.path.as_path().to_owned(), rights(grant.access)));
        }
    }
    let extra = trees.extra.iter().filter(|(path, _)| is_shown(path));
    rules.extend(extra.map(|(path, access)| (path.clone(), rights(*access))));
    rules.extend(stdio(terrain));
    LandlockPlan { rules, deny_tcp: false }
}

/// Trees of programs and libraries. A link stands for a tree that is listed itself.
fn programs(terrain: &Terrain) -> impl Iterator<Item = (PathBuf, u64)> {
    terrain
        .system
        .iter()
        .filter(|system| system.entry == Entry::Dir && !system.path.starts_with("/etc"))
        .map(|system| (system.path.clone(), READ))
}

/// Files behind the standard descriptors may be opened again through `/dev/stdout`, in the way they are open already.
fn stdio(terrain: &Terrain) -> impl Iterator<Item = (PathBuf, u64)> {
    terrain.stdio.iter().map(|(number, access)| {
        let rights = match access {
            FsAccess::Read => READ_FILE,
            FsAccess::ReadWrite => WRITE_FILE | TRUNCATE,
        };
        (PathBuf::from(format!("/proc/self/fd/{number}")), rights)
    })
}

/// Rules for the host's own tree, where no namespace stands behind them.
pub(super) fn on_the_host(policy: &ResolvedPolicy, terrain: &Terrain) -> Result<LandlockPlan, LowerError> {
    let refuse = |clause: &str, reason: &str| {
        let origin = policy
            .origins
            .get("isolation")
            .map(ToString::to_string)
            .unwrap_or_default();
        Err(LowerError::new(
            clause,
            origin,
            reason,
            "use `isolation: namespaces`, or drop the clause",
        ))
    };
    if policy.network != Network::Off {
        return refuse("network", "`isolation: landlock` has no sockets at all");
    }
    if let Some(Hidden::Present { path, .. }) = terrain.hidden.iter().find(|h| matches!(h, Hidden::Present { .. })) {
        let clause = format!("fs.deny: {}", path.display());
        return refuse(
            &clause,
            "`isolation: landlock` can only grant, not hide inside what is granted",
        );
    }
    if terrain.caller.uid == 0 {
        return refuse(
            "isolation: landlock",
            "as root it would leave the kernel's own files writable",
        );
    }
    let mut rules: Vec<(PathBuf, u64)> = vec![("/proc".into(), READ_FILE | READ_DIR)];
    rules.extend(programs(terrain));
    for system in terrain
        .system
        .iter()
        .filter(|s| s.path.starts_with("/etc") || s.entry == Entry::Device)
    {
        let right = if system.entry == Entry::Device {
            DEVICE
        } else {
            READ_FILE | READ_DIR
        };
        rules.push((system.path.clone(), right));
    }
    // Not the terminals in it: they are the user's others. The command's own is open already, and `/dev/tty` is it.
    rules.push(("/dev/pts".into(), READ_DIR));
    for grant in policy.grants.iter().filter(|g| g.exists) {
        rules.push((grant.path.as_path().to_owned(), rights(grant.access)));
    }
    rules.extend(terrain.command.files.iter().map(|file| (file.clone(), READ)));
    rules.extend(stdio(terrain));
    Ok(LandlockPlan { rules, deny_tcp: true })
}
