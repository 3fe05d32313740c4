//! How many rounds, how they are run, and how they are counted.

use std::fs::File;
use std::io::Read;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Rounds that wait more than they compute run side by side.
const WORKERS: usize = 3;
/// Failures that are printed in full.
const SHOWN: usize = 20;

/// `GLEE_SOAK=full` asks for the size of the promise; everything else for one that a CI run can wait for.
pub(crate) fn is_full() -> bool {
    std::env::var_os("GLEE_SOAK").is_some_and(|size| size == "full")
}

pub(crate) fn rounds(small: usize, full: usize) -> usize {
    if is_full() { full } else { small }
}

/// Runs rounds `0..count` and fails, after all of them, with the list of those that failed. What a round returns is kept.
pub(crate) fn all_hold<T: Send>(
    claim: &str,
    count: usize,
    round: impl Fn(usize) -> Result<T, String> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let held = Mutex::new(Vec::new());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    match round(n) {
                        Ok(value) => held.lock().expect("no round panics here").push(value),
                        Err(why) => {
                            eprintln!("{claim}: round {n}: {why}");
                            failed
                                .lock()
                                .expect("no round panics here")
                                .push(format!("round {n}: {why}"));
                        }
                    }
                }
            });
        }
    });
    let (held, failed) = (
        held.into_inner().expect("no round panics"),
        failed.into_inner().expect("no round panics"),
    );
    println!("{claim}: {} of {count}", held.len());
    let shown: Vec<&str> = failed.iter().take(SHOWN).map(String::as_str).collect();
    assert!(
        failed.is_empty(),
        "{claim}: only {} of {count}\n{}",
        held.len(),
        shown.join("\n")
    );
    held
}

/// Between the two, evenly.
pub(crate) fn random_between(least: Duration, most: Duration) -> Duration {
    let mut bytes = [0; 4];
    File::open("/dev/urandom")
        .and_then(|mut f| f.read_exact(&mut bytes))
        .expect("read /dev/urandom");
    least + (most - least).mul_f64(f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX))
}
