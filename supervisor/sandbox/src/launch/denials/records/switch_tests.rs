//! What is put back, and what is left to others.

use super::*;

const WAS: Tuning = Tuning {
    enabled: 0,
    rate_limit: 0,
    backlog_limit: 64,
    backlog_wait: 15_000,
};

fn now(tuning: Tuning, daemon: u32) -> Status {
    Status {
        tuning,
        on_loss: OnLoss::Say,
        daemon,
        lost: 3,
    }
}

#[test]
fn what_we_set_is_put_back() {
    assert_eq!(next(&now(OURS, 0), &WAS), Some(WAS));
    assert_eq!(next(&now(OPEN, 0), &WAS), Some(WAS));
    assert_eq!(next(&now(WAS, 0), &WAS), None);
}

#[test]
fn what_somebody_else_has_set_meanwhile_stays() {
    let theirs = Tuning {
        backlog_limit: 4096,
        ..OURS
    };
    let expected = Tuning {
        backlog_limit: 4096,
        ..WAS
    };
    assert_eq!(next(&now(theirs, 0), &WAS), Some(expected));
}

#[test]
fn a_daemon_that_came_keeps_everything_and_so_does_a_lock() {
    assert_eq!(next(&now(OURS, 77), &WAS), None);
    assert_eq!(next(&now(Tuning { enabled: 2, ..OURS }, 0), &WAS), None);
}
