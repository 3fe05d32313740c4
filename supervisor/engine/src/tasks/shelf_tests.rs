use std::os::unix::fs::symlink;

use super::*;
use crate::testing::Scratch;

fn files(list: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::new();
    for (name, text) in list {
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    scratch
}

fn of(list: &[(&str, &str)]) -> Option<StateDigest> {
    digest(files(list).path()).unwrap()
}

#[test]
fn every_name_and_every_byte_counts_and_nothing_else() {
    let one = of(&[("a/b", "x"), ("c", "y")]);
    assert!(one.is_some());
    assert_eq!(one, of(&[("c", "y"), ("a/b", "x")]));
    for other in [
        &[("a/b", "x"), ("c", "z")][..],
        &[("a/b", "x"), ("d", "y")],
        &[("a/b", "xy"), ("c", "")],
        &[("a/b", "x")],
        &[("a/b", "x"), ("c", "y"), ("e", "")],
    ] {
        assert_ne!(one, of(other), "{other:?}");
    }
}

#[test]
fn an_empty_tree_and_one_with_a_link_are_no_conversation() {
    assert_eq!(of(&[]), None);
    let scratch = files(&[("a", "x")]);
    symlink("/etc/passwd", scratch.path().join("b")).unwrap();
    assert_eq!(digest(scratch.path()).unwrap(), None);
}

#[test]
fn what_does_not_want_to_go_goes() {
    let scratch = files(&[("task-a1b2c3d4/a/b/c", "x"), ("task-a1b2c3d5/d", "y")]);
    let shut = fs::Permissions::from_mode(0o000);
    for name in ["task-a1b2c3d4/a/b", "task-a1b2c3d4/a"] {
        fs::set_permissions(scratch.path().join(name), shut.clone()).unwrap();
    }
    let shelf = Shelf {
        dir: scratch.path().to_owned(),
    };
    let id: SessionId = "task-a1b2c3d4".parse().unwrap();
    open_up(&shelf.dir.join(id.as_str())).unwrap();
    shelf.clear(&id).unwrap();
    shelf.clear(&id).unwrap();
    let left: Vec<_> = fs::read_dir(scratch.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["task-a1b2c3d5"]);
}
