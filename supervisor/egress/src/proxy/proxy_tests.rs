use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::record::{Outcome, Via};
use crate::testing::{
    Companion, HTTP_PROXY, SOCKS, brief, exchange, mirror, plays, rest, server, speak_tls, tls_server,
};

plays! {
    connect_tunnels_tls_for_the_allowed_name_only: connect;
    connect_says_why_not: connect_refused;
    an_absolute_target_is_asked_for_once: absolute;
    the_proxy_explains_what_it_does_not_take: proxy_misuse;
    socks_tunnels_by_name_and_by_synthetic_address: socks_ok;
    socks_replies_with_the_reason: socks_refused;
    socks_misuse_is_closed: socks_misuse;
}

/// Asks the HTTP proxy for a tunnel and gives the connection with the proxy's head.
pub(crate) async fn ask_connect(target: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(HTTP_PROXY).await.unwrap();
    let request = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Connection: keep-alive\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    (stream, String::from_utf8(head).unwrap())
}

async fn connect() {
    let companion = Companion::start();
    let (connector, _) = tls_server().await;
    for target in ["A.example.:443", "198.18.0.1:443", "127.0.0.10:443"] {
        let (stream, head) = ask_connect(target).await;
        assert_eq!(head, "HTTP/1.1 200 Connection established\r\n\r\n");
        assert_eq!(
            speak_tls(&connector, stream, "a.example").await,
            Ok("hello from a".to_owned()),
            "{target}"
        );
    }
    let (stream, _) = ask_connect("a.example:443").await;
    let error = speak_tls(&connector, stream, "b.example").await.unwrap_err();
    assert!(error.contains("UnrecognisedName"), "{error}");
    let (stream, _) = ask_connect("127.0.0.10:443").await;
    assert_eq!(
        speak_tls(&connector, stream, "b.example").await,
        Ok("hello from a".to_owned())
    );
    let expected = [
        ("127.0.0.10", 443, Via::Connect, Outcome::Allowed),
        ("a.example", 443, Via::Connect, Outcome::Allowed),
        ("a.example", 443, Via::Connect, Outcome::Refused),
    ];
    assert_eq!(brief(&companion.report()), expected);
}

async fn connect_refused() {
    let companion = Companion::start();
    for (target, head_start, body) in [
        (
            "b.example:443",
            "HTTP/1.1 403",
            "to allow it: network: {allow: [\"b.example\"]}",
        ),
        ("denied.example:443", "HTTP/1.1 403", "to allow it: remove network.deny"),
        (
            "a.example:25",
            "HTTP/1.1 403",
            "to allow it: network: {allow: [\"a.example:25\"]}",
        ),
        (
            "127.0.0.1:3128",
            "HTTP/1.1 403",
            "to allow it: network: {allow: [\"127.0.0.1:3128\"]}",
        ),
        (
            "private.example:443",
            "HTTP/1.1 403",
            "to allow it: network: {allow: [\"10.0.0.1:443\"]}",
        ),
        ("down.example:443", "HTTP/1.1 502", "cannot connect"),
        ("a.example", "HTTP/1.1 400", "target"),
        ("u@a.example:443", "HTTP/1.1 400", "no host"),
    ] {
        let (mut stream, head) = ask_connect(target).await;
        let got = rest(&mut stream).await;
        assert!(
            head.starts_with(head_start) && got.contains(body),
            "{target}: {head}{got}"
        );
    }
    companion.abandon();
}

