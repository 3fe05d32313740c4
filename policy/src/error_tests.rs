use super::*;
use crate::testing::file;

#[test]
fn a_rendered_error_shows_the_line_a_caret_and_a_hint() {
    let text = "mode: restricted\nfs:\n  reed: [\".\"]\n";
    let error = crate::parse(&file(), text).unwrap_err();
    assert_eq!(
        error.render(Some(text)),
        "policy.yml:3:3: error: unknown key `reed` in `fs`\n\
         3 |   reed: [\".\"]\n  \
         |   ^\n\
         hint: did you mean `read`?"
    );
}

#[test]
fn without_the_text_the_place_remains() {
    let error = PolicyError::TooLarge {
        at: place(&file(), 0, 0),
    };
    assert_eq!(
        error.render(None),
        "policy.yml: error: the file is larger than 1 MiB, and no more is read\n\
         hint: keep only the policy in this file"
    );
}

#[test]
fn nothing_from_a_file_reaches_the_terminal_raw() {
    let text = "\"\\e[2J\\u202e\": 1 # \u{1b}[31m\u{202e}\u{7}\n";
    let source = crate::Source::File("a\n\u{1b}[0m.yml".into());
    let key = "\u{1b}[2J\u{202e}".to_owned();
    let error = PolicyError::DuplicateKey {
        at: place(&source, 1, 1),
        key,
    };
    let rendered = error.render(Some(text));
    assert!(!rendered.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{rendered:?}");
    assert_eq!(rendered.lines().count(), 4, "{rendered}");
}

#[test]
fn a_long_line_is_cropped_around_the_caret() {
    let text = format!("a: [{}b]", "x, ".repeat(1000));
    let error = PolicyError::TooDeep {
        at: place(&file(), 1, 2000),
    };
    let rendered = error.render(Some(&text));
    let lines: Vec<&str> = rendered.lines().collect();
    assert!(lines[1].chars().count() <= 114, "{rendered}");
    assert_eq!(lines[2].find('^'), Some(64), "{rendered}");
}

#[test]
fn a_caret_past_the_end_stands_at_the_end() {
    let error = PolicyError::TooDeep {
        at: place(&file(), 1, 99),
    };
    assert!(
        error.render(Some("ab")).contains("\n  | "),
        "{}",
        error.render(Some("ab"))
    );
}

#[test]
fn what_cannot_be_seen_in_a_word_is_shown() {
    for c in "\u{200b}\u{e0041}\u{e0100}\u{3164}\u{115f}\u{1160}\u{2800}\u{ffa0}".chars() {
        assert_eq!(shown(&c.to_string()), c.escape_default().to_string());
    }
}
