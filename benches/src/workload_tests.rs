use super::*;
use crate::place::Place;
use crate::subject::Subject;

fn files_below(dir: &Path) -> usize {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { files_below(&path) } else { 1 })
        .sum()
}

#[test]
fn a_tree_holds_exactly_the_files_asked_for_and_no_two_are_alike() {
    let place = Place::new("test-tree").unwrap();
    write_tree(&place.project(), 250, 1).unwrap();
    assert_eq!(files_below(&place.project()), 250);
    assert_ne!(text(1, 1), text(2, 1));
    assert!((1900..2300).contains(&text(7, 32).len()), "{}", text(7, 32).len());
}

#[test]
fn the_generated_work_can_be_done() {
    for work in Work::ALL {
        let place = Place::new(&format!("test-{}", work.name())).unwrap();
        work.prepare(&place.project(), 150).unwrap();
        let (name, args) = work.command().split_first().unwrap();
        let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let program = place::program(name).unwrap();
        Subject::new(name, program, &place.project(), &home)
            .args(args)
            .check()
            .unwrap();
    }
}
