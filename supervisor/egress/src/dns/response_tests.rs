use proptest::prelude::*;

use super::*;
use crate::host::Host;

pub(crate) fn name(text: &str) -> Name {
    match Host::parse(text.as_bytes()) {
        Ok(Host::Name(name)) => name,
        other => panic!("{text}: {other:?}"),
    }
}

/// A record, uncompressed.
pub(crate) fn record(owner: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let mut out = wire(owner);
    out.extend_from_slice(&kind.to_be_bytes());
    out.extend_from_slice(b"\0\x01\0\0\0\x05");
    out.extend_from_slice(&u16::try_from(data.len()).unwrap().to_be_bytes());
    out.extend_from_slice(data);
    out
}

pub(crate) fn wire(text: &str) -> Vec<u8> {
    let mut out = WireName::from(&name(text)).as_bytes().to_vec();
    out.push(0);
    out
}

/// A reply to `query` with these flags and records.
pub(crate) fn reply(query: &[u8], flags: u16, records: &[Vec<u8>]) -> Vec<u8> {
    let mut out = query.to_vec();
    out[2..4].copy_from_slice(&(QR | flags).to_be_bytes());
    out[6..8].copy_from_slice(&u16::try_from(records.len()).unwrap().to_be_bytes());
    out.extend(records.concat());
    out
}

fn asked() -> Asked {
    Asked::new(0x1234, &name("a.org"), Kind::A)
}

fn read(flags: u16, records: &[Vec<u8>]) -> Option<Response> {
    asked().read(&reply(&asked().write(), flags, records))
}

fn addresses(texts: &[&str]) -> Option<Response> {
    Some(Response::Addresses(
        texts.iter().map(|text| text.parse().unwrap()).collect(),
    ))
}

#[test]
fn a_query_asks_one_question_and_wants_recursion() {
    assert_eq!(
        asked().write(),
        b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x03org\0\0\x01\0\x01"
    );
    assert!(
        Asked::new(0, &name("a.org"), Kind::Aaaa)
            .write()
            .ends_with(b"\0\x1c\0\x01")
    );
}

#[test]
fn addresses_are_found_at_the_end_of_the_aliases_in_any_order() {
    let records = [
        record("c.org", TYPE_A, &[192, 0, 2, 1]),
        record("b.org", TYPE_CNAME, &wire("c.org")),
        record("A.org", TYPE_CNAME, &wire("B.org")),
        record("c.org", TYPE_A, &[192, 0, 2, 2]),
    ];
    assert_eq!(read(0, &records), addresses(&["192.0.2.1", "192.0.2.2"]));
}

#[test]
fn addresses_of_other_names_types_and_classes_do_not_count() {
    let mut chaos = record("a.org", TYPE_A, &[192, 0, 2, 4]);
    chaos[10] = 3;
    let records = [
        record("evil.org", TYPE_A, &[192, 0, 2, 1]),
        record("sub.a.org", TYPE_A, &[192, 0, 2, 2]),
        record("a.org", TYPE_AAAA, &[0; 16]),
        record("a.org", 16, b"\x03txt"),
        chaos,
    ];
    assert_eq!(read(0, &records), addresses(&[]));
}

#[test]
fn compressed_names_are_followed() {
    let compressed = [
        b"\xc0\x0c\0\x05\0\x01\0\0\0\x05\0\x04\x01b\xc0\x0e".to_vec(),
        record("b.org", TYPE_A, &[192, 0, 2, 1]),
    ];
    assert_eq!(read(0, &compressed), addresses(&["192.0.2.1"]));
}

#[test]
fn at_most_sixteen_addresses_are_kept() {
    let records: Vec<_> = (0..40)
        .map(|last| record("a.org", TYPE_A, &[192, 0, 2, last]))
        .collect();
    match read(0, &records) {
        Some(Response::Addresses(found)) => assert_eq!(found.len(), 16),
        other => panic!("{other:?}"),
    }
}

