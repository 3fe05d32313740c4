use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use super::stage_tests::{KEY, PLACEHOLDER, Props, Step, json, piece, play, post, rest, send};
use super::{Api, BrokerReport, Limits};

/// One that every API takes.
const PROMPT: &str = "{\"model\":\"m\"}";
const SSE: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";

fn chunk(text: &str) -> Step {
    send(&format!("{:x}\r\n{text}\r\n", text.len()))
}

fn status(answer: &str) -> &str {
    answer.lines().next().unwrap_or_default()
}

#[test]
fn the_key_takes_the_placeholders_place_in_each_vendors_header() {
    let cases = [
        (
            Api::Codex,
            "/v1/responses",
            "/v1/responses",
            "authorization",
            format!("Bearer {KEY}"),
        ),
        (
            Api::Claude,
            "/v1/messages?beta=true",
            "/v1/messages?beta=true",
            "x-api-key",
            KEY.to_owned(),
        ),
        (
            Api::Gemini,
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse&key=abc",
            "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
            "x-goog-api-key",
            KEY.to_owned(),
        ),
    ];
    for (api, asked, sent, header, value) in cases {
        play(Props::new(api, json("{}")), async |stage| {
            let answer = stage.post(asked, PROMPT).await;
            assert_eq!(status(&answer), "HTTP/1.1 200 OK", "{answer}");
            let seen = stage.only_seen();
            assert_eq!(seen.head.lines().next(), Some(format!("POST {sent} HTTP/1.1").as_str()));
            assert_eq!(seen.header(header), [value.as_str()]);
            assert_eq!(seen.head.matches(KEY).count(), 1);
            assert_eq!(
                (seen.header("host"), seen.header("accept-encoding")),
                (vec!["api.test"], vec!["identity"])
            );
            assert_eq!(
                (seen.body.as_slice(), seen.header("content-length")),
                (PROMPT.as_bytes(), vec!["13"])
            );
            assert!(!seen.head.contains(PLACEHOLDER), "{}", seen.head);
        });
    }
}

#[test]
fn another_key_is_replaced_all_the_same_and_noted() {
    play(Props::new(Api::Codex, json("{}")), async |stage| {
        let request = post("/v1/responses", "{}").replace(PLACEHOLDER, "sk-attackers-own-key");
        stage.ask(&request).await;
        assert_eq!(stage.only_seen().header("authorization"), [format!("Bearer {KEY}")]);
        assert!(!stage.only_seen().head.contains("attackers"));
        let report = stage.broker.report();
        assert_eq!((report.requests, report.foreign_keys), (1, 1));
    });
}

#[test]
fn an_endpoint_without_a_key_gets_none() {
    let props = Props {
        tls: false,
        key: None,
        base: "/ollama/v1",
        ..Props::new(Api::Codex, json("{}"))
    };
    play(props, async |stage| {
        stage.post("/v1/responses", "{}").await;
        let seen = stage.only_seen();
        assert_eq!(seen.head.lines().next(), Some("POST /ollama/v1/responses HTTP/1.1"));
        assert_eq!(seen.header("authorization"), [] as [&str; 0]);
    });
}

#[test]
fn the_key_is_hidden_in_bodies_headers_and_reasons_wherever_the_chunks_are_cut() {
    let (first, second) = KEY.split_at(9);
    let script = vec![
        send(&format!(
            "HTTP/1.1 200 {KEY}\r\ncontent-type: text/event-stream\r\nx-echo: Bearer {KEY}\r\nx-{KEY}: 1\r\n\
             transfer-encoding: chunked\r\n\r\n"
        )),
        chunk(&format!("data: {first}")),
        Step::Wait(Duration::from_millis(30)),
        chunk(&format!("{second} and {KEY}\n\n")),
        send(&format!("0\r\nx-trailer: {KEY}\r\n\r\n")),
    ];
    play(Props::new(Api::Codex, script), async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        let stars = "*".repeat(KEY.len());
        assert_eq!(status(&answer), "HTTP/1.1 200 OK");
        assert!(!answer.contains(KEY), "{answer}");
        assert!(!answer.contains("x-trailer"), "{answer}");
        assert!(answer.contains(&format!("x-echo: Bearer {stars}\r\n")), "{answer}");
        assert!(answer.contains(&format!(" and {stars}\n\n")), "{answer}");
        assert!(answer.ends_with("0\r\n\r\n"), "{answer}");
        assert_eq!(stage.broker.report().hidden, 4);
    });
}

