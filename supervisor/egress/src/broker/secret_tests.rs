use super::{Secret, SecretProblem};

fn problem(text: &str) -> SecretProblem {
    Secret::new(text.to_owned()).expect_err("not a key")
}

#[test]
fn a_key_is_never_printed() {
    let secret = Secret::new("sk-very-secret-key".to_owned()).expect("a key");
    assert_eq!(format!("{secret:?} {secret:#?}"), "Secret(…) Secret(…)");
}

#[test]
fn what_cannot_be_a_key_is_refused_without_being_quoted() {
    assert_eq!(problem(""), SecretProblem::TooShort);
    assert_eq!(problem("short12"), SecretProblem::TooShort);
    assert_eq!(problem("with a space"), SecretProblem::Unprintable);
    assert_eq!(problem("line\r\nbreak"), SecretProblem::Unprintable);
    assert_eq!(problem("schlüssel"), SecretProblem::Unprintable);
    assert_eq!(problem(&"k".repeat(8193)), SecretProblem::TooLong);
    assert!(!problem("with a space").to_string().contains("with a space"));
}

#[test]
fn the_shortest_and_the_longest_key_are_kept_as_they_are() {
    for text in ["12345678".to_owned(), "k".repeat(8192)] {
        let secret = Secret::new(text.clone()).expect("a key");
        assert_eq!(secret.bytes(), text.as_bytes());
    }
}
