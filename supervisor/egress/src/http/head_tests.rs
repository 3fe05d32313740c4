use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn scan(bytes: &[u8]) -> Result<Option<usize>, Bad> {
    Scan::default().advance(bytes)
}

/// Reads a head as the guard does: find its end, then read it.
fn read(bytes: &[u8]) -> Result<Head<'_>, Bad> {
    let length = scan(bytes)?.expect("the head is whole");
    Head::parse(&bytes[..length])
}

fn refusal(bytes: &[u8]) -> Bad {
    match read(bytes) {
        Ok(head) => panic!("passed: {head:?}"),
        Err(bad) => bad,
    }
}

#[test]
fn a_plain_head_is_read_whole() {
    let bytes = b"POST /a?b=c HTTP/1.1\r\nHost: a.example\r\nX-Empty:\r\nContent-Length:  5 \r\n\r\nhello";
    let field = |name: &'static [u8], value: &'static [u8]| Field { name, value };
    let expected = Head {
        line: RequestLine {
            method: b"POST",
            target: Target::Origin(b"/a?b=c"),
            version: Version::Http11,
        },
        fields: vec![
            field(b"Host", b"a.example"),
            field(b"X-Empty", b""),
            field(b"Content-Length", b"5"),
        ],
        body: Body::Sized(5),
    };
    assert_eq!(scan(bytes), Ok(Some(bytes.len() - 5)));
    assert_eq!(read(bytes), Ok(expected));
}

#[test]
fn every_form_of_target_is_told_apart() {
    let target = |head: &'static str| read(head.as_bytes()).map(|head| head.line.target);
    let absolute = |scheme: &'static str, authority: &'static str, path: &'static str| {
        Ok(Target::Absolute {
            scheme: scheme.as_bytes(),
            authority: authority.as_bytes(),
            path: path.as_bytes(),
        })
    };
    assert_eq!(target("OPTIONS * HTTP/1.1\r\n\r\n"), Ok(Target::Asterisk));
    assert_eq!(
        target("CONNECT a.example:443 HTTP/1.1\r\n\r\n"),
        Ok(Target::Authority(b"a.example:443"))
    );
    assert_eq!(
        target("GET http://a.example HTTP/1.1\r\n\r\n"),
        absolute("http", "a.example", "")
    );
    assert_eq!(
        target("GET http://a.example?q HTTP/1.1\r\n\r\n"),
        absolute("http", "a.example", "?q")
    );
    assert_eq!(
        target("GET HTTPS://a:1/b://c HTTP/1.1\r\n\r\n"),
        absolute("HTTPS", "a:1", "/b://c")
    );
    for odd in [
        "a.example",
        "*",
        "a.example:80",
        "://a/",
        "http:/a/",
        "ht tp://a",
        "http://a#b",
    ] {
        let head = format!("GET {odd} HTTP/1.1\r\n\r\n");
        let expected = if odd.contains(' ') {
            Bad::RequestLine
        } else {
            Bad::Target
        };
        assert_eq!(refusal(head.as_bytes()), expected, "{odd}");
    }
}

#[test]
fn what_two_parsers_could_read_in_two_ways_is_refused() {
    let cases: [(&str, Bad); 28] = [
        ("GET / HTTP/1.1\nHost: a\n\n", Bad::BareLf),
        ("GET / HTTP/1.1\r\nHost: a\n\r\n", Bad::BareLf),
        ("GET / HTTP/1.1\rHost: a\r\n\r\n", Bad::BareCr),
        ("GET / HTTP/1.1\r\nX: a\rHost: b\r\n\r\n", Bad::BareCr),
        ("GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", Bad::Control),
        ("GET / HTTP/1.1\r\nX: a\x0bb\r\n\r\n", Bad::Control),
        ("\r\nGET / HTTP/1.1\r\n\r\n", Bad::RequestLine),
        ("GET  / HTTP/1.1\r\n\r\n", Bad::RequestLine),
        (" GET / HTTP/1.1\r\n\r\n", Bad::RequestLine),
        ("GET / HTTP/1.1 \r\n\r\n", Bad::RequestLine),
        ("GET\t/\tHTTP/1.1\r\n\r\n", Bad::RequestLine),
        ("GET /\r\n\r\n", Bad::RequestLine),
        ("GET / HTTP/0.9\r\n\r\n", Bad::RequestLine),
        ("GET / http/1.1\r\n\r\n", Bad::RequestLine),
        ("GET / HTTP/1.2\r\n\r\n", Bad::RequestLine),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Bad::Http2),
        ("GET / HTTP/1.1\r\n Host: a\r\n\r\n", Bad::Folded),
        ("GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n", Bad::Folded),
        ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", Bad::Field),
        ("GET / HTTP/1.1\r\n: a\r\n\r\n", Bad::Field),
        ("GET / HTTP/1.1\r\nHost\r\n\r\n", Bad::Field),
        ("GET / HTTP/1.1\r\nHo(st: a\r\n\r\n", Bad::Field),
        (
            "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
            Bad::LengthAndEncoding,
        ),
        (
            "POST / HTTP/1.1\r\nContent-Length: 5\r\ncontent-length: 5\r\n\r\n",
            Bad::LengthDoubled,
        ),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Bad::Encoding),
        (
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
            Bad::Encoding,
        ),
        ("GET / HTTP/1.1\r\nConnection: close, Host\r\n\r\n", Bad::Connection),
        (
            "GET / HTTP/1.1\r\nConnection: transfer-encoding\r\n\r\n",
            Bad::Connection,
        ),
    ];
    for (head, bad) in cases {
        assert_eq!(refusal(head.as_bytes()), bad, "{head:?}");
    }
}

