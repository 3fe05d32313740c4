//! Counting, and the bound.

use super::*;

fn add(book: &mut Book, kind: DeniedKind, path: &str, program: &str, nr: u32) {
    let entry = Entry {
        kind,
        subject: Subject::Path(path.into()),
        program: program.into(),
        nr,
    };
    let details = Details {
        because: Because::Absent,
        why: "",
        syscall: "open",
        pid: 3,
        count: 1,
    };
    book.add(entry, &details);
}

#[test]
fn equal_refusals_are_one_row_with_a_count() {
    let mut book = Book::default();
    for _ in 0..5 {
        add(&mut book, DeniedKind::Read, "/a", "cat", 2);
    }
    add(&mut book, DeniedKind::Read, "/a", "sh", 2);
    add(&mut book, DeniedKind::Write, "/a", "cat", 2);
    add(&mut book, DeniedKind::Read, "/a", "cat", 3);
    let counts: Vec<u64> = book.into_refusals().list.iter().map(|row| row.count).collect();
    assert_eq!(counts, [5, 1, 1, 1]);
}

#[test]
fn a_flood_of_one_kind_is_bounded_counted_and_leaves_room_for_others() {
    let mut book = Book::default();
    for number in 0..100_000 {
        add(&mut book, DeniedKind::Hidden, &format!("/{number}"), "x", 2);
    }
    for number in 0..RESERVED {
        add(&mut book, DeniedKind::Write, &format!("/{number}"), "x", 2);
    }
    let refusals = book.into_refusals();
    let of = |kind| refusals.list.iter().filter(|row| row.kind == kind).count();
    assert_eq!(of(DeniedKind::Write), RESERVED);
    assert_eq!(of(DeniedKind::Hidden), MOST - (KINDS - 1) * RESERVED);
    let counted: u64 = refusals.list.iter().map(|row| row.count).sum();
    assert_eq!(counted + refusals.omitted, 100_000 + RESERVED as u64);
}
