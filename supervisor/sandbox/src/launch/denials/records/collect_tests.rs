//! Records of many sandboxes, of which one is ours.

use super::*;

const MAKER: &str = "g00112233445566";

fn collect(records: &[(u16, &str)]) -> Refusals {
    let table = Table::builtin().unwrap();
    let mut collector = Collector::new(&table, MAKER.into());
    for (kind, text) in records {
        collector.take(*kind, text.as_bytes());
    }
    collector.into_refusals(0)
}

fn rows(refusals: &Refusals) -> Vec<(DeniedKind, String, &str, &str, u64)> {
    let text = |subject: &Subject| match subject {
        Subject::Path(path) => path.display().to_string(),
        Subject::Call => "call".to_owned(),
        Subject::Abstract(_) | Subject::Address(_) | Subject::Datagram(_) => "?".to_owned(),
        Subject::Host(name) => name.clone(),
    };
    let mut rows = Vec::new();
    for row in &refusals.list {
        rows.push((
            row.kind,
            text(&row.subject),
            row.syscall.as_str(),
            row.program.as_str(),
            row.count,
        ));
    }
    rows
}

const OURS: (u16, &str) = (
    parse::DOMAIN,
    "audit(1.000:1): domain=a1 status=allocated mode=enforcing pid=9 uid=1 exe=\"/x\" comm=\"g00112233445566\"",
);

#[test]
fn only_the_domain_of_our_own_maker_counts() {
    let found = collect(&[
        (
            parse::ACCESS,
            "audit(1.000:0): domain=b2 blockers=fs.read_file path=\"/theirs\" dev=\"v\" ino=1",
        ),
        (
            parse::DOMAIN,
            "audit(1.000:0): domain=b2 status=allocated mode=enforcing pid=9 uid=1 exe=\"/x\" comm=\"other\"",
        ),
        (parse::END, "audit(1.000:0): "),
        (
            parse::ACCESS,
            "audit(1.000:1): domain=a1 blockers=fs.read_file path=\"/ours\" dev=\"v\" ino=1",
        ),
        OURS,
        (
            parse::SYSCALL,
            "audit(1.000:1): arch=c000003e syscall=257 success=no exit=-13 pid=9 comm=\"cat\" exe=\"/cat\"",
        ),
        (parse::END, "audit(1.000:1): "),
        (
            parse::ACCESS,
            "audit(1.000:2): domain=b2 blockers=fs.read_file path=\"/theirs\" dev=\"v\" ino=1",
        ),
        (parse::END, "audit(1.000:2): "),
    ]);
    if cfg!(target_arch = "x86_64") {
        assert_eq!(
            rows(&found),
            [(DeniedKind::Read, "/ours".to_owned(), "openat", "cat", 1)]
        );
    }
    assert_eq!(found.list.len(), 1);
}

#[test]
fn events_that_overlap_keep_their_own_callers() {
    let found = collect(&[
        OURS,
        (
            parse::ACCESS,
            "audit(1.000:5): domain=a1 blockers=fs.write_file path=\"/one\"",
        ),
        (
            parse::ACCESS,
            "audit(1.000:6): domain=a1 blockers=fs.execute path=\"/two\"",
        ),
        (parse::SYSCALL, "audit(1.000:6): syscall=59 pid=8 comm=\"two\""),
        (parse::SYSCALL, "audit(1.000:5): syscall=2 pid=7 comm=\"one\""),
        (parse::END, "audit(1.000:5): "),
        (parse::END, "audit(1.000:6): "),
    ]);
    let programs: Vec<(&str, DeniedKind)> = found.list.iter().map(|row| (row.program.as_str(), row.kind)).collect();
    assert_eq!(programs, [("one", DeniedKind::Write), ("two", DeniedKind::Execute)]);
}

#[test]
fn without_a_call_the_place_is_still_known_and_nobody_is_named() {
    let found = collect(&[
        OURS,
        (
            parse::ACCESS,
            "audit(1.000:5): domain=a1 blockers=fs.read_dir path=\"/one\"",
        ),
        (
            parse::ACCESS,
            "audit(1.000:6): domain=a1 blockers=scope.signal opid=1 ocomm=\"init\"",
        ),
    ]);
    let expected = [
        (DeniedKind::Read, "/one".to_owned(), "", "", 1),
        (DeniedKind::Syscall, "call".to_owned(), "", "", 1),
    ];
    assert_eq!(rows(&found), expected);
}

#[test]
fn what_the_kernel_counted_and_we_never_saw_is_lost() {
    let found = collect(&[
        OURS,
        (
            parse::ACCESS,
            "audit(1.000:5): domain=a1 blockers=fs.read_dir path=\"/one\"",
        ),
        (parse::DOMAIN, "audit(1.000:9): domain=b2 status=deallocated denials=99"),
        (parse::DOMAIN, "audit(1.000:9): domain=a1 status=deallocated denials=8"),
    ]);
    assert_eq!((found.lost, found.list.len()), (7, 1));
}

#[test]
fn a_flood_of_events_without_end_is_bounded() {
    let table = Table::builtin().unwrap();
    let mut collector = Collector::new(&table, MAKER.into());
    collector.take(OURS.0, OURS.1.as_bytes());
    for n in 0..10_000 {
        let text = format!("audit(1.000:{n}): domain=a1 blockers=fs.read_file path=\"/{}\"", n % 7);
        collector.take(parse::ACCESS, text.as_bytes());
        assert!(collector.open.len() <= MOST_OPEN);
    }
    let found = collector.into_refusals(0);
    assert_eq!(
        found.list.iter().map(|row| row.count).sum::<u64>() + found.omitted,
        10_000
    );
}

#[test]
fn what_the_canaries_try_is_no_row() {
    let found = collect(&[
        OURS,
        (
            parse::ACCESS,
            "audit(1.000:5): domain=a1 blockers=fs.write_file path=\"/one\"",
        ),
        (
            parse::SYSCALL,
            "audit(1.000:5): syscall=2 pid=7 comm=\"g00112233445566\"",
        ),
        (parse::END, "audit(1.000:5): "),
        (parse::DOMAIN, "audit(1.000:9): domain=a1 status=deallocated denials=1"),
    ]);
    assert_eq!((found.lost, found.list.len()), (0, 0));
}
