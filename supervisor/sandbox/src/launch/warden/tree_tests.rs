use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::sys::inotify::Inotify;

/// Numbers as the kernel gives them.
fn ids<const N: usize>() -> [WatchId; N] {
    let queue = Inotify::new().expect("a queue");
    let dir = std::env::temp_dir().join(format!("glee-tree-{}-{N}", std::process::id()));
    let ids = std::array::from_fn(|number| {
        let one = dir.join(number.to_string());
        fs::create_dir_all(&one).expect("a directory");
        queue.watch(&one).expect("a watch")
    });
    fs::remove_dir_all(&dir).expect("removed");
    ids
}

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn a_directory_that_moves_takes_along_what_is_in_it() {
    let [top, a, b, c] = ids();
    let mut tree = Tree::default();
    assert_eq!(tree.place_at(top, Path::new("/p")), Placed::New);
    assert_eq!(tree.place_at(a, Path::new("/p/a")), Placed::New);
    assert_eq!(tree.place_in(b, a, name("b")), Placed::New);
    assert_eq!(tree.place_at(c, Path::new("/p/a/b/c")), Placed::New);
    let stamp = tree.stamp(c);
    tree.detach(top, name("a"));
    assert_eq!(tree.at(c), At::Unknown);
    assert_eq!(
        tree.place_in(a, top, name("z")),
        Placed::Moved(Some(PathBuf::from("/p/a")))
    );
    assert_eq!(tree.at(c), At::Path("/p/z/b/c".into()));
    assert_eq!(
        (tree.find(Path::new("/p/z/b")), tree.find(Path::new("/p/a"))),
        (Some(b), None)
    );
    assert_ne!(tree.stamp(c), stamp);
    assert_eq!(tree.place_in(a, top, name("z")), Placed::Same);
}

#[test]
fn what_stays_adrift_is_forgotten_with_all_that_is_in_it() {
    let [top, a, b] = ids();
    let mut tree = Tree::default();
    tree.place_at(top, Path::new("/p"));
    tree.place_in(a, top, name("a"));
    tree.place_in(b, a, name("b"));
    tree.detach(top, name("a"));
    tree.forget_adrift(Duration::from_secs(60));
    assert_eq!(tree.at(b), At::Unknown);
    tree.forget_adrift(Duration::ZERO);
    assert_eq!(
        (tree.at(a), tree.at(b), tree.has_adrift()),
        (At::Forgotten, At::Forgotten, false)
    );
    assert_eq!(tree.place_in(a, top, name("a")), Placed::New);
}

#[test]
fn what_takes_the_place_of_another_sets_it_adrift() {
    let [top, a, b] = ids();
    let mut tree = Tree::default();
    tree.place_at(top, Path::new("/p"));
    tree.place_in(a, top, name("a"));
    tree.place_in(b, top, name("a"));
    assert_eq!((tree.at(a), tree.at(b)), (At::Unknown, At::Path("/p/a".into())));
}

#[test]
fn no_directory_lies_in_itself() {
    let [top, a, b] = ids();
    let mut tree = Tree::default();
    tree.place_at(top, Path::new("/p"));
    tree.place_in(a, top, name("a"));
    tree.place_in(b, a, name("b"));
    // The change that took `b` out of `a` was lost.
    tree.place_in(a, b, name("a"));
    assert_eq!(tree.at(a), At::Unknown);
    tree.place_in(b, top, name("b"));
    assert_eq!(tree.at(a), At::Path("/p/b/a".into()));
}
