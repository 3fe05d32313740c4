use std::sync::atomic::Ordering;

use super::*;
use crate::proxy::tests::{ask_connect, ask_socks, domain};
use crate::record::Outcome;
use crate::testing::{
    A, Companion, DOWN, HTTP_PROXY, ODD_PORT, PRIVATE, brief, exchange, mirror, plays, rest, server, speak_tls,
    tls_server,
};

plays! {
    tls_for_the_allowed_name_passes: allowed_tls;
    tls_for_another_name_or_none_gets_an_alert_and_is_never_dialled: wrong_names;
    a_hello_in_many_small_segments_passes: split_hello;
    what_is_not_tls_on_443_gets_an_alert: plain_on_443;
    http_for_the_allowed_host_passes: allowed_http;
    a_bad_first_request_gets_a_403_and_is_never_dialled: bad_http;
    a_pipelined_request_to_another_host_is_cut_off_behind_the_answer: pipelined;
    expect_continue_works: expect_continue;
    a_websocket_flows_once_the_server_switched: websocket;
    a_server_may_speak_first_on_another_port: server_first;
    http_for_another_host_is_refused_on_other_ports_too: http_elsewhere;
    a_half_close_passes: half_close;
    silence_ends_a_connection: idle;
    a_slow_head_is_refused: slow_head;
    an_address_that_means_nothing_is_reset: meaningless;
    a_name_that_leads_to_a_private_address_is_refused_with_the_line_that_allows_it: private;
    a_server_that_is_down_gives_502: down;
    connections_beyond_the_limit_are_told: too_many;
    dials_beyond_the_limit_are_told: too_many_dials;
    a_hundred_megabytes_pass: hundred_megabytes;
    refused_names_are_in_the_report: names;
    the_broker_has_its_own_door_and_its_own_report: broker;
    open_connections_end_with_the_word_and_are_counted: open_at_the_end;
    without_a_supervisor_the_companion_ends: abandoned;
}

fn quick() -> Limits {
    Limits {
        first_bytes: Duration::from_millis(300),
        idle: Duration::from_millis(400),
        grace: Duration::from_millis(200),
        ..Limits::STANDARD
    }
}

async fn allowed_tls() {
    let companion = Companion::start();
    let (connector, _) = tls_server().await;
    let stream = TcpStream::connect((A, 443)).await.unwrap();
    assert_eq!(
        speak_tls(&connector, stream, "a.example").await,
        Ok("hello from a".to_owned())
    );
    let report = companion.report();
    assert_eq!(brief(&report), [("a.example", 443, Via::Transparent, Outcome::Allowed)]);
    let row = &report.attempts[0];
    assert!(row.bytes_up > 200 && row.bytes_down > 200, "{row:?}");
    assert_eq!((row.rule.as_deref(), row.count), (Some("a.example"), 1));
}

async fn wrong_names() {
    let companion = Companion::start();
    let (connector, dialled) = tls_server().await;
    for name in ["b.example", "127.0.0.1"] {
        let stream = TcpStream::connect((A, 443)).await.unwrap();
        let error = speak_tls(&connector, stream, name).await.unwrap_err();
        assert!(error.contains("UnrecognisedName"), "{error}");
    }
    assert_eq!(dialled.load(Ordering::Relaxed), 0);
    let report = companion.report();
    let mut reasons: Vec<_> = report
        .attempts
        .iter()
        .map(|row| (row.reason.as_deref(), row.hint.as_deref()))
        .collect();
    reasons.sort_unstable();
    let other = "a TLS client hello for `b.example`, another server than the one that was connected to";
    let expected = [
        (Some(other), Some("network: {allow: [\"b.example\"]}")),
        (Some("a TLS client hello without a server name"), None),
    ];
    assert_eq!(reasons, expected);
}

