use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn gate(host: &str, port: u16) -> Gate {
    Gate::new(Bound {
        host: Host::parse(host.as_bytes()).unwrap(),
        port,
    })
}

/// A hello of one record, as `openssl s_client` would send it, with this server name if any.
fn hello(name: Option<&str>) -> Vec<u8> {
    let sized = |data: &[u8]| [&u16::try_from(data.len()).unwrap().to_be_bytes()[..], data].concat();
    let names = name.map(|name| {
        [
            &[0, 0][..],
            &sized(&sized(&[&[0][..], &sized(name.as_bytes())].concat())),
        ]
        .concat()
    });
    let body = [
        &[3, 3][..],
        &[7; 32],
        &[0, 0, 2, 0x13, 1, 1, 0],
        &sized(&names.unwrap_or_default()),
    ]
    .concat();
    let length = u8::try_from(body.len()).unwrap();
    let message = [&[1, 0, 0, length][..], &body].concat();
    [&[22, 3, 1][..], &sized(&message)].concat()
}

#[test]
fn on_443_only_tls_for_the_allowed_name_passes() {
    let look = |bytes: &[u8]| gate("a.example", 443).look(bytes);
    let good = hello(Some("A.example."));
    assert_eq!(look(&good), Ok(Look::Pass(good.len())));
    assert_eq!(look(&good[..20]), Ok(Look::More));
    assert_eq!(
        look(&hello(Some("b.example"))),
        Err(Stop::NameOther("b.example".to_owned()))
    );
    assert_eq!(
        look(&hello(Some("10.0.0.1"))),
        Err(Stop::NameOther("10.0.0.1".to_owned()))
    );
    assert_eq!(look(&hello(None)), Err(Stop::NameAbsent));
    assert_eq!(look(b"GET / HTTP/1.1\r\n"), Err(Stop::Tls(HelloProblem::NotTls)));
}

#[test]
fn a_name_that_is_doubled_or_hidden_counts_only_where_names_do() {
    let check = |host: &str, name| check_name(&gate(host, 443).bound, name, Nameless::Stops);
    assert_eq!(check("a.example", &Naming::Doubled), Err(Stop::NameDoubled));
    assert_eq!(check("a.example", &Naming::Encrypted), Err(Stop::NameHidden));
    assert_eq!(check("10.0.0.1", &Naming::Doubled), Ok(()));
    assert_eq!(check("10.0.0.1", &Naming::Encrypted), Ok(()));
}

#[test]
fn an_address_may_be_asked_for_any_name_but_only_in_tls_on_443() {
    let look = |bytes: &[u8]| gate("10.0.0.1", 443).look(bytes);
    for name in [None, Some("b.example")] {
        let hello = hello(name);
        assert_eq!(look(&hello), Ok(Look::Pass(hello.len())));
    }
    assert_eq!(look(b"x"), Err(Stop::Tls(HelloProblem::NotTls)));
}

#[test]
fn on_80_only_http_for_the_allowed_name_passes() {
    let look = |bytes: &[u8]| gate("a.example", 80).look(bytes);
    let good = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
    assert_eq!(look(good), Ok(Look::Pass(good.len())));
    assert_eq!(
        look(b"GET / HTTP/1.1\r\nHost: b\r\n\r\n"),
        Err(Stop::Http(Bad::HostOther))
    );
    assert_eq!(look(&hello(Some("a.example"))), Err(Stop::Http(Bad::Control)));
}

