//! Which mounts are not looked into, and what is a process's own.

use super::*;

fn host(served: &[&str], held: &[&Path]) -> Host {
    Host {
        served: served.iter().map(PathBuf::from).collect(),
        held: held.iter().map(|path| path.to_path_buf()).collect(),
        caller: Caller::new(),
    }
}

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
    let host = host(&["/etc"], &[]);
    assert!(!host.could(Path::new("/etc/passwd"), Want::Read, Last::Follow));
    let host = self::host(&[], &[]);
    assert!(host.could(Path::new("/etc/passwd"), Want::Read, Last::Follow));
    assert!(!host.could(Path::new("/etc/no-such-file"), Want::Read, Last::Follow));
    assert!(!host.could(Path::new("/etc"), Want::Execute, Last::Follow));
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

#[test]
fn what_fails_without_a_sandbox_was_not_possible() {
    let dir = std::env::temp_dir().join(format!("glee-host-{}", std::process::id()));
    let (file, full, empty, held) = (dir.join("file"), dir.join("full"), dir.join("empty"), dir.join("held"));
    for made in [&full, &empty] {
        fs::create_dir_all(made).expect("make a directory");
    }
    for made in [&file, &full.join("x"), &held] {
        fs::write(made, "").expect("make a file");
    }
    let host = host(&[], &[&held]);
    let could = |path: &Path, want| host.could(path, want, Last::Itself);
    let seen = [
        could(&file, Want::Remove(Target::File)),
        could(&empty, Want::Remove(Target::EmptyDir)),
        could(&full, Want::Remove(Target::Anything)),
        could(&held, Want::Make),
        could(&held, Want::Replace(Over::Nothing)),
        could(&file, Want::Replace(Over::Anything)),
        could(&file, Want::Change(Part::Mode)),
    ];
    let not = [
        could(&empty, Want::Remove(Target::File)),
        could(&file, Want::Remove(Target::EmptyDir)),
        could(&full, Want::Remove(Target::EmptyDir)),
        could(&held, Want::Remove(Target::Anything)),
        could(&held, Want::Write),
        could(&held, Want::Replace(Over::Exchanged)),
        could(&file, Want::Replace(Over::Nothing)),
        could(&dir.join("missing"), Want::Remove(Target::Anything)),
    ];
    fs::remove_dir_all(&dir).expect("remove a directory");
    assert_eq!((seen, not), ([true; 7], [false; 8]));
}

#[test]
fn what_a_link_leads_to_is_not_the_link() {
    let dir = std::env::temp_dir().join(format!("glee-links-{}", std::process::id()));
    fs::create_dir_all(dir.join("d")).expect("make a directory");
    fs::write(dir.join("f"), "").expect("make a file");
    std::os::unix::fs::symlink("f", dir.join("l")).expect("make a link");
    std::os::unix::fs::symlink("nowhere", dir.join("dangling")).expect("make a link");
    let _socket = std::os::unix::net::UnixListener::bind(dir.join("s")).expect("make a socket");
    let host = host(&[], &[]);
    let could = |name: &str, want, last| host.could(&dir.join(name), want, last);
    let owner = Part::Owner {
        user: UNCHANGED,
        group: UNCHANGED,
    };
    let seen = [
        could("dangling", Want::Change(owner), Last::Itself),
        could("dangling", Want::Change(Part::Times), Last::Itself),
        could("l", Want::Change(Part::Mode), Last::Follow),
        could("l", Want::Read, Last::Follow),
        could("f", Want::Change(Part::Mode), Last::Itself),
        could("d", Want::List, Last::Follow),
        could("d", Want::Enter, Last::Follow),
        could("d", Want::MakeIn, Last::Follow),
        could("new", Want::ReadOrMake, Last::Follow),
    ];
    let not = [
        could("dangling", Want::Change(owner), Last::Follow),
        could("l", Want::Change(Part::Mode), Last::Itself),
        could("l", Want::Read, Last::Itself),
        could("l", Want::WriteOrMake, Last::Itself),
        could("f", Want::List, Last::Follow),
        could("f", Want::Enter, Last::Follow),
        could("f", Want::MakeIn, Last::Follow),
        could("d", Want::Change(Part::Length), Last::Follow),
        could("s", Want::Read, Last::Follow),
        could("s", Want::Write, Last::Follow),
        could("nowhere/new", Want::ReadOrMake, Last::Follow),
    ];
    let meant = ["f", "new"].map(|name| host.meant(&dir.join(name), Want::ReadOrMake, Last::Follow));
    let attribute = |part| host.could_attribute(&dir.join("f"), part, c"user.not-there", Last::Follow);
    let attributes = [Part::Attribute, Part::NoAttribute].map(attribute);
    fs::remove_dir_all(&dir).expect("remove a directory");
    assert_eq!((seen, not), ([true; 9], [false; 11]));
    assert_eq!((meant, attributes), ([Want::Read, Want::WriteOrMake], [true, false]));
}

#[test]
fn an_ordinary_user_gives_nothing_away() {
    let facts = |uid| Facts {
        mode: libc::S_IFREG | 0o644,
        uid,
        gid: 7,
        is_mount: false,
    };
    let user = Caller {
        user: 1000,
        groups: vec![1000, 7],
    };
    assert!(user.gives(&facts(1000), 1000, 7) && user.gives(&facts(1000), UNCHANGED, 1000));
    assert!(user.gives(&facts(0), UNCHANGED, UNCHANGED));
    assert!(!user.gives(&facts(1000), 0, UNCHANGED) && !user.gives(&facts(1000), UNCHANGED, 0));
    assert!(!user.gives(&facts(0), 0, UNCHANGED));
    let root = Caller {
        user: 0,
        groups: Vec::new(),
    };
    assert!(root.gives(&facts(1000), 0, 0));
}