#[test]
fn each_event_arrives_while_the_next_is_not_yet_sent() {
    let second = Duration::from_secs(1);
    let script = vec![
        send(SSE),
        chunk("data: one\n\n"),
        Step::Wait(second),
        chunk("data: two\n\n"),
        Step::Wait(second),
        chunk("data: three\n\n"),
        send("0\r\n\r\n"),
    ];
    play(Props::new(Api::Claude, script), async |stage| {
        let mut stream = stage.open().await;
        stream
            .write_all(post("/v1/messages", "{}").as_bytes())
            .await
            .expect("sent");
        let started = Instant::now();
        let mut text = String::new();
        for (event, at) in [("one", 0), ("two", 1), ("three", 2)] {
            while !text.contains(&format!("data: {event}\n\n")) {
                text.push_str(&piece(&mut stream).await);
            }
            let late = started.elapsed().saturating_sub(second * at);
            assert!(late < Duration::from_millis(500), "{event} came {late:?} late");
        }
    });
}

#[test]
fn what_is_not_listed_never_reaches_the_endpoint() {
    let cases = [
        (Api::Codex, "GET /v1/files", "403"),
        (Api::Codex, "POST /v1/responses/../files", "403"),
        (Api::Codex, "DELETE /v1/responses", "403"),
        (Api::Claude, "POST /v1/messages/batches", "403"),
        (Api::Gemini, "POST /v1beta/models/x:predict", "403"),
        (Api::Codex, "POST http://evil.test/v1/responses", "403"),
        (Api::Codex, "CONNECT evil.test:443", "403"),
    ];
    for (api, line, code) in cases {
        play(Props::new(api, json("{}")), async |stage| {
            let request = format!("{line} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
            let answer = stage.ask(&request).await;
            assert!(status(&answer).contains(code), "{line}: {answer}");
            assert!(
                answer.contains("x-glee-broker: refused") && answer.contains("model broker"),
                "{answer}"
            );
            assert_eq!(stage.seen(), []);
            let report = stage.broker.report();
            assert_eq!((report.requests, report.refused, report.failed), (1, 1, 0));
        });
    }
}

#[test]
fn a_websocket_is_refused_with_the_status_that_makes_codex_fall_back() {
    play(Props::new(Api::Codex, json("{}")), async |stage| {
        let upgrade = "GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                       sec-websocket-version: 13\r\nsec-websocket-key: x\r\n\r\n";
        let mut stream = stage.open().await;
        stream.write_all(upgrade.as_bytes()).await.expect("sent");
        assert!(piece(&mut stream).await.starts_with("HTTP/1.1 426 "));
        // The same connection serves the fallback.
        stream
            .write_all(post("/v1/responses", "{}").as_bytes())
            .await
            .expect("sent");
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
        assert_eq!(stage.seen().len(), 1);
    });
}

#[test]
fn a_question_whether_anyone_is_there_is_answered_without_the_endpoint() {
    play(Props::new(Api::Claude, json("{}")), async |stage| {
        let answer = stage
            .ask("HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            .await;
        assert_eq!(status(&answer), "HTTP/1.1 200 OK");
        assert_eq!(stage.seen(), []);
    });
}

#[test]
fn a_redirect_is_passed_without_its_destination() {
    let script = vec![send(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: http://169.254.169.254/\r\nset-cookie: a=b\r\nx-kept: 1\r\n\
         content-length: 0\r\n\r\n",
    )];
    play(Props::new(Api::Codex, script), async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        assert_eq!(status(&answer), "HTTP/1.1 307 Temporary Redirect");
        assert!(!answer.contains("169.254") && !answer.contains("cookie"), "{answer}");
        assert!(answer.contains("x-kept: 1"), "{answer}");
        assert_eq!(stage.seen().len(), 1);
    });
}

#[test]
fn a_certificate_for_another_name_or_of_nobody_known_is_refused() {
    for (certified, trusted) in [("other.test", true), ("api.test", false)] {
        let props = Props {
            certified,
            trusted,
            ..Props::new(Api::Claude, json("{}"))
        };
        play(props, async |stage| {
            let answer = stage.post("/v1/messages", "{}").await;
            assert_eq!(status(&answer), "HTTP/1.1 502 Bad Gateway", "{answer}");
            assert!(
                answer.contains("\"type\":\"api_error\"") && answer.contains("cannot trust"),
                "{answer}"
            );
            assert!(answer.contains("certificate"), "{answer}");
            assert_eq!(stage.seen(), []);
            assert_eq!(stage.broker.report().failed, 1);
        });
    }
}

#[test]
fn a_large_body_goes_as_it_came_and_one_too_large_is_refused() {
    let limits = Limits {
        body: 3 << 20,
        ..Limits::STANDARD
    };
    let props = || Props {
        limits,
        ..Props::new(Api::Codex, json("{}"))
    };
    let large = format!("{{\"input\":\"{}\"}}", "x".repeat((3 << 20) - 12));
    play(props(), async |stage| {
        assert_eq!(status(&stage.post("/v1/responses", &large).await), "HTTP/1.1 200 OK");
        assert_eq!(stage.only_seen().body, large.as_bytes());
        assert_eq!(stage.broker.report().bytes_up, 3 << 20);
    });
    play(props(), async |stage| {
        let answer = stage.post("/v1/responses", &format!("{large} ")).await;
        assert_eq!(status(&answer), "HTTP/1.1 413 Payload Too Large");
        assert_eq!(stage.seen(), []);
    });
    // The length is not said beforehand: the endpoint is not even asked.
    play(props(), async |stage| {
        let mut request = "POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n\
                           transfer-encoding: chunked\r\n\r\n"
            .to_owned();
        for _ in 0..4 {
            request.push_str(&format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20)));
        }
        let mut stream = stage.open().await;
        let _ = stream.write_all(request.as_bytes()).await;
        // The connection is closed with bytes unread, which can overtake the answer.
        let answer = rest(&mut stream).await;
        assert!(
            answer.is_empty() || status(&answer) == "HTTP/1.1 413 Payload Too Large",
            "{answer}"
        );
        assert_eq!((stage.seen(), stage.broker.report().refused), (vec![], 1));
    });
}

