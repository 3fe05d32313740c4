use std::path::PathBuf;

use super::*;
use crate::plan::Kind;

const MAP: IdMap = IdMap {
    from_uid: 0,
    from_gid: 0,
};

fn bind(at: &str, access: Access, idmap: Option<IdMap>) -> MountStep {
    MountStep::Bind {
        from: PathBuf::from(format!("/host{at}")),
        at: at.into(),
        kind: Kind::Dir,
        access,
        idmap,
    }
}

fn pin(at: &str) -> MountStep {
    MountStep::Pin { at: at.into() }
}

/// The numbers of the pins that are made of the host's trees, and of which.
fn made(mounts: &[MountStep]) -> Option<Vec<(usize, String, Option<IdMap>)>> {
    let row = |(number, source): (usize, Source<'_>)| (number, source.from.display().to_string(), source.idmap);
    pins(mounts).map(|pins| pins.into_iter().map(row).collect())
}

#[test]
fn a_pin_in_a_writable_tree_is_made_of_that_tree() {
    let mounts = [
        bind("/p", Access::ReadWrite, Some(MAP)),
        bind("/q", Access::ReadWrite, None),
        pin("/p/.git"),
        pin("/p/.git/a"),
        pin("/q/b"),
    ];
    let expected = vec![
        (2, "/host/p/.git".to_owned(), Some(MAP)),
        (3, "/host/p/.git/a".to_owned(), Some(MAP)),
        (4, "/host/q/b".to_owned(), None),
    ];
    assert_eq!(made(&mounts), Some(expected));
}

#[test]
fn a_pin_where_nothing_can_be_written_is_inits() {
    let at = PathBuf::from("/p/.git");
    for above in [
        bind("/p/.git", Access::ReadOnly, None),
        MountStep::Protect { at: at.clone() },
        MountStep::Private { at, name: "home" },
    ] {
        let mounts = [
            bind("/p", Access::ReadWrite, Some(MAP)),
            above,
            pin("/p/.git/a"),
            pin("/p/.git/a/b"),
        ];
        assert_eq!(made(&mounts), Some(Vec::new()));
    }
}

/// A pin that init makes brings along what is mounted below it; one that is made of the host's tree would not.
#[test]
fn no_pin_is_made_where_something_is_mounted_below_one() {
    for below in [
        bind("/p/a/b", Access::ReadOnly, None),
        bind("/p/a", Access::ReadWrite, Some(MAP)),
        MountStep::Protect { at: "/p/a/b".into() },
    ] {
        let mounts = [
            bind("/p", Access::ReadWrite, Some(MAP)),
            below,
            pin("/p/a"),
            pin("/p/z"),
        ];
        assert_eq!(made(&mounts), None);
    }
}

#[test]
fn without_a_tree_of_another_owner_every_pin_is_inits() {
    assert_eq!(made(&[bind("/p", Access::ReadWrite, None), pin("/p/.git")]), None);
}
