use super::*;

fn named(text: &str) -> String {
    String::from_utf8(with_own_name(text.into())).unwrap()
}

#[test]
fn a_table_of_names_gets_the_sandbox_and_what_it_lacks() {
    let fresh = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.0.1 sandbox\n";
    assert_eq!(named(""), fresh);
    assert_eq!(
        named("# 127.0.0.1 localhost"),
        format!("# 127.0.0.1 localhost\n{fresh}")
    );
    assert_eq!(
        named("127.0.0.1\tlocalhost\n10.0.0.1 build # sandbox"),
        "127.0.0.1\tlocalhost\n10.0.0.1 build # sandbox\n127.0.0.1 sandbox\n"
    );
}

#[test]
fn of_maven_no_settings_are_shown() {
    let maven: Vec<&&str> = ETC.iter().filter(|name| name.starts_with("maven")).collect();
    assert_eq!(maven, [&"maven/m2.conf", &"maven/logging"]);
}

#[test]
fn a_table_of_names_that_has_it_all_stays_as_it_is() {
    let all = "127.0.0.1 localhost\n10.0.0.1 sandbox.example sandbox\n";
    assert_eq!(named(all), all);
}
