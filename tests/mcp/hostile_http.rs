//! A hostile client over HTTP: who may come in, what may be sent, and what happens to those who dawdle.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use glee_tests::{Caller, claims};
use serde_json::json;

use crate::support::{Place, peak_memory};
use crate::web::Web;

claims! {
    only_the_token_opens_and_only_from_here => super::doors;
    whatever_is_sent_the_server_goes_on => super::requests;
    connections_that_dawdle_are_closed_and_hold_up_nobody => super::dawdlers;
    bodies_without_end_are_refused_within_bounds => super::long_bodies;
    an_older_client_has_a_session => super::sessions;
    sessions_are_bounded => super::many_sessions;
    calls_whose_connections_are_gone_do_not_pile_up => super::left_behind;
    only_a_loopback_address_is_listened_on => super::elsewhere;
}

fn ping() -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string()
}

fn doors(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let (port, token) = (web.port, web.token.clone());
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } } }).to_string();
    let ask = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let headers: String = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"))
            .collect();
        let text = format!(
            "{method} {path} HTTP/1.1\r\n{headers}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        web.raw(text.as_bytes()).status
    };
    let host = format!("127.0.0.1:{port}");
    let bearer = format!("Bearer {token}");
    let localhost = format!("localhost:{port}");
    let right = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    assert_eq!(ask("POST", "/mcp", &right), 200);
    let wrong_token = format!("Bearer {}", "0".repeat(64));
    let (prefix, longer, basic) = (
        format!("Bearer {}", &token[..63]),
        format!("{bearer}0"),
        format!("Basic {token}"),
    );
    let query = format!("/mcp?token={token}&access_token={token}");
    for (name, headers, path) in [
        ("no token", vec![("Host", host.as_str())], "/mcp"),
        ("an empty token", vec![("Host", &host), ("Authorization", "")], "/mcp"),
        (
            "another token",
            vec![("Host", &host), ("Authorization", &wrong_token)],
            "/mcp",
        ),
        (
            "a part of the token",
            vec![("Host", &host), ("Authorization", &prefix)],
            "/mcp",
        ),
        (
            "more than the token",
            vec![("Host", &host), ("Authorization", &longer)],
            "/mcp",
        ),
        (
            "another scheme",
            vec![("Host", &host), ("Authorization", &basic)],
            "/mcp",
        ),
        (
            "the token alone",
            vec![("Host", &host), ("Authorization", &token)],
            "/mcp",
        ),
        (
            "the token twice",
            vec![("Host", &host), ("Authorization", &bearer), ("Authorization", &bearer)],
            "/mcp",
        ),
        (
            "the token and another",
            vec![
                ("Host", &host),
                ("Authorization", &bearer),
                ("Authorization", &wrong_token),
            ],
            "/mcp",
        ),
        (
            "the token as a cookie",
            vec![("Host", &host), ("Cookie", &token)],
            "/mcp",
        ),
        ("the token in the address", vec![("Host", &host)], &query),
        ("no token elsewhere", vec![("Host", &host)], "/"),
    ] {
        assert_eq!(ask("POST", path, &headers), 401, "{name}");
        assert_eq!(ask("GET", path, &headers), 401, "{name}");
        assert_eq!(ask("DELETE", path, &headers), 401, "{name}");
    }
    let other_port = format!("127.0.0.1:{}", port ^ 1);
    for foreign in [
        "evil.example",
        "evil.example:80",
        "127.0.0.1",
        "localhost",
        "127.0.0.1.evil.example",
        "0.0.0.0",
        other_port.as_str(),
    ] {
        let headers = [("Host", foreign), ("Authorization", bearer.as_str())];
        assert_eq!(ask("POST", "/mcp", &headers), 403, "Host: {foreign}");
    }
    for (host, origin, status) in [
        (&host, format!("http://127.0.0.1:{port}"), 200),
        (&localhost, format!("http://localhost:{port}"), 200),
        (&host, "http://evil.example".into(), 403),
        (&host, "null".into(), 403),
        (&host, format!("https://127.0.0.1:{port}"), 403),
        (&host, "http://127.0.0.1".into(), 403),
        (&host, format!("http://127.0.0.1:{port}.evil.example"), 403),
        (&host, "file://".into(), 403),
        (&host, "x".repeat(1000), 403),
    ] {
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", bearer.as_str()),
            ("Origin", origin.as_str()),
        ];
        assert_eq!(ask("POST", "/mcp", &headers), status, "Origin: {origin}");
    }
    for path in ["/", "/mcp/", "/mcp/x", "/../mcp", "/%6dcp", "/etc/passwd", "//mcp"] {
        assert_eq!(ask("POST", path, &right), 404, "{path}");
    }
    for method in ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
        assert!(matches!(ask(method, "/mcp", &right), 400 | 404 | 405), "{method}");
    }
    web.is_well("all of that");
}

