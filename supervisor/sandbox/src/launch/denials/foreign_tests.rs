//! What root could do, and the sandbox's user cannot.

use super::*;

fn identity(from_root: bool) -> Identity {
    Identity {
        uid: 60_900,
        gid: 60_900,
        user: "sandbox".to_owned(),
        from_root,
    }
}

fn facts(uid: u32, mode: u32) -> Facts {
    Facts {
        mode,
        uid,
        gid: uid,
        is_mount: false,
    }
}

#[test]
fn who_may_change_it_depends_on_what_of_it() {
    let identity = identity(true);
    let foreign = Foreign::new(&identity);
    let (user, group) = (0, UNCHANGED);
    let nobody = Part::Owner { user: UNCHANGED, group };
    // Another's that all may write, and the own that nobody may.
    let (others, own) = (facts(7, 0o666), facts(60_900, 0o444));
    for (part, kept) in [
        (Part::Mode, [true, false]),
        (Part::Times, [true, false]),
        (Part::Owner { user, group }, [true, false]),
        (nobody, [false, false]),
        (Part::Now, [false, false]),
        (Part::Length, [false, true]),
        (Part::Attribute, [false, true]),
        (Part::NoAttribute, [false, true]),
    ] {
        let found = [&others, &own].map(|facts| foreign.keeps(part, facts));
        assert_eq!(found, kept, "{part:?}");
    }
}

#[test]
fn others_names_stay_in_a_sticky_directory() {
    let identity = identity(true);
    let foreign = Foreign::new(&identity);
    let (sticky, plain) = (facts(7, 0o1777), facts(7, 0o777));
    let (others, own) = (facts(7, 0o644), facts(60_900, 0o644));
    assert!(foreign.sticks(&sticky, &others));
    assert!(!foreign.sticks(&sticky, &own));
    assert!(!foreign.sticks(&plain, &others));
    assert!(!foreign.sticks(&facts(60_900, 0o1777), &others));
}

#[test]
fn a_closed_directory_shuts_off_all_below_it() {
    let closed = |from_root: bool| {
        let identity = identity(from_root);
        let foreign = Foreign::new(&identity);
        let look = |dir: &Path| Some(facts(7, if dir == Path::new("/a/b") { 0o700 } else { 0o755 }));
        ["/a/b", "/a/b/c", "/a/b/c/d"].map(|path| foreign.is_shut_off(Path::new(path), look))
    };
    assert_eq!(closed(true), [false, true, true]);
    assert_eq!(closed(false), [false; 3]);
}
