use super::*;

#[test]
fn words_are_filled_in_once_and_unknown_ones_stay() {
    let words = [("${a}", "${b}"), ("${b}", "2")];
    assert_eq!(filled("x ${a} ${b} ${c} $ ${", &words), "x ${b} 2 ${c} $ ${");
}

#[test]
fn a_file_of_a_profile_lies_below_the_home_or_where_it_says() {
    assert_eq!(below(Path::new("/h"), "~/.x/y"), Path::new("/h/.x/y"));
    assert_eq!(below(Path::new("/h"), "/etc/x"), Path::new("/etc/x"));
}
