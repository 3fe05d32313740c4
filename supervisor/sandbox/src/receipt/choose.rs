//! From a plan to the canaries that fit it.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use super::{Attempt, Canary, Expected, Fact, Family, LeftOut, Wish};
use crate::plan::{Access, Containment, Kind, LandlockPlan, MountStep, Namespace, SandboxPlan};
use crate::sys::landlock::{READ_DIR, WRITE_FILE};

/// From here on Landlock keeps a process from abstract unix sockets outside.
const SCOPES: u32 = 6;

/// On every host, open to everybody, and in no sandbox unless the policy names it.
const OUTSIDE: &str = "/sys";

/// Without namespaces: where everybody may write.
const WRITABLE_OUTSIDE: &[&str] = &["/tmp", "/var/tmp", "/dev/shm"];

/// For documentation, so that they lead nowhere on any network (RFC 5737, RFC 3849).
const NOWHERE: [IpAddr; 3] = [
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 1)),
    IpAddr::V4(Ipv4Addr::new(203, 0, 113, 1)),
];
const NOWHERE_V6: [IpAddr; 2] = [
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 1)),
];

const ABSENT: Expected = Expected::Refused(Cow::Borrowed(&[libc::ENOENT, libc::EACCES]));
const READ_ONLY: Expected = Expected::Refused(Cow::Borrowed(&[libc::EROFS, libc::EACCES]));
const NO_ROUTE: Expected = Expected::Refused(Cow::Borrowed(&[
    libc::ENETUNREACH,
    libc::EHOSTUNREACH,
    libc::EADDRNOTAVAIL,
    libc::EAFNOSUPPORT,
    libc::EACCES,
    libc::EPERM,
]));
const NOT_THERE: Expected = Expected::Refused(Cow::Borrowed(&[libc::ECONNREFUSED, libc::EPERM, libc::EACCES]));
const NO_FAMILY: Expected = Expected::Refused(Cow::Borrowed(&[libc::EAFNOSUPPORT]));
const NOT_ALLOWED: Expected = Expected::Refused(Cow::Borrowed(&[libc::EPERM]));
/// Absent where the host hides the processes of others.
const NO_ACCESS: Expected = Expected::Refused(Cow::Borrowed(&[libc::EACCES, libc::EPERM, libc::ENOENT]));
const NO_SUCH_CALL: Expected = Expected::Refused(Cow::Borrowed(&[libc::ENOSYS]));
/// An id that the user namespace has no name for is invalid rather than forbidden.
const NOT_ROOT: Expected = Expected::Refused(Cow::Borrowed(&[libc::EPERM, libc::EINVAL]));

/// The canaries of a plan, on a kernel with this Landlock ABI. The cheap ones first: what is wrong is found early.
#[must_use]
pub fn canaries(plan: &SandboxPlan, landlock_abi: u32) -> Vec<Canary> {
    let mut list = Vec::with_capacity(20);
    if plan.receipt == Wish::Off {
        return list;
    }
    let mut add = |attempt, expected| list.push(Canary { attempt, expected });
    add(Attempt::Fact(Fact::NoNewPrivs), Expected::Is(1));
    if plan.containment == Containment::Inherit {
        return list;
    }
    add(Attempt::Fact(Fact::Capabilities), Expected::Is(0));
    if plan.containment == Containment::Namespaces {
        add(Attempt::Fact(Fact::BoundingSet), Expected::Is(0));
    }
    add(Attempt::Fact(Fact::Uid), Expected::Is(u64::from(plan.identity.uid)));
    add(Attempt::BecomeRoot, NOT_ROOT);
    if let Some(path) = outside(plan) {
        add(Attempt::Read(path), ABSENT);
    }
    for path in read_only(plan) {
        add(Attempt::Write(path), READ_ONLY);
    }
    if let Some(path) = protected(plan) {
        add(Attempt::Unprotected(path.to_owned()), READ_ONLY);
    }
    add(Attempt::ReadParent, NO_ACCESS);
    if plan.seccomp.is_some() {
        add(Attempt::Fact(Fact::SeccompMode), Expected::Is(2));
        add(Attempt::IoUring, NO_SUCH_CALL);
        add(Attempt::Mount, NO_SUCH_CALL);
    }
    let own_network = plan.namespaces.contains(&Namespace::Net);
    if own_network {
        for address in unreached(plan) {
            add(Attempt::Connect(address), NO_ROUTE);
        }
    }
    match plan.containment {
        Containment::Namespaces if own_network || landlock_abi >= SCOPES => add(Attempt::HostSocket, NOT_THERE),
        Containment::Landlock => {
            add(Attempt::Socket(Family::Unix), NO_FAMILY);
            add(Attempt::Socket(Family::Internet), NO_FAMILY);
        }
        Containment::Namespaces | Containment::Inherit => {}
    }
    if plan.seccomp.is_some() {
        add(Attempt::UserNamespace, NOT_ALLOWED);
    }
    list
}

