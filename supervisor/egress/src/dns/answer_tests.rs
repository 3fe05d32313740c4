use proptest::prelude::*;

use super::super::response::tests::wire;
use super::*;
use crate::rules::tests::rules;

fn query(name: &[u8], kind: u16, class: u16) -> Vec<u8> {
    let mut query = b"\xab\xcd\x01\0\0\x01\0\0\0\0\0\0".to_vec();
    query.extend_from_slice(name);
    query.extend_from_slice(&kind.to_be_bytes());
    query.extend_from_slice(&class.to_be_bytes());
    query
}

fn the_rules() -> Rules {
    rules(
        &["a.org", "odd.org:8443", "*.w.org", "gone.org", "10.0.0.1"],
        &["gone.org", "x.w.org"],
    )
}

/// Code, number of answers, number of authority records, the answer's data, and what to record.
type Seen = (u8, u8, u8, Vec<u8>, Option<RefusedName>);

fn ask_wire(name: &[u8], kind: u16, families: Families) -> Seen {
    let rules = the_rules();
    let answer = answer(&query(name, kind, CLASS_IN), &rules, &mut Book::new(&rules), families);
    let reply = answer.reply.unwrap();
    let data = if reply[7] == 1 {
        reply[12 + name.len() + 4 + 12..].to_vec()
    } else {
        vec![]
    };
    (reply[3] & 0xf, reply[7], reply[9], data, answer.refused)
}

fn ask(name: &str, kind: u16) -> Seen {
    ask_wire(&wire(name), kind, Families::Both)
}

fn refusal(name: &str, why: NameRefusal) -> Option<RefusedName> {
    let name = name.to_owned();
    Some(RefusedName { name, why })
}

fn not_allowed(name: &str) -> Option<RefusedName> {
    let hint = format!("network: {{allow: [\"{name}\"]}}");
    refusal(name, NameRefusal::NotAllowed { hint })
}

const EMPTY: Seen = (0, 0, 1, vec![], None);
const ABSENT: Seen = (3, 0, 1, vec![], None);

#[test]
fn an_allowed_name_has_its_synthetic_addresses() {
    let v6 = b"\xfd\x67\x6c\x65\x65\0\0\0\0\0\0\0\xc6\x12\0\x01";
    assert_eq!(ask("a.org", TYPE_A), (0, 1, 0, vec![198, 18, 0, 1], None));
    assert_eq!(ask("a.org", TYPE_AAAA), (0, 1, 0, v6.to_vec(), None));
    assert_eq!(ask("odd.org", TYPE_A), (0, 1, 0, vec![198, 18, 0, 2], None));
    assert_eq!(ask("deep.y.w.org", TYPE_A), (0, 1, 0, vec![198, 18, 0, 3], None));
    assert_eq!(
        ask_wire(b"\x01A\x03oRG\0", TYPE_A, Families::Both),
        (0, 1, 0, vec![198, 18, 0, 1], None)
    );
}

#[test]
fn other_types_of_an_allowed_name_are_a_correct_nothing() {
    // NS, CNAME, SOA, PTR, MX, TXT, SRV, SVCB, HTTPS, AXFR, ANY.
    for kind in [2, 5, 6, 12, 15, 16, 33, 64, 65, 252, 255] {
        assert_eq!(ask("a.org", kind), EMPTY, "type {kind}");
    }
}

#[test]
fn without_ipv6_there_is_no_ipv6_address() {
    assert_eq!(ask_wire(&wire("a.org"), TYPE_AAAA, Families::Ipv4), EMPTY);
    assert_eq!(ask_wire(&wire("localhost"), TYPE_AAAA, Families::Ipv4), EMPTY);
    assert_eq!(
        ask_wire(&wire("a.org"), TYPE_A, Families::Ipv4),
        (0, 1, 0, vec![198, 18, 0, 1], None)
    );
}

#[test]
fn every_other_name_does_not_exist_and_is_recorded_with_the_line_that_would_allow_it() {
    for name in ["b.org", "w.org", "sub.a.org", "org", "metadata.google.internal"] {
        for kind in [TYPE_A, TYPE_AAAA, 16] {
            assert_eq!(ask(name, kind), (3, 0, 1, vec![], not_allowed(name)), "{name}");
        }
    }
    let rule = |name: &str| NameRefusal::Denied {
        rule: name.to_owned(),
        hint: format!("remove network.deny \"{name}\""),
    };
    for name in ["gone.org", "x.w.org"] {
        assert_eq!(
            ask(name, TYPE_A),
            (3, 0, 1, vec![], refusal(name, rule(name))),
            "{name}"
        );
    }
}

