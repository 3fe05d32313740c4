//! What the host's tables of processes and mounts say.

use std::collections::BTreeSet;
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Caller, World};

/// Every living process that carries `mark` in its arguments. A zombie has no arguments and does not count; one of whose
/// threads another still lives does.
pub fn carrying(mark: &str) -> Vec<u32> {
    let own = std::process::id();
    let pids = fs::read_dir("/proc").expect("list /proc").flatten();
    let pids = pids.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| *pid != own && arguments(*pid).windows(mark.len()).any(|w| w == mark.as_bytes()))
        .collect()
}

fn arguments(pid: u32) -> Vec<u8> {
    let of = |task: u32| fs::read(format!("/proc/{task}/cmdline")).unwrap_or_default();
    let first = of(pid);
    if !first.is_empty() {
        return first;
    }
    let tasks = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten()
        .flatten();
    let tasks = tasks.filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
    tasks
        .map(of)
        .find(|arguments| !arguments.is_empty())
        .unwrap_or_default()
}

/// What is mounted on the host, but for what other tests mount and take away meanwhile: network namespaces, and in their worlds.
pub fn mounts(world: &World) -> BTreeSet<String> {
    let all = fs::read_to_string("/proc/self/mountinfo").expect("read the mounts");
    let bases = [Caller::Root, Caller::User].map(|caller| format!("{}/", caller.base().display()));
    let of_another = |line: &str| bases.iter().any(|base| line.contains(base)) && !line.contains(world.nonce());
    all.lines()
        .filter(|line| !line.contains(" /run/netns") && !of_another(line))
        .map(str::to_owned)
        .collect()
}

/// Is there, and no zombie.
pub fn alive(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|s| s.rsplit(") ").next().is_some_and(|rest| !rest.starts_with('Z')))
}

/// Does the harness itself have this capability (by its number)? A container's root often lacks some.
pub fn capable(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("read /proc/self/status");
    let effective = status
        .lines()
        .find_map(|l| l.strip_prefix("CapEff:\t"))
        .expect("a line of capabilities");
    u64::from_str_radix(effective, 16).is_ok_and(|set| set >> number & 1 == 1)
}

/// Asks until the answer is yes or the time is over, and returns the last answer.
pub fn wait_until(limit: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if holds() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(Duration::from_millis(10));
    }
}
