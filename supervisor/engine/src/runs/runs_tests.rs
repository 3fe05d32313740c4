#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::audit::verify::verify;
use crate::run_id::run_id;

struct Dir(PathBuf);

impl Dir {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("glee-runs-{}-{count}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn state(&self) -> State {
        State::at(self.0.clone()).unwrap()
    }
}

impl Drop for Dir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Ids of so many days ago, oldest first, made like those of runs.
fn aged(days: u64) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let now = started_ms(&run_id()).unwrap() - days * 86_400_000;
    let value = u128::from(now) << 80 | 7;
    (0..26)
        .rev()
        .map(|place| char::from(ALPHABET[usize::try_from(value >> (place * 5) & 31).unwrap()]))
        .collect()
}

#[test]
fn an_id_says_when_the_run_started() {
    assert_eq!(started_ms("00000000000000000000000000"), Some(0));
    assert_eq!(month("00000000000000000000000000").as_deref(), Some("1970-01"));
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_millis();
    assert!(now.abs_diff(started_ms(&run_id()).unwrap().into()) < 5000);
    for wrong in [
        "",
        "0",
        "u0000000000000000000000000",
        "../../../../../etc/passwd00",
        "zzzzzzzzzzzzzzzzzzzzzzzzzz",
    ] {
        assert_eq!(month(wrong), None, "{wrong}");
    }
}

#[test]
fn a_report_is_stored_for_its_owner_and_found_again_byte_for_byte() {
    let dir = Dir::new();
    let (state, id) = (dir.state(), run_id());
    store(&state, &id, b"{\"x\": 1}\n", None).unwrap();
    let run = find(&state, &id).unwrap();
    assert_eq!(run.read(&state).unwrap(), b"{\"x\": 1}\n");
    let path = dir.0.join(path_of(&id).unwrap());
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert!(
        store(&state, &id, b"another", None).is_err(),
        "a stored report was replaced"
    );
    assert_eq!(
        fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "a draft was left"
    );
}

#[test]
fn a_run_is_found_by_its_id_the_beginning_of_it_or_as_the_latest() {
    let dir = Dir::new();
    let state = dir.state();
    assert!(matches!(find(&state, "latest"), Err(FindError::None)));
    let ids: Vec<String> = [40, 2, 1].map(aged).to_vec();
    for id in &ids {
        store(&state, id, b"{}", None).unwrap();
    }
    assert_eq!(find(&state, "latest").unwrap().id, ids[2]);
    assert_eq!(find(&state, &ids[0].to_uppercase()).unwrap().id, ids[0]);
    let shared = ids[0].bytes().zip(ids[1].bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(find(&state, &ids[0][..=shared]).unwrap().id, ids[0]);
    assert!(matches!(
        find(&state, &ids[0][..shared]),
        Err(FindError::Ambiguous { .. })
    ));
    assert!(matches!(find(&state, "zzz"), Err(FindError::NotFound(_))));
    for wrong in ["", "../x", "latest ", "\u{1b}"] {
        assert!(matches!(find(&state, wrong), Err(FindError::NotAnId(_))), "{wrong}");
    }
}

#[test]
fn old_runs_are_pruned_by_number_age_and_size_and_the_log_says_so() {
    let dir = Dir::new();
    let state = dir.state();
    let ids: Vec<String> = [100, 50, 3, 2, 1].map(aged).to_vec();
    for id in &ids {
        store(&state, id, &[b' '; 1000], None).unwrap();
    }
    let kept = |keep: Keep| {
        let pruned = prune(&state, keep).unwrap();
        (pruned.removed, pruned.kept, pruned.kept_from)
    };
    assert_eq!(kept(Keep::USUAL), (1, 4, Some(ids[1].clone())));
    assert_eq!(
        kept(Keep {
            age: Duration::from_secs(86_400 * 10),
            ..Keep::USUAL
        }),
        (1, 3, Some(ids[2].clone()))
    );
    assert_eq!(
        kept(Keep {
            bytes: 2500,
            ..Keep::USUAL
        }),
        (1, 2, Some(ids[3].clone()))
    );
    assert_eq!(kept(Keep { runs: 1, ..Keep::USUAL }), (1, 1, Some(ids[4].clone())));
    assert_eq!(kept(Keep { runs: 0, ..Keep::USUAL }).0, 1);
    assert_eq!(all(&state).unwrap(), vec![]);
    let verdict = verify(&state, None).unwrap();
    assert_eq!((verdict.problems, verdict.entries), (vec![], 5));
}

#[test]
fn links_among_the_stored_runs_lead_nowhere() {
    let dir = Dir::new();
    let (state, id) = (dir.state(), run_id());
    let elsewhere = Dir::new();
    fs::create_dir(dir.0.join(DIR)).unwrap();
    symlink(&elsewhere.0, dir.0.join(DIR).join(month(&id).unwrap())).unwrap();
    assert!(store(&state, &id, b"{}", None).is_err());
    assert_eq!(fs::read_dir(&elsewhere.0).unwrap().count(), 0);
    fs::write(elsewhere.0.join(format!("{id}.json")), "planted").unwrap();
    assert_eq!(all(&state).unwrap(), vec![]);
}

#[test]
fn a_report_in_a_file_that_was_made_ahead_is_stored_once_and_whole() {
    let dir = Dir::new();
    let (state, first, id) = (dir.state(), run_id(), run_id());
    assert!(Draft::make(&state, &first).is_none(), "there is no directory yet");
    store(&state, &first, b"{}", None).unwrap();
    let draft = |id: &str| Draft::make(&state, id).expect("this filesystem can");
    drop(draft(&id));
    store(&state, &id, b"{\"x\": 1}\n", Some(draft(&id))).unwrap();
    assert!(
        store(&state, &id, b"another", Some(draft(&id))).is_err(),
        "a stored report was replaced"
    );
    let stored = all(&state).unwrap();
    assert_eq!(stored.len(), 2);
    let found = stored.iter().find(|run| run.id == id).unwrap();
    assert_eq!(found.read(&state).unwrap(), b"{\"x\": 1}\n");
    let names = fs::read_dir(dir.0.join(DIR).join(month(&id).unwrap())).unwrap();
    assert_eq!(names.count(), 2, "something was left");
}
