use proptest::prelude::*;

use super::*;

/// `a.Org` A IN, RD set.
const PLAIN: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x01a\x03Org\0\0\x01\0\x01";

/// The same with an OPT of 4096 bytes and a cookie.
fn with_opt() -> Vec<u8> {
    let opt = b"\0\0\x29\x10\0\0\0\0\0\0\x0c\0\x0a\0\x0812345678";
    let mut query = [PLAIN, opt].concat();
    query[11] = 1;
    query
}

fn rejected(message: &[u8]) -> Reject {
    Query::parse(message).expect_err("is no query")
}

fn code(message: &[u8]) -> Option<Code> {
    match rejected(message) {
        Reject::Drop => None,
        Reject::Reply(_, code) => Some(code),
    }
}

/// `PLAIN` with one byte changed.
fn changed(at: usize, to: u8) -> Vec<u8> {
    let mut query = PLAIN.to_vec();
    query[at] = to;
    query
}

#[test]
fn an_address_is_answered_with_the_question_as_it_was_asked() {
    let reply = Query::parse(PLAIN)
        .unwrap()
        .reply(Code::NoError, Some("198.18.0.1".parse().unwrap()));
    let expected = b"\x12\x34\x81\x80\0\x01\0\x01\0\0\0\0\x01a\x03Org\0\0\x01\0\x01\
        \xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04\xc6\x12\0\x01";
    assert_eq!(reply, expected);
}

#[test]
fn nothing_is_answered_with_an_soa_of_the_root() {
    let reply = Query::parse(PLAIN).unwrap().reply(Code::NxDomain, None);
    let expected = b"\x12\x34\x81\x83\0\x01\0\0\0\x01\0\0\x01a\x03Org\0\0\x01\0\x01\
        \0\0\x06\0\x01\0\0\0\x05\0\x16\0\0\0\0\0\x01\0\0\0\x05\0\0\0\x05\0\0\0\x05\0\0\0\x05";
    assert_eq!(reply, expected);
}

#[test]
fn edns_is_answered_with_edns_and_no_option_comes_back() {
    let query = Query::parse(&with_opt()).unwrap();
    assert_eq!(query.edns, Edns::Version { version: 0 });
    let reply = query.reply(Code::Refused, None);
    let expected = b"\x12\x34\x81\x85\0\x01\0\0\0\0\0\x01\x01a\x03Org\0\0\x01\0\x01\0\0\x29\x04\xd0\0\0\0\0\0\0";
    assert_eq!(reply, expected);
    let bad_version = query.reply(Code::BadVers, None);
    assert_eq!((bad_version[3] & 0xf, bad_version[bad_version.len() - 6]), (0, 1));
}

#[test]
fn what_is_no_query_is_dropped_or_refused() {
    assert_eq!(code(b""), None);
    assert_eq!(code(&PLAIN[..11]), None);
    assert_eq!(code(&changed(2, 0x81)), None, "a reply is never replied to");
    assert_eq!(code(&changed(2, 0x28)), Some(Code::NotImp), "an update");
    assert_eq!(code(&PLAIN[..12]), Some(Code::FormErr));
    assert_eq!(code(&PLAIN[..PLAIN.len() - 1]), Some(Code::FormErr));
    for (count, value) in [(5, 0), (5, 2), (4, 0xff), (7, 1), (9, 1), (11, 1), (11, 9), (10, 0xff)] {
        assert_eq!(
            code(&changed(count, value)),
            Some(Code::FormErr),
            "byte {count} is {value}"
        );
    }
    assert_eq!(
        code(&changed(12, 0xc0)),
        Some(Code::FormErr),
        "a pointer from the first name leads nowhere"
    );
}

#[test]
fn a_second_opt_is_refused() {
    let mut query = [with_opt(), b"\0\0\x29\x10\0\0\0\0\0\0\0".to_vec()].concat();
    query[11] = 2;
    assert_eq!(code(&query), Some(Code::FormErr));
}

#[test]
fn more_than_eight_additional_records_are_refused() {
    let with = |count: u8| {
        let mut query = [PLAIN.to_vec(), b"\0\0\x10\0\x01\0\0\0\0\0\0".repeat(count.into())].concat();
        query[11] = count;
        query
    };
    assert!(Query::parse(&with(8)).is_ok());
    assert_eq!(code(&with(9)), Some(Code::FormErr));
}

#[test]
fn a_rejection_repeats_only_the_id_the_opcode_and_rd() {
    let Reject::Reply(head, code) = rejected(&changed(2, 0x29)) else {
        panic!("an update gets a reply")
    };
    assert_eq!(head.reply(code), b"\x12\x34\xa9\x84\0\0\0\0\0\0\0\0");
}

proptest! {
    #[test]
    fn no_reply_is_larger_than_512_bytes_or_without_the_id(
        tail in prop::collection::vec(any::<u8>(), 0..400), name in prop::collection::vec((1u8..=63, any::<u8>()), 0..6),
        well_formed in any::<bool>(),
    ) {
        let mut query = PLAIN[..12].to_vec();
        if well_formed {
            for (length, byte) in name {
                query.push(length);
                query.extend(std::iter::repeat_n(byte, length.into()));
            }
            query.extend_from_slice(b"\0\0\x1c\0\x01");
        } else {
            query.extend_from_slice(&tail);
        }
        let reply = match Query::parse(&query) {
            Ok(query) => {
                let long = query.reply(Code::NoError, Some("fd67::1".parse().unwrap()));
                prop_assert!(long.len() <= 512);
                query.reply(Code::NxDomain, None)
            }
            Err(Reject::Reply(head, code)) => head.reply(code),
            Err(Reject::Drop) => return Ok(()),
        };
        prop_assert!(reply.len() <= 512);
        prop_assert_eq!(&reply[..2], b"\x12\x34");
        prop_assert!(reply[2] & 0x80 != 0);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..1300)) {
        let _ = Query::parse(&bytes);
    }
}
