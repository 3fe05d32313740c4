use std::process::Command;

use super::*;

fn git(dir: &Path, args: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
    let done = Command::new("git")
        .current_dir(dir)
        .args(identity)
        .args(args)
        .output()
        .unwrap();
    assert!(done.status.success(), "{args:?}");
}

#[test]
fn the_gitlinks_of_a_real_index_are_found() {
    let dir = std::env::temp_dir().join(format!("glee-gitlinks-{}", std::process::id()));
    fs::create_dir_all(dir.join("a/sub")).unwrap();
    git(&dir, &["init", "-q"]);
    assert_eq!(gitlinks(&dir.join(".git/index")), Some(vec![]));
    for number in 0..50 {
        fs::write(dir.join(format!("file-{}", "x".repeat(number))), "").unwrap();
    }
    git(&dir.join("a/sub"), &["init", "-q"]);
    git(&dir.join("a/sub"), &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&dir, &["add", "."]);
    assert_eq!(gitlinks(&dir.join(".git/index")), Some(vec![PathBuf::from("a/sub")]));
    git(&dir, &["update-index", "--split-index"]);
    assert_eq!(gitlinks(&dir.join(".git/index")), None);
    fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn what_is_no_index_is_not_understood() {
    for bytes in [
        &b""[..],
        b"DIRC",
        b"DIRC\0\0\0\x02\0\0\0\x01short",
        b"DIRC\0\0\0\x04\0\0\0\0",
        &[0xff; 200],
    ] {
        assert_eq!(read(bytes), None);
    }
}
