use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// One extension.
fn extension(kind: u16, data: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &sized(data)].concat()
}

fn sized(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap();
    [&length.to_be_bytes()[..], data].concat()
}

fn entry(sort: u8, name: &[u8]) -> Vec<u8> {
    [&[sort][..], &sized(name)].concat()
}

fn sni(name: &[u8]) -> Vec<u8> {
    extension(SERVER_NAME, &sized(&entry(0, name)))
}

/// A handshake message around these extensions.
fn message(extensions: Option<&[u8]>) -> Vec<u8> {
    let mut body = vec![3, 3];
    body.extend([7; 32]);
    body.extend([0]);
    body.extend(sized(&[0x13, 0x01, 0x13, 0x02]));
    body.extend([1, 0]);
    if let Some(extensions) = extensions {
        body.extend(sized(extensions));
    }
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[CLIENT_HELLO][..], &length[1..], &body].concat()
}

fn record(fragment: &[u8]) -> Vec<u8> {
    [&[HANDSHAKE, 3, 1][..], &sized(fragment)].concat()
}

/// The message in records of these sizes, the last one taking the rest.
fn records(message: &[u8], sizes: &[usize]) -> Vec<u8> {
    let (mut rest, mut wire) = (message, Vec::new());
    for size in sizes {
        let (fragment, behind) = rest.split_at((*size).min(rest.len()));
        if !fragment.is_empty() {
            wire.extend(record(fragment));
        }
        rest = behind;
    }
    if !rest.is_empty() {
        wire.extend(record(rest));
    }
    wire
}

fn read_naming(extensions: &[u8]) -> Result<Naming, HelloProblem> {
    match read(&record(&message(Some(extensions))))? {
        Progress::Done(hello) => Ok(hello.name),
        Progress::More => panic!("the hello was whole"),
    }
}

/// Feeds growing prefixes, as segments would arrive, until there is an answer.
fn read_in_segments(wire: &[u8], sizes: &[usize]) -> Result<Progress, HelloProblem> {
    let mut have = 0_usize;
    for size in sizes.iter().copied().chain(std::iter::repeat(usize::MAX)) {
        have = wire.len().min(have.saturating_add(size));
        let answer = read(&wire[..have]);
        if answer != Ok(Progress::More) || have == wire.len() {
            return answer;
        }
    }
    unreachable!("the sizes are endless")
}

#[test]
fn the_one_name_is_read() {
    let extensions = [
        extension(10, &[0, 2, 0, 29]),
        sni(b"api.example.com"),
        extension(43, &[2, 3, 4]),
    ]
    .concat();
    assert_eq!(read_naming(&extensions), Ok(Naming::Named(b"api.example.com".to_vec())));
}

#[test]
fn bytes_behind_the_hello_are_not_part_of_it() {
    let mut wire = record(&message(Some(&sni(b"a.example"))));
    let length = wire.len();
    wire.extend(b"early data");
    let hello = Hello {
        wire: length,
        name: Naming::Named(b"a.example".to_vec()),
    };
    assert_eq!(read(&wire), Ok(Progress::Done(hello)));
}

#[test]
fn a_hello_without_a_name_is_told_apart_from_one_with_two() {
    assert_eq!(read_naming(&[]), Ok(Naming::Absent));
    assert_eq!(read_naming(&extension(10, &[0, 2, 0, 29])), Ok(Naming::Absent));
    let twice = [sni(b"a.example"), sni(b"a.example")].concat();
    assert_eq!(read_naming(&twice), Ok(Naming::Doubled));
    let entries = [entry(0, b"a.example"), entry(0, b"b.example")].concat();
    assert_eq!(
        read_naming(&extension(SERVER_NAME, &sized(&entries))),
        Ok(Naming::Doubled)
    );
    let other_sort = [entry(0, b"a.example"), entry(1, b"b.example")].concat();
    assert_eq!(
        read_naming(&extension(SERVER_NAME, &sized(&other_sort))),
        Ok(Naming::Doubled)
    );
}

#[test]
fn a_hello_without_extensions_names_nobody() {
    let wire = record(&message(None));
    let hello = Hello {
        wire: wire.len(),
        name: Naming::Absent,
    };
    assert_eq!(read(&wire), Ok(Progress::Done(hello)));
}

#[test]
fn an_encrypted_hello_is_seen_even_beside_a_plain_name() {
    for kind in [ENCRYPTED_CLIENT_HELLO, ENCRYPTED_SERVER_NAME] {
        let extensions = [sni(b"a.example"), extension(kind, &[0; 40])].concat();
        assert_eq!(read_naming(&extensions), Ok(Naming::Encrypted));
    }
}

