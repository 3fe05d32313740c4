//! Which mounts are not looked into, and what is a process's own.

use super::*;

#[test]
fn mounts_that_somebody_else_serves_are_known() {
    let line = |kind: &str| format!("36 35 98:0 /a /mnt/a\\040b rw,noatime shared:1 - {kind} src rw");
    for kind in ["autofs", "nfs4", "fuse.sshfs", "fuse", "9p", "cifs"] {
        let found = served(line(kind).as_bytes());
        assert_eq!(found, Some(PathBuf::from("/mnt/a b")), "{kind}");
    }
    for kind in ["ext4", "tmpfs", "overlay", "btrfs"] {
        assert_eq!(served(line(kind).as_bytes()), None, "{kind}");
    }
    assert_eq!(served(b"nonsense"), None);
}

#[test]
fn a_served_mount_answers_nothing() {
    let host = Host {
        served: vec!["/etc".into()],
    };
    assert!(!host.could(Path::new("/etc/passwd"), Want::Read));
    let host = Host { served: Vec::new() };
    assert!(host.could(Path::new("/etc/passwd"), Want::Read));
    assert!(!host.could(Path::new("/etc/no-such-file"), Want::Read));
    assert!(!host.could(Path::new("/etc"), Want::Execute));
}

#[test]
fn directories_of_processes_are_not_compared() {
    for path in ["/proc", "/proc/1/environ", "/proc/self/mem", "/proc/thread-self"] {
        assert!(is_about_a_process(Path::new(path)), "{path}");
    }
    for path in ["/proc/sys/kernel/core_pattern", "/proc/kcore", "/process/1"] {
        assert!(!is_about_a_process(Path::new(path)), "{path}");
    }
}
