use super::*;

fn left(steps: &[&str]) -> Vec<PathBuf> {
    let mut climbs = Climbs::default();
    for path in ["/h/s/a", "/h/s/a/b", "/h/t/a"] {
        climbs.begin(path.into(), "/h".into());
        let climb = climbs.begun().unwrap();
        climbs.hold(climb, (83, "mkdir"), Person::default());
    }
    for step in steps {
        climbs.made(Path::new(step));
    }
    climbs.into_held().into_iter().map(|held| held.path).collect()
}

#[test]
fn what_is_followed_by_the_directories_above_was_a_first_step() {
    let all = ["/h/s/a", "/h/s/a/b", "/h/t/a"].map(PathBuf::from);
    assert_eq!(left(&[]), all);
    assert_eq!(left(&["/h/s"]), [PathBuf::from("/h/t/a")]);
    assert_eq!(left(&["/h/./s//", "/h/t"]), Vec::<PathBuf>::new());
}

#[test]
fn a_directory_that_was_there_already_and_one_beside_change_nothing() {
    assert_eq!(left(&["/h", "/", "/h/x", "/h/s/a/b/c"]).len(), 3);
}

#[test]
fn no_more_are_held_than_have_room() {
    let mut climbs = Climbs::default();
    for n in 0..MOST * 2 {
        climbs.begin(format!("/h/{n}/a").into(), "/h".into());
        let climb = climbs.begun().unwrap();
        climbs.hold(climb, (83, "mkdir"), Person::default());
    }
    assert_eq!(climbs.into_held().len(), MOST);
}
