use super::*;

fn left(steps: &[&str]) -> Vec<PathBuf> {
    let mut climbs = Climbs::default();
    for path in ["/h/s/a", "/h/s/a/b", "/h/t/a"] {
        climbs.begin(path.into(), "/h".into());
        let climb = climbs.begun().unwrap();
        assert!(climbs.hold(climb, (83, "mkdir"), Person::default()).is_none());
    }
    for step in steps {
        climbs.made(Path::new(step));
    }
    climbs.into_held().map(|held| held.path).collect()
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
fn what_there_is_no_room_for_is_handed_back_oldest_first() {
    let mut climbs = Climbs::default();
    let mut all = Vec::new();
    for n in 0..MOST * 2 {
        climbs.begin(format!("/h/{n}/a").into(), "/h".into());
        let climb = climbs.begun().unwrap();
        all.extend(climbs.hold(climb, (83, "mkdir"), Person::default()));
    }
    assert_eq!(all.len(), MOST);
    all.extend(climbs.into_held());
    let paths: Vec<PathBuf> = all.into_iter().map(|held| held.path).collect();
    let expected: Vec<PathBuf> = (0..MOST * 2).map(|n| format!("/h/{n}/a").into()).collect();
    assert_eq!(paths, expected);
}

#[test]
fn the_same_again_is_counted_and_another_program_is_another() {
    let mut climbs = Climbs::default();
    for program in ["a", "b", "a"] {
        climbs.begin("/h/s/a".into(), "/h".into());
        let climb = climbs.begun().unwrap();
        let person = Person {
            program: program.into(),
            ..Person::default()
        };
        assert!(climbs.hold(climb, (83, "mkdir"), person).is_none());
    }
    let held: Vec<(String, u64)> = climbs
        .into_held()
        .map(|held| (held.person.program, held.count))
        .collect();
    assert_eq!(held, [("a".into(), 2), ("b".into(), 1)]);
}
