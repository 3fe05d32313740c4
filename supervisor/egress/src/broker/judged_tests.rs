//! Bodies that would make the vendor act, sent to a real broker: they never reach its server.

use serde_json::json;

use super::stage_tests::{Props, json, play, post, rest};
use super::{Api, Limits};
use tokio::io::AsyncWriteExt;

const CODEX: &str = "/v1/responses";
const CLAUDE: &str = "/v1/messages";
const GEMINI: &str = "/v1beta/models/m:generateContent";

#[test]
fn a_body_that_makes_the_vendor_act_never_reaches_it() {
    let url = "https://evil.test/?secret";
    let cases = [
        (
            Api::Codex,
            CODEX,
            json!({"tools": [{"type": "mcp", "server_url": url}]}),
        ),
        (Api::Codex, CODEX, json!({"tools": [{"type": "web_search"}]})),
        (
            Api::Codex,
            "/v1/responses/compact",
            json!({"tools": [{"type": "code_interpreter"}]}),
        ),
        (
            Api::Codex,
            CODEX,
            json!({"input": [{"type": "message", "content": [{"type": "input_image", "image_url": url}]}]}),
        ),
        (
            Api::Claude,
            CLAUDE,
            json!({"mcp_servers": [{"type": "url", "url": url}]}),
        ),
        (
            Api::Claude,
            CLAUDE,
            json!({"tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
        ),
        (
            Api::Claude,
            "/v1/messages/count_tokens",
            json!({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": url}}]}]}),
        ),
        (Api::Gemini, GEMINI, json!({"tools": [{"urlContext": {}}]})),
        (
            Api::Gemini,
            "/v1beta/models/m:countTokens",
            json!({"contents": [{"parts": [{"fileData": {"fileUri": url}}]}]}),
        ),
        (
            Api::Gemini,
            "/v1beta/models/m:embedContent",
            json!({"content": {"parts": [{"file_data": {"file_uri": url}}]}}),
        ),
    ];
    for (api, path, body) in cases {
        play(Props::new(api, json("{}")), async |stage| {
            let answer = stage.post(path, &body.to_string()).await;
            assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{body}: {answer}");
            assert!(
                answer.contains("x-glee-broker: refused") && answer.contains("no network by way of the model"),
                "{answer}"
            );
            assert_eq!(stage.seen(), [], "{body}");
            let report = stage.broker.report();
            assert_eq!((report.refused, report.failed, report.bytes_up), (1, 0, 0));
            let reasons: Vec<_> = report.reasons.keys().collect();
            assert!(
                reasons.len() == 1 && reasons.iter().all(|reason| reason.contains("no network")),
                "{reasons:?}"
            );
        });
    }
}

#[test]
fn the_refusal_has_the_vendors_words_for_it() {
    let cases = [
        (Api::Codex, CODEX, "\"code\":\"glee_broker_refused\""),
        (Api::Claude, CLAUDE, "\"type\":\"permission_error\""),
        (Api::Gemini, GEMINI, "\"status\":\"PERMISSION_DENIED\""),
    ];
    for (api, path, words) in cases {
        play(Props::new(api, json("{}")), async |stage| {
            let answer = stage.post(path, "{\"unheard_of\": 1}").await;
            assert!(answer.contains(words) && answer.contains("`unheard_of`"), "{answer}");
        });
    }
}

#[test]
fn a_body_that_could_be_read_differently_never_reaches_the_vendor() {
    let plain = "content-type: application/json\r\n";
    let cases = [
        ("content-type: application/json\r\ncontent-encoding: gzip\r\n", "{}"),
        ("content-type: multipart/form-data; boundary=x\r\n", "{}"),
        ("content-type: application/x-www-form-urlencoded\r\n", "{}"),
        ("content-type: application/x-protobuf\r\n", "{}"),
        ("content-type: application/json; charset=utf-16\r\n", "{}"),
        ("", "{}"),
        (plain, ""),
        (plain, "\u{feff}{}"),
        (plain, "{}{\"tools\":[{\"type\":\"mcp\"}]}"),
        (plain, "{\"tools\":[],\"tools\":[{\"type\":\"mcp\"}]}"),
    ];
    for (headers, body) in cases {
        play(Props::new(Api::Codex, json("{}")), async |stage| {
            let length = body.len();
            let request = format!(
                "POST {CODEX} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n{body}"
            );
            let answer = stage.ask(&request).await;
            assert!(answer.starts_with("HTTP/1.1 403 "), "{headers}{body}: {answer}");
            assert_eq!(stage.seen(), []);
        });
    }
}

#[test]
fn a_request_without_a_prompt_has_no_body() {
    play(Props::new(Api::Codex, json("{}")), async |stage| {
        let get = |body: &str| {
            let length = body.len();
            format!("GET /v1/models HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        };
        assert!(stage.ask(&get("{}")).await.starts_with("HTTP/1.1 403 "));
        assert_eq!(stage.seen(), []);
        assert!(stage.ask(&get("")).await.starts_with("HTTP/1.1 200 "));
        assert_eq!(stage.only_seen().header("content-length"), [] as [&str; 0]);
    });
}

#[test]
fn a_judged_body_goes_on_byte_for_byte_whatever_its_framing() {
    let body = "{ \"model\" :\t\"m\\u0061\",\n\"input\":\"x\" }";
    play(Props::new(Api::Codex, json("{}")), async |stage| {
        let (first, second) = body.split_at(10);
        let request = format!(
            "POST {CODEX} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\n\
             transfer-encoding: chunked\r\n\r\n{:x}\r\n{first}\r\n{:x}\r\n{second}\r\n0\r\nx-trailer: 1\r\n\r\n",
            first.len(),
            second.len()
        );
        assert!(stage.ask(&request).await.starts_with("HTTP/1.1 200 "));
        let seen = stage.only_seen();
        assert_eq!(String::from_utf8_lossy(&seen.body), body);
        assert!(!seen.head.contains("x-trailer"), "{}", seen.head);
    });
}

#[test]
fn a_body_that_does_not_end_is_not_waited_for_and_its_room_comes_back() {
    let limits = Limits {
        body: 1000,
        bodies: 1000,
        idle: std::time::Duration::from_millis(300),
        ..Limits::STANDARD
    };
    let props = Props {
        limits,
        ..Props::new(Api::Codex, json("{}"))
    };
    play(props, async |stage| {
        let mut slow = stage.open().await;
        let request = post(CODEX, &" ".repeat(900));
        let (begun, _) = request.split_at(request.len() - 10);
        slow.write_all(begun.as_bytes()).await.expect("sent");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        let other = post(CODEX, &format!("{{{}}}", " ".repeat(200)));
        assert!(stage.ask(&other).await.starts_with("HTTP/1.1 429 "));
        assert!(rest(&mut slow).await.starts_with("HTTP/1.1 408 "));
        assert!(stage.ask(&other).await.starts_with("HTTP/1.1 200 "));
        assert_eq!(stage.seen().len(), 1);
    });
}
