use super::*;

const AT: Duration = Duration::new(1_000, 500_000_000);

fn since(stamp: Duration, boot: Option<Duration>) -> Since {
    Since { stamp, boot }
}

#[test]
fn a_stamp_before_the_beginning_is_old_and_the_same_tick_is_not() {
    let since = since(AT, None);
    let cases = [Duration::from_nanos(1), Duration::ZERO].map(|back| since.covers(AT.saturating_sub(back)));
    assert_eq!(cases, [false, true]);
}

#[test]
fn whole_seconds_count_from_the_second_of_the_beginning() {
    let since = since(AT, None);
    assert_eq!(
        [999, 1_000].map(|s| since.covers(Duration::from_secs(s))),
        [false, true]
    );
}

#[test]
fn without_a_clock_everything_counts() {
    assert!(since(AT, None).corrected().covers(Duration::from_nanos(1)));
}

#[test]
fn a_steady_clock_moves_nothing() {
    let now = Since::now();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(now.corrected().stamp, now.stamp);
}

#[test]
fn a_clock_that_was_set_back_an_hour_moves_the_beginning_back_as_far() {
    let hour = Duration::from_secs(3600);
    let second = Duration::from_secs(1);
    let tick = Duration::from_millis(4);
    // The run began when the clock showed an hour more; `passed` later the inodes' clock, which moves in ticks, shows `shown` more.
    let boot = Duration::from_secs(50);
    let began = since(AT + hour, Some(boot));
    for (passed, shown) in [
        (Duration::ZERO, Duration::ZERO),
        (Duration::ZERO, tick),
        (tick, Duration::ZERO),
        (second, second),
    ] {
        let corrected = began.corrected_at(since(AT + shown, Some(boot + passed)));
        assert!(corrected.covers(AT), "{corrected:?} after {passed:?}, {shown:?}");
        assert!(
            !corrected.covers(AT.saturating_sub(second)),
            "{corrected:?} after {passed:?}, {shown:?}"
        );
    }
}

#[test]
fn the_clocks_of_this_machine_are_the_ones_compared() {
    let hour = Duration::from_secs(3600);
    let now = Since::now();
    let corrected = since(now.stamp + hour, now.boot).corrected();
    assert!(corrected.covers(now.stamp), "{corrected:?}");
    assert!(!corrected.covers(now.stamp.saturating_sub(hour)), "{corrected:?}");
}
