use proptest::prelude::*;

use super::*;

/// The name that begins at `at`, and where reading goes on after it.
fn name_at(message: &[u8], at: usize) -> Result<(String, usize), WireProblem> {
    let mut reader = Reader { message, at };
    let name = reader.name()?;
    Ok((name.to_string(), reader.at()))
}

fn behind_header(bytes: &[u8]) -> Vec<u8> {
    [&[0; HEADER], bytes].concat()
}

#[test]
fn a_name_ends_where_its_first_part_ends() {
    // a.org at 12; at 19, b and a pointer to org at 14.
    let message = behind_header(b"\x01a\x03org\0\x01b\xc0\x0eX");
    assert_eq!(name_at(&message, 12), Ok(("a.org".to_owned(), 19)));
    assert_eq!(name_at(&message, 19), Ok(("b.org".to_owned(), 23)));
    assert_eq!(name_at(&behind_header(b"\0"), 12), Ok((".".to_owned(), 13)));
}

#[test]
fn pointers_that_could_go_round_are_refused() {
    for (bytes, at) in [
        (b"\xc0\x0c".as_slice(), 12),
        (b"\x01a\xc0\x0c", 12),
        (b"\xc0\x0e\xc0\x0c", 12),
        (b"\xc0\x0e\xc0\x0c", 14),
        (b"\x01a\xc0\x10\x01b\xc0\x0c", 16),
        (b"\xc0\x00", 12),
        (b"\xc0\x0b", 12),
        (b"\xff\xff", 12),
    ] {
        assert_eq!(
            name_at(&behind_header(bytes), at),
            Err(WireProblem::Pointer),
            "{bytes:?} at {at}"
        );
    }
}

#[test]
fn sixteen_jumps_are_followed_and_no_more() {
    let mut bytes = b"\x01a\0".to_vec();
    // Each pointer leads to the one before; the first to the name at 12.
    let mut target: u16 = 12;
    for _ in 0..17 {
        let at = u16::try_from(HEADER + bytes.len()).unwrap();
        bytes.extend_from_slice(&(0xc000 | target).to_be_bytes());
        target = at;
    }
    let message = behind_header(&bytes);
    let last = message.len() - 2;
    assert_eq!(name_at(&message, last - 2), Ok(("a".to_owned(), last)));
    assert_eq!(name_at(&message, last), Err(WireProblem::Pointer));
}

#[test]
fn labels_and_names_have_their_limits() {
    let long = [b"\x3f".as_slice(), &[b'a'; 63]].concat();
    let fits = [long.repeat(3), [b"\x3d".as_slice(), &[b'a'; 61]].concat(), vec![0]].concat();
    assert_eq!(fits.len(), 255);
    assert!(name_at(&behind_header(&fits), 12).is_ok());
    let beyond = [long.repeat(3), [b"\x3e".as_slice(), &[b'a'; 62]].concat(), vec![0]].concat();
    assert_eq!(name_at(&behind_header(&beyond), 12), Err(WireProblem::NameTooLong));
    for kind in [0x40, 0x80, 0xbf] {
        assert_eq!(name_at(&behind_header(&[kind, 0]), 12), Err(WireProblem::Label));
    }
    for cut in [b"".as_slice(), b"\x03or", b"\x01a", b"\xc0"] {
        assert_eq!(name_at(&behind_header(cut), 12), Err(WireProblem::Short));
    }
}

#[test]
fn a_dot_or_odd_byte_within_a_label_makes_no_host() {
    let host = |bytes: &[u8]| Reader::new(bytes).name().unwrap().to_host();
    assert_eq!(host(b"\x05a.org\0"), Err(HostProblem::Syntax));
    assert_eq!(host(b"\x02a\0\x03org\0"), Err(HostProblem::Control));
    assert_eq!(host(b"\0"), Err(HostProblem::Empty));
    assert_eq!(host(b"\x01A\x03oRg\0"), Host::parse(b"a.org"));
    assert_eq!(host(b"\x03127\x010\x010\x011\0"), Host::parse(b"127.0.0.1"));
}

#[test]
fn what_is_shown_of_a_name_is_printable() {
    let shown = Reader::new(b"\x04a.\x1b\xff\x03org\0").name().unwrap().to_string();
    assert_eq!(shown, "a\\046\\027\\255.org");
}

proptest! {
    #[test]
    fn arbitrary_bytes_end_and_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), at in 0usize..600) {
        let mut reader = Reader { message: &bytes, at };
        if let Ok(name) = reader.name() {
            prop_assert!(name.as_bytes().len() < MAX_NAME);
            prop_assert!(reader.at() <= bytes.len());
            let _ = name.to_host();
            prop_assert!(name.to_string().bytes().all(|b| b.is_ascii_graphic()));
        }
    }

    #[test]
    fn a_name_written_is_the_name_read(text in "[a-z0-9]{1,63}(\\.[a-z0-9_]{1,60}){0,2}\\.org") {
        let Ok(Host::Name(name)) = Host::parse(text.as_bytes()) else { panic!("{text} is a name") };
        let mut bytes = WireName::from(&name).as_bytes().to_vec();
        bytes.push(0);
        let read = Reader::new(&bytes).name().unwrap();
        prop_assert!(read.is(&WireName::from(&name)));
        prop_assert_eq!(read.to_host(), Ok(Host::Name(name)));
    }
}
