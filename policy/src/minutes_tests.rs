use super::*;

#[test]
fn minutes_are_written_as_they_are_read() {
    for (millis, text) in [
        (600_000, "10"),
        (90_000, "1.5"),
        (300, "0.005"),
        (1000, "0.01667"),
        (1, "0.00002"),
    ] {
        assert_eq!(minutes(Duration::from_millis(millis)), text);
    }
    for millis in (1..200_000).step_by(7) {
        let read: f64 = minutes(Duration::from_millis(millis)).parse().unwrap();
        assert_eq!((read * 60_000.0).round(), millis as f64, "{millis}");
    }
}
