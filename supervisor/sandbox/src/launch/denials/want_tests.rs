//! What calls want, by their arguments.

use super::*;
use crate::seccomp::{Observe, Shape};

fn wanted(call: &str, args: [u64; 6]) -> [Option<Want>; 2] {
    let Some(Shape::Path { act, .. }) = Observe::Everything.shape(call) else {
        panic!("{call} has no path");
    };
    of(act, &args).map(|want| want.map(|(want, _)| want))
}

#[test]
fn flags_say_what_goes_away_and_what_may_be_replaced() {
    let removed = |call: &str, args| wanted(call, args)[0];
    assert_eq!(removed("unlink", [0; 6]), Some(Want::Remove(Target::File)));
    assert_eq!(removed("rmdir", [0; 6]), Some(Want::Remove(Target::EmptyDir)));
    assert_eq!(removed("unlinkat", [0; 6]), Some(Want::Remove(Target::File)));
    let dir = [0, 0, libc::AT_REMOVEDIR as u64, 0, 0, 0];
    assert_eq!(removed("unlinkat", dir), Some(Want::Remove(Target::EmptyDir)));
    for (flags, over) in [(0, Over::Anything), (1, Over::Nothing), (2, Over::Exchanged)] {
        assert_eq!(
            wanted("renameat2", [0, 0, 0, 0, flags, 0])[1],
            Some(Want::Replace(over))
        );
    }
    // Without flags the fifth argument is none.
    assert_eq!(
        wanted("renameat", [0, 0, 0, 0, 1, 0])[1],
        Some(Want::Replace(Over::Anything))
    );
}

#[test]
fn who_may_change_a_file_depends_on_what_of_it() {
    let (user, group) = (1000, UNCHANGED);
    let given = [0, 1000, u64::from(UNCHANGED), 0, 0, 0];
    let changed = |call: &str, args| wanted(call, args)[0];
    assert_eq!(changed("chown", given), Some(Want::Change(Part::Owner { user, group })));
    assert_eq!(changed("chmod", [0; 6]), Some(Want::Change(Part::Mode)));
    assert_eq!(changed("truncate", [0; 6]), Some(Want::Change(Part::Length)));
    assert_eq!(changed("removexattr", [0; 6]), Some(Want::Change(Part::NoAttribute)));
    assert_eq!(changed("utimensat", [0; 6]), Some(Want::Change(Part::Now)));
    assert_eq!(
        changed("utimensat", [0, 0, 9, 0, 0, 0]),
        Some(Want::Change(Part::Times))
    );
}

#[test]
fn a_flag_says_that_the_link_itself_is_changed() {
    let last = |call: &str, args| {
        let Some(Shape::Path { act, .. }) = Observe::Attempts.shape(call) else {
            panic!("{call} has no path");
        };
        of(act, &args)[0].map(|(_, last)| last)
    };
    let itself = libc::AT_SYMLINK_NOFOLLOW as u64;
    for (call, arg) in [
        ("fchownat", 4),
        ("fchmodat2", 3),
        ("utimensat", 3),
        ("setxattrat", 2),
        ("removexattrat", 2),
    ] {
        let mut args = [0; 6];
        assert_eq!(last(call, args), Some(Last::Follow), "{call}");
        args[arg] = itself;
        assert_eq!(last(call, args), Some(Last::Itself), "{call}");
    }
    // The fourth argument of the old call is none.
    assert_eq!(last("fchmodat", [0, 0, 0, itself, 0, 0]), Some(Last::Follow));
}

#[test]
fn flags_of_open_say_what_is_wanted() {
    let opened = |flags: libc::c_int| wanted("open", [0, flags as u64, 0, 0, 0, 0])[0];
    for (flags, want) in [
        (libc::O_RDONLY, Some(Want::Read)),
        (libc::O_RDONLY | libc::O_CREAT, Some(Want::ReadOrMake)),
        (libc::O_RDONLY | libc::O_DIRECTORY, Some(Want::List)),
        (libc::O_WRONLY | libc::O_DIRECTORY, None),
        (libc::O_WRONLY | libc::O_TMPFILE, Some(Want::MakeIn)),
        (libc::O_RDONLY | libc::O_PATH, Some(Want::Look(Look::There))),
        (libc::O_PATH | libc::O_DIRECTORY, Some(Want::Look(Look::Directory))),
        (libc::O_RDONLY | libc::O_CREAT | libc::O_EXCL, Some(Want::Make)),
    ] {
        assert_eq!(opened(flags), want, "{flags:o}");
    }
}

#[test]
fn a_slash_at_the_end_means_a_directory() {
    let ending = |path: &str| Ending::of(Path::new(path));
    assert_eq!(
        ["/a", "/a/", "/a/.", "/", "/a.", "/a/.."].map(ending),
        [
            Ending::Name,
            Ending::Slash,
            Ending::Dot,
            Ending::Name,
            Ending::Name,
            Ending::Name
        ]
    );
    assert!(Want::Read.is_possible(Ending::Slash) && Want::MakeDir.is_possible(Ending::Slash));
    for want in [Want::Write, Want::WriteOrMake, Want::Make, Want::Execute] {
        assert!(!want.is_possible(Ending::Slash), "{want:?}");
    }
    assert!(!Want::MakeDir.is_possible(Ending::Dot));
}

#[test]
fn looks_follow_links_unless_told_otherwise() {
    let looked = |call: &str, args| {
        let Some(Shape::Path { act, .. }) = Observe::Everything.shape(call) else {
            panic!("{call} has no path");
        };
        of(act, &args)[0]
    };
    let there = |last| Some((Want::Look(Look::There), last));
    for call in ["stat", "statfs", "getxattr", "listxattr"] {
        assert_eq!(looked(call, [0; 6]), there(Last::Follow), "{call}");
    }
    for call in ["lstat", "lgetxattr", "llistxattr"] {
        assert_eq!(looked(call, [0; 6]), there(Last::Itself), "{call}");
    }
    // Only a link leads anywhere.
    for call in ["readlink", "readlinkat"] {
        let link = Some((Want::Look(Look::Link), Last::Itself));
        assert_eq!(looked(call, [0; 6]), link, "{call}");
    }
    for (call, arg) in [("newfstatat", 3), ("statx", 2), ("faccessat2", 3)] {
        let mut args = [0; 6];
        assert_eq!(looked(call, args), there(Last::Follow), "{call}");
        args[arg] = libc::AT_SYMLINK_NOFOLLOW as u64;
        assert_eq!(looked(call, args), there(Last::Itself), "{call}");
    }
    let may = |mode| Some((Want::Look(Look::May(mode)), Last::Follow));
    assert_eq!(looked("access", [0, 2, 0, 0, 0, 0]), may(2));
    assert_eq!(looked("faccessat", [0, 0, 1, 0x100, 0, 0]), may(1));
    assert_eq!(looked("inotify_add_watch", [0; 6]), may(4));
}
