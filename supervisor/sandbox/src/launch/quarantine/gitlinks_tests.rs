use std::fs;
use std::process::Command;

use super::*;

fn read(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let read_at = |into: &mut [u8], at: u64| {
        let from = bytes.get(usize::try_from(at).unwrap()..).unwrap_or_default();
        // Less than was asked for, as a file may give.
        let length = into.len().min(from.len()).min(7);
        into[..length].copy_from_slice(&from[..length]);
        Ok(length)
    };
    super::read(Window::new(read_at, bytes.len()))
}

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
    let end = [b"EOIE\0\0\0\x18\0\0\0\x54", &[0; 20][..]].concat();
    assert_eq!(read(&index(file, b"sub", 3, &end)), Some(vec![]));
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
        index(
            file,
            b"sub",
            3,
            &[b"EOIE\0\0\0\x18\0\0\0\x54", &[0; 20][..], b"TREE\0\0\0\0"].concat(),
        ),
        index(
            file,
            b"sub",
            3,
            &[b"ZZZZ\0\0\0\x28link\0\0\0\0EOIE\0\0\0\x18\0\0\0\x5c", &[0; 20][..]].concat(),
        ),
        index(file, b"sub", 3, b"IEOT\0\0\0\x0c\0\0\0\x01\0\0\0\x10\0\0\0\x01"),
    ] {
        assert_eq!(read(&bytes), None, "{bytes:?}");
    }
}

/// Names of every length around what the flags can say, and an index of many stretches.
#[test]
fn long_names_and_long_indexes_are_read_to_the_end() {
    for length in [1, 0xffe, 0xfff, 0x1000, LONGEST - 1] {
        let name = vec![b'x'; length];
        let declared = u16::try_from(length.min(0xfff)).unwrap();
        let link = Some(vec![PathBuf::from(std::ffi::OsStr::from_bytes(&name))]);
        assert_eq!(read(&index(0o160_000, &name, declared, b"")), link, "{length}");
        assert_eq!(read(&index(0o160_000, &name, declared ^ 1, b"")), None, "{length}");
    }
    let name = vec![b'x'; LONGEST];
    assert_eq!(read(&index(0o100_644, &name, 0xfff, b"")), None);

    let mut bytes = b"DIRC\0\0\0\x02".to_vec();
    bytes.extend(20_000_u32.to_be_bytes());
    for number in 0..20_000 {
        let mode = if number % 5000 == 4999 { 0o160_000 } else { 0o100_644 };
        let name = format!("{number:05}{}", "y".repeat(number % 11));
        let one = index(mode, name.as_bytes(), u16::try_from(name.len()).unwrap(), b"");
        bytes.extend(&one[12..one.len() - 20]);
    }
    bytes.extend([0; 20]);
    let found: Vec<String> = [4999, 9999, 14_999, 19_999]
        .iter()
        .map(|number| format!("{number:05}{}", "y".repeat(number % 11)))
        .collect();
    assert_eq!(read(&bytes), Some(found.iter().map(PathBuf::from).collect()));
    bytes.truncate(bytes.len() - 21);
    assert_eq!(read(&bytes), None);
}