async fn split_hello() {
    let companion = Companion::start();
    let (connector, _) = tls_server().await;
    let name = rustls::pki_types::ServerName::try_from("a.example").unwrap();
    let mut hello = Vec::new();
    let mut connection = rustls::ClientConnection::new(Arc::clone(connector.config()), name).unwrap();
    connection.write_tls(&mut hello).unwrap();
    let mut stream = TcpStream::connect((A, 443)).await.unwrap();
    stream.set_nodelay(true).unwrap();
    for piece in hello.chunks(7) {
        stream.write_all(piece).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(stream.read_u8().await.unwrap(), 22);
    companion.abandon();
}

async fn plain_on_443() {
    let companion = Companion::start();
    let (_, dialled) = tls_server().await;
    let mut stream = TcpStream::connect((A, 443)).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
        .await
        .unwrap();
    let mut alert = Vec::new();
    stream.read_to_end(&mut alert).await.unwrap();
    assert_eq!(
        (alert, dialled.load(Ordering::Relaxed)),
        (vec![21, 3, 3, 0, 2, 2, 49], 0)
    );
    assert_eq!(
        brief(&companion.report()),
        [("a.example", 443, Via::Transparent, Outcome::Refused)]
    );
}

const GOOD: &str = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// Answers the first bytes, says nothing more, and ends when the client does; the echo is what it was asked.
async fn http_server(mut stream: TcpStream) {
    let mut buffer = vec![0; 65536];
    while let Ok(1..) = stream.read(&mut buffer).await {
        let _ = stream.write_all(ANSWER.as_bytes()).await;
    }
}

async fn allowed_http() {
    let companion = Companion::start();
    server(80, mirror).await;
    let got = exchange(A, 80, GOOD.as_bytes()).await;
    assert_eq!(got, format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{GOOD}"));
    let report = companion.report();
    assert_eq!(brief(&report), [("a.example", 80, Via::Transparent, Outcome::Allowed)]);
    let row = &report.attempts[0];
    assert_eq!((row.bytes_up, row.bytes_down), (35, u64::try_from(got.len()).unwrap()));
}

async fn bad_http() {
    let companion = Companion::start();
    let dialled = server(80, http_server).await;
    let both = "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    for (request, reason) in [
        ("GET / HTTP/1.1\r\nHost: b.example\r\n\r\n", "another host"),
        (both, "both `Content-Length` and `Transfer-Encoding`"),
        (
            "GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: h2c\r\n\r\n",
            "HTTP/2 in the clear",
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/2 in the clear"),
        ("\x16\x03\x01", "a control character"),
    ] {
        let got = exchange(A, 80, request.as_bytes()).await;
        assert!(
            got.starts_with("HTTP/1.1 403 Forbidden\r\n") && got.contains("Connection: close\r\n"),
            "{got}"
        );
        assert!(
            got.contains("no connection to a.example:80: ") && got.contains(reason),
            "{got}"
        );
    }
    assert_eq!(dialled.load(Ordering::Relaxed), 0);
    assert!(
        companion
            .report()
            .attempts
            .iter()
            .all(|row| row.verdict == Outcome::Refused)
    );
}

async fn pipelined() {
    let companion = Companion::start();
    server(80, mirror).await;
    let got = exchange(
        A,
        80,
        format!("{GOOD}GET /secret HTTP/1.1\r\nHost: b.example\r\n\r\n").as_bytes(),
    )
    .await;
    let (answer, refusal) = got.split_once("HTTP/1.1 403").unwrap();
    assert_eq!(answer, format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{GOOD}"));
    assert!(refusal.contains("another host"), "{refusal}");
    let report = companion.report();
    let expected = [
        ("a.example", 80, Via::Transparent, Outcome::Allowed),
        ("a.example", 80, Via::Transparent, Outcome::Refused),
    ];
    assert_eq!(brief(&report), expected);
}

async fn expect_continue() {
    let companion = Companion::start();
    server(80, |mut stream| async move {
        let mut buffer = vec![0; 4096];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await;
        let count = stream.read(&mut buffer).await.unwrap_or_default();
        let _ = stream.write_all(&buffer[..count]).await;
    })
    .await;
    let mut stream = TcpStream::connect((A, 80)).await.unwrap();
    let head = b"PUT / HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let mut interim = [0; 25];
    stream.read_exact(&mut interim).await.unwrap();
    stream.write_all(b"body").await.unwrap();
    assert_eq!(
        (&interim, rest(&mut stream).await.as_str()),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "body")
    );
    companion.abandon();
}

async fn websocket() {
    let companion = Companion::start();
    server(80, |mut stream| async move {
        let mut buffer = vec![0; 4096];
        let _ = stream.read(&mut buffer).await;
        let _ = stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n").await;
        let count = stream.read(&mut buffer).await.unwrap_or_default();
        let _ = stream.write_all(&buffer[..count]).await;
    })
    .await;
    let ask = "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\x01\x02frame";
    let got = exchange(A, 80, ask.as_bytes()).await;
    assert_eq!(got, "HTTP/1.1 101 Switching Protocols\r\n\r\n\x01\x02frame");
    companion.abandon();
}

async fn server_first() {
    let companion = Companion::start();
    server(22, |mut stream| async move {
        let _ = stream.write_all(b"SSH-2.0-server\r\n").await;
        let mut answer = [0; 16];
        let _ = stream.read_exact(&mut answer).await;
        let _ = stream.write_all(&answer).await;
    })
    .await;
    let mut stream = TcpStream::connect((A, 22)).await.unwrap();
    let mut greeting = [0; 16];
    stream.read_exact(&mut greeting).await.unwrap();
    stream.write_all(b"SSH-2.0-client\r\n").await.unwrap();
    assert_eq!(
        (&greeting, rest(&mut stream).await.as_str()),
        (b"SSH-2.0-server\r\n", "SSH-2.0-client\r\n")
    );
    assert_eq!(
        brief(&companion.report()),
        [("a.example", 22, Via::Transparent, Outcome::Allowed)]
    );
}

async fn http_elsewhere() {
    let companion = Companion::start();
    server(8080, mirror).await;
    let got = exchange(A, 8080, b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n").await;
    assert!(got.starts_with("HTTP/1.1 403"), "{got}");
    let got = exchange(A, 8080, b"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n").await;
    assert!(
        got.ends_with("\r\n\r\nGET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n"),
        "{got}"
    );
    companion.abandon();
}

async fn half_close() {
    let companion = Companion::start();
    server(22, |mut stream| async move {
        let mut all = Vec::new();
        let _ = stream.read_to_end(&mut all).await;
        let _ = stream.write_all(&all).await;
    })
    .await;
    let mut stream = TcpStream::connect((A, 22)).await.unwrap();
    stream.write_all(b"\x01all of it").await.unwrap();
    stream.shutdown().await.unwrap();
    assert_eq!(rest(&mut stream).await, "\x01all of it");
    companion.abandon();
}

async fn idle() {
    let companion = Companion::with(quick());
    server(22, |stream| async move {
        sleep(Duration::from_secs(30)).await;
        drop(stream);
    })
    .await;
    let start = std::time::Instant::now();
    exchange(A, 22, b"\x01").await;
    assert!(
        (quick().idle..Duration::from_secs(5)).contains(&start.elapsed()),
        "{:?}",
        start.elapsed()
    );
    companion.abandon();
}

async fn slow_head() {
    let companion = Companion::with(quick());
    for (at, port) in [(A, 80), ("127.0.0.1", 3128)] {
        let mut stream = TcpStream::connect((at, port)).await.unwrap();
        let (mut read, mut write) = stream.split();
        let trickle = async {
            for byte in GOOD.bytes().cycle() {
                if write.write_all(&[byte.max(b'!')]).await.is_err() {
                    break;
                }
                sleep(Duration::from_millis(50)).await;
            }
        };
        let mut got = [0; 15];
        tokio::select! {
            () = trickle => panic!("the client was cut off without a word"),
            read = read.read_exact(&mut got) => drop(read.unwrap()),
        }
        assert_eq!(&got, b"HTTP/1.1 400 Ba");
    }
    companion.abandon();
}

async fn meaningless() {
    let companion = Companion::start();
    assert_eq!(exchange("198.18.9.9", ODD_PORT, b"x").await, "[connection reset]");
    assert_eq!(exchange(A, ODD_PORT, b"x").await, "[connection reset]");
    let report = companion.report();
    let expected = [
        ("198.18.9.9", ODD_PORT, Via::Transparent, Outcome::Refused),
        ("a.example", ODD_PORT, Via::Transparent, Outcome::Refused),
    ];
    assert_eq!(brief(&report), expected);
    assert_eq!(
        report.attempts[1].hint.as_deref(),
        Some("network: {allow: [\"a.example:9999\"]}")
    );
}

async fn private() {
    let companion = Companion::start();
    let got = exchange(PRIVATE, 80, b"GET / HTTP/1.1\r\nHost: private.example\r\n\r\n").await;
    assert!(
        got.starts_with("HTTP/1.1 403") && got.contains("to allow it: network: {allow: [\"10.0.0.1:80\"]}"),
        "{got}"
    );
    assert_eq!(
        brief(&companion.report()),
        [("private.example", 80, Via::Transparent, Outcome::Refused)]
    );
}

async fn down() {
    let companion = Companion::start();
    let got = exchange(DOWN, 80, b"GET / HTTP/1.1\r\nHost: down.example\r\n\r\n").await;
    assert!(
        got.starts_with("HTTP/1.1 502 Bad Gateway\r\n") && got.contains("cannot connect"),
        "{got}"
    );
    assert_eq!(
        brief(&companion.report()),
        [("down.example", 80, Via::Transparent, Outcome::Failed)]
    );
}

async fn too_many() {
    let companion = Companion::with(Limits {
        connections: 2,
        ..Limits::STANDARD
    });
    server(22, http_server).await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect((A, 22)).await.unwrap();
        stream.write_all(b"\x01").await.unwrap();
        stream.read_u8().await.unwrap();
        held.push(stream);
    }
    let got = exchange("127.0.0.1", 3128, b"CONNECT a.example:22 HTTP/1.1\r\n\r\n").await;
    assert!(
        got.starts_with("HTTP/1.1 503") && got.contains("2 connections are open already"),
        "{got}"
    );
    let got = exchange(A, 80, GOOD.as_bytes()).await;
    assert!(got.starts_with("HTTP/1.1 503"), "{got}");
    assert_eq!(exchange(A, 22, b"\x01").await, "[connection reset]");
    drop(held);
    sleep(Duration::from_millis(100)).await;
    let (_stream, head) = ask_connect("a.example:22").await;
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    companion.abandon();
}

async fn too_many_dials() {
    let companion = Companion::with(Limits {
        dials: 0,
        first_bytes: Duration::from_millis(100),
        ..Limits::STANDARD
    });
    let (mut stream, head) = ask_connect("a.example:443").await;
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    assert!(rest(&mut stream).await.contains("0 connections are being made already"));
    let (_, code) = ask_socks(&domain("a.example"), 443).await;
    assert_eq!(code, 1);
    companion.abandon();
}

async fn hundred_megabytes() {
    const SIZE: usize = 100 << 20;
    let companion = Companion::start();
    server(22, |mut stream| async move {
        let block = vec![7; 1 << 20];
        for _ in 0..100 {
            let _ = stream.write_all(&block).await;
        }
    })
    .await;
    let mut stream = TcpStream::connect((A, 22)).await.unwrap();
    let (mut buffer, mut total) = (vec![0; 1 << 20], 0);
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        assert!(buffer[..count].iter().all(|byte| *byte == 7));
        total += count;
    }
    assert_eq!(total, SIZE);
    let report = companion.report();
    assert_eq!(report.attempts[0].bytes_down, u64::try_from(SIZE).unwrap());
}

/// Asks the answerer for an address and gives its response code and the last four bytes.
async fn ask_name(name: &str) -> (u8, [u8; 4]) {
    let labels: Vec<u8> = name
        .split('.')
        .flat_map(|label| [&[u8::try_from(label.len()).unwrap()], label.as_bytes()].concat())
        .collect();
    let query = [&[0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0][..], &labels, &[0, 0, 1, 0, 1]].concat();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.send_to(&query, "127.0.0.53:53").await.unwrap();
    let mut answer = [0; 512];
    let length = socket.recv(&mut answer).await.unwrap();
    (answer[3] & 15, *answer[..length].last_chunk().unwrap())
}

async fn names() {
    let companion = Companion::start();
    assert_eq!(ask_name("a.example").await, (0, [198, 18, 0, 1]));
    assert_eq!(ask_name("other.example").await.0, 3);
    assert_eq!(ask_name("denied.example").await.0, 3);
    let report = companion.report();
    let expected = [
        ("denied.example", 0, Via::Dns, Outcome::Refused),
        ("other.example", 0, Via::Dns, Outcome::Refused),
    ];
    assert_eq!(brief(&report), expected);
    assert_eq!(report.attempts[0].rule.as_deref(), Some("denied.example"));
}

async fn broker() {
    let companion = Companion::start();
    assert_eq!(exchange("127.0.0.1", crate::doors::BROKER_PORT, b"").await, "model");
    let report = companion.report();
    assert_eq!(
        (report.attempts.len(), report.model),
        (0, Some(serde_json::json!({"requests": 1})))
    );
}

async fn open_at_the_end() {
    let companion = Companion::start();
    server(22, http_server).await;
    let mut stream = TcpStream::connect((A, 22)).await.unwrap();
    stream.write_all(b"\x01\x02\x03").await.unwrap();
    stream.read_u8().await.unwrap();
    let report = companion.report();
    let row = &report.attempts[0];
    assert_eq!((row.verdict, row.bytes_up), (Outcome::Allowed, 3));
    assert_eq!(row.bytes_down, u64::try_from(ANSWER.len()).unwrap());
}

async fn abandoned() {
    let companion = Companion::start();
    server(22, http_server).await;
    let stream = TcpStream::connect((A, 22)).await.unwrap();
    companion.abandon();
    assert!(TcpStream::connect(HTTP_PROXY).await.is_err());
    drop(stream);
}

#[test]
fn doors_and_sockets_must_match() {
    let (near, far) = StdUnixStream::pair().unwrap();
    let config = Config {
        doors: vec![Door {
            at: ([127, 0, 0, 1], 1).into(),
            kind: DoorKind::Relay,
        }],
        rules: None,
        book: None,
        ipv6: false,
        resolver: Resolver::system(),
        broker: None,
        limits: Limits::STANDARD,
    };
    assert_eq!(
        serve(config, Vec::new(), far.into()).unwrap_err().kind(),
        io::ErrorKind::InvalidInput
    );
    drop(near);
}
