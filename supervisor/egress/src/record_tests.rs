use proptest::prelude::*;

use super::*;
use crate::refusal::Kind;

fn refusal() -> Refusal {
    Refusal {
        kind: Kind::Forbidden,
        reason: "no rule allows it".to_owned(),
        rule: None,
        hint: Some("network: {allow: [\"a.example\"]}".to_owned()),
    }
}

#[test]
fn equal_attempts_share_a_row_and_their_bytes_add_up() {
    let ledger = Ledger::new();
    for _ in 0..3 {
        let track = ledger.open(Via::Connect, "a.example", 443);
        track.allowed("a.example");
        add(&track.counts.up, 10);
        add(&track.counts.down, 100);
    }
    let expected = Attempt {
        clients: Vec::new(),
        others: 3,
        host: "a.example".to_owned(),
        port: 443,
        verdict: Outcome::Allowed,
        via: Via::Connect,
        bytes_up: 30,
        bytes_down: 300,
        reason: None,
        rule: Some("a.example".to_owned()),
        hint: None,
        count: 3,
    };
    assert_eq!(ledger.rows(), (vec![expected], 0));
}

#[test]
fn a_connection_that_is_stopped_midway_is_both_allowed_and_refused() {
    let ledger = Ledger::new();
    let track = ledger.open(Via::Transparent, "a.example", 80);
    track.allowed("a.example");
    add(&track.counts.up, 10);
    track.refused(&refusal());
    drop(track);
    let (rows, _) = ledger.rows();
    let verdicts: Vec<_> = rows.iter().map(|row| (row.verdict, row.bytes_up)).collect();
    assert_eq!(verdicts, [(Outcome::Allowed, 10), (Outcome::Refused, 0)]);
}

#[test]
fn an_attempt_that_nobody_decided_is_entered_as_failed() {
    let ledger = Ledger::new();
    drop(ledger.open(Via::Socks, "a.example", 22));
    let (rows, _) = ledger.rows();
    assert_eq!(rows[0].verdict, Outcome::Failed);
}

#[test]
fn beyond_a_thousand_rows_attempts_are_only_counted() {
    let ledger = Ledger::new();
    for number in 0..1200 {
        ledger.refuse(Via::Dns, &format!("n{number}.example"), 0, &refusal());
    }
    ledger.refuse(Via::Dns, "n0.example", 0, &refusal());
    let (rows, dropped) = ledger.rows();
    assert_eq!((rows.len(), dropped), (MOST_ROWS, 200));
    assert_eq!(
        rows.iter().find(|row| row.host == "n0.example").map(|row| row.count),
        Some(2)
    );
}

#[test]
fn a_row_reads_as_the_report_says() {
    let ledger = Ledger::new();
    ledger.refuse(Via::Dns, "a.example", 0, &refusal());
    let expected = serde_json::json!([{
        "host": "a.example", "port": 0, "verdict": "refused", "via": "dns", "bytes_up": 0, "bytes_down": 0,
        "reason": "no rule allows it", "rule": null, "hint": "network: {allow: [\"a.example\"]}", "count": 1,
    }]);
    // Whose it was is for the supervisor, which leaves it out.
    let (rows, _) = ledger.rows();
    let rows: Vec<Attempt> = rows.into_iter().map(|row| Attempt { others: 0, ..row }).collect();
    assert_eq!(serde_json::to_value(rows).unwrap(), expected);
}

#[test]
fn hostile_text_is_escaped_and_cut() {
    assert_eq!(visible("a\x1b[2J\u{202e}b\n", 100), "a\\u{1b}[2J\\u{202e}b\\n");
    assert_eq!(visible(&"x".repeat(500), 10), "xxxxxxxxxx...");
}

proptest! {
    #[test]
    fn kept_text_is_visible_ascii_of_bounded_length(text in any::<String>(), limit in 0_usize..50) {
        let kept = visible(&text, limit);
        prop_assert!(kept.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        prop_assert!(kept.len() <= limit + 3);
    }
}

#[test]
fn clients_are_named_up_to_a_bound_and_the_rest_is_counted() {
    let ledger = Ledger::new();
    let refusal = Refusal::new(crate::refusal::Kind::Forbidden, "no");
    let by = |client| CLIENT.sync_scope(client, || ledger.refuse(Via::Dns, "a.example", 0, &refusal));
    for _ in 0..2 {
        by(Client::Udp(7));
        by(Client::Tcp(7));
    }
    let named = |ledger: &Ledger| {
        ledger
            .rows()
            .0
            .first()
            .map(|row| (row.clients.clone(), row.others, row.count))
    };
    assert_eq!(named(&ledger), Some((vec![Client::Udp(7), Client::Tcp(7)], 0, 4)));
    for port in 100..200 {
        by(Client::Tcp(port));
    }
    let (clients, others, count) = named(&ledger).unwrap();
    assert_eq!((clients.len(), others, count), (MOST_CLIENTS, 86, 104));
}
