use super::*;
use crate::record::{MOST_ROWS, Via};
use crate::refusal::{Kind, Refusal};

#[test]
fn a_report_of_long_rows_is_cut_at_its_limit_and_says_so() {
    let ledger = Ledger::new();
    let long = "\"".repeat(1000);
    let refusal = Refusal {
        rule: Some(long.clone()),
        hint: Some(long.clone()),
        ..Refusal::new(Kind::Forbidden, long)
    };
    for number in 0..MOST_ROWS {
        ledger.refuse(Via::Socks, &format!("n{number}.example"), 1, &refusal);
    }
    let json = Report::new(&ledger, None).to_json();
    let report: Report = serde_json::from_slice(&json).unwrap();
    assert!(
        json.len() <= MOST_JSON && json.len() > MOST_JSON - 4096,
        "{}",
        json.len()
    );
    assert_eq!(
        report.attempts.len() + usize::try_from(report.dropped).unwrap(),
        MOST_ROWS
    );
}
