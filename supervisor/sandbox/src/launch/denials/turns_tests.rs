use super::*;

#[test]
fn a_caller_alone_takes_turns_after_a_while() {
    let mut turns = Turns::default();
    for _ in 0..A_WHILE {
        assert_eq!(turns.choose(10), Wake::Anywhere);
    }
    for _ in 0..1000 {
        assert_eq!(turns.choose(10), Wake::Here);
    }
}

#[test]
fn callers_that_come_together_are_left_to_the_scheduler() {
    let mut turns = Turns::default();
    for round in 0..1000 {
        assert_eq!(turns.choose(10 + round % 2), Wake::Anywhere, "round {round}");
    }
}

#[test]
fn one_call_of_somebody_else_ends_the_turns() {
    let mut turns = Turns::default();
    for _ in 0..=A_WHILE {
        turns.choose(10);
    }
    assert_eq!(turns.choose(11), Wake::Anywhere);
    assert_eq!(turns.choose(10), Wake::Anywhere);
}
