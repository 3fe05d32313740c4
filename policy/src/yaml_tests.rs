use super::*;
use crate::testing::file;

fn fails(text: &str) -> PolicyError {
    read(&file(), text).unwrap_err()
}

#[test]
fn every_value_knows_its_line_and_column() {
    let root = read(&file(), "# one\nmode: restricted\nfs:\n  read: [a, \"b\"]\n").unwrap();
    let Value::Map(entries) = root.value else { panic!() };
    let (key, fs) = &entries[1];
    assert_eq!((key.name.as_str(), key.line, key.column), ("fs", 3, 1));
    let Value::Map(inner) = &fs.value else { panic!() };
    let Value::List(items) = &inner[0].1.value else {
        panic!()
    };
    assert_eq!((items[1].line, items[1].column), (4, 13));
    assert_eq!(items[1].value, Value::Text("b".into()));
}

#[test]
fn plain_words_keep_their_types() {
    let root = read(
        &file(),
        "[true, yes, 5, -5, 1.5, ~, \"5\", .nan, 1e999, 99999999999999999999]",
    )
    .unwrap();
    let Value::List(items) = root.value else { panic!() };
    let values: Vec<String> = items.iter().map(Node::found).collect();
    assert_eq!(
        values[..7],
        [
            "`true`",
            "the text `yes`",
            "the number `5`",
            "the number `-5`",
            "the number `1.5`",
            "nothing",
            "the text `5`"
        ]
    );
    assert!(matches!(items[7].value, Value::Float(f) if f.is_nan()));
    assert!(
        matches!(items[8].value, Value::Float(f) if f.is_infinite()),
        "{:?}",
        items[8]
    );
    assert!(
        matches!(items[9].value, Value::Float(_) | Value::Int(_)),
        "{:?}",
        items[9]
    );
}

#[test]
fn a_duplicate_key_is_an_error_at_its_second_place() {
    let error = fails("mode: restricted\nnetwork: false\nmode: inherit\n");
    assert_eq!(
        error,
        PolicyError::DuplicateKey {
            at: place(&file(), 3, 1),
            key: "mode".into()
        }
    );
}

#[test]
fn an_alias_bomb_is_an_error() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for i in 1..10 {
        let prev = format!("*a{}", i - 1);
        text.push_str(&format!("a{i}: &a{i} [{}]\n", vec![prev; 10].join(", ")));
    }
    assert!(
        matches!(fails(&text), PolicyError::TooManyAliases { .. }),
        "{:?}",
        fails(&text)
    );
    let long = format!(
        "a: &a \"{}\"\nb: [{}]",
        "x".repeat(100_000),
        vec!["*a"; 1000].join(", ")
    );
    assert!(matches!(fails(&long), PolicyError::TooManyAliases { .. }));
    let nested = format!(
        "a: {}{}{}",
        "&a [".repeat(50),
        vec!["x"; 5000].join(","),
        "]".repeat(50)
    );
    assert!(matches!(fails(&nested), PolicyError::TooManyAliases { .. }));
    let mut deep = String::from("a0: &a0 [x]\n");
    (1..70).for_each(|i| deep.push_str(&format!("a{i}: &a{i} [*a{}]\n", i - 1)));
    assert!(matches!(fails(&deep), PolicyError::TooDeep { .. }));
}

#[test]
fn words_that_other_parsers_read_as_something_else_are_text() {
    for text in [
        "yes", "no", "on", "010", "0x10", "0o10", "1_000", "inf", "nan", "NaN", "1e", "-", ".", "+.e", "1.2.3", "12:30",
    ] {
        assert_eq!(plain(text), Value::Text(text.into()));
    }
}

#[test]
fn a_few_aliases_are_read() {
    let root = read(&file(), "a: &a [x]\nb: *a\n").unwrap();
    let Value::Map(entries) = root.value else { panic!() };
    assert_eq!(entries[0].1.value, entries[1].1.value);
}

#[test]
fn deep_nesting_is_an_error_in_block_and_in_flow_style() {
    let flow = format!("a: {}{}", "[".repeat(100), "]".repeat(100));
    assert!(
        matches!(fails(&flow), PolicyError::TooDeep { .. }),
        "{:?}",
        fails(&flow)
    );
    let endless = format!("a: {}", "[".repeat(500_000));
    assert!(
        matches!(fails(&endless), PolicyError::TooDeep { .. }),
        "{:?}",
        fails(&endless)
    );
    let maps = format!("a: {}", "{a: ".repeat(5000));
    assert!(
        matches!(fails(&maps), PolicyError::TooDeep { .. }),
        "{:?}",
        fails(&maps)
    );
    let block: String = (0..100).map(|i| format!("{}a:\n", " ".repeat(i))).collect();
    assert!(
        matches!(fails(&block), PolicyError::TooDeep { .. }),
        "{:?}",
        fails(&block)
    );
    let dashes = format!("a: \n  {}x", "- ".repeat(100));
    assert!(
        matches!(fails(&dashes), PolicyError::TooDeep { .. }),
        "{:?}",
        fails(&dashes)
    );
}

#[test]
fn sixty_levels_are_read() {
    assert!(read(&file(), &format!("a: {}{}", "[".repeat(60), "]".repeat(60))).is_ok());
}

#[test]
fn more_than_a_mebibyte_is_an_error_and_a_mebibyte_is_read() {
    let text = format!("a: b\n#{}", "x".repeat(MAX_BYTES - 6));
    assert_eq!(text.len(), MAX_BYTES);
    assert!(read(&file(), &text).is_ok());
    let error = fails(&format!("{text}y"));
    assert!(matches!(error, PolicyError::TooLarge { .. }));
    assert_eq!((error.origin().line, error.origin().column), (2, small(MAX_BYTES - 4)));
}

#[test]
fn several_documents_directives_odd_keys_and_tags_are_errors() {
    assert!(matches!(
        fails("a: 1\n---\nb: 2\n"),
        PolicyError::MultipleDocuments { .. }
    ));
    for text in [
        "%YAML 1.1\n---\na: 1\n",
        "? [a]\n: b\n",
        "&a a: 1\n*a : 2\n",
        "a: &a [*a]\n",
        "a: !include /etc/passwd\n",
        "a: !foo {b: 1}\n",
    ] {
        assert!(
            matches!(fails(text), PolicyError::Syntax { .. }),
            "{text}: {:?}",
            fails(text)
        );
    }
}

#[test]
fn broken_text_names_its_place() {
    for (text, line) in [
        ("a: [1, 2\n", 1..=3),
        ("a: \"x\nb: c\n", 1..=4),
        ("a:\n\t- b\n", 2..=2),
        ("a: *b\n", 1..=1),
    ] {
        let error = fails(text);
        assert!(matches!(error, PolicyError::Syntax { .. }), "{text}: {error:?}");
        assert!(line.contains(&error.origin().line), "{text}: {error:?}");
    }
}

#[test]
fn bytes_that_are_no_text_are_named_where_they_start() {
    let error = text_of(&file(), b"a: b\nc: \xff\n").unwrap_err();
    assert_eq!(
        error,
        PolicyError::NotUtf8 {
            at: place(&file(), 2, 4)
        }
    );
}