#[test]
fn on_other_ports_tls_and_http_are_held_to_the_same_rules() {
    let look = |bytes: &[u8]| gate("a.example", 8443).look(bytes);
    let good = hello(Some("a.example"));
    assert_eq!(look(&good), Ok(Look::Pass(good.len())));
    assert_eq!(
        look(&hello(Some("b.example"))),
        Err(Stop::NameOther("b.example".to_owned()))
    );
    assert_eq!(look(&hello(None)), Err(Stop::NameAbsent));
    assert_eq!(
        look(b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n"),
        Err(Stop::Http(Bad::HostOther))
    );
    assert_eq!(look(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Err(Stop::Http(Bad::Http2)));
    assert_eq!(
        look(b"GET / HTTP/1.1\r\nHost: a.example:8443\r\n\r\n"),
        Ok(Look::Pass(40))
    );
}

#[test]
fn spellings_that_only_a_lenient_server_takes_are_still_requests() {
    for odd in [
        "\r\n\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
        " GET / HTTP/1.1\r\nHost: b.example\r\n\r\n",
        "GET\t/\tHTTP/1.1\r\nHost: b.example\r\n\r\n",
        "GET\x0b/\x0bHTTP/1.1\r\nHost: b.example\r\n\r\n",
        "get / http/1.1\nHost: b.example\n\n",
    ] {
        assert!(
            matches!(gate("a.example", 8080).look(odd.as_bytes()), Err(Stop::Http(_))),
            "{odd:?}"
        );
    }
}

#[test]
fn other_protocols_pass_at_their_first_telling_byte() {
    let cases: [&[u8]; 21] = [
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"*1\r\n$4\r\nPING\r\n",
        b"PING\r\n",
        b"EHLO client.example\r\n",
        b"GET key\r\n",
        b"AMQP\0\0\x09\x01",
        b"\0\0\0\x08\x04\xd2\x16\x2f",
        b"0\x0c\x02\x01\x01",
        b"{\"jsonrpc\"",
        b"\x10\x0c\0\x04MQTT",
        b"\x16\x01",
        // MongoDB, at lengths that begin as records do.
        b"\x16\x01\0\0\x07\0\0\0\0\0\0\0\xdd\x07\0\0",
        b"\x15\x01\0\0\x07\x63\0\0\0\0\0\0\xdd\x07\0\0",
        b"\x80\x01\0\0\x01\0\0\0\0\0\0\0\xdd\x07\0\0",
        b"<13>Nov 18 web: \"GET / HTTP/1.1\" 200\n",
        b"{\"jsonrpc\": \"2.0\", \"method\": \"HTTP/1.1\"}",
        b"get /views/a\r\n",
        b"set service/a 0 0 1\r\nx\r\n",
        b"CONNECT {\"verbose\":false}\r\n",
        b"\xff\xfb\x1f",
        b"\x05\x01\0",
    ];
    for bytes in cases {
        assert_eq!(
            gate("a.example", 22).look(bytes),
            Ok(Look::Pass(bytes.len())),
            "{bytes:?}"
        );
    }
}

#[test]
fn a_line_that_may_become_a_request_waits_until_it_cannot() {
    let mut gate = gate("a.example", 22);
    assert_eq!(gate.look(b"QUIT now"), Ok(Look::More));
    gate.client_closed();
    assert_eq!(gate.look(b"QUIT now"), Ok(Look::Pass(8)));
}

#[test]
fn a_request_line_that_the_end_of_the_stream_ends_is_one() {
    let mut gate = gate("a.example", 8080);
    let line = b"GET http://b.example/ HTTP/1.1";
    assert_eq!(gate.look(line), Ok(Look::More));
    gate.client_closed();
    assert_eq!(gate.look(line), Ok(Look::More));
}

/// Shows a gate the bytes in pieces of this size, and says how it ended, with what had passed.
fn shown(gate: &mut Gate, bytes: &[u8], size: usize) -> (Vec<u8>, Result<(), Stop>) {
    let (mut window, mut passed) = (Vec::new(), Vec::new());
    for piece in bytes.chunks(size) {
        window.extend(piece);
        while !window.is_empty() {
            match gate.look(&window) {
                Ok(Look::Pass(count)) => passed.extend(window.drain(..count)),
                Ok(_) => break,
                Err(stop) => return (passed, Err(stop)),
            }
        }
    }
    (passed, Ok(()))
}

/// However it is cut, the bytes up to the one that decides are the most that the server gets.
fn refused(bytes: &[u8], stop: &Stop) {
    for size in [1, 2, 3, 7, 1000] {
        let (passed, end) = shown(&mut gate("a.example", 8443), bytes, size);
        assert_eq!(end.as_ref(), Err(stop), "{bytes:?} in pieces of {size}");
        assert!(passed.len() < bytes.len());
        assert!(!passed.contains(&b'\n') || bytes.starts_with(b"\r\n"), "{passed:?}");
    }
}

#[test]
fn a_line_that_only_a_lenient_server_takes_does_not_end() {
    for method in [
        "_X", "!X", "1X", "$", "~GET", "*", "(GET", "<X>", "\u{1}GET", "-", "\0GET", "G\"T", "\u{b}GET",
    ] {
        for line in [
            " / HTTP/1.1\r\n",
            "\t/\u{c}http/1.0 \n",
            " /a b c HTTP/1.1 \r\n",
            "  http://b.example/\u{1f}HTTP/9\n",
        ] {
            let bytes = [method.as_bytes(), line.as_bytes()].concat();
            refused(&bytes, &Stop::Http(Bad::RequestLine));
            refused(&[b"\r\n \r\n", &bytes[..]].concat(), &Stop::Http(Bad::RequestLine));
        }
    }
    for latin in [
        &b"\xa0GET / HTTP/1.1\r\n"[..],
        b"GET\x85/\xa0HTTP/1.1\r\n",
        b"GET\r/\rHTTP/1.1\r\n",
    ] {
        refused(latin, &Stop::Http(Bad::RequestLine));
    }
}

#[test]
fn requests_without_a_version_or_with_that_of_a_kin_are_requests() {
    for line in [
        "GET /\r\n",
        "GET http://b.example/\n",
        "\r\nGET  http://b.example/ \n",
        "GET / RTSP/1.0\r\n",
        "OPTIONS rtsp://a/b RTSP/1.0\r\n",
        "SOURCE /a ICE/1.0\r\n",
    ] {
        let look = |host, port| gate(host, port).look(line.as_bytes());
        assert!(matches!(look("a.example", 8080), Err(Stop::Http(_))), "{line:?}");
        assert_eq!(look("10.0.0.1", 8080), Ok(Look::Pass(line.len())), "{line:?}");
    }
    let rtsp = b"OPTIONS rtsp://a/b RTSP/1.0\r\n";
    assert_eq!(gate("a.example", 554).look(rtsp), Ok(Look::Pass(rtsp.len())));
}

#[test]
fn hellos_that_only_a_lenient_server_takes_do_not_pass() {
    let hello = hello(Some("b.example"));
    for major in [0, 1, 2, 4, 9, 15] {
        let mut odd = hello.clone();
        odd[1] = major;
        refused(&odd, &Stop::Tls(HelloProblem::Version));
    }
    for early in [
        &[21, 3, 1, 0, 2, 1, 0][..],
        &[21, 2, 1, 0, 2, 1, 112],
        &[21, 3, 1, 0, 4, 1, 0, 1, 0],
        &[21, 3, 3, 0, 1, 1, 21, 3, 3, 0, 1, 0],
        &[20, 3, 1, 0, 1, 1],
        &[23, 3, 3, 0, 0],
        &[24, 3, 2, 0, 3, 1, 0, 0],
    ] {
        refused(&[early, &hello].concat(), &Stop::Tls(HelloProblem::Early));
    }
    refused(
        &[0x80, 0x2e, 1, 3, 1, 0, 0x15, 0, 0, 0, 0x10],
        &Stop::Tls(HelloProblem::Sslv2),
    );
    refused(
        &[0x9f, 0x2e, 1, 0, 2, 0, 0x15, 0, 0, 0, 0x10],
        &Stop::Tls(HelloProblem::Sslv2),
    );
}

#[test]
fn nothing_passes_behind_the_proxy_protocol() {
    let first = b"PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    let second = b"\r\n\r\n\0\r\nQUIT\n\x20\0\0\0GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    refused(first, &Stop::Proxy);
    refused(second, &Stop::Proxy);
    assert_eq!(gate("10.0.0.1", 8080).look(first), Ok(Look::Pass(first.len())));
}

#[test]
fn a_database_that_is_asked_for_tls_is_not_another_one() {
    const SSL: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x2f";
    const GSS: &[u8] = b"\0\0\0\x08\x04\xd2\x16\x30";
    let other = Stop::NameOther("b.example".to_owned());
    let passes = |bytes: &[u8], size| {
        let mut gate = gate("a.example", 5432);
        assert_eq!(shown(&mut gate, bytes, size), (bytes.to_vec(), Ok(())), "{bytes:?}");
    };
    for size in [1, 8, 9, 1000] {
        for asked in [SSL.to_vec(), [GSS, SSL].concat(), [SSL, SSL].concat()] {
            let (passed, end) = shown(
                &mut gate("a.example", 5432),
                &[&asked[..], &hello(Some("b.example"))].concat(),
                size,
            );
            assert_eq!((passed, end), (asked.clone(), Err(other.clone())));
            passes(&[&asked[..], &hello(Some("a.example")), b"more"].concat(), size);
            passes(&[&asked[..], &hello(None)].concat(), size);
            // The server said no, and the client goes on in the clear.
            passes(&[&asked[..], b"\0\0\0\x17\0\x03\0\0user\0me\0\0"].concat(), size);
        }
    }
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..100), port in prop_oneof![Just(80), Just(443), Just(22)]) {
        let mut gate = gate("a.example", port);
        let _ = gate.look(&bytes);
    }
}

