//! Kernel interfaces that need no privilege.

use std::path::Path;

use glee_sandbox::seccomp::{Arch, DenialAction, FilterSpec, NetworkRule, Observe, SocketRule, Table, compile};
use glee_sandbox::sys::process::Pid;
use glee_sandbox::sys::{fd, landlock, path, process, seccomp as filter};

use super::trial::attempt;
use super::{Check, Draft, plain};

pub(super) fn landlock() -> Check {
    let row = Draft::new("Landlock", "the second lock on files, and `isolation: landlock`", true);
    let remedy = "Linux 5.13 or later with Landlock enabled: `lsm=landlock,…` on the kernel's command line";
    match landlock::abi() {
        0 => row.missing("no", remedy),
        abi => row.of(
            landlock::create(landlock::handled_fs(abi), 0, 0),
            format!("ABI {abi}"),
            remedy,
        ),
    }
}

pub(super) fn seccomp() -> Check {
    let row = Draft::new(
        "seccomp filter, USER_NOTIF",
        "the system call filter, and its report of denials",
        true,
    );
    let remedy = "Linux 5.5 or later with CONFIG_SECCOMP_FILTER; not inside a sandbox that has a listener already";
    let install = |denial| {
        let spec = FilterSpec {
            network: NetworkRule::LoopbackOnly,
            sockets: SocketRule::Namespaced,
            denial,
            observe: Observe::Nothing,
            debug: false,
        };
        let program = Table::builtin()
            .map(|table| compile(&table, &spec, Arch::NATIVE))
            .unwrap_or_default();
        attempt(|| {
            process::no_new_privs()?;
            match denial {
                DenialAction::Notify => filter::install_with_listener(&program).map(drop),
                DenialAction::Errno => filter::install(&program),
            }
        })
    };
    match (install(DenialAction::Notify), install(DenialAction::Errno)) {
        (Ok(()), _) => row.there("yes"),
        (Err(error), Ok(())) => row.missing(format!("filter yes, USER_NOTIF no: {}", plain(&error)), remedy),
        (Err(_), Err(error)) => row.failed(&error, plain(&error), remedy),
    }
}

pub(super) fn openat2() -> Check {
    let row = Draft::new("openat2", "mounts that follow no link", true);
    row.of(path::open_exact(Path::new("/")), "yes", "Linux 5.6 or later")
}

pub(super) fn clone3() -> Check {
    let row = Draft::new("clone3", "all namespaces and the cgroup in one step", true);
    let remedy = "Linux 5.3 or later; a container's or sandbox's own seccomp filter may forbid it";
    match attempt(|| Ok(())) {
        Ok(()) => row.there("yes"),
        Err(_) => row.missing("refused", remedy),
    }
}

pub(super) fn pidfd() -> Check {
    let row = Draft::new("pidfd", "ending the right process", true);
    let pid = libc::pid_t::try_from(std::process::id()).unwrap_or(0);
    row.of(process::pidfd_open(Pid(pid)), "yes", "Linux 5.3 or later")
}

pub(super) fn close_range() -> Check {
    let row = Draft::new("close_range", "no descriptor crosses into the sandbox", true);
    // Numbers that no descriptor ever has.
    row.of(fd::close_range(fd::LAST - 1, fd::LAST), "yes", "Linux 5.11 or later")
}