#[test]
fn a_stream_cut_in_the_middle_is_cut_for_the_client_and_counts_as_failed() {
    let script = vec![
        send(SSE),
        chunk(
            "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5,\"output_tokens\":1}}}\n\n",
        ),
        Step::Cut,
    ];
    play(Props::new(Api::Claude, script), async |stage| {
        let answer = stage.post("/v1/messages", "{}").await;
        assert!(answer.contains("message_start"), "{answer}");
        assert!(!answer.ends_with("0\r\n\r\n"), "{answer}");
        let report = stage.broker.report();
        assert_eq!((report.failed, report.input_tokens, report.output_tokens), (1, 5, 1));
        let reasons: Vec<_> = report.reasons.keys().collect();
        assert!(
            reasons
                .iter()
                .all(|r| r.starts_with("the answer broke off: ") && r.contains("peer closed")),
            "{reasons:?}"
        );
    });
}

#[test]
fn a_server_that_never_answers_ends_in_a_timeout() {
    let limits = Limits {
        head: Duration::from_millis(200),
        ..Limits::STANDARD
    };
    let props = Props {
        limits,
        ..Props::new(Api::Gemini, vec![Step::Wait(Duration::from_secs(30))])
    };
    play(props, async |stage| {
        let answer = stage.post("/v1beta/models/m:generateContent", "{}").await;
        assert_eq!(status(&answer), "HTTP/1.1 504 Gateway Timeout");
        assert!(answer.contains("\"status\":\"UNAVAILABLE\""), "{answer}");
    });
}