fn requests(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let (port, token) = (web.port, web.token.clone());
    let start = format!("POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n");
    let json = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\n";
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let session = web.session();
    let with = |more: &str, body: &str| format!("{start}{json}{more}Content-Length: {}\r\n\r\n{body}", body.len());
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("zeros", vec![0; 1000]),
        ("a line", b"hello\r\n\r\n".to_vec()),
        ("another protocol", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec()),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec()),
        ("no Host", format!("POST /mcp HTTP/1.1\r\nAuthorization: Bearer {token}\r\n{json}Content-Length: 0\r\n\r\n").into_bytes()),
        ("two Hosts", format!("{start}Host: evil.example\r\n{json}Content-Length: 0\r\n\r\n").into_bytes()),
        ("HTTP/1.0", format!("POST /mcp HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n").into_bytes()),
        ("a whole address", format!("POST http://evil.example/mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n{json}Content-Length: 0\r\n\r\n").into_bytes()),
        ("a head without end", [start.as_bytes(), &vec![b'a'; 1 << 20]].concat()),
        ("a header without end", format!("{start}X: {}\r\n\r\n", "a".repeat(1 << 20)).into_bytes()),
        ("a thousand headers", format!("{start}{}\r\n", "X: y\r\n".repeat(1000)).into_bytes()),
        ("a header with a zero", format!("{start}X: a\0b\r\n\r\n").into_bytes()),
        ("a header with bytes", [start.as_bytes(), b"X: \xff\xfe\r\n\r\n"].concat()),
        ("a length that is no number", format!("{start}{json}Content-Length: x\r\n\r\n").into_bytes()),
        ("a negative length", format!("{start}{json}Content-Length: -1\r\n\r\n").into_bytes()),
        ("two lengths", format!("{start}{json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}").into_bytes()),
        ("a length and pieces", format!("{start}{json}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{{}}").into_bytes()),
        ("pieces without sense", format!("{start}{json}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n").into_bytes()),
        ("a piece larger than memory", format!("{start}{json}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx").into_bytes()),
        ("an encoding", format!("{start}{json}Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x01").into_bytes()),
        ("an upgrade", format!("{start}{json}Upgrade: websocket\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n").into_bytes()),
        ("no body", with("", "").into_bytes()),
        ("no JSON", with("", "hello").into_bytes()),
        ("bytes", [with("", "").replace("Content-Length: 0", "Content-Length: 4").as_bytes(), b"\xff\xff\xff\xff"].concat()),
        ("null", with("", "null").into_bytes()),
        ("deep lists", with("", &deep).into_bytes()),
        ("a batch", with("", "[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]").into_bytes()),
        ("another type", format!("{start}Content-Type: text/plain\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}").into_bytes()),
        ("no Accept", format!("{start}Content-Type: application/json\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{{}}").into_bytes()),
        ("no session", with("", &ping()).into_bytes()),
        ("a session that is not there", with("Mcp-Session-Id: 00000000-0000-0000-0000-000000000000\r\n", &ping()).into_bytes()),
        ("a session named like a path", with("Mcp-Session-Id: ../../etc/passwd\r\n", &ping()).into_bytes()),
        ("a session that is long", with(&format!("Mcp-Session-Id: {}\r\n", "s".repeat(10_000)), &ping()).into_bytes()),
        ("a version that is not there", with("MCP-Protocol-Version: 1999-01-01\r\n", &ping()).into_bytes()),
        ("a version that is bytes", [start.as_bytes(), json.as_bytes(), b"MCP-Protocol-Version: \xff\r\nContent-Length: 2\r\n\r\n{}"].concat()),
        ("headers that contradict the body", with("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n", &ping()).into_bytes()),
        ("an unknown tool in a session", with(&session, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "rm" } }).to_string()).into_bytes()),
        ("an event of another", format!("GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n{session}Last-Event-ID: 99/99\r\nConnection: close\r\n\r\n").into_bytes()),
    ];
    assert!(cases.len() >= 35);
    for (name, bytes) in cases {
        let mut stream = web.connect();
        // The server may have had enough before the end.
        let _ = stream.write_all(&bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        assert!(
            Web::closes(&mut stream, Duration::from_secs(20)),
            "after {name}: the connection stays"
        );
        web.is_well(name);
    }
}

