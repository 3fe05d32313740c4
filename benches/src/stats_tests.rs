use super::*;

fn millis(values: &[u64]) -> Samples {
    let durations: Vec<Duration> = values.iter().map(|v| Duration::from_millis(*v)).collect();
    Samples::of(&durations).unwrap()
}

#[test]
fn no_durations_make_no_samples() {
    assert_eq!(Samples::of(&[]), None);
}

#[test]
fn the_median_of_an_odd_count_is_the_middle_value_whatever_the_order() {
    assert_eq!(millis(&[9, 1, 5]).median(), 5.0);
}

#[test]
fn the_median_of_an_even_count_lies_halfway_between_the_two_middle_values() {
    assert_eq!(millis(&[1, 2, 4, 100]).median(), 3.0);
}

#[test]
fn one_value_is_every_quantile() {
    let one = millis(&[7]);
    assert_eq!((one.p10(), one.median(), one.p90()), (7.0, 7.0, 7.0));
}

#[test]
fn quantiles_interpolate_between_neighbours() {
    let eleven = millis(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!((eleven.p10(), eleven.p90()), (1.0, 9.0));
    assert_eq!(quantile(&[0.0, 10.0], 0.25), 2.5);
}

#[test]
fn a_fraction_outside_zero_to_one_is_clamped() {
    assert_eq!(quantile(&[1.0, 2.0], -1.0), 1.0);
    assert_eq!(quantile(&[1.0, 2.0], 2.0), 2.0);
}

#[test]
fn the_quantile_of_nothing_is_not_a_number() {
    assert!(quantile(&[], 0.5).is_nan());
}

#[test]
fn the_ratio_of_constant_samples_has_an_interval_without_width() {
    let ratio = ratio_of_medians(&millis(&[6; 50]), &millis(&[4; 50]));
    assert_eq!(
        ratio,
        Ratio {
            value: 1.5,
            low: 1.5,
            high: 1.5
        }
    );
}

#[test]
fn the_interval_of_a_ratio_holds_the_ratio_and_narrows_with_more_samples() {
    let few: Vec<u64> = (90..110).collect();
    let many: Vec<u64> = (0..100).flat_map(|_| 90..110).collect();
    let of_few = ratio_of_medians(&millis(&few), &millis(&few));
    let of_many = ratio_of_medians(&millis(&many), &millis(&many));
    for ratio in [of_few, of_many] {
        assert!(ratio.low <= ratio.value && ratio.value <= ratio.high, "{ratio:?}");
    }
    assert!(of_many.high - of_many.low < of_few.high - of_few.low);
}

#[test]
fn the_same_samples_give_the_same_interval_again() {
    let (of, to) = (millis(&[3, 4, 5, 9]), millis(&[2, 2, 3, 4]));
    assert_eq!(ratio_of_medians(&of, &to), ratio_of_medians(&of, &to));
}

#[test]
fn a_shuffle_keeps_every_item() {
    let mut items: Vec<usize> = (0..50).collect();
    Rng::seeded(0).shuffle(&mut items);
    assert_ne!(items, (0..50).collect::<Vec<_>>());
    items.sort_unstable();
    assert_eq!(items, (0..50).collect::<Vec<_>>());
}

#[test]
fn numbers_below_a_bound_stay_below_it_and_reach_all_of_it() {
    let mut rng = Rng::seeded(42);
    let mut seen = [0_u32; 5];
    for _ in 0..5000 {
        seen[rng.below(5)] += 1;
    }
    assert!(seen.iter().all(|count| (800..1200).contains(count)), "{seen:?}");
    assert_eq!(rng.below(0), 0);
}

#[test]
fn what_a_start_takes_can_be_taken_off() {
    assert_eq!(millis(&[12, 10, 14]).less(10.0).median(), 2.0);
    let ratio = ratio_of_medians(&millis(&[110, 110]).less(10.0), &millis(&[101, 101]).less(1.0));
    assert_eq!((ratio.value, ratio.low, ratio.high), (1.0, 1.0, 1.0));
}
