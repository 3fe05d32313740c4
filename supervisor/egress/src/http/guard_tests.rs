use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::host::Host;

fn bound(host: &str, port: u16) -> Bound {
    Bound {
        host: Host::parse(host.as_bytes()).unwrap(),
        port,
    }
}

/// What came out on the other side, and what stopped it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    passed: Vec<u8>,
    held: Vec<u8>,
    stop: Option<Bad>,
}

/// Feeds `bytes` in pieces of these sizes, the last one taking the rest.
fn run(guard: &mut Guard, bytes: &[u8], sizes: &[usize]) -> Outcome {
    let (mut window, mut passed, mut rest) = (Vec::new(), Vec::new(), bytes);
    for size in sizes.iter().copied().chain([usize::MAX]) {
        let (piece, behind) = rest.split_at(size.min(rest.len()));
        window.extend_from_slice(piece);
        rest = behind;
        loop {
            match guard.look(&window) {
                Ok(Look::Pass(count)) => passed.extend(window.drain(..count)),
                Ok(Look::Drop(count)) => drop(window.drain(..count)),
                Ok(Look::More | Look::Hold) => break,
                Err(bad) => {
                    return Outcome {
                        passed,
                        held: Vec::new(),
                        stop: Some(bad),
                    };
                }
            }
        }
    }
    Outcome {
        passed,
        held: window,
        stop: None,
    }
}

fn watch(bytes: &str) -> Outcome {
    run(&mut Guard::new(bound("a.example", 80)), bytes.as_bytes(), &[])
}

fn all_pass(bytes: &str) -> Outcome {
    Outcome {
        passed: bytes.as_bytes().to_vec(),
        held: Vec::new(),
        stop: None,
    }
}

const GOOD: &str = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";

#[test]
fn well_formed_requests_pass_unchanged() {
    let requests = [
        GOOD.to_owned(),
        GOOD.repeat(3),
        "GET / HTTP/1.1\r\nHost: A.Example.:80\r\n\r\n".to_owned(),
        "GET http://A.example/x HTTP/1.1\r\nHost: a.example:80\r\n\r\n".to_owned(),
        format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhello{GOOD}"),
        format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n{GOOD}"),
        format!(
            "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n\
             5;a=b\r\nhello\r\n0A\r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n{GOOD}"
        ),
        "PUT / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n".to_owned(),
        "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
        "GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade-Insecure-Requests: 1\r\n\r\n".to_owned(),
    ];
    for request in requests {
        assert_eq!(watch(&request), all_pass(&request), "{request:?}");
    }
}

#[test]
fn a_bad_first_request_passes_no_byte() {
    let with = |rest: &str| format!("POST / HTTP/1.1\r\nHost: a.example\r\n{rest}");
    let cases = [
        ("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n".to_owned(), Bad::HostOther),
        (
            "GET / HTTP/1.1\r\nHost: a.example:81\r\n\r\n".to_owned(),
            Bad::HostOther,
        ),
        (
            "GET / HTTP/1.1\r\nHost: a.example.b.example\r\n\r\n".to_owned(),
            Bad::HostOther,
        ),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned(), Bad::HostOther),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n".to_owned(), Bad::HostOdd),
        ("GET / HTTP/1.1\r\nHost: a.example:0\r\n\r\n".to_owned(), Bad::HostOdd),
        ("GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n".to_owned(), Bad::HostOdd),
        (
            "GET / HTTP/1.1\r\nHost: a.example, b.example\r\n\r\n".to_owned(),
            Bad::HostOdd,
        ),
        ("GET / HTTP/1.1\r\nHost: u@a.example\r\n\r\n".to_owned(), Bad::HostOdd),
        ("GET / HTTP/1.1\r\n\r\n".to_owned(), Bad::HostMissing),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), Bad::HostMissing),
        (
            "GET / HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\n".to_owned(),
            Bad::HostDoubled,
        ),
        (
            "GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
            Bad::TargetOther,
        ),
        (
            "GET http://a.example:81/ HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
            Bad::TargetOther,
        ),
        (
            "GET http://x@a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
            Bad::TargetOther,
        ),
        (
            "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
            Bad::Target,
        ),
        (
            "CONNECT a.example:80 HTTP/1.1\r\nHost: a.example\r\n\r\n".to_owned(),
            Bad::Connect,
        ),
        (with("Upgrade: h2c\r\n\r\n"), Bad::UpgradeH2c),
        (with("Upgrade: websocket, h2c\r\n\r\n"), Bad::UpgradeH2c),
        (with("HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"), Bad::UpgradeH2c),
        (with("Upgrade: TLS/1.0\r\n\r\n"), Bad::UpgradeOther),
        (
            with("Upgrade: websocket\r\nUpgrade: websocket\r\n\r\n"),
            Bad::UpgradeOther,
        ),
        (
            with("Upgrade: websocket\r\nContent-Length: 5\r\n\r\n"),
            Bad::UpgradeLate,
        ),
    ];
    for (request, bad) in cases {
        let stopped = Outcome {
            passed: Vec::new(),
            held: Vec::new(),
            stop: Some(bad),
        };
        assert_eq!(watch(&request), stopped, "{request:?}");
    }
}

