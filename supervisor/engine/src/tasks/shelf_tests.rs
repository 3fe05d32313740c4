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
