use super::*;
use crate::rules::tests::rules;

fn name(text: &str) -> Name {
    match Host::parse(text.as_bytes()) {
        Ok(Host::Name(name)) => name,
        other => panic!("{text}: {other:?}"),
    }
}

fn both(v4: &str, v6: &str) -> (Ipv4Addr, Ipv6Addr) {
    (v4.parse().unwrap(), v6.parse().unwrap())
}

#[test]
fn exact_names_have_addresses_from_the_start_in_the_order_of_the_rules() {
    let book = Book::new(&rules(
        &["c.org", "a.org", "b.org:22", "b.org:23", "*.d.org", "10.0.0.1"],
        &[],
    ));
    let first = both("198.18.0.1", "fd67:6c65:6500::c612:1");
    let third = both("198.18.0.3", "fd67:6c65:6500::c612:3");
    assert_eq!(book.address_of(&name("a.org")), Some(first));
    assert_eq!(book.address_of(&name("c.org")), Some(third));
    assert_eq!((book.names.len(), book.address_of(&name("d.org"))), (3, None));
}

#[test]
fn a_name_that_is_denied_gets_no_address() {
    let book = Book::new(&rules(&["a.org", "b.org"], &["a.org", "b.org:80"]));
    assert_eq!(book.names, [name("b.org")]);
}

#[test]
fn an_address_leads_back_to_its_name_in_every_form() {
    let book = Book::new(&rules(&["a.org", "b.org"], &[]));
    for (addr, expected) in [
        ("198.18.0.1", Some("a.org")),
        ("::ffff:198.18.0.1", Some("a.org")),
        ("fd67:6c65:6500::c612:2", Some("b.org")),
        ("198.18.0.0", None),
        ("198.18.0.3", None),
        ("198.17.255.255", None),
        ("127.0.0.1", None),
        ("fd67:6c65:6500::", None),
        ("fd67:6c65:6500::1:c612:1", None),
        ("fd67:6c65:6501::c612:1", None),
        ("::1", None),
    ] {
        assert_eq!(book.name_of(addr.parse().unwrap()), expected.map(name), "{addr}");
    }
}

#[test]
fn a_book_takes_4096_names_and_then_only_finds_those() {
    let mut book = Book::new(&rules(&["a.org", "*.b.org"], &[]));
    let mut seen = std::collections::BTreeSet::new();
    for number in 1..MAX_NAMES {
        let pair = book.enter(&name(&format!("x{number}.b.org"))).unwrap();
        assert_eq!(book.name_of(pair.0.into()), book.name_of(pair.1.into()));
        assert!(seen.insert(pair));
    }
    assert_eq!(book.enter(&name("one-more.b.org")), Err(BookFull));
    assert_eq!(
        book.enter(&name("a.org")),
        Ok(both("198.18.0.1", "fd67:6c65:6500::c612:1"))
    );
    assert_eq!(
        book.enter(&name("x4095.b.org")),
        Ok(both("198.18.16.0", "fd67:6c65:6500::c612:1000"))
    );
}

#[test]
fn a_book_made_again_has_the_addresses_of_the_run() {
    let rules = rules(&["a.org", "*.b.org"], &[]);
    let mut book = Book::new(&rules);
    let first = book.len();
    for entered in ["z.b.org", "a.org", "c.b.org"] {
        book.enter(&name(entered)).unwrap();
    }
    assert_eq!(book.entered_after(first), ["z.b.org", "c.b.org"]);
    let again = Book::after(&rules, &book.entered_after(first));
    assert_eq!(again.names, book.names);
}