#[test]
fn a_second_request_to_another_host_stops_behind_the_first() {
    let smuggled = "GET /secret HTTP/1.1\r\nHost: b.example\r\n\r\n";
    let sized = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\n\r\nabc";
    let chunked = "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
    for first in [GOOD, sized, chunked] {
        let expected = Outcome {
            passed: first.as_bytes().to_vec(),
            held: Vec::new(),
            stop: Some(Bad::HostOther),
        };
        assert_eq!(watch(&format!("{first}{smuggled}")), expected, "{first:?}");
    }
}

#[test]
fn a_request_inside_a_body_is_only_a_body() {
    let smuggled = "GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    let length = smuggled.len();
    let request = format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {length}\r\n\r\n{smuggled}{GOOD}");
    assert_eq!(watch(&request), all_pass(&request));
}

#[test]
fn broken_chunks_stop_before_the_broken_piece() {
    let head = "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";
    let long = format!("5;{}\r\n", "x".repeat(300));
    let trailers = format!("0\r\nX: {}\r\n\r\n", "x".repeat(9000));
    let cases: [(&str, &str, Bad); 18] = [
        ("", "g\r\n", Bad::Chunk),
        ("", "\r\n", Bad::Chunk),
        ("", "-1\r\n", Bad::Chunk),
        ("", "0x5\r\n", Bad::Chunk),
        ("", " 5\r\n", Bad::Chunk),
        ("", "5 \r\n", Bad::Chunk),
        ("", "1000000000000000\r\n", Bad::Chunk),
        ("", "5\nhello", Bad::BareLf),
        ("", "5\rhello", Bad::BareCr),
        ("", "5;a\nb\r\n", Bad::BareLf),
        ("", "5;\x01\r\n", Bad::Control),
        ("", "5;é\r\n", Bad::ChunkExtension),
        ("", &long, Bad::ChunkExtension),
        ("5\r\nhello", "!0\r\n\r\n", Bad::Chunk),
        ("5\r\nhello", "\n0\r\n\r\n", Bad::Chunk),
        ("0\r\n", "Host: b.example\r\n\r\n", Bad::Trailer),
        ("0\r\n", "bad trailer\r\n\r\n", Bad::Trailer),
        ("0\r\n", &trailers[3..], Bad::Trailer),
    ];
    for (good, broken, bad) in cases {
        let expected = Outcome {
            passed: format!("{head}{good}").into_bytes(),
            held: Vec::new(),
            stop: Some(bad),
        };
        assert_eq!(watch(&format!("{head}{good}{broken}")), expected, "{broken:?}");
    }
}

#[test]
fn an_address_may_be_asked_for_any_host_but_only_in_good_order() {
    let watch = |bytes: &str| run(&mut Guard::new(bound("10.0.0.1", 80)), bytes.as_bytes(), &[]);
    let any = "GET / HTTP/1.1\r\nHost: any_host!:99\r\n\r\nGET / HTTP/1.1\r\nHost: b.example\r\n\r\n";
    assert_eq!(watch(any), all_pass(any));
    assert_eq!(watch("GET / HTTP/1.1\r\n\r\n").stop, Some(Bad::HostMissing));
    let both = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n";
    assert_eq!(watch(both).stop, Some(Bad::LengthAndEncoding));
}

