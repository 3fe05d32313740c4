#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::testing::Scratch;

const ONE: Form = Form {
    mark: 7,
    steps: &["CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)"],
};
const TWO: Form = Form {
    mark: 7,
    steps: &[
        "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)",
        "ALTER TABLE t ADD COLUMN b INTEGER NOT NULL DEFAULT 5",
    ],
};

#[test]
fn an_older_file_is_brought_to_the_newest_form_and_keeps_what_it_holds() {
    let scratch = Scratch::new();
    let path = scratch.path().join("d.db");
    drop(open(&path, &ONE).expect("open"));
    let newer = open(&path, &TWO).expect("open");
    let row = newer.query_row("SELECT a, b FROM t", [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(row.expect("a row"), (1, 5));
    drop(newer);
    drop(open(&path, &TWO).expect("again"));
    let older = open(&path, &ONE).expect_err("newer than known");
    assert!(
        matches!(older, DatabaseError::Newer { found: 2, known: 1, .. }),
        "{older}"
    );
}

#[test]
fn somebody_elses_file_is_left_as_it_is() {
    let scratch = Scratch::new();
    let path = scratch.path().join("d.db");
    Connection::open(&path)
        .and_then(|c| c.execute_batch("CREATE TABLE other (x)"))
        .expect("make another database");
    let before = fs::read(&path).expect("a file");
    assert!(matches!(open(&path, &ONE), Err(DatabaseError::NotOurs { .. })));
    assert_eq!(fs::read(&path).expect("a file"), before);
    let link = scratch.path().join("link.db");
    symlink(&path, &link).expect("link");
    assert!(open(&link, &ONE).is_err());
}

#[test]
fn a_step_that_fails_leaves_no_half_of_it() {
    const BROKEN: Form = Form {
        mark: 7,
        steps: &[
            "CREATE TABLE t (a INTEGER) STRICT; INSERT INTO t VALUES (1)",
            "CREATE TABLE u (a); nonsense",
        ],
    };
    let scratch = Scratch::new();
    let path = scratch.path().join("d.db");
    drop(open(&path, &ONE).expect("open"));
    assert!(open(&path, &BROKEN).is_err());
    let again = open(&path, &ONE).expect("still the old form");
    let tables: i64 = again
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .expect("count");
    assert_eq!(tables, 1);
}

#[test]
fn the_file_and_those_beside_it_are_private() {
    let scratch = Scratch::new();
    let path = scratch.path().join("d.db");
    let connection = open(&path, &ONE).expect("open");
    connection.execute("INSERT INTO t VALUES (2)", []).expect("insert");
    let mut names = Vec::new();
    for entry in fs::read_dir(scratch.path()).expect("list") {
        let entry = entry.expect("a name");
        assert_eq!(entry.metadata().expect("facts").permissions().mode() & 0o777, 0o600);
        names.push(entry.file_name());
    }
    assert_eq!(names.len(), 3, "{names:?}");
}

#[test]
fn processes_that_start_together_make_it_once() {
    // Each round has one short moment in which it is half made.
    for _ in 0..40 {
        let scratch = Scratch::new();
        let path = scratch.path().join("d.db");
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| open(&path, &TWO).expect("open"));
            }
        });
        let rows: i64 = open(&path, &TWO)
            .expect("open")
            .query_row("SELECT count(*) FROM t", [], |row| row.get(0))
            .expect("count");
        assert_eq!(rows, 1);
    }
}
