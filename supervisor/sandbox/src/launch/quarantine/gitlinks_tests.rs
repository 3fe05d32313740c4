use std::fs;
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
    git(&dir, &["update-index", "--index-version", "4"]);
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
        b"DIRC\0\0\0\x05\0\0\0\0",
        &[0xff; 200],
    ] {
        assert_eq!(read(bytes), None);
    }
}

/// An index with one entry, whose flags say `length`, and what follows the entries.
fn index(mode: u32, name: &[u8], length: u16, after: &[u8]) -> Vec<u8> {
    let mut bytes = b"DIRC\0\0\0\x02\0\0\0\x01".to_vec();
    bytes.extend([0; 24]);
    bytes.extend(mode.to_be_bytes());
    bytes.extend([0; 32]);
    bytes.extend(length.to_be_bytes());
    bytes.extend(name);
    bytes.extend(vec![0; 8 - (bytes.len() - 12) % 8]);
    bytes.extend(after);
    bytes.extend([0; 20]);
    bytes
}

#[test]
fn an_index_that_can_be_read_in_two_ways_is_not_understood() {
    let (link, file) = (0o160_000, 0o100_644);
    assert_eq!(read(&index(link, b"sub", 3, b"")), Some(vec![PathBuf::from("sub")]));
    assert_eq!(read(&index(file, b"sub", 3, b"TREE\0\0\0\0")), Some(vec![]));
    for bytes in [
        index(file, b"sub", 2, b""),
        index(file, b"sub", 80, b""),
        index(file, b"sub", 0x4003, b""),
        index(0o040_000, b"sub/", 4, b""),
        index(link, b"../sub", 6, b""),
        index(link, b"/sub", 4, b""),
        index(link, b".git/sub", 8, b""),
        index(file, b"sub", 3, b"link\0\0\0\0"),
        index(file, b"sub", 3, b"sdir\0\0\0\0"),
        index(file, b"sub", 3, b"EOIE\0\0\0\x04\0\0\0\x0c"),
        index(file, b"sub", 3, b"IEOT\0\0\0\x0c\0\0\0\x01\0\0\0\x10\0\0\0\x01"),
    ] {
        assert_eq!(read(&bytes), None, "{bytes:?}");
    }
}