#[test]
fn a_slow_upload_is_not_taken_for_a_slow_answer() {
    let limits = Limits {
        head: Duration::from_millis(400),
        ..Limits::STANDARD
    };
    let props = Props {
        limits,
        ..Props::new(Api::Codex, json("{}"))
    };
    play(props, async |stage| {
        let mut stream = stage.open().await;
        let request = post("/v1/responses", "{    }");
        let (head, body) = request.split_at(request.len() - 6);
        stream.write_all(head.as_bytes()).await.expect("sent");
        for byte in body.bytes() {
            sleep(Duration::from_millis(150)).await;
            stream.write_all(&[byte]).await.expect("sent");
        }
        assert!(rest(&mut stream).await.starts_with("HTTP/1.1 200 OK"));
    });
}

#[test]
fn an_answer_that_falls_silent_is_cut() {
    let limits = Limits {
        idle: Duration::from_millis(200),
        ..Limits::STANDARD
    };
    let script = vec![send(SSE), chunk("data: one\n\n"), Step::Wait(Duration::from_secs(30))];
    let props = Props {
        limits,
        ..Props::new(Api::Codex, script)
    };
    play(props, async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        assert!(
            answer.contains("data: one") && !answer.ends_with("0\r\n\r\n"),
            "{answer}"
        );
        assert_eq!(stage.broker.report().failed, 1);
    });
}

#[test]
fn an_answer_in_which_the_key_could_hide_is_refused() {
    let script = vec![send(
        "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\nxx",
    )];
    play(Props::new(Api::Codex, script), async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        assert_eq!(status(&answer), "HTTP/1.1 502 Bad Gateway");
        assert!(answer.contains("content-encoding `gzip`"), "{answer}");
    });
}

#[test]
fn a_switch_of_protocols_by_the_endpoint_is_not_passed_on() {
    let script = vec![send(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nraw",
    )];
    play(Props::new(Api::Codex, script), async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        assert_eq!(status(&answer), "HTTP/1.1 502 Bad Gateway", "{answer}");
    });
}

#[test]
fn an_endpoint_that_nobody_listens_at_is_said_to_be_so() {
    play(Props::new(Api::Codex, vec![Step::Cut]), async |stage| {
        let answer = stage.post("/v1/responses", "{}").await;
        assert_eq!(status(&answer), "HTTP/1.1 502 Bad Gateway");
        assert!(answer.contains("https://api.test did not answer"), "{answer}");
    });
}

#[test]
fn one_connection_too_many_is_closed_and_a_place_comes_back() {
    let limits = Limits {
        connections: 2,
        ..Limits::STANDARD
    };
    let props = Props {
        limits,
        ..Props::new(Api::Codex, json("{}"))
    };
    play(props, async |stage| {
        let held = [stage.open().await, stage.open().await];
        sleep(Duration::from_millis(50)).await;
        assert_eq!(stage.post("/v1/responses", "{}").await, "");
        drop(held);
        sleep(Duration::from_millis(50)).await;
        assert_eq!(status(&stage.post("/v1/responses", "{}").await), "HTTP/1.1 200 OK");
        assert_eq!(stage.broker.report().refused, 1);
    });
}

#[test]
fn the_report_says_what_was_asked_answered_and_spent() {
    let body = "{\"id\":\"r\",\"usage\":{\"input_tokens\":20,\"input_tokens_details\":{\"cached_tokens\":4},\"output_tokens\":3}}";
    play(Props::new(Api::Codex, json(body)), async |stage| {
        stage.post("/v1/responses", PROMPT).await;
        stage.post("/v1/responses", PROMPT).await;
        stage.post("/v1/files", "{}").await;
        let expected = BrokerReport {
            endpoint: "https://api.test".to_owned(),
            requests: 3,
            refused: 1,
            input_tokens: 40,
            output_tokens: 6,
            cached_tokens: 8,
            bytes_up: 26,
            bytes_down: 2 * u64::try_from(body.len()).expect("small"),
            statuses: [(200, 2)].into(),
            reasons: [("`POST /v1/files` is not a request that this agent needs".to_owned(), 1)].into(),
            ..BrokerReport::default()
        };
        assert_eq!(stage.broker.report(), expected);
    });
}
