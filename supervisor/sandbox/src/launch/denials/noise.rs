//! Refusals that every program causes and nobody needs to know of. docs/denials.md repeats this list.
//!
//! Pure. INVARIANT: nothing that could hold a secret is on it, and of what is written to only empty locks and cargo's own notes.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::row::DeniedKind;

/// A place and why it is asked for.
struct Noise {
    /// A file, or a directory with everything below it. A `*` stands for some of a name, a `/` at the end for the directory alone.
    at: &'static str,
    #[cfg_attr(
        not(test),
        allow(dead_code, reason = "read by the test that compares the list with the documentation")
    )]
    why: &'static str,
}

const fn noise(at: &'static str, why: &'static str) -> Noise {
    Noise { at, why }
}

const NOISE: &[Noise] = &[
    noise("/etc/ld.so.preload", "the loader looks for it at each start"),
    noise("/etc/ld-nix.so.preload", "the loader looks for it at each start"),
    noise("/etc/suid-debug", "the C library looks for it at each start"),
    noise("/etc/locale.alias", "the C library, for names of languages"),
    noise("/etc/bindresvport.blacklist", "the C library, before some connections"),
    noise("/etc/selinux", "asks whether SELinux is on"),
    noise("/etc/nscd.conf", "asks for a cache of names"),
    noise("/var/run/nscd", "asks for a cache of names"),
    noise("/run/nscd", "asks for a cache of names"),
    noise("/var/db/nscd", "asks for a cache of names"),
    noise("/var/cache/nscd", "asks for a cache of names"),
    noise("/etc/inputrc", "line editing"),
    noise("/etc/profile", "a shell's start-up file"),
    noise("/etc/profile.d", "a shell's start-up file"),
    noise("/etc/bash.bashrc", "a shell's start-up file"),
    noise("/etc/zsh", "a shell's start-up file"),
    noise("/etc/zshenv", "a shell's start-up file"),
    noise("/etc/fish", "a shell's start-up file"),
    noise("/etc/machine-id", "asks which machine this is"),
    noise("/var/lib/dbus/machine-id", "asks which machine this is"),
    noise("/etc/terminfo", "describes terminals"),
    noise("/etc/debuginfod", "debuggers"),
    noise("/etc/python*/sitecustomize.py", "Python looks for it at each start"),
    noise("/etc/ldap/ldap.conf", "libraries of curl and git"),
    noise("/etc/crypto-policies", "asks for the system's choice of ciphers"),
    noise("/proc/sys/kernel/cap_last_cap", "counts capabilities"),
    noise("/proc/sys/vm/overcommit_memory", "memory allocators"),
    noise("/proc/sys/vm/nr_hugepages", "memory allocators"),
    noise("/sys/devices/system/cpu", "counts processors"),
    noise("/sys/devices/system/node", "counts processors"),
    noise("/sys/fs/cgroup", "asks for limits of its own"),
    noise("/sys/fs/selinux", "asks whether SELinux is on"),
    noise("/sys/kernel/mm/transparent_hugepage", "memory allocators"),
    noise("/sys/kernel/mm/hugepages", "memory allocators"),
    noise("/sys/module/apparmor", "asks whether AppArmor is on"),
    noise("/tmp/hsperfdata_*", "Java looks for others of its kind"),
    noise("/run/", "the C library, on its way to names of users"),
    noise("/run/systemd/userdb", "the C library asks for names of users"),
    noise("/opt/", "compilers look for others of their kind"),
];

/// What a compiler made before, in a home: it is made again.
const MADE_BEFORE: &[Noise] = &[
    noise(".cache/go-build", "Go looks for what it compiled before"),
    noise(".cache/ccache", "ccache looks for what it compiled before"),
];

/// Names in a directory `.cargo` that cargo opens for writing at each build, and does without.
const LOCKS: &[Noise] = &[
    noise(".package-cache", "cargo locks its store, and goes on if it cannot"),
    noise(
        ".package-cache-mutate",
        "cargo locks its store, and goes on if it cannot",
    ),
    noise(
        ".global-cache",
        "cargo notes when it last used what, and goes on if it cannot",
    ),
];

