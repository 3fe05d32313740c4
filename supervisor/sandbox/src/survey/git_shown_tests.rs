use super::*;

fn setting(section: &str, key: &str, value: &[u8]) -> Setting {
    Setting {
        section: section.to_owned(),
        subsection: None,
        key: key.to_owned(),
        value: value.to_vec(),
    }
}

#[test]
fn what_is_written_is_read_the_same() {
    let settings = [
        setting("user", "name", b"A \"B\" C\\; # D"),
        setting("user", "email", "\u{e4}@example.com".as_bytes()),
        setting("safe", "directory", b"*"),
        setting("core", "autocrlf", b" input\tand\nmore "),
    ];
    let text: Vec<u8> = settings.iter().flat_map(line).collect();
    assert_eq!(gitconfig::parse(&text), settings);
}

#[test]
fn nothing_that_can_hold_a_password_is_shown() {
    for section in [
        "http",
        "credential",
        "url",
        "remote",
        "include",
        "includeif",
        "sendemail",
        "alias",
        "filter",
    ] {
        assert!(!SHOWN.contains(&section), "{section}");
    }
}