/// What every such plan forbids and no canary tries.
#[must_use]
pub(crate) fn left_out(plan: &SandboxPlan) -> Vec<LeftOut> {
    match (plan.receipt, &plan.seccomp) {
        (Wish::Take, Some(_)) => vec![LeftOut {
            name: "foreign system calls",
            reason: Cow::Borrowed("whoever makes one is killed, and the kernel's log would name each run"),
        }],
        (Wish::Take, None) | (Wish::Off, _) => Vec::new(),
    }
}

fn outside(plan: &SandboxPlan) -> Option<PathBuf> {
    let path = Path::new(OUTSIDE);
    let seen = match plan.containment {
        Containment::Namespaces => plan.mounts.iter().any(|step| shows(step, path)),
        Containment::Landlock => is_granted(plan.landlock.as_ref(), path, READ_DIR),
        Containment::Inherit => true,
    };
    (!seen).then(|| path.to_owned())
}

/// Does the step put something at the path, above it or below it?
fn shows(step: &MountStep, path: &Path) -> bool {
    let at = step.at();
    at.starts_with(path) || (path.starts_with(at) && matches!(step, MountStep::Bind { .. }))
}

fn is_granted(rules: Option<&LandlockPlan>, path: &Path, right: u64) -> bool {
    rules.is_none_or(|plan| {
        plan.rules
            .iter()
            .any(|(at, rights)| path.starts_with(at) && rights & right != 0)
    })
}

/// Directories that the user could write but for the sandbox: the new root and a tree granted for reading; without
/// namespaces one where everybody may.
fn read_only(plan: &SandboxPlan) -> Vec<PathBuf> {
    match plan.containment {
        Containment::Namespaces => [Some(PathBuf::from("/")), tree(plan)].into_iter().flatten().collect(),
        Containment::Landlock => {
            let forbidden = |path: &&&str| !is_granted(plan.landlock.as_ref(), Path::new(path), WRITE_FILE);
            WRITABLE_OUTSIDE
                .iter()
                .find(forbidden)
                .map(|path| PathBuf::from(*path))
                .into_iter()
                .collect()
        }
        Containment::Inherit => Vec::new(),
    }
}

/// The innermost tree for reading around the working directory, if nothing is laid over it.
fn tree(plan: &SandboxPlan) -> Option<PathBuf> {
    let around = |step: &&MountStep| {
        let is_tree = matches!(
            step,
            MountStep::Bind {
                access: Access::ReadOnly,
                kind: Kind::Dir,
                ..
            }
        );
        is_tree && plan.command.cwd.starts_with(step.at())
    };
    let at = plan.mounts.iter().filter(around).map(MountStep::at).max()?;
    let layers = plan.mounts.iter().filter(|step| step.at() == at).count();
    (layers == 1).then(|| at.to_owned())
}

/// The first name that is covered by itself.
fn protected(plan: &SandboxPlan) -> Option<&Path> {
    let is_cover = |step: &&MountStep| matches!(step, MountStep::Protect { .. });
    plan.mounts.iter().find(is_cover).map(MountStep::at)
}

/// An address of each family that no door has made local.
fn unreached(plan: &SandboxPlan) -> Vec<IpAddr> {
    let local = |address: &&IpAddr| {
        let within = |(base, length): &(IpAddr, u8)| match (base, **address) {
            (IpAddr::V4(base), IpAddr::V4(at)) => {
                shared_bits(u128::from(u32::from(*base) ^ u32::from(at)), 32) >= u32::from(*length)
            }
            (IpAddr::V6(base), IpAddr::V6(at)) => {
                shared_bits(u128::from(*base) ^ u128::from(at), 128) >= u32::from(*length)
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
        };
        !plan.doors.local.iter().any(within)
    };
    let one = |list: &[IpAddr]| list.iter().find(local).copied();
    [one(&NOWHERE), one(&NOWHERE_V6)].into_iter().flatten().collect()
}

/// How many of the first bits of two addresses are the same, by what differs between them.
fn shared_bits(difference: u128, width: u32) -> u32 {
    difference.leading_zeros().saturating_sub(128 - width)
}
