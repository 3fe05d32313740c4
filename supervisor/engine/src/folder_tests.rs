#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::testing::Scratch;

fn name(text: &str) -> &OsStr {
    OsStr::new(text)
}

#[test]
fn a_file_is_replaced_whole_and_private_and_no_draft_stays() {
    let scratch = Scratch::new();
    let folder = Folder::make_beneath(scratch.path(), Path::new("a/b")).expect("make");
    for content in ["one", "two"] {
        let locked = folder.lock().expect("lock");
        locked.put(name("f"), content.as_bytes()).expect("put");
        assert_eq!(folder.read(name("f"), 10).expect("read"), Some(content.into()));
    }
    assert_eq!(folder.all_names().expect("names"), [OsString::from("f")]);
    assert_eq!(folder.stat(name("f")).expect("stat").mode & 0o777, 0o600);
    let dir = fs::metadata(scratch.path().join("a")).expect("stat");
    assert_eq!(dir.permissions().mode() & 0o777, 0o700);
}

#[test]
fn who_takes_the_lock_removes_the_drafts_of_the_killed() {
    let scratch = Scratch::new();
    let folder = Folder::make_beneath(scratch.path(), Path::new("d")).expect("make");
    fs::write(scratch.path().join("d/.draft-0011223344556677"), "torn").expect("write");
    assert!(folder.names().expect("names").is_empty());
    drop(folder.lock().expect("lock"));
    assert!(folder.all_names().expect("names").is_empty());
}

#[test]
fn no_link_is_followed_anywhere() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("out")).expect("mkdir");
    fs::write(scratch.path().join("out/secret"), "secret").expect("write");
    fs::create_dir(scratch.path().join("p")).expect("mkdir");
    symlink("../out", scratch.path().join("p/sessions")).expect("link");
    let root = scratch.path().join("p");
    assert!(Folder::make_beneath(&root, Path::new("sessions")).is_err());
    assert!(Folder::make_beneath(&root, Path::new("sessions/deeper")).is_err());
    assert!(Folder::find_beneath(&root, Path::new("sessions")).is_err());
    assert!(!scratch.path().join("out/deeper").exists());
    let folder = Folder::make_beneath(&root, Path::new("d")).expect("make");
    symlink("../../out/secret", root.join("d/f")).expect("link");
    assert!(folder.read(name("f"), 10).is_err());
    // A write replaces the link, not what it leads to.
    folder.lock().expect("lock").put(name("f"), b"ours").expect("put");
    assert_eq!(fs::read(scratch.path().join("out/secret")).expect("read"), b"secret");
    assert_eq!(folder.read(name("f"), 10).expect("read"), Some(b"ours".to_vec()));
}

#[test]
fn only_single_names_that_are_no_drafts_are_taken() {
    let scratch = Scratch::new();
    let folder = Folder::make_beneath(scratch.path(), Path::new("d")).expect("make");
    let locked = folder.lock().expect("lock");
    for wrong in ["", ".", "..", "a/b", "../d", "/etc/passwd", "a/", ".draft-x", "a\0b"] {
        assert!(folder.read(name(wrong), 10).is_err(), "{wrong:?}");
        assert!(locked.put(name(wrong), b"").is_err(), "{wrong:?}");
        assert!(locked.remove(name(wrong)).is_err(), "{wrong:?}");
    }
    for wrong in ["..", "/d", "./d", "a/../../b"] {
        assert!(
            Folder::make_beneath(scratch.path(), Path::new(wrong)).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn locks_exclude_other_threads_of_the_same_process() {
    let scratch = Scratch::new();
    let folder = Folder::make_beneath(scratch.path(), Path::new("d")).expect("make");
    folder.lock().expect("lock").put(name("n"), b"0").expect("put");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..25 {
                    let locked = folder.lock().expect("lock");
                    let text = folder.read(name("n"), 10).expect("read").expect("there");
                    let n: u32 = String::from_utf8(text).expect("text").parse().expect("number");
                    locked.put(name("n"), (n + 1).to_string().as_bytes()).expect("put");
                }
            });
        }
    });
    assert_eq!(folder.read(name("n"), 10).expect("read"), Some(b"100".to_vec()));
}

#[test]
fn whoever_can_only_open_a_projects_directory_cannot_keep_the_lock() {
    let scratch = Scratch::new();
    let folder = Folder::make_beneath(scratch.path(), Path::new("d")).expect("make");
    let draft = scratch.path().join("d/.draft-0011223344556677");
    fs::write(&draft, "another user's").expect("write");
    let command = File::open(scratch.path().join("d")).expect("open");
    fd::flock(command.as_fd(), Lock::TryExclusive).expect("lock");
    let start = Instant::now();
    let locked = folder.lock().expect("lock");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert!(draft.exists());
    locked.put(name("f"), b"ours").expect("put");
    let again = folder.hidden_lock().expect("file");
    let error = wait(again.as_fd(), Duration::ZERO).expect_err("held");
    assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    drop((locked, command));
    drop(folder.lock().expect("lock"));
    assert_eq!(folder.all_names().expect("names"), [OsString::from("f")]);
}

#[test]
fn a_directory_that_others_can_write_is_not_the_users_own() {
    let scratch = Scratch::new();
    let at = scratch.path().join("keys");
    Folder::of_user(&at).expect("made");
    fs::set_permissions(&at, fs::Permissions::from_mode(0o770)).expect("chmod");
    assert!(Folder::of_user(&at).is_err());
}
