use super::*;

const STARTS: Flag = Flag {
    name: "--starts",
    value: Some("N"),
    help: "starts of each",
};

fn read(words: &[&str]) -> Result<Option<Args>, BenchError> {
    Args::read("about", &[STARTS, ONLY, JSON], words.iter().map(ToString::to_string))
}

#[test]
fn a_count_is_read_and_has_a_default() {
    assert_eq!(
        read(&["--starts", "7"]).unwrap().unwrap().count(STARTS, 200).unwrap(),
        7
    );
    assert_eq!(read(&[]).unwrap().unwrap().count(STARTS, 200).unwrap(), 200);
}

#[test]
fn nonsense_is_an_error_that_names_the_word() {
    for (words, named) in [
        (&["--start", "7"][..], "--start"),
        (&["--starts"][..], "--starts"),
        (&["7"][..], "7"),
    ] {
        let message = read(words).unwrap_err().to_string();
        assert!(message.contains(&format!("`{named}`")), "{message}");
    }
    for value in ["0", "-1", "many", ""] {
        assert!(
            read(&["--starts", value]).unwrap().unwrap().count(STARTS, 200).is_err(),
            "{value}"
        );
    }
}

#[test]
fn only_lets_the_named_through_and_its_absence_lets_all() {
    let some = read(&["--only", "bare, bwrap"]).unwrap().unwrap();
    assert!(some.wants("bare") && some.wants("bwrap") && !some.wants("glee"));
    assert!(read(&["--json"]).unwrap().unwrap().wants("glee"));
}
