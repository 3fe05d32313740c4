use std::fs;
use std::process::Command;

use super::*;

/// The processors on which a process may run.
fn allowed(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it lives");
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed:"));
    line.expect("the kernel says so").trim().to_owned()
}

#[test]
fn a_child_may_run_where_it_could_before() {
    let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn();
    let child = child.as_mut().expect("there is a shell");
    let before = allowed(std::process::id());
    for _ in 0..50 {
        part_from(Pid(child.id() as i32));
        assert_eq!(allowed(child.id()), before);
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
}

/// The class of this thread, as the kernel numbers them.
fn class() -> i64 {
    // SAFETY: takes a number; zero is this thread.
    unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) }
}

#[test]
fn a_courtesy_ends_with_its_scope() {
    assert_eq!(class(), i64::from(libc::SCHED_OTHER));
    {
        let _courtesy = Courtesy::begin();
        assert_eq!(class(), i64::from(libc::SCHED_BATCH));
        let _second = Courtesy::begin();
    }
    assert_eq!(class(), i64::from(libc::SCHED_OTHER));
}

#[test]
fn a_class_that_somebody_chose_stays() {
    assert!(policy(libc::SCHED_BATCH));
    drop(Courtesy::begin());
    assert_eq!(class(), i64::from(libc::SCHED_BATCH));
    assert!(policy(libc::SCHED_OTHER));
}
