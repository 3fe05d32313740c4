//! What the report says of connections: verdicts, bytes, and the line that would allow what was refused.

use serde_json::{Value, json};

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// Runs a script and returns the report's rows, without those of plain name questions.
fn rows(at: &Place, script: &str) -> (Vec<Value>, Value) {
    let report = at.world().path("@OUT/report");
    let run = at.inside(script).flags(["--report", "@OUT/report", "--no-denials"]);
    let seen = Seen::of(&run.go());
    let text = std::fs::read_to_string(report).unwrap_or_else(|e| panic!("no report ({e}): {}", seen.stderr));
    let report: Value = serde_json::from_str(&text).expect("the report is JSON");
    (report["egress"].as_array().cloned().unwrap_or_default(), report)
}

claims! {
    fn allowed_connections_are_counted_with_their_bytes(at) {
        at.lab("allow: ['allowed.test:7777', allowed.test]");
        let (rows, report) = rows(at, "unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
            for i in 1 2 3; do python3 -c 'import socket
s = socket.create_connection((\"allowed.test\", 7777)); s.sendall(b\"x\" * 999 + b\"\\n\")
n = 0
while n < 1000: n += len(s.recv(2000))'; done; curl -s http://allowed.test/big/50000 | wc -c");
        let allowed = |port: u16| rows.iter().find(|row| row["port"] == port && row["verdict"] == "allowed").expect("a row");
        let echo = allowed(7777);
        assert_eq!(
            (&echo["host"], &echo["via"], &echo["bytes_up"], &echo["bytes_down"], &echo["count"], &echo["rule"]),
            (&json!("allowed.test"), &json!("transparent"), &json!(3000), &json!(3000), &json!(3), &json!("allowed.test:7777"))
        );
        let down = allowed(80)["bytes_down"].as_u64().unwrap_or_default();
        assert!((50_000..51_000).contains(&down), "{:#}", allowed(80));
        assert_eq!(report["denials"], json!([]));
    }

    fn refused_attempts_are_denials_with_the_line_that_would_allow_them(at) {
        at.lab("allow: [allowed.test, '*.wild.test'], deny: [bad.wild.test]");
        let (rows, report) = rows(at, "curl -s -o /dev/null http://other.test/ || true
            curl -s -o /dev/null https://allowed.test:8443/ || true; curl -s -o /dev/null http://bad.wild.test/ || true
            curl -s -o /dev/null --proxy socks5h://127.0.0.1:1080 http://203.0.113.20:8080/ || true; true");
        let refused: Vec<_> = rows.iter().filter(|row| row["verdict"] == "refused").collect();
        assert_eq!(refused.len(), 4, "{rows:#?}");
        for (what, hint) in [
            ("other.test:80", "network: {allow: [\"other.test\"]}"),
            ("allowed.test:8443", "network: {allow: [\"allowed.test:8443\"]}"),
            ("bad.wild.test:80", "remove network.deny \"bad.wild.test\""),
            ("203.0.113.20:8080", "network: {allow: [\"203.0.113.20:8080\"]}"),
        ] {
            let denials = report["denials"].as_array().cloned().unwrap_or_default();
            let denial = denials.iter().find(|d| d.to_string().contains(what));
            let denial = denial.unwrap_or_else(|| panic!("no denial of {what}: {:#}", report["denials"]));
            assert_eq!((&denial["kind"], &denial["hint"], &denial["count"]), (&json!("network"), &json!(hint), &json!(1)));
        }
    }

    fn the_line_that_is_hinted_at_allows_it(at) {
        at.lab("allow: [\"other.test\", \"203.0.113.20:8080\"]");
        at.prints("curl -s http://other.test/; curl -s http://203.0.113.20:8080/",
            "hello from 203.0.113.20:80, body 0\nhello from 203.0.113.20:8080, body 0\n");
    }

    fn failed_connections_are_told_from_refused_ones(at) {
        at.lab("allow: ['allowed.test:81', 'nowhere.test']");
        let (rows, report) = rows(at, "curl -s http://allowed.test:81/ || true; curl -s http://nowhere.test/ || true");
        assert!(rows.iter().any(|row| row["port"] == 81 && row["verdict"] == "failed"), "{rows:#?}");
        assert!(rows.iter().any(|row| row["host"] == "nowhere.test" && row["verdict"] == "failed"), "{rows:#?}");
        assert_eq!(report["denials"], json!([]));
    }
}
