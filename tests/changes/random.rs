//! Random trees, random operations inside: the report must be the difference of complete snapshots taken outside.
//!
//! A few rounds by default; `GLEE_SOAK=full` is the size of the promise, 200 for each caller. A failure names its seed;
//! `GLEE_SEED=N` runs that one alone.

use glee_tests::Caller;

use crate::support::Place;

const PROGRAM: &str = include_str!("operations.py");
const SMALL: u64 = 6;
const FULL: u64 = 200;

fn seeds() -> Vec<u64> {
    if let Some(seed) = std::env::var("GLEE_SEED").ok().and_then(|seed| seed.parse().ok()) {
        return vec![seed];
    }
    let full = std::env::var_os("GLEE_SOAK").is_some_and(|size| size == "full");
    (1..=if full { FULL } else { SMALL }).collect()
}

fn prove(caller: Caller) {
    let mut rows = 0;
    for seed in seeds() {
        let at = Place::of(caller);
        at.world.file("@OUT/operations.py", PROGRAM);
        at.given(&format!("python3 @OUT/operations.py {seed} make"));
        let ran = at.run_with(
            &["--read", "@OUT/operations.py"],
            &format!("python3 @OUT/operations.py {seed} change"),
        );
        assert!(
            ran.outcome.left() && ran.outcome.says("change "),
            "seed {seed}: {}",
            ran.outcome.describe()
        );
        assert_eq!(ran.told, ran.true_changes, "seed {seed}: {}", ran.outcome.describe());
        ran.is_exact();
        rows += ran.told.len();
    }
    println!("{} rounds, {rows} rows", seeds().len());
    assert!(
        rows > 10 * seeds().len(),
        "the rounds change next to nothing: {rows} rows"
    );
}

#[test]
fn a_report_is_the_difference_of_two_snapshots_as_root() {
    prove(Caller::Root);
}

#[test]
fn a_report_is_the_difference_of_two_snapshots_as_user() {
    prove(Caller::User);
}
