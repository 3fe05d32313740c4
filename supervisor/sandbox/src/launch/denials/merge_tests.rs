//! What both know of is counted once.

use super::*;
use crate::launch::denials::Because;

fn row(kind: DeniedKind, path: &str, syscall: &str, program: &str, count: u64) -> Denied {
    Denied {
        kind,
        syscall: syscall.into(),
        subject: Subject::Path(path.into()),
        because: Because::NotGranted,
        why: String::new(),
        pid: 3,
        program: program.into(),
        count,
    }
}

fn list(rows: Vec<Denied>) -> Refusals {
    Refusals {
        list: rows,
        ..Refusals::default()
    }
}

#[test]
fn the_same_refusal_is_counted_once_and_more_of_it_is_added() {
    let noted = list(vec![
        row(DeniedKind::Read, "/etc/x", "openat", "node", 3),
        row(DeniedKind::Write, "/d/one", "mkdir", "sh", 1),
        row(DeniedKind::Write, "/d/two", "mkdir", "sh", 1),
    ]);
    let recorded = list(vec![
        row(DeniedKind::Read, "/etc/x", "openat", "worker", 3),
        row(DeniedKind::Write, "/d", "mkdir", "sh", 5),
        row(DeniedKind::Read, "/etc/x", "open", "sh", 1),
    ]);
    let mut expected = noted.list.clone();
    expected.push(row(DeniedKind::Write, "/d", "mkdir", "sh", 3));
    expected.push(row(DeniedKind::Read, "/etc/x", "open", "sh", 1));
    assert_eq!(merge(noted, recorded).list, expected);
}

#[test]
fn the_list_stays_bounded_and_nothing_is_forgotten() {
    let rows = |dir: &str, count: usize| {
        let row = |n| row(DeniedKind::Read, &format!("/{dir}/{n}"), "open", "x", 2);
        list((0..count).map(row).collect())
    };
    let mut recorded = rows("b", 50);
    recorded.lost = 7;
    let all = merge(rows("a", MOST - 10), recorded);
    assert_eq!((all.list.len(), all.omitted, all.lost), (MOST, 80, 7));
}
