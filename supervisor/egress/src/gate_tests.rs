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
    let check = |host: &str, name| check_name(&gate(host, 443).bound, name);
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
    let cases: [&[u8]; 11] = [
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

proptest! {
    #[test]
    fn what_the_first_bytes_are_does_not_depend_on_the_cuts(
        text in prop_oneof!["[A-Z]{0,4}[ \t/\r\n]{0,2}[a-zA-Z/ .\r\n]{0,20}", "GET / HTTP/1.[01]\r\n.{0,10}"],
        cut in 0_usize..30,
    ) {
        let bytes = text.as_bytes();
        let first = sniff(&bytes[..cut.min(bytes.len())]);
        prop_assert!(first == Sniffed::Unsure || first == sniff(bytes));
    }

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
    for said in [&b""[..], b"H", b"HTTP/", b"HTTP/1.1 408 Request Timeout\r\n"] {
        assert_eq!(held(said), (false, Ok(Look::More)), "{said:?}");
    }
}