fn is_lock(path: &Path) -> bool {
    let (dir, name) = (path.parent().and_then(Path::file_name), path.file_name());
    dir.is_some_and(|dir| dir == ".cargo") && LOCKS.iter().any(|lock| name.is_some_and(|name| name == lock.at))
}

/// Does `at`, with what is below it, hold the path?
fn holds(at: &str, path: &Path) -> bool {
    if let Some(alone) = at.strip_suffix('/') {
        return path == Path::new(alone);
    }
    let Some((start, end)) = at.split_once('*') else {
        return path.starts_with(at);
    };
    let rest = path.as_os_str().as_bytes().strip_prefix(start.as_bytes());
    let middle = rest.and_then(|rest| rest.strip_suffix(end.as_bytes()));
    middle.is_some_and(|middle| !middle.contains(&b'/'))
}

fn is_made_before(path: &Path) -> bool {
    let is_it = |dir: &Path| MADE_BEFORE.iter().any(|made| dir.ends_with(made.at));
    path.ancestors().any(is_it)
}

/// Is this left out of the report?
pub(super) fn is_noise(kind: DeniedKind, path: &Path) -> bool {
    match kind {
        DeniedKind::Read | DeniedKind::Hidden | DeniedKind::Unix => {
            NOISE.iter().any(|noise| holds(noise.at, path)) || is_made_before(path)
        }
        DeniedKind::Write => is_lock(path),
        DeniedKind::Execute | DeniedKind::Syscall | DeniedKind::Network | DeniedKind::Limit => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_exactly_this() {
        let document = include_str!("../../../../../docs/denials.md");
        let written: Vec<&str> = document.lines().filter(|line| line.starts_with("| `/")).collect();
        let listed: Vec<String> = NOISE
            .iter()
            .map(|noise| format!("| `{}` | {} |", noise.at, noise.why))
            .collect();
        assert_eq!(written, listed);
        let written: Vec<&str> = document.lines().filter(|line| line.starts_with("| `~/")).collect();
        let made = MADE_BEFORE
            .iter()
            .map(|noise| format!("| `~/{}` | {} |", noise.at, noise.why));
        let locks = LOCKS
            .iter()
            .map(|noise| format!("| `~/.cargo/{}` | {} |", noise.at, noise.why));
        let listed: Vec<String> = made.chain(locks).collect();
        assert_eq!(written, listed);
    }

    #[test]
    fn a_neighbour_is_no_noise_and_neither_is_writing() {
        assert!(is_noise(DeniedKind::Hidden, Path::new("/sys/fs/cgroup/cpu.max")));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/sys/fs/cgroups")));
        assert!(!is_noise(DeniedKind::Write, Path::new("/etc/ld.so.preload")));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/etc/shadow")));
        assert!(is_noise(DeniedKind::Write, Path::new("/home/me/.cargo/.package-cache")));
        assert!(!is_noise(DeniedKind::Write, Path::new("/home/me/.cargo/config.toml")));
        assert!(!is_noise(DeniedKind::Write, Path::new("/home/me/.package-cache")));
        assert!(is_noise(
            DeniedKind::Hidden,
            Path::new("/home/me/.cache/go-build/01/01-a")
        ));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/home/me/.cache/go-builds/01")));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/home/me/go-build/01")));
        assert!(!is_noise(
            DeniedKind::Write,
            Path::new("/home/me/.cache/go-build/01/01-a")
        ));
        assert!(is_noise(DeniedKind::Hidden, Path::new("/run")));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/run/docker.sock")));
        assert!(is_noise(DeniedKind::Hidden, Path::new("/tmp/hsperfdata_me")));
        assert!(!is_noise(DeniedKind::Hidden, Path::new("/tmp/hsperfdata_me/1")));
        let at_start = Path::new("/etc/python3.11/sitecustomize.py");
        assert!(is_noise(DeniedKind::Read, at_start) && !is_noise(DeniedKind::Write, at_start));
        for other in [
            "/etc/python3.11/other.py",
            "/etc/python3/dist/sitecustomize.py",
            "/etc/sitecustomize.py",
        ] {
            assert!(!is_noise(DeniedKind::Read, Path::new(other)), "{other}");
        }
    }
}