#[test]
fn a_length_is_a_plain_number() {
    for odd in [
        "",
        "+5",
        "-5",
        "5,5",
        "5, 5",
        "0x5",
        "5 5",
        "٥",
        "9999999999999999999",
        "5;",
        "1e3",
    ] {
        let head = format!("POST / HTTP/1.1\r\nContent-Length: {odd}\r\n\r\n");
        assert_eq!(refusal(head.as_bytes()), Bad::LengthOdd, "{odd:?}");
    }
}

#[test]
fn the_only_encoding_is_chunked() {
    for odd in [
        "",
        "Chunked",
        "chunked, chunked",
        "gzip, chunked",
        "identity",
        "xchunked",
        "chunked;q=1",
        "\"chunked\"",
    ] {
        let head = format!("POST / HTTP/1.1\r\nTransfer-Encoding: {odd}\r\n\r\n");
        assert_eq!(refusal(head.as_bytes()), Bad::Encoding, "{odd:?}");
    }
}

#[test]
fn a_head_is_bounded_in_bytes_and_fields() {
    let fields = |count: usize| format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(count));
    assert!(read(fields(128).as_bytes()).is_ok());
    assert_eq!(refusal(fields(129).as_bytes()), Bad::TooManyFields);
    let long = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(LIMIT));
    assert_eq!(scan(long.as_bytes()), Err(Bad::HeadTooLarge));
    let start = "GET / HTTP/1.1\r\nX: ";
    let longest = format!("{start}{}\r\n\r\n", "a".repeat(LIMIT - start.len() - 4));
    assert_eq!(scan(longest.as_bytes()), Ok(Some(LIMIT)));
}

#[test]
fn what_cannot_be_a_head_is_refused_at_its_first_line() {
    assert_eq!(scan(b"SSH-2.0-OpenSSH_9.9\r\n"), Err(Bad::RequestLine));
    assert_eq!(scan(&[22, 3, 1]), Err(Bad::Control));
    assert_eq!(scan(b"PRI * HTTP/2.0\r\n"), Err(Bad::Http2));
    assert_eq!(scan(b"GET / HTTP/1."), Ok(None));
}

#[test]
fn one_host_field_is_needed_and_no_more() {
    let host = |head: &'static str| read(head.as_bytes()).and_then(|head| head.host());
    assert_eq!(
        host("GET / HTTP/1.1\r\nhOsT:\ta.example\r\n\r\n"),
        Ok(&b"a.example"[..])
    );
    assert_eq!(host("GET / HTTP/1.1\r\n\r\n"), Err(Bad::HostMissing));
    assert_eq!(
        host("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n"),
        Err(Bad::HostDoubled)
    );
}

proptest! {
    #[test]
    fn the_end_of_a_head_does_not_depend_on_the_cuts(
        lines in vec("[ -~\r\n]{0,12}", 0..6),
        cuts in vec(1_usize..9, 0..40),
    ) {
        let bytes = format!("GET / HTTP/1.1\r\n{}\r\n\r\n", lines.join("\r\n")).into_bytes();
        let whole = scan(&bytes);
        let (mut scan, mut have) = (Scan::default(), 0);
        let mut answer = Ok(None);
        for cut in cuts.into_iter().chain([usize::MAX]) {
            have = bytes.len().min(have + cut.min(bytes.len()));
            answer = scan.advance(&bytes[..have]);
            if answer != Ok(None) {
                break;
            }
        }
        prop_assert_eq!(answer, whole);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..300), text in "[ -~\r\n]{0,300}") {
        for input in [bytes, text.into_bytes()] {
            let _ = scan(&input);
            let _ = Head::parse(&input);
            let _ = Authority::parse(&input);
        }
    }
}
