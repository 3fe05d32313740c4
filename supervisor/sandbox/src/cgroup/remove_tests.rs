//! Claims about clean-up. They need root and cgroupfs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use super::group_tests::{complete, request};
use super::owner::{Life, Owner};
use super::{detect, remove_paths, sweep_stale};

#[test]
fn names_round_trip_and_foreign_names_do_not_parse() {
    let owner = Owner {
        pid: 12,
        started: 345,
        pid_namespace: 4_026_531_836,
    };
    let name = owner.name("a-b-3").unwrap();
    assert_eq!(name, "glee-12-345-4026531836-a-b-3");
    assert_eq!(Owner::parse(&name), Some(owner));
    for foreign in [
        "glee-",
        "glee-1-2-3",
        "glee-x-2-3-r",
        "user.slice",
        "glee-1-2",
        "xglee-1-2-3-r",
    ] {
        assert_eq!(Owner::parse(foreign), None, "{foreign}");
    }
}

#[test]
fn life_is_judged_by_pid_and_start_and_only_in_our_pid_namespace() {
    let me = Owner::current();
    assert_ne!(me.started, 0);
    assert_eq!(me.life(&me), Life::Alive);
    assert_eq!(
        Owner {
            started: me.started + 1,
            ..me
        }
        .life(&me),
        Life::Gone
    );
    assert_eq!(Owner { pid: u32::MAX, ..me }.life(&me), Life::Gone);
    assert_eq!(
        Owner {
            pid: u32::MAX,
            pid_namespace: 1,
            ..me
        }
        .life(&me),
        Life::Unknown
    );
    assert_eq!(
        Owner {
            pid: u32::MAX,
            started: 0,
            ..me
        }
        .life(&me),
        Life::Unknown
    );
    let mut child = Command::new("true").spawn().unwrap();
    let stat = PathBuf::from(format!("/proc/{}/stat", child.id()));
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    let text = std::fs::read_to_string(&stat).unwrap();
    let started = text
        .rsplit_once(')')
        .unwrap()
        .1
        .split_whitespace()
        .nth(19)
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(
        Owner {
            pid: child.id(),
            started,
            ..me
        }
        .life(&me),
        Life::Gone,
        "a zombie cleans up nothing"
    );
    child.wait().unwrap();
}

#[test]
fn sweep_removes_the_dead_supervisors_groups_and_no_other() {
    let facts = detect();
    let mut dead = facts.clone();
    dead.owner.started += 1;
    let stale = complete(&dead, &request("stale"));
    let living = complete(&facts, &request("living"));
    std::fs::create_dir(stale.v2_dir().unwrap().join("nested")).unwrap();
    let removed = sweep_stale(&facts);
    assert!(
        stale
            .paths()
            .iter()
            .all(|path| removed.contains(path) && !path.exists()),
        "{removed:?}"
    );
    assert!(living.paths().iter().all(|path| path.exists()));
    living.remove().unwrap();
}

#[test]
fn sweep_leaves_a_group_with_a_live_process() {
    let facts = detect();
    let mut dead = facts.clone();
    dead.owner.started += 2;
    let stale = complete(&dead, &request("orphan"));
    let mut orphan = Command::new("sleep").arg("60").spawn().unwrap();
    stale.add(orphan.id()).unwrap();
    sweep_stale(&facts);
    assert!(stale.paths().iter().all(|path| path.exists()));
    orphan.kill().unwrap();
    orphan.wait().unwrap();
    stale.remove().unwrap();
}

#[test]
fn removal_gives_up_after_two_seconds_and_takes_nested_groups_along() {
    let group = complete(&detect(), &request("busy"));
    let paths = group.paths();
    for path in &paths {
        std::fs::create_dir_all(path.join("a/b")).unwrap();
    }
    let mut sleeper = Command::new("sleep").arg("60").spawn().unwrap();
    group.add(sleeper.id()).unwrap();
    let start = Instant::now();
    assert_eq!(
        remove_paths(&paths).unwrap_err().kind(),
        std::io::ErrorKind::ResourceBusy
    );
    assert!(
        (2.0..4.0).contains(&start.elapsed().as_secs_f64()),
        "{:?}",
        start.elapsed()
    );
    sleeper.kill().unwrap();
    sleeper.wait().unwrap();
    remove_paths(&paths).unwrap();
    assert!(paths.iter().all(|path| !path.exists()));
    remove_paths(&paths).unwrap();
}

#[test]
fn a_directory_that_is_not_ours_is_never_removed() {
    let dir = std::env::temp_dir().join(format!("other-{}", std::process::id()));
    std::fs::create_dir(&dir).unwrap();
    assert_eq!(
        remove_paths(std::slice::from_ref(&dir)).unwrap_err().kind(),
        std::io::ErrorKind::InvalidInput
    );
    assert!(Path::new(&dir).exists());
    std::fs::remove_dir(&dir).unwrap();
}
