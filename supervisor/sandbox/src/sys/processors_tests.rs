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