fn dawdlers(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let mut silent: Vec<TcpStream> = (0..40).map(|_| web.connect()).collect();
    let mut halves: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = web.connect();
            stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: ").expect("send");
            stream
        })
        .collect();
    // With the token, and half of a body.
    let mut bodies: Vec<TcpStream> = (0..8)
        .map(|_| {
            let mut stream = web.connect();
            stream.write_all(web.head(100, "").as_bytes()).expect("send");
            stream.write_all(b"{").expect("send");
            stream
        })
        .collect();
    web.is_well("connections that dawdle");
    for stream in silent.iter_mut().chain(&mut halves) {
        assert!(
            Web::closes(stream, Duration::from_secs(15)),
            "a silent connection stays"
        );
    }
    web.is_well("those are gone");
    for stream in &mut bodies {
        assert!(
            Web::closes(stream, Duration::from_secs(40)),
            "half of a body is waited for"
        );
    }
    web.is_well("all are gone");
}

fn long_bodies(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let reply = web.raw(web.head(100 << 20, "").as_bytes());
    assert!(matches!(reply.status, 0 | 408 | 413), "{reply:?}");
    // In pieces, without saying how many.
    let head = web
        .head(0, "")
        .replace("Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n");
    let mut stream = web.connect();
    stream.write_all(head.as_bytes()).expect("send");
    let piece = format!("100000\r\n{}\r\n", "x".repeat(1 << 20));
    let sent = (0..100)
        .take_while(|_| stream.write_all(piece.as_bytes()).is_ok())
        .count();
    assert!(sent < 100, "all of it was taken");
    web.is_well("100 MB");
    let peak = peak_memory(web.pid());
    assert!(peak < 160 << 10, "{peak} KiB");
}

fn sessions(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    let session = web.session();
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": { "name": "glee_agents_list", "arguments": {} } });
    let reply = web.post(&session, &call.to_string());
    let last = reply.messages().pop().expect("a message");
    assert_eq!(last["result"]["structuredContent"]["agents"], json!([]), "{reply:?}");
    let end = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n{session}Connection: close\r\n\r\n",
        web.port, web.token
    );
    assert!(matches!(web.raw(end.as_bytes()).status, 200 | 202 | 204));
    assert_eq!(web.post(&session, &call.to_string()).status, 404, "the session is over");
}

fn many_sessions(caller: Caller) {
    let at = Place::of(caller);
    let web = Web::start(&at);
    for _ in 0..256 {
        web.session();
    }
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
    assert_eq!(web.post("", &body).status, 503);
    // Nor do headers of the newer protocol open one, or the name of a session that is none.
    let newer = body.replace("2025-11-25", "2026-07-28");
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: initialize\r\n";
    assert_eq!(web.post(headers, &newer).status, 503);
    assert_eq!(web.post("Mcp-Session-Id: \u{e4}\r\n", &body).status, 503);
    web.is_well("as many sessions as there may be");
}

/// A session's call goes on without its connection: whoever comes back finds the answer.
fn left_behind(caller: Caller) {
    const MOST: usize = 384;
    let at = Place::of(caller);
    let web = Web::start(&at);
    let task = json!({ "description": "d", "prompt": "stub: sleep 120000", "agent_cli": "stub", "background": true });
    let task = web.call("glee_task", task)["structuredContent"]["task_id"].clone();
    let session = web.session();
    let wait = |id: usize| {
        let wait = json!({ "name": "glee_task_result", "arguments": { "task_id": task, "wait_ms": 120_000 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": wait }).to_string()
    };
    for id in 0..MOST + 200 {
        let body = wait(id);
        let mut stream = web.connect();
        let request = format!("{}{body}", web.head(body.len(), &session));
        stream.write_all(request.as_bytes()).expect("send");
        let answered = stream.read(&mut [0; 64]);
        assert!(answered.is_ok_and(|count| count > 0), "call {id} was not taken");
    }
    let reply = web.post(&session, &wait(100_000));
    assert_eq!(
        reply.messages().pop().expect("a message")["error"]["code"],
        -32000,
        "{reply:?}"
    );
    web.is_well("calls that were left behind");
    let peak = peak_memory(web.pid());
    assert!(peak < 160 << 10, "{peak} KiB");
    // What does not wait is done all the same.
    let ended = web.call("glee_task_cancel", json!({ "task_id": task }));
    assert_eq!(ended["structuredContent"]["cancel_asked"], true, "{ended}");
}

fn elsewhere(caller: Caller) {
    let at = Place::of(caller);
    for address in ["0.0.0.0:0", "192.0.2.1:0", "[::]:0"] {
        let output = at.command(&["mcp", "--http", address]).output().expect("start");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("not a loopback address"),
            "{address}: {said}"
        );
    }
}