#[test]
fn localhost_is_this_namespace_and_never_synthetic() {
    let v6 = b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01";
    for name in ["localhost", "my.localhost"] {
        assert_eq!(ask(name, TYPE_A), (0, 1, 0, vec![127, 0, 0, 1], None));
        assert_eq!(ask(name, TYPE_AAAA), (0, 1, 0, v6.to_vec(), None));
        assert_eq!(ask(name, 16), EMPTY);
    }
}

#[test]
fn reverse_lookups_addresses_and_the_root_do_not_exist_and_are_not_recorded() {
    assert_eq!(ask("1.0.18.198.in-addr.arpa", 12), ABSENT);
    assert_eq!(ask("1.0.0.0.ip6.arpa", 12), ABSENT);
    assert_eq!(ask_wire(b"\x0210\x010\x010\x011\0", TYPE_A, Families::Both), ABSENT);
    assert_eq!(ask_wire(b"\0", 2, Families::Both), ABSENT);
}

#[test]
fn odd_names_do_not_exist_and_are_recorded_printably() {
    for (name, shown, problem) in [
        (b"\x05a.org\0".as_slice(), "a\\046org", HostProblem::Syntax),
        (b"\x02a\0\x03org\0", "a\\000.org", HostProblem::Control),
        (b"\x03127\x011\0", "127.1", HostProblem::OddAddress),
        (b"\x01*\x01w\x03org\0", "\\042.w.org", HostProblem::Syntax),
    ] {
        let refused = refusal(shown, NameRefusal::NotAHost(problem));
        assert_eq!(ask_wire(name, TYPE_A, Families::Both), (3, 0, 1, vec![], refused));
    }
    let long = [[b"\x3f".as_slice(), &[7; 63]].concat().repeat(3), vec![0]].concat();
    let shown = ask_wire(&long, TYPE_A, Families::Both).4.unwrap().name;
    assert_eq!(shown.len(), MAX_SHOWN);
}

#[test]
fn a_full_book_is_a_failure_of_the_server_and_recorded() {
    let rules = the_rules();
    let mut book = Book::new(&rules);
    let mut codes = Vec::new();
    for number in 0..4096 {
        let name = wire(&format!("n{number}.w.org"));
        let answer = answer(&query(&name, TYPE_A, CLASS_IN), &rules, &mut book, Families::Both);
        codes.push(answer.reply.unwrap()[3] & 0xf);
        let full = refusal(&format!("n{number}.w.org"), NameRefusal::TooMany);
        assert_eq!(answer.refused, if number < 4094 { None } else { full });
    }
    assert_eq!((codes[4093], codes[4094], codes[4095]), (0, 2, 2));
}

#[test]
fn other_classes_and_newer_edns_are_refused_without_a_record() {
    let rules = the_rules();
    let mut book = Book::new(&rules);
    let mut code = |query: &[u8]| {
        let answer = answer(query, &rules, &mut book, Families::Both);
        (answer.reply.map(|reply| reply[3] & 0xf), answer.refused)
    };
    assert_eq!(code(&query(&wire("version.bind"), 16, 3)), (Some(5), None));
    assert_eq!(code(&query(&wire("a.org"), TYPE_A, 255)), (Some(5), None));
    let mut newer = [
        query(&wire("b.org"), TYPE_A, CLASS_IN),
        b"\0\0\x29\x10\0\0\x01\0\0\0\0".to_vec(),
    ]
    .concat();
    newer[11] = 1;
    assert_eq!(code(&newer), (Some(0), None));
    assert_eq!(code(b"\xab\xcd\x81\0\0\x01\0\0\0\0\0\0"), (None, None));
    assert_eq!(code(b"\xab\xcd"), (None, None));
    assert_eq!(code(b"\xab\xcd\x01\0\0\x02\0\0\0\0\0\0"), (Some(1), None));
}

proptest! {
    #[test]
    fn whatever_is_asked_only_an_allowed_name_gets_an_address(
        labels in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 0..5), kind in any::<u16>(),
    ) {
        let rules = the_rules();
        let mut book = Book::new(&rules);
        let mut name = Vec::new();
        for label in &labels {
            name.push(u8::try_from(label.len()).unwrap());
            name.extend_from_slice(label);
        }
        name.push(0);
        let answer = answer(&query(&name, kind, CLASS_IN), &rules, &mut book, Families::Both);
        let reply = answer.reply.unwrap();
        prop_assert!(reply.len() <= 512);
        if reply[7] != 0 {
            let Ok(host) = Host::parse(&labels.join(&b'.')) else { panic!("no host") };
            prop_assert!(!rules.ports_of(&host).is_empty());
        }
        if let Some(refused) = answer.refused {
            prop_assert!(refused.name.len() <= MAX_SHOWN && refused.name.bytes().all(|b| b.is_ascii_graphic()));
        }
    }
}
