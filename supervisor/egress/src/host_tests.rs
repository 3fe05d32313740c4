use proptest::prelude::*;

use super::HostProblem::{Control, Empty, NotUtf8, OddAddress, Percent, Syntax, TooLong, UserInfo};
use super::*;

fn host(text: &str) -> Host {
    Host::parse(text.as_bytes()).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

#[test]
fn every_spelling_of_a_host_is_one_value() {
    for (written, canonical) in [
        ("Example.ORG", "example.org"),
        ("example.org.", "example.org"),
        ("my_host", "my_host"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("b\u{fc}cher.example", "xn--bcher-kva.example"),
        ("B\u{dc}CHER.example", "xn--bcher-kva.example"),
        ("bu\u{308}cher.example", "xn--bcher-kva.example"),
        ("example\u{3002}org", "example.org"),
        ("example\u{ff0e}org\u{ff61}", "example.org"),
        ("ｅｘａｍｐｌｅ.org", "example.org"),
        ("exa\u{ad}mple.org", "example.org"),
        ("①②⑦.0.0.1", "127.0.0.1"),
        ("１２７.0.0.1", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("[::1]", "::1"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("::", "::"),
        ("[::ffff:127.0.0.1]", "127.0.0.1"),
        ("::FFFF:7f00:1", "127.0.0.1"),
        ("::127.0.0.1", "127.0.0.1"),
        ("::7f00:1", "127.0.0.1"),
        ("::2", "0.0.0.2"),
        ("64:ff9b::7f00:1", "64:ff9b::7f00:1"),
        ("2001:DB8::1", "2001:db8::1"),
        ("1e100.net", "1e100.net"),
        ("0xdeadbeef.example", "0xdeadbeef.example"),
    ] {
        assert_eq!(host(written).to_string(), canonical, "{written}");
        assert_eq!(host(written), host(canonical), "{written}");
    }
}

#[test]
fn what_is_no_host_is_refused_by_its_reason() {
    let long_label = "a".repeat(64);
    let long_name = ["a".repeat(63).as_str(); 4].join(".");
    let endless = "ü".repeat(600);
    for (text, problem) in [
        ("", Empty),
        (".", Empty),
        ("..", Syntax),
        ("a..", Syntax),
        ("a..b", Syntax),
        (".a", Syntax),
        ("a\u{3002}.", Syntax),
        ("a.\u{3002}", Syntax),
        (&long_label, TooLong),
        (&long_name, TooLong),
        (&endless, TooLong),
        ("a b", Control),
        (" a", Control),
        ("a\0.example.org", Control),
        ("a\r\nHost: b", Control),
        ("a\t", Control),
        ("a\u{7f}", Control),
        ("a%00b", Percent),
        ("fe80::1%eth0", Percent),
        ("[fe80::1%25eth0]", Percent),
        ("ａ％２e", Syntax),
        ("user@host", UserInfo),
        ("user:pw@host", UserInfo),
        ("host/path", Syntax),
        ("host\\path", Syntax),
        ("host?q", Syntax),
        ("host#f", Syntax),
        ("host:80", Syntax),
        ("*.host", Syntax),
        ("-a.org", Syntax),
        ("a-.org", Syntax),
        ("a!b", Syntax),
        ("[::1", Syntax),
        ("::1]", Syntax),
        ("[127.0.0.1]", Syntax),
        ("[host]", Syntax),
        ("[::1].", Syntax),
        ("::1.", Syntax),
        ("[[::1]]", Syntax),
        ("［::1］", Syntax),
        ("127.1", OddAddress),
        ("127.0.1", OddAddress),
        ("0x7f.1", OddAddress),
        ("0X7F000001", OddAddress),
        ("0x", OddAddress),
        ("017700000001", OddAddress),
        ("2130706433", OddAddress),
        ("0177.0.0.1", OddAddress),
        ("127.0.0.01", OddAddress),
        ("1.2.3.4.", OddAddress),
        ("1.2.3.256", OddAddress),
        ("1.2.3.4.5", OddAddress),
        ("a.b.7", OddAddress),
        ("a.0x7f", OddAddress),
        ("１２７.1", OddAddress),
        ("127。0。0。1。", OddAddress),
    ] {
        assert_eq!(Host::parse(text.as_bytes()), Err(problem), "{text:?}");
    }
    assert_eq!(Host::parse(b"a\xff.org"), Err(NotUtf8));
}

#[test]
fn a_port_puts_brackets_around_ipv6_only() {
    assert_eq!(host("a.org").with_port(80), "a.org:80");
    assert_eq!(host("10.0.0.1").with_port(80), "10.0.0.1:80");
    assert_eq!(host("::1").with_port(80), "[::1]:80");
}

#[test]
fn below_is_one_or_more_labels_and_never_the_apex() {
    let (Host::Name(apex), Host::Name(one), Host::Name(two), Host::Name(other)) =
        (host("a.org"), host("x.a.org"), host("y.x.a.org"), host("xa.org"))
    else {
        panic!("all four are names")
    };
    assert!(one.is_below(&apex) && two.is_below(&apex));
    assert!(!apex.is_below(&apex) && !other.is_below(&apex));
}

/// Bytes that a parser stumbles over, more often than chance would give them.
pub(crate) fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-zA-Z0-9_-]{1,6}",
        Just(".".to_owned()),
        Just("..".to_owned()),
        Just("0x7f".to_owned()),
        Just("127".to_owned()),
        Just("xn--".to_owned()),
        Just("::ffff:".to_owned()),
        Just("[".to_owned()),
        Just("]".to_owned()),
        Just(":".to_owned()),
        Just("\u{3002}".to_owned()),
        Just("\u{ff11}".to_owned()),
        Just("\u{200d}".to_owned()),
        Just("\u{fc}".to_owned()),
        any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn parsing_what_was_printed_gives_the_same_host(text in hostile_text()) {
        if let Ok(parsed) = Host::parse(text.as_bytes()) {
            prop_assert_eq!(Host::parse(parsed.to_string().as_bytes()), Ok(parsed.clone()));
            let dotted = format!("{parsed}.");
            if let Host::Name(name) = &parsed {
                prop_assert_eq!(Host::parse(dotted.as_bytes()), Ok(parsed.clone()));
                prop_assert!(name.as_str().bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.')));
                prop_assert!(name.as_str().len() <= 253 && name.as_str().split('.').all(|l| (1..=63).contains(&l.len())));
            } else {
                prop_assert!(Host::parse(dotted.as_bytes()).is_err());
            }
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..1200)) {
        let _ = Host::parse(&bytes);
    }

    #[test]
    fn an_address_in_any_spelling_of_the_standard_library_is_that_address(bits in any::<u128>(), low in any::<u32>()) {
        for addr in [IpAddr::from(bits.to_be_bytes()), IpAddr::from(low.to_be_bytes())] {
            prop_assert_eq!(Host::parse(addr.to_string().as_bytes()), Ok(Host::from(addr)));
        }
    }

    #[test]
    fn no_spelling_of_an_ipv4_number_is_a_name(number in any::<u32>(), short in any::<u16>()) {
        for text in [format!("{number}"), format!("0x{number:x}"), format!("0{number:o}"), format!("127.{short}"),
            format!("0x7f.{short}"), format!("example.{short}"), format!("{}.", Ipv4Addr::from(number))] {
            prop_assert_eq!(Host::parse(text.as_bytes()), Err(OddAddress), "{}", text);
        }
    }
}
