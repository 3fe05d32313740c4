use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn place(name: &str) -> PathBuf {
    let dir = std::env::temp_dir().join(format!("glee-mcp-token-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&dir);
    dir
}

#[test]
fn a_token_is_made_once_and_kept_for_its_user_alone() {
    let dir = place("once");
    let (first, path) = Token::at(&dir).expect("a token");
    let (second, _) = Token::at(&dir).expect("the same token");
    assert_eq!(first.0, second.0);
    assert_eq!(first.0.len(), 64);
    let mode = fs::metadata(&path).expect("the file").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    assert_eq!(format!("{first:?}"), "Token");
    fs::remove_dir_all(dir).expect("remove");
}

#[test]
fn a_token_that_others_can_read_or_that_is_too_short_is_refused() {
    for (name, text, mode) in [
        ("open", "ab".repeat(32), 0o644),
        ("short", "ab".repeat(31), 0o600),
        ("text", "zz".repeat(32), 0o600),
        ("empty", String::new(), 0o600),
    ] {
        let dir = place(name);
        fs::create_dir_all(&dir).expect("make");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).expect("close the directory");
        fs::write(dir.join(FILE), text).expect("write");
        fs::set_permissions(dir.join(FILE), fs::Permissions::from_mode(mode)).expect("set");
        assert!(matches!(Token::at(&dir), Err(TokenError::NotOurs { .. })), "{name}");
        fs::remove_dir_all(dir).expect("remove");
    }
}

#[test]
fn only_the_whole_token_opens() {
    let token = Token("ab".repeat(32));
    let right = format!("Bearer {}", "ab".repeat(32));
    assert!(token.opens(right.as_bytes()));
    assert!(token.opens(right.replace("Bearer", "bearer").as_bytes()));
    for wrong in [
        String::new(),
        "Bearer ".to_owned(),
        "ab".repeat(32),
        format!("Bearer {}", "ab".repeat(31)),
        format!("Bearer {}", "ab".repeat(33)),
        format!("Bearer {}c", &"ab".repeat(32)[..63]),
        format!("Basic  {}", "ab".repeat(32)),
        format!("Bearer  {}", "ab".repeat(32)),
        format!("{right} "),
    ] {
        assert!(!token.opens(wrong.as_bytes()), "{wrong}");
    }
}
