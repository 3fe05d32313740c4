use proptest::prelude::*;

use super::*;

fn p(text: &str) -> NamePattern {
    text.parse().unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

#[test]
fn names_are_made_canonical() {
    for (written, canonical) in [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("*.Host", "*.host"),
        ("h:443", "h:443"),
        ("127.0.0.1", "127.0.0.1"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("10.1.2.3/8:22", "10.0.0.0/8:22"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("[::1]:443", "[::1]:443"),
        ("fd00::1/8", "fd00::/8"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("my_host", "my_host"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("*.Bücher.example:8443", "*.xn--bcher-kva.example:8443"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"),
    ] {
        assert_eq!(p(written).to_string(), canonical);
        assert_eq!(p(canonical), p(written));
    }
}

#[test]
fn what_is_no_name_is_refused() {
    use NameProblem::{OddAddress, Port, Prefix, Syntax, Unicode, Url, Wildcard};
    for (text, problem) in [
        ("", Syntax),
        (".", Syntax),
        ("a..b", Syntax),
        ("-a", Syntax),
        ("http://h", Url),
        ("https://bücher.de/x", Url),
        ("h/path", Syntax),
        ("a b", Syntax),
        ("user@h", Syntax),
        ("*", Wildcard),
        ("*.*.h", Wildcard),
        ("a*.h", Wildcard),
        ("bü cher.de", Unicode),
        ("１２７.１", OddAddress),
        ("127.1", OddAddress),
        ("2130706433", OddAddress),
        ("0x7f.1", OddAddress),
        ("0x7f000001", OddAddress),
        ("1.2.3.4.", OddAddress),
        ("010.0.0.1", OddAddress),
        ("h:0", Port),
        ("h:65536", Port),
        ("h:", Port),
        ("h:+1", Port),
        ("10.0.0.0/33", Prefix),
        ("10.0.0.0/", Prefix),
        ("[::1", Syntax),
        ("[::1]x", Syntax),
        ("[h]:1", Syntax),
    ] {
        assert_eq!(text.parse::<NamePattern>(), Err(problem), "{text}");
    }
}

#[test]
fn of_a_url_the_host_is_told() {
    for (url, help) in [
        ("http://h", "write `h`"),
        ("https://me:pw@H.org:8443/a/b?c#d", "write `h.org:8443`"),
        ("http://[::1]:80/", "write `[::1]:80`"),
    ] {
        assert_eq!(NameProblem::Url.help(url), help, "{url}");
    }
    assert_eq!(NameProblem::Url.help("http://a b"), NameProblem::Syntax.help(""));
}

#[test]
fn a_star_is_every_name_below_and_not_the_name_itself() {
    assert!(p("*.host").matches("a.host", 1));
    assert!(p("*.host").matches("A.b.HOST.", 1));
    assert!(!p("*.host").matches("host", 1));
    assert!(!p("*.host").matches("ahost", 1));
    assert!(!p("*.host").matches(".host", 1));
    assert!(!p("*.host").matches("*.host", 1));
    assert!(!p("h:443").matches("h", 80));
    assert!(p("10.0.0.0/8").matches("10.9.9.9", 80));
    assert!(!p("10.0.0.0/8").matches("10.0.0.0/9", 80));
    assert!(!p("0.0.0.0/0").matches("::1", 80));
}

#[test]
fn without_a_port_a_rule_allows_the_two_of_the_web() {
    let ports = |text: &str| p(text).allowed().map(|p| p.port).collect::<Vec<_>>();
    assert_eq!(ports("h"), [Some(80), Some(443)]);
    assert_eq!(ports("h:8443"), [Some(8443)]);
    let set = |texts: &[&str]| texts.iter().map(|t| p(t)).collect::<BTreeSet<_>>();
    assert_eq!(
        joined(&set(&["h:80", "h:443", "g:80", "g:8080"])),
        set(&["h", "g:80", "g:8080"])
    );
}

pub(crate) fn pattern() -> impl Strategy<Value = NamePattern> {
    let host = prop::sample::select(vec![
        "a",
        "b.a",
        "c.b.a",
        "*.a",
        "*.b.a",
        "x",
        "*.x",
        "10.0.0.1",
        "10.0.0.0/8",
        "10.0.0.0/16",
        "0.0.0.0/0",
        "::1",
        "::/0",
    ]);
    (host, prop::option::of(prop::sample::select(vec![80u16, 443, 8443])))
        .prop_map(|(host, port)| NamePattern { port, ..p(host) })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(a in pattern()) {
        prop_assert_eq!(p(&a.to_string()), a);
    }

    #[test]
    fn meeting_is_commutative_associative_idempotent_and_within_both(a in pattern(), b in pattern(), c in pattern()) {
        prop_assert_eq!(a.meet(&b), b.meet(&a));
        prop_assert_eq!(a.meet(&a), Some(a.clone()));
        let left = a.meet(&b).and_then(|ab| ab.meet(&c));
        let right = b.meet(&c).and_then(|bc| a.meet(&bc));
        prop_assert_eq!(left, right);
        if let Some(both) = a.meet(&b) {
            prop_assert!(a.contains(&both) && b.contains(&both));
        }
        prop_assert_eq!(a.contains(&b), a.meet(&b) == Some(b));
    }

    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,40}") {
        if let Ok(name) = text.parse::<NamePattern>() {
            prop_assert_eq!(p(&name.to_string()), name);
        }
    }
}
