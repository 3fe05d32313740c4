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

#[test]
fn a_key_of_the_brokers_passes_by_its_own_name_only() {
    // Variables that are set here stand for those with keys.
    let keys = ["HOME".to_owned(), "PATH".to_owned(), "GLEE_UNSET".to_owned()];
    let mut rules = EnvRules::nothing();
    rules
        .allow
        .extend(["PATH", "GLEE_UNSET"].map(|name| EnvPattern::Exact(name.into())));
    assert_eq!(keep_outside(&mut rules, &keys), ["PATH"]);
    assert!(rules.withheld.is_empty());
    rules.inherit_all = true;
    assert_eq!(keep_outside(&mut rules, &keys), ["PATH"]);
    assert_eq!(rules.fate(b"HOME"), EnvFate::Withheld);
    assert_eq!(rules.fate(b"PATH"), EnvFate::Passes);
}