#[test]
fn a_server_that_speaks_first_is_no_web_server() {
    let held = |said: &[u8]| {
        let mut gate = gate("a.example", 25);
        assert_eq!(gate.look(b"hello"), Ok(Look::More));
        let changed = gate.hear(said);
        (changed, gate.look(b"hello"))
    };
    assert_eq!(held(b"220 ready\r\n"), (true, Ok(Look::Pass(5))));
    assert_eq!(held(b"\x4a\0\0\0\x0a8.0"), (true, Ok(Look::Pass(5))));
    assert_eq!(held(b"\0\0\x12\x05\0\0\0\0\0"), (true, Ok(Look::Pass(5))));
    let settings = b"\0\0\x12\x04\0\0\0\0\0\0\x03\0\0";
    for said in [
        &b""[..],
        b"H",
        b"HTTP/",
        b"HTTP/1.1 408 Request Timeout\r\n",
        b"\0\0",
        settings,
    ] {
        assert_eq!(held(said), (false, Ok(Look::More)), "{said:?}");
    }
    // In pieces as well.
    let mut gate = gate("a.example", 50051);
    for piece in settings.chunks(1) {
        assert!(!gate.hear(piece));
    }
    assert_eq!(
        gate.look(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Err(Stop::Http(Bad::Http2))
    );
}