#[test]
fn aliases_in_a_circle_end() {
    let circle = [
        record("a.org", TYPE_CNAME, &wire("b.org")),
        record("b.org", TYPE_CNAME, &wire("a.org")),
    ];
    assert_eq!(read(0, &circle), Some(Response::Broken(WireProblem::Chain)));
    let own = [record("a.org", TYPE_CNAME, &wire("a.org"))];
    assert_eq!(read(0, &own), Some(Response::Broken(WireProblem::Chain)));
    let long: Vec<_> = (0..20)
        .map(|number| {
            let owner = if number == 0 {
                "a.org".to_owned()
            } else {
                format!("n{number}.org")
            };
            record(&owner, TYPE_CNAME, &wire(&format!("n{}.org", number + 1)))
        })
        .collect();
    assert_eq!(read(0, &long), Some(Response::Broken(WireProblem::Chain)));
}

#[test]
fn broken_records_are_told_from_missing_ones() {
    let broken = |records: &[Vec<u8>]| read(0, records);
    let problem = |problem| Some(Response::Broken(problem));
    assert_eq!(
        broken(&[record("a.org", TYPE_A, &[1, 2, 3])]),
        problem(WireProblem::Short)
    );
    assert_eq!(
        broken(&[record("a.org", TYPE_A, &[1, 2, 3, 4, 5])]),
        problem(WireProblem::Data)
    );
    assert_eq!(
        broken(&[record("a.org", TYPE_CNAME, b"\x01b\0\0")]),
        problem(WireProblem::Data)
    );
    assert_eq!(
        broken(&[b"\xc0\x17".to_vec()]),
        problem(WireProblem::Pointer),
        "a pointer to itself"
    );
    let mut many = reply(&asked().write(), 0, &[record("a.org", TYPE_A, &[1, 2, 3, 4])]);
    many[6..8].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(asked().read(&many), problem(WireProblem::TooMany));
    many[6..8].copy_from_slice(&[0, 2]);
    assert_eq!(asked().read(&many), problem(WireProblem::Short));
}

#[test]
fn codes_and_truncation_are_told_apart() {
    assert_eq!(read(3, &[]), Some(Response::NoSuchName));
    assert_eq!(read(2, &[]), Some(Response::Failed(2)));
    assert_eq!(read(5, &[]), Some(Response::Failed(5)));
    assert_eq!(
        read(TC, &[record("a.org", TYPE_A, &[1, 2, 3, 4])]),
        Some(Response::Truncated)
    );
}

#[test]
fn what_answers_another_question_is_not_ours() {
    let good = reply(&asked().write(), 0, &[record("a.org", TYPE_A, &[192, 0, 2, 1])]);
    let with = |at: usize, to: u8| {
        let mut message = good.clone();
        message[at] = to;
        message
    };
    for (message, why) in [
        (with(0, 0x13), "another id"),
        (with(2, 0x01), "a query"),
        (with(5, 0), "no question"),
        (with(5, 2), "two questions"),
        (with(13, b'b'), "another name"),
        (with(20, 28), "another type"),
        (with(22, 3), "another class"),
        (good[..20].to_vec(), "cut in the question"),
        (vec![], "empty"),
    ] {
        assert_eq!(asked().read(&message), None, "{why}");
    }
    let upper = with(13, b'A');
    assert_eq!(asked().read(&upper), addresses(&["192.0.2.1"]), "case does not matter");
}

proptest! {
    #[test]
    fn arbitrary_answers_end_and_never_panic(
        count in any::<u16>(), tail in prop::collection::vec(any::<u8>(), 0..600), flags in any::<u16>(),
    ) {
        let mut message = reply(&asked().write(), flags, &[]);
        message[6..8].copy_from_slice(&count.to_be_bytes());
        message.extend(tail);
        if let Some(Response::Addresses(found)) = asked().read(&message) {
            prop_assert!(found.len() <= MAX_ADDRESSES);
        }
    }

    #[test]
    fn arbitrary_bytes_are_never_our_answer_without_the_id(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        prop_assume!(!bytes.starts_with(b"\x12\x34"));
        prop_assert_eq!(asked().read(&bytes), None);
    }
}
