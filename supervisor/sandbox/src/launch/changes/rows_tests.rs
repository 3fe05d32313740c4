use super::*;

struct Marks;

impl Judge for Marks {
    fn judge(&self, found: &Found<'_>) -> Verdict {
        match found.path.file_name().and_then(|name| name.to_str()) {
            Some("run") => Verdict::Executes("because"),
            Some("object") => Verdict::Counted,
            Some(_) | None => Verdict::Plain,
        }
    }
}

fn add(changes: &mut Changes, pending: &mut Pending, path: &Path) {
    let found = Found {
        path,
        change: Change::Created,
        kind: FileKind::File,
        mode: 0o644,
        target: None,
    };
    changes.add(pending, &found, Some(1), &Marks);
}

fn settled(paths: impl IntoIterator<Item = PathBuf>) -> Changes {
    let (mut changes, mut pending) = (Changes::default(), Pending::default());
    for path in paths {
        add(&mut changes, &mut pending, &path);
    }
    changes.settle(pending);
    changes
}

#[test]
fn rows_are_in_the_order_of_their_paths() {
    let changes = settled(["b/run", "a", "c", "b/a"].map(PathBuf::from));
    let paths: Vec<_> = changes.rows.iter().map(|row| row.path.to_str()).collect();
    assert_eq!(paths, ["a", "b/a", "b/run", "c"].map(Some));
}

#[test]
fn what_the_host_would_run_is_kept_when_the_list_is_full() {
    let plain = (0..MOST + 5).map(|number| PathBuf::from(format!("{number}")));
    let marked = (0..3).map(|number| PathBuf::from(format!("z{number}/run")));
    let changes = settled(plain.chain(marked));
    let kept = changes.rows.iter().filter(|row| row.executes.is_some()).count();
    assert_eq!(
        (changes.rows.len(), kept, changes.not_listed, changes.created),
        (MOST, 3, 8, MOST as u64 + 8)
    );
}

#[test]
fn more_of_it_than_the_list_holds_is_counted() {
    let changes = settled((0..MOST + 7).map(|number| PathBuf::from(format!("{number}/run"))));
    assert_eq!((changes.rows.len(), changes.not_listed), (MOST, 7));
}

#[test]
fn what_is_only_counted_takes_no_row() {
    let changes = settled(["a/object", "b/object", "c"].map(PathBuf::from));
    assert_eq!((changes.rows.len(), changes.counted, changes.created), (1, 2, 3));
}

#[test]
fn a_path_that_nothing_can_open_by_name_is_counted() {
    let changes = settled([PathBuf::from("x/".repeat(LONGEST))]);
    assert_eq!((changes.rows.len(), changes.not_listed), (0, 1));
}

#[test]
fn places_in_doubt_are_bounded() {
    let mut changes = Changes::default();
    for number in 0..DOUBTS + 2 {
        changes.doubt(Path::new(&number.to_string()), Doubt::Unreadable);
    }
    let mut all = Changes::default();
    all.merge(changes);
    assert_eq!((all.doubts.len(), all.more_doubts), (DOUBTS, 2));
}
