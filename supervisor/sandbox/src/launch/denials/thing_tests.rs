//! What can be moved onto what.

use super::*;

fn moved(over: Over, from: Option<Thing>, to: Option<Thing>) -> bool {
    Deed::Move(over).is_possible((Path::new("/a"), from), (Path::new("/b"), to))
}

#[test]
fn a_name_that_exists_takes_nothing_that_must_not_replace() {
    let all = [Thing::File, Thing::EmptyDir, Thing::FullDir];
    for (from, to) in all.iter().flat_map(|from| all.map(|to| (*from, to))) {
        assert!(!moved(Over::Nothing, Some(from), Some(to)), "{from:?} {to:?}");
        assert!(moved(Over::Exchanged, Some(from), Some(to)), "{from:?} {to:?}");
    }
    assert!(moved(Over::Nothing, Some(Thing::File), None));
    assert!(!moved(Over::Exchanged, Some(Thing::File), None));
}

#[test]
fn files_replace_files_and_directories_empty_ones() {
    let fits = [
        (Thing::File, Thing::File),
        (Thing::EmptyDir, Thing::EmptyDir),
        (Thing::FullDir, Thing::EmptyDir),
    ];
    let all = [Thing::File, Thing::EmptyDir, Thing::FullDir];
    for (from, to) in all.iter().flat_map(|from| all.map(|to| (*from, to))) {
        let done = moved(Over::Anything, Some(from), Some(to));
        assert_eq!(done, fits.contains(&(from, to)), "{from:?} {to:?}");
    }
    assert!(!moved(Over::Anything, None, None), "what is not there is not moved");
}

#[test]
fn a_directory_is_not_moved_into_itself_nor_linked() {
    let (dir, below) = (Path::new("/a"), Path::new("/a/b"));
    let deed = Deed::Move(Over::Anything);
    assert!(!deed.is_possible((dir, Some(Thing::FullDir)), (below, None)));
    assert!(!Deed::Link.is_possible((dir, Some(Thing::EmptyDir)), (Path::new("/b"), None)));
    assert!(Deed::Link.is_possible((dir, Some(Thing::File)), (Path::new("/b"), None)));
    assert!(!Deed::Link.is_possible((dir, Some(Thing::File)), (Path::new("/b"), Some(Thing::File))));
    let slash = Deed::MoveDir(Over::Anything);
    assert!(!slash.is_possible((dir, Some(Thing::File)), (Path::new("/b"), None)));
}

#[test]
fn names_that_the_run_holds_do_not_fill_a_directory() {
    let dir = std::env::temp_dir().join(format!("glee-thing-{}", std::process::id()));
    fs::create_dir_all(&dir).expect("make a directory");
    fs::write(dir.join("held"), "").expect("make a file");
    let look = |held: BTreeSet<PathBuf>| {
        let handle = look::on_host(&dir, look::Last::Itself).expect("a handle");
        Thing::of(std::os::fd::AsFd::as_fd(&handle), &dir, &held)
    };
    let seen = (look(BTreeSet::new()), look([dir.join("held")].into()));
    fs::remove_dir_all(&dir).expect("remove a directory");
    assert_eq!(seen, (Thing::FullDir, Thing::EmptyDir));
}