const WEBSOCKET: &str = "GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/// Asks for a WebSocket, hears this answer, then sends opaque bytes.
fn after_answer(answer: &[&str]) -> Outcome {
    let mut guard = Guard::new(bound("a.example", 80));
    assert_eq!(run(&mut guard, WEBSOCKET.as_bytes(), &[]), all_pass(WEBSOCKET));
    let held = Outcome {
        passed: Vec::new(),
        held: b"\x81\x05hello".to_vec(),
        stop: None,
    };
    assert_eq!(run(&mut guard, b"\x81\x05hello", &[]), held);
    for piece in answer {
        guard.hear(piece.as_bytes());
    }
    run(&mut guard, b"\x81\x05hello", &[])
}

#[test]
fn frames_pass_only_after_the_server_switched() {
    let opaque = Outcome {
        passed: b"\x81\x05hello".to_vec(),
        held: Vec::new(),
        stop: None,
    };
    assert_eq!(after_answer(&["HTTP/1.1 101 Switching Protocols\r\n"]), opaque);
    assert_eq!(after_answer(&["HT", "TP/1.1 1", "01 x"]), opaque);
    let interim = "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n";
    assert_eq!(after_answer(&[interim]), opaque);
    let stopped = Outcome {
        passed: Vec::new(),
        held: Vec::new(),
        stop: Some(Bad::Control),
    };
    for answer in [
        "HTTP/1.1 200 OK\r\n",
        "HTTP/2.0 101 x\r\n",
        "SSH-2.0-x 101\r\n",
        "HTTP/1.1 +101",
    ] {
        // A frame is no request.
        let answer = format!("{answer}\r\n");
        let mut guard = Guard::new(bound("a.example", 80));
        run(&mut guard, WEBSOCKET.as_bytes(), &[]);
        assert!(guard.hear(answer.as_bytes()));
        assert_eq!(run(&mut guard, b"\x01\x05hello", &[]), stopped, "{answer}");
    }
    let unanswered = after_answer(&["HTTP/1.1 103 Early Hints\r\nLink: 101\r\n"]);
    assert_eq!((unanswered.held.len(), unanswered.stop), (7, None));
}

#[test]
fn a_websocket_is_the_first_request_or_none() {
    let expected = Outcome {
        passed: GOOD.as_bytes().to_vec(),
        held: Vec::new(),
        stop: Some(Bad::UpgradeLate),
    };
    assert_eq!(watch(&format!("{GOOD}{WEBSOCKET}")), expected);
}

#[test]
fn after_the_one_body_everything_is_dropped() {
    for (body, sent) in [
        (Body::None, ""),
        (Body::Sized(3), "abc"),
        (Body::Chunked, "1\r\na\r\n0\r\n\r\n"),
    ] {
        let mut guard = Guard::one_body(bound("a.example", 80), body);
        let outcome = run(
            &mut guard,
            format!("{sent}GET / HTTP/1.1\r\nHost: b\r\n\r\n").as_bytes(),
            &[],
        );
        assert_eq!(outcome, all_pass(sent));
    }
}

/// Pieces of requests, good and bad, to be strung together.
fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => Just(GOOD.to_owned()),
        2 => "[a-z]{0,30}".prop_map(|body| {
            let length = body.len();
            format!("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: {length}\r\n\r\n{body}")
        }),
        2 => vec("[a-z]{1,20}", 0..4).prop_map(|chunks| {
            let chunks: String = chunks.iter().map(|chunk| format!("{:x}\r\n{chunk}\r\n", chunk.len())).collect();
            format!("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
        }),
        1 => Just("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n".to_owned()),
        1 => Just(WEBSOCKET.to_owned()),
        1 => "[ -~\r\n]{1,20}",
    ]
}

proptest! {
    #[test]
    fn cutting_the_bytes_changes_nothing(pieces in vec(piece(), 0..6), sizes in vec(1_usize..25, 0..60)) {
        let bytes = pieces.concat();
        let mut guard = Guard::new(bound("a.example", 80));
        let cut = run(&mut guard, bytes.as_bytes(), &sizes);
        prop_assert_eq!(&cut, &watch(&bytes));
        prop_assert!(bytes.as_bytes().starts_with(&cut.passed));
    }

    #[test]
    fn only_the_allowed_host_ever_passes(pieces in vec(piece(), 0..6)) {
        let passed = String::from_utf8(watch(&pieces.concat()).passed).unwrap();
        prop_assert!(!passed.contains("b.example"));
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in vec(any::<u8>(), 0..200), sizes in vec(1_usize..25, 0..20)) {
        let mut guard = Guard::new(bound("a.example", 80));
        let outcome = run(&mut guard, &bytes, &sizes);
        prop_assert!(bytes.starts_with(&outcome.passed));
    }
}
