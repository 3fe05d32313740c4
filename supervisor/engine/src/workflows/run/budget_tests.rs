use super::*;

fn budget() -> Budget {
    Budget {
        max_steps: 3,
        max_parallel: 2,
        max_runtime_mins: 1,
        max_cost: Some(Money(100)),
    }
}

fn ledger(used: u64) -> Ledger {
    Ledger::new(budget(), Some(Money(100)), Duration::from_secs(used), Millis(1000))
}

#[test]
fn a_slot_is_waited_for_and_a_step_is_not_given_back() {
    let mut ledger = ledger(0);
    ledger.began(Kind::Agent);
    ledger.began(Kind::Agent);
    assert_eq!((ledger.may_run(), ledger.may_open()), (May::Wait, May::Begin));
    ledger.ended();
    assert_eq!(ledger.may_run(), May::Begin);
    ledger.began(Kind::Workflow);
    assert_eq!((ledger.may_run(), ledger.may_open()), (May::NoSteps, May::NoSteps));
    ledger.ended();
    assert_eq!(ledger.may_run(), May::NoSteps);
}

#[test]
fn the_deadline_comes_nearer_by_what_was_used_before() {
    assert_eq!(ledger(0).deadline(), Millis(61_000));
    assert_eq!(ledger(59).deadline(), Millis(2000));
    assert_eq!(ledger(600).deadline(), Millis(1000));
    assert_eq!(ledger(59).elapsed(Millis(1500)), Duration::from_millis(59_500));
}

#[test]
fn beyond_the_cost_nothing_begins_until_somebody_says_so() {
    let mut ledger = ledger(0);
    ledger.spent(Some(Money(100)));
    ledger.spent(None);
    assert_eq!((ledger.may_run(), ledger.unpriced()), (May::Begin, 1));
    ledger.spent(Some(Money(1)));
    assert_eq!((ledger.may_run(), ledger.may_open()), (May::Cost, May::Cost));
    assert_eq!(ledger.allow(), Some(Money(201)));
    assert_eq!(ledger.may_run(), May::Begin);
    let view = ledger.view();
    assert_eq!((view.steps_remaining, view.parallel_slots), (3, 2));
    assert_eq!(
        view.cost_remaining_usd.map(|left| (left * 1e6).round() as u64),
        Some(100)
    );
    assert_eq!(view.runtime_deadline, "1970-01-01T00:01:01");
}