async fn absolute() {
    let companion = Companion::start();
    server(80, mirror).await;
    let request = "POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nProxy-Connection: keep-alive\r\n\
                   Content-Length: 4\r\n\r\nbodyGET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n";
    let got = exchange("127.0.0.1", 3128, request.as_bytes()).await;
    let asked = "POST /x HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody";
    assert_eq!(got, format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{asked}"));
    let report = companion.report();
    assert_eq!(brief(&report), [("a.example", 80, Via::Http, Outcome::Allowed)]);
    assert_eq!(report.attempts[0].bytes_up, u64::try_from(asked.len()).unwrap());
}

async fn proxy_misuse() {
    let companion = Companion::start();
    for (request, status, reason) in [
        ("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n", 400, "this is a proxy"),
        (
            "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
            400,
            "use `CONNECT`",
        ),
        (
            "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            400,
            "another host",
        ),
        (
            "GET http://b.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
            403,
            "to allow it: network: {allow",
        ),
        (
            "GET http://a.example:443/ HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
            403,
            "TLS only",
        ),
        (
            "GET http://down.example/ HTTP/1.1\r\nHost: down.example\r\n\r\n",
            502,
            "cannot connect",
        ),
        ("GET / HTTP/1.1\nHost: a.example\n\n", 400, "bare LF"),
    ] {
        let got = exchange("127.0.0.1", 3128, request.as_bytes()).await;
        assert!(
            got.starts_with(&format!("HTTP/1.1 {status} ")) && got.contains(reason),
            "{request}: {got}"
        );
    }
    companion.abandon();
}

/// Asks the SOCKS proxy and gives the connection with the reply code.
pub(crate) async fn ask_socks(address: &[u8], port: u16) -> (TcpStream, u8) {
    let mut stream = TcpStream::connect(SOCKS).await.unwrap();
    let request = [&[5, 1, 0, 5, 1, 0][..], address, &port.to_be_bytes()].concat();
    stream.write_all(&request).await.unwrap();
    let mut replies = [0; 12];
    stream.read_exact(&mut replies).await.unwrap();
    assert_eq!(
        (replies[..3].to_vec(), &replies[4..]),
        (vec![5, 0, 5], &[0, 1, 0, 0, 0, 0, 0, 0][..])
    );
    (stream, replies[3])
}

pub(crate) fn domain(name: &str) -> Vec<u8> {
    [&[3, u8::try_from(name.len()).unwrap()], name.as_bytes()].concat()
}

async fn socks_ok() {
    let companion = Companion::start();
    let (connector, _) = tls_server().await;
    for address in [domain("A.example"), vec![1, 198, 18, 0, 1], domain("198.18.0.1")] {
        let (stream, code) = ask_socks(&address, 443).await;
        assert_eq!(code, 0);
        assert_eq!(
            speak_tls(&connector, stream, "a.example").await,
            Ok("hello from a".to_owned())
        );
    }
    let (stream, _) = ask_socks(&domain("a.example"), 443).await;
    let error = speak_tls(&connector, stream, "b.example").await.unwrap_err();
    assert!(error.contains("UnrecognisedName"), "{error}");
    let report = companion.report();
    let expected = [
        ("a.example", 443, Via::Socks, Outcome::Allowed),
        ("a.example", 443, Via::Socks, Outcome::Refused),
    ];
    assert_eq!((brief(&report), report.attempts[0].count), (expected.to_vec(), 3));
}

async fn socks_refused() {
    let companion = Companion::start();
    let loopback = [&[4][..], &[0; 15], &[1]].concat();
    for (address, port, expected) in [
        (domain("b.example"), 443, 2),
        (domain("private.example"), 443, 2),
        (domain("a.example\0.b.example"), 443, 2),
        (loopback, 1080, 2),
        (domain("down.example"), 443, 5),
        (vec![1, 127, 0, 0, 11], 443, 5),
    ] {
        let (mut stream, code) = ask_socks(&address, port).await;
        assert_eq!((code, rest(&mut stream).await.as_str()), (expected, ""), "{address:?}");
    }
    companion.abandon();
}

async fn socks_misuse() {
    let companion = Companion::start();
    let name = domain("a.example");
    let bind = [&[5, 1, 0, 5, 2, 0][..], &name, &[1, 187]].concat();
    let udp = [&[5, 1, 0, 5, 3, 0][..], &name, &[1, 187]].concat();
    let password = [&[5, 1, 2, 1, 1, b'u', 1, b'p', 5, 2, 0][..], &name, &[1, 187]].concat();
    for (sent, expected) in [
        (bind, vec![5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (udp, vec![5, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (password, vec![5, 2, 1, 0, 5, 7, 0, 1, 0, 0, 0, 0, 0, 0]),
        (vec![5, 1, 0, 5, 1, 0, 9], vec![5, 0, 5, 8, 0, 1, 0, 0, 0, 0, 0, 0]),
        (vec![5, 1, 1], vec![5, 0xff]),
        (vec![4, 1, 1, 187, 127, 0, 0, 1, 0], vec![]),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), vec![]),
    ] {
        let mut stream = TcpStream::connect(SOCKS).await.unwrap();
        stream.write_all(&sent).await.unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).await.unwrap();
        assert_eq!(got, expected, "{sent:?}");
    }
    companion.abandon();
}
