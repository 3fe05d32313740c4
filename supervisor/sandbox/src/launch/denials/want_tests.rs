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
    assert_eq!(wanted("chown", given)[0], Some(Want::Change(By::Giver { user, group })));
    assert_eq!(wanted("chmod", [0; 6])[0], Some(Want::Change(By::Owner)));
    assert_eq!(wanted("truncate", [0; 6])[0], Some(Want::Change(By::Writer)));
    assert_eq!(wanted("utimensat", [0; 6])[0], Some(Want::Change(By::Writer)));
    assert_eq!(
        wanted("utimensat", [0, 0, 9, 0, 0, 0])[0],
        Some(Want::Change(By::Owner))
    );
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
