use super::*;

/// What the server gets for this head, or why it gets nothing.
fn rewritten(head: &str) -> Result<String, String> {
    let head = Head::parse(head.as_bytes()).map_err(|bad| bad.to_string())?;
    let request = Request::read(&head).map_err(|refusal| refusal.reason)?;
    let bound = Bound {
        host: request.authority.host.clone(),
        port: request.authority.port.unwrap_or(HTTP_PORT),
    };
    Ok(String::from_utf8(request.head(&bound)).unwrap())
}

#[test]
fn a_request_is_written_anew_without_what_concerns_only_us() {
    let head = "POST http://A.example:8080/x?y=1 HTTP/1.1\r\nhost: a.example:8080\r\nAccept: */*\r\n\
                Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\nConnection: keep-alive, X-Mine\r\n\
                X-Mine: 1\r\nTE: trailers\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\nKeep-Alive: 5\r\nContent-Length: 3\r\n\r\n";
    let expected = "POST /x?y=1 HTTP/1.1\r\nHost: a.example:8080\r\nAccept: */*\r\nContent-Length: 3\r\n\
                    Connection: close\r\n\r\n";
    assert_eq!(rewritten(head), Ok(expected.to_owned()));
}

#[test]
fn a_target_without_a_path_gets_one() {
    let get = |target: &str, method: &str| rewritten(&format!("{method} {target} HTTP/1.0\r\n\r\n")).unwrap();
    let expected = |line: &str| format!("{line} HTTP/1.0\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    assert_eq!(get("http://a.example", "GET"), expected("GET /"));
    assert_eq!(get("http://a.example?q", "GET"), expected("GET /?q"));
    assert_eq!(get("HTTP://a.example.:80/b", "GET"), expected("GET /b"));
    assert_eq!(get("http://a.example", "OPTIONS"), expected("OPTIONS *"));
}

#[test]
fn a_target_that_the_host_field_contradicts_is_refused() {
    for head in [
        "GET http://a.example/ HTTP/1.1\r\nHost: b.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example:81\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: a.example\r\n\r\n",
        "GET http://b@a.example/ HTTP/1.1\r\n\r\n",
        "GET http:///x HTTP/1.1\r\n\r\n",
        "GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
        "GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ] {
        assert!(rewritten(head).is_err(), "{head}");
    }
}
