use std::fs;
use std::path::PathBuf;

use super::*;
use crate::launch::placeholders::Name;

struct Dir(PathBuf);

impl Dir {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("glee-notes-test-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        Self(fs::canonicalize(dir).unwrap())
    }

    fn share(&self) -> DirLock {
        DirLock::share(path::open_dir_exact(&self.0).unwrap().as_fd()).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(list: &[(&str, PlaceholderKind)]) -> Vec<Name> {
    list.iter().map(|(name, kind)| (OsString::from(name), *kind)).collect()
}

#[test]
fn what_several_runs_noted_is_read_by_the_last_and_each_name_once() {
    let dir = Dir::new("several");
    let first = names(&[(".envrc", PlaceholderKind::Socket), ("a\nb", PlaceholderKind::Shut)]);
    let second = names(&[
        (".envrc", PlaceholderKind::Socket),
        ("ginc", PlaceholderKind::GitConfig),
    ]);
    let (one, two) = (dir.share(), dir.share());
    let begun = one.note(&first);
    assert_eq!(one.noted(begun), Vec::new(), "nothing of others");
    assert_eq!(two.note(&second), Begun::UNKNOWN);
    assert_eq!(one.noted(begun).len(), 3, "of others as well");
    one.note(&first);
    drop(one);
    assert!(two.become_alone());
    let all = [first, second.into_iter().skip(1).collect()].concat();
    assert_eq!(two.noted(Begun::UNKNOWN), all);
    two.forget();
    assert_eq!(two.noted(Begun::UNKNOWN), Vec::new());
    two.retire();
}

#[test]
fn notes_of_killed_runs_are_there_for_the_next_one() {
    let dir = Dir::new("killed");
    let left = names(&[("later", PlaceholderKind::Shut)]);
    dir.share().note(&left);
    // Its lock is free, and so is another file by now.
    let next = dir.share();
    assert_eq!(next.noted(Begun::UNKNOWN), left);
    assert!(next.become_alone());
    next.forget();
    next.retire();
}

#[test]
fn a_note_names_nothing_outside_of_its_directory() {
    let hostile = b"\0s..\0s.\0s\0s/etc\0sa/b\0s../x\0zunknown\0\0sfine\0xcut";
    let fine = names(&[("fine", PlaceholderKind::Socket), ("cut", PlaceholderKind::Shut)]);
    assert_eq!(parse(hostile), fine);
    let kinds = ["s", "x", "c", "g"].map(|letter| kind(letter.as_bytes()[0]).map(super::letter));
    assert_eq!(kinds, [b's', b'x', b'c', b'g'].map(Some));
}
