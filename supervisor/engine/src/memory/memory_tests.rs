#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;

use super::*;
use crate::testing::Scratch;

fn memories(scratch: &Scratch) -> Memories {
    Memories::at(scratch.path().join(FILE)).expect("open")
}

fn label(text: &str) -> Label {
    text.parse().expect("a name")
}

fn add(memories: &mut Memories, category: &str, content: &str) -> i64 {
    memories
        .add(&label(category), content, SaidBy::User, Moment::from_seconds(5))
        .expect("add")
}

fn found(memories: &Memories, text: &str) -> Vec<i64> {
    let query = Query::new(text).expect("a query");
    let found = memories.search(&query, None, 10).expect("search");
    found.into_iter().map(|memory| memory.id).collect()
}

#[test]
fn what_fits_best_comes_first_whatever_its_case_ending_or_accents() {
    let scratch = Scratch::new();
    let mut memories = memories(&scratch);
    let tokens = add(
        &mut memories,
        "auth",
        "Tokens are rotated by the gateway, tokens live an hour",
    );
    let gateway = add(
        &mut memories,
        "net",
        "The gateway is written in Go and forwards every single request",
    );
    let cafe = add(&mut memories, "team", "Lunch: Café");
    assert_eq!(
        found(&memories, "how do TOKEN rotations work at the gateway?"),
        [tokens, gateway]
    );
    assert_eq!(found(&memories, "cafe"), [cafe]);
    assert_eq!(found(&memories, "auth"), [tokens]);
    assert!(found(&memories, "nothing-of-this").is_empty());
    let query = Query::new("gateway").expect("a query");
    let of_net = memories.search(&query, Some(&label("net")), 10).expect("search");
    let expected = Memory {
        id: gateway,
        category: "net".into(),
        content: "The gateway is written in Go and forwards every single request".into(),
        said_by: SaidBy::User,
        created_at: Moment::from_seconds(5),
        trusted: false,
    };
    assert_eq!(of_net, [expected]);
    assert_eq!(memories.search(&query, None, 1).expect("search").len(), 1);
}

#[test]
fn no_text_is_an_error_of_the_query_language() {
    let scratch = Scratch::new();
    let mut memories = memories(&scratch);
    let id = add(&mut memories, "c", "alpha beta NEAR content words");
    for text in [
        "alpha AND",
        "NOT alpha",
        "alpha OR",
        "\"alpha",
        "alpha\"",
        "(alpha",
        "alpha)",
        "alpha*",
        "^alpha",
        "content:alpha",
        "{content}:alpha",
        "NEAR(alpha beta)",
        "alpha NEAR/2 beta",
        "-alpha",
        "+alpha",
        "'alpha",
        "alpha; DROP TABLE memories",
        "alpha\0beta",
        "alpha \u{202e}",
        "alpha:beta",
        "alpha--",
        "%alpha%",
        "a\"b\"alpha",
        "🦀 alpha",
        "?1 alpha",
        "words alpha",
    ] {
        assert_eq!(found(&memories, text), [id], "{text}");
    }
    for nothing in ["", " ", "\"", "*", "🦀", "()", "\0", "--"] {
        assert_eq!(Query::new(nothing), None, "{nothing:?}");
    }
    let long = format!(
        "{} {}",
        "x".repeat(100_000),
        (0..5000).map(|n| format!("w{n} ")).collect::<String>()
    );
    assert!(found(&memories, &long).is_empty());
}

#[test]
fn what_is_known_is_not_added_twice_and_what_is_forgotten_is_not_found() {
    let scratch = Scratch::new();
    let mut memories = memories(&scratch);
    let first = add(&mut memories, "a", "same text");
    assert_eq!(add(&mut memories, "a", "same text"), first);
    let second = add(&mut memories, "b", "same text");
    assert_eq!(found(&memories, "same"), [second, first]);
    assert_eq!(memories.forget(&Forget::Ids(vec![first, 999])).expect("forget"), 1);
    assert_eq!(found(&memories, "same"), [second]);
    assert_eq!(memories.forget(&Forget::Category(label("b"))).expect("forget"), 1);
    assert!(found(&memories, "same").is_empty());
    assert!(memories.list(None, 10).expect("list").is_empty());
    // A number is never used for something else again.
    assert!(add(&mut memories, "a", "new text") > second);
}

#[test]
fn too_long_empty_and_too_much_are_refused() {
    let scratch = Scratch::new();
    let mut memories = memories(&scratch);
    let mut try_add = |text: &str| memories.add(&label("c"), text, SaidBy::Agent, Moment::from_seconds(0));
    assert!(matches!(try_add(" \n"), Err(MemoryError::Empty)));
    assert!(matches!(
        try_add(&"x".repeat(MOST_CONTENT + 1)),
        Err(MemoryError::TooLong(_))
    ));
    assert!(try_add(&"x".repeat(MOST_CONTENT)).is_ok());
    let fill = "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        INSERT INTO memories (category, content, said_by, created_at, digest) SELECT 'c', 'x', 'user', 0, i FROM n";
    memories.connection.execute(fill, []).expect("fill");
    let full = memories.add(&label("c"), "more", SaidBy::User, Moment::from_seconds(0));
    assert!(
        matches!(
            full,
            Err(MemoryError::Full {
                entries: MOST_ENTRIES,
                ..
            })
        ),
        "{full:?}"
    );
}

type Damage = fn(&mut Vec<u8>);

#[test]
fn a_damaged_file_is_named_and_left_as_it_is() {
    let scratch = Scratch::new();
    let path = scratch.path().join(FILE);
    let mut memories = memories(&scratch);
    for n in 0..200 {
        add(&mut memories, "c", &format!("memory number {n} {}", "x".repeat(200)));
    }
    drop(memories);
    let whole = fs::read(&path).expect("a file");
    let damages: [(&str, Damage); 4] = [
        ("no database", |b| b[..16].fill(b'x')),
        ("a torn page", |b| b[8192..12_288].fill(0xff)),
        ("half a file", |b| b.truncate(20_000)),
        ("pages of zeros", |b| b[12_288..40_960].fill(0)),
    ];
    for (what, damage) in damages {
        let mut bytes = whole.clone();
        damage(&mut bytes);
        fs::write(&path, &bytes).expect("write");
        let opened = Memories::at(path.clone());
        let is_named = matches!(&opened, Err(MemoryError::Database(DatabaseError::Damaged { .. })));
        assert!(is_named, "{what}: {opened:?}");
        assert_eq!(fs::read(&path).expect("a file"), bytes, "{what}: the file was changed");
    }
    fs::write(&path, &whole).expect("write");
    assert_eq!(
        Memories::at(path).expect("open").list(None, 1000).expect("list").len(),
        200
    );
}

#[test]
fn several_at_once_lose_nothing() {
    let scratch = Scratch::new();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let scratch = &scratch;
            scope.spawn(move || {
                let mut memories = memories(scratch);
                for n in 0..10 {
                    add(&mut memories, "c", &format!("{writer} says {n}"));
                }
            });
        }
    });
    assert_eq!(memories(&scratch).list(None, 1000).expect("list").len(), 40);
}