#[test]
fn lengths_that_do_not_add_up_are_malformed() {
    let list = |data: &[u8]| extension(SERVER_NAME, data);
    let cases: [Vec<u8>; 8] = [
        list(&[]),
        list(&sized(&[])),
        list(&sized(&entry(0, b""))),
        list(&sized(&entry(1, b"a.example"))),
        list(&[&sized(&entry(0, b"a.example"))[..], b"x"].concat()),
        list(&[0, 200, 0, 0, 3, b'a', b'b', b'c']),
        list(&[0, 5, 0, 0, 3, b'a', b'b', b'c']),
        vec![0, 0, 255, 255, 0],
    ];
    for extensions in cases {
        assert_eq!(read_naming(&extensions), Err(HelloProblem::Malformed), "{extensions:?}");
    }
}

#[test]
fn a_second_message_in_the_same_record_is_malformed() {
    let two = [message(Some(&sni(b"a.example"))), message(Some(&sni(b"b.example")))].concat();
    assert_eq!(read(&record(&two)), Err(HelloProblem::Malformed));
}

#[test]
fn another_record_type_between_the_fragments_is_malformed() {
    let message = message(Some(&sni(b"a.example")));
    let wire = [record(&message[..20]), vec![20, 3, 1, 0, 1, 1], record(&message[20..])].concat();
    assert_eq!(read(&wire), Err(HelloProblem::Malformed));
    let wire = [
        record(&message[..20]),
        vec![HANDSHAKE, 3, 1, 0, 0],
        record(&message[20..]),
    ]
    .concat();
    assert_eq!(read(&wire), Err(HelloProblem::Malformed));
}

#[test]
fn what_is_not_tls_is_known_from_its_first_bytes() {
    assert_eq!(read(b"G"), Err(HelloProblem::NotTls));
    assert_eq!(read(&[HANDSHAKE, 2]), Err(HelloProblem::NotTls));
    assert_eq!(read(&[21, 3, 3, 0, 2, 2, 40]), Err(HelloProblem::NotTls));
    assert_eq!(read(&[0x80, 0x2e, 1, 3, 1]), Err(HelloProblem::Sslv2));
    assert_eq!(read(&[HANDSHAKE, 3, 3, 0, 4, 2]), Err(HelloProblem::Malformed));
    assert_eq!(read(&[]), Ok(Progress::More));
}

#[test]
fn more_than_16_kib_is_refused_before_it_is_read() {
    assert_eq!(read(&[HANDSHAKE, 3, 1, 0x40, 0x00]), Err(HelloProblem::TooLarge));
    assert_eq!(
        read(&[HANDSHAKE, 3, 1, 0, 4, CLIENT_HELLO, 0, 0x40, 0]),
        Err(HelloProblem::TooLarge)
    );
    let padded = message(Some(&[sni(b"a.example"), extension(21, &[0; 8000])].concat()));
    assert_eq!(read(&records(&padded, &vec![1; 8000])), Err(HelloProblem::TooLarge));
    assert!(matches!(read(&record(&padded)), Ok(Progress::Done(_))));
}

proptest! {
    #[test]
    fn cutting_into_segments_and_records_changes_nothing(
        name in "[a-z]{1,20}\\.example",
        doubled in any::<bool>(),
        record_sizes in vec(1_usize..60, 0..12),
        segment_sizes in vec(1_usize..60, 0..40),
    ) {
        let mut extensions = [extension(10, &[0, 2, 0, 29]), sni(name.as_bytes())].concat();
        if doubled {
            extensions.extend(sni(b"b.example"));
        }
        let wire = records(&message(Some(&extensions)), &record_sizes);
        let name = if doubled { Naming::Doubled } else { Naming::Named(name.into_bytes()) };
        let expected = Ok(Progress::Done(Hello { wire: wire.len(), name }));
        prop_assert_eq!(read_in_segments(&wire, &segment_sizes), expected);
    }

    #[test]
    fn damaged_hellos_give_one_answer_however_they_are_cut(
        at in 0_usize..120,
        byte in any::<u8>(),
        record_sizes in vec(1_usize..60, 0..4),
        segment_sizes in vec(1_usize..30, 0..40),
    ) {
        let mut wire = records(&message(Some(&sni(b"a.example"))), &record_sizes);
        if let Some(place) = wire.get_mut(at) {
            *place = byte;
        }
        prop_assert_eq!(read_in_segments(&wire, &segment_sizes), read(&wire));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..200), sizes in vec(1_usize..30, 0..20)) {
        let looks_like_tls = [&[HANDSHAKE, 3, 1][..], &bytes].concat();
        prop_assert_eq!(read_in_segments(&bytes, &sizes), read(&bytes));
        prop_assert_eq!(read_in_segments(&looks_like_tls, &sizes), read(&looks_like_tls));
    }
}
