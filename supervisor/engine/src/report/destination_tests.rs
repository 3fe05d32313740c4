use super::*;

#[test]
fn names_beside_a_report_fit_where_its_own_does() {
    for length in [1, 200, 222, 223, 254, 255] {
        // Cut in the middle of a character, too.
        let name = OsString::from("x".repeat(length % 2) + &"é".repeat(length / 2));
        for what in ["tmp", "set-aside"] {
            let (one, other) = (beside(&name, what), beside(&name, what));
            assert!(one.len() <= NAME_MAX, "{length}: {one:?}");
            assert_ne!(one, other);
        }
    }
}
