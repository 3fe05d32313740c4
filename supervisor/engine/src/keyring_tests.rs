#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use super::*;

fn key(byte: u8) -> Key {
    Key([byte; LENGTH])
}

#[test]
fn the_signature_is_hmac_sha256_over_length_and_bytes() {
    // Made with openssl: `openssl dgst -sha256 -mac HMAC -macopt hexkey:0101…01` over the bytes below.
    let mac = key(1).sign("p", &[b"ab", b""]);
    let mut message = Vec::new();
    for part in ["p", "ab", ""] {
        message.extend((part.len() as u64).to_le_bytes());
        message.extend(part.as_bytes());
    }
    assert_eq!(
        crate::hex::hex(&message),
        "01000000000000007002000000000000006162".to_owned() + "0000000000000000"
    );
    assert_eq!(mac.to_string(), EXPECTED);
}

const EXPECTED: &str = "e438f7d62b85247ace7adbfc36235d3052b369ea669186f9b9d637349df4493f";

#[test]
fn lists_that_are_cut_differently_or_signed_for_something_else_do_not_verify() {
    let mac = key(1).sign("p", &[b"ab", b"c"]);
    assert!(key(1).verify("p", &[b"ab", b"c"], &mac));
    for (k, purpose, parts) in [
        (key(1), "p", vec![&b"a"[..], b"bc"]),
        (key(1), "p", vec![&b"abc"[..]]),
        (key(1), "q", vec![&b"ab"[..], b"c"]),
        (key(2), "p", vec![&b"ab"[..], b"c"]),
        (key(1), "p", vec![&b"ab"[..], b"c", b""]),
    ] {
        assert!(!k.verify(purpose, &parts, &mac));
    }
}

#[test]
fn a_key_is_not_printed_and_a_signature_has_one_spelling() {
    assert_eq!(format!("{:?}", key(7)), "Key(…)");
    let mac = key(1).sign("p", &[]);
    assert_eq!(mac.to_string().parse(), Ok(mac));
}
