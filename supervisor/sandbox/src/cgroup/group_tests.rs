//! Claims about real groups. They need root and cgroupfs: a machine without fails here.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::Controller::{Cpu, Memory, Pids};
use super::proc_text::membership;
use super::{Facts, Group, Missing, Place, Reason, Request, create, detect};

pub(super) fn request(run: &str) -> Request {
    Request {
        run: run.to_owned(),
        memory_mb: Some(64),
        pids: Some(30),
        cpu_millis: Some(1500),
        tree: super::Tree::Loose,
    }
}

pub(super) fn complete(facts: &Facts, request: &Request) -> Group {
    let (group, missing) = create(facts, request);
    assert_eq!(missing, []);
    group
}

/// Waits for a line before it becomes python, so that it can be moved first.
fn held_python(script: &str) -> Child {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "read go; exec python3 -c \"$1\"", "sh", script]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

fn let_go(mut child: Child) -> ExitStatus {
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    child.wait().unwrap()
}

fn gone(group: &Group) -> bool {
    group.paths().iter().all(|path| !path.exists())
}

const ALLOCATE_200_MB: &str = "b=[]\nfor i in range(200): b.append(bytearray(b'x')*(1<<20))";

#[test]
fn memory_limit_kills_an_allocator_and_the_verdict_says_so() {
    let group = complete(&detect(), &request("oom"));
    assert!(
        let_go(held_python(ALLOCATE_200_MB)).success(),
        "it fits the machine without the limit"
    );
    let child = held_python(ALLOCATE_200_MB);
    group.add(child.id()).unwrap();
    let status = let_go(child);
    assert!(!status.success(), "{status}");
    let verdict = group.verdict();
    let death = group.cause_of_death();
    assert_eq!(
        (death.oom_kills, death.pids_refused),
        (verdict.oom_kills, verdict.pids_refused)
    );
    assert!(verdict.out_of_memory(), "{verdict:?}");
    assert!(!verdict.out_of_pids(), "{verdict:?}");
    assert!(verdict.memory_limit_reached == Some(true), "{verdict:?}");
    assert!(
        verdict.memory_peak_bytes.is_some_and(|peak| peak <= 64 << 20),
        "{verdict:?}"
    );
    group.remove().unwrap();
    assert!(gone(&group));
}

#[test]
fn pids_limit_refuses_forks_and_the_verdict_says_so() {
    let script = "\
import os, sys, time
refused = 0
for i in range(60):
    try:
        if os.fork() == 0: time.sleep(0.5); os._exit(0)
    except BlockingIOError: refused += 1
sys.exit(3 if refused else 0)";
    let group = complete(&detect(), &request("pids"));
    let child = held_python(script);
    group.add(child.id()).unwrap();
    assert_eq!(let_go(child).code(), Some(3));
    let verdict = group.verdict();
    let death = group.cause_of_death();
    assert_eq!(
        (death.oom_kills, death.pids_refused),
        (verdict.oom_kills, verdict.pids_refused)
    );
    assert!(verdict.out_of_pids() && !verdict.out_of_memory(), "{verdict:?}");
    assert_eq!(verdict.memory_limit_reached, Some(false));
    // Children sleep on: removal waits for them.
    group.remove().unwrap();
    assert!(gone(&group));
}

#[test]
fn cpu_limit_throttles_and_is_counted() {
    let group = complete(
        &detect(),
        &Request {
            cpu_millis: Some(100),
            tree: super::Tree::Loose,
            ..request("cpu")
        },
    );
    let child = held_python("import time\ne=time.process_time()+0.1\nwhile time.process_time()<e: pass");
    group.add(child.id()).unwrap();
    let start = Instant::now();
    assert!(let_go(child).success());
    assert!(start.elapsed() > Duration::from_millis(300), "{:?}", start.elapsed());
    assert!(group.verdict().cpu_throttled_periods > Some(0));
    group.remove().unwrap();
}

#[test]
fn kill_ends_every_process_and_removal_waits_for_them() {
    let group = complete(&detect(), &request("kill"));
    let mut child =
        held_python("import os, time, signal\nsignal.signal(15, signal.SIG_IGN)\nos.fork()\ntime.sleep(60)");
    group.add(child.id()).unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    group.kill().unwrap();
    group.remove().unwrap();
    assert!(gone(&group));
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&child.wait().unwrap()),
        Some(9)
    );
}

#[test]
fn entry_moves_the_calling_thread_into_the_v1_groups() {
    let group = complete(&detect(), &request("entry"));
    let entry = group.entry().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            entry.enter().unwrap();
            let own = membership(&std::fs::read("/proc/thread-self/cgroup").unwrap());
            let facts = detect();
            for controller in [Memory, Pids, Cpu] {
                if matches!(facts.place(controller), Place::V1 { .. }) {
                    let name = own.of_v1(controller).unwrap().file_name().unwrap().to_str().unwrap();
                    assert!(
                        name.starts_with("glee-") && name.ends_with("-entry"),
                        "{controller}: {name}"
                    );
                }
            }
        });
    });
    drop(entry);
    group.remove().unwrap();
    assert!(gone(&group));
}

#[test]
fn add_is_idempotent_and_fails_for_a_process_that_is_gone() {
    let group = complete(&detect(), &request("again"));
    let child = held_python("pass");
    group.add(child.id()).unwrap();
    let again = (0..20).map(|_| {
        let start = Instant::now();
        group.add(child.id()).unwrap();
        start.elapsed()
    });
    let best = again.min().unwrap();
    assert!(
        best < Duration::from_millis(1),
        "once inside, nothing is moved and no grace period awaited: {best:?}"
    );
    let pid = child.id();
    assert!(let_go(child).success());
    assert_eq!(group.add(pid).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    group.remove().unwrap();
}

#[test]
fn only_requested_limits_make_groups_and_dropping_removes_them() {
    let nothing = Request {
        run: "bare".to_owned(),
        memory_mb: None,
        pids: None,
        cpu_millis: None,
        tree: super::Tree::Loose,
    };
    let group = complete(&detect(), &nothing);
    assert_eq!(group.holds().count(), 0);
    assert_eq!(group.paths(), [group.v2_dir().unwrap()]);
    assert_eq!(group.verdict(), super::Verdict::default());
    let paths = group.paths();
    assert!(paths.iter().all(|path| path.exists()));
    drop(group);
    assert!(paths.iter().all(|path| !path.exists()));
}

#[test]
fn a_tree_that_a_namespace_holds_has_no_group_without_a_limit() {
    let held = |request: Request| Request {
        tree: super::Tree::Namespace,
        ..request
    };
    let nothing = Request {
        memory_mb: None,
        pids: None,
        cpu_millis: None,
        ..request("held-bare")
    };
    let facts = detect();
    assert_eq!(
        complete(&facts, &held(nothing)).paths(),
        Vec::<std::path::PathBuf>::new()
    );
    let group = complete(&facts, &held(request("held")));
    assert_eq!(group.holds().collect::<Vec<_>>(), [Memory, Pids, Cpu]);
    // Where v2 carries a limit the group is needed, and a process must be born into it.
    let on_v2 = Facts {
        pids: Place::V2,
        ..facts.clone()
    };
    let by_limit = [&facts, &on_v2].map(|facts| super::makes_v2(facts, &held(request("held"))));
    let any_v2 = [Memory, Pids, Cpu].into_iter().any(|c| *facts.place(c) == Place::V2);
    assert_eq!(by_limit, [any_v2, true]);
}

#[test]
fn a_directory_that_is_no_cgroup_enforces_nothing_and_is_left_clean() {
    let fake = std::env::temp_dir().join(format!("glee-cgroup-fake-{}", std::process::id()));
    std::fs::create_dir_all(&fake).unwrap();
    let facts = Facts {
        memory: Place::V1 { dir: fake.clone() },
        ..detect()
    };
    let (group, missing) = create(&facts, &request("fake"));
    assert_eq!(
        missing.iter().map(|missing| missing.limit).collect::<Vec<_>>(),
        [Memory]
    );
    assert!(
        missing[0]
            .reason
            .to_string()
            .contains("memory.limit_in_bytes`: No such file"),
        "{}",
        missing[0].reason
    );
    assert_eq!(std::fs::read_dir(&fake).unwrap().count(), 0);
    assert_eq!(group.holds().collect::<Vec<_>>(), [Pids, Cpu]);
    std::fs::remove_dir(&fake).unwrap();
}

#[test]
fn v2_below_a_populated_cgroup_says_why_it_has_no_controllers() {
    let mut facts = detect();
    let parent = complete(
        &facts,
        &Request {
            memory_mb: None,
            pids: None,
            cpu_millis: None,
            tree: super::Tree::Loose,
            ..request("parent")
        },
    );
    let dir = parent.v2_dir().unwrap().to_owned();
    facts.v2.as_mut().unwrap().dir.clone_from(&dir);
    facts.memory = Place::V2;
    let (group, missing) = create(&facts, &request("child"));
    assert_eq!(
        missing,
        [Missing {
            limit: Memory,
            reason: Reason::InternalProcesses { dir: dir.clone() }
        }]
    );
    assert_eq!(group.v2_dir().and_then(Path::parent), Some(dir.as_path()));
    group.remove().unwrap();
    parent.remove().unwrap();
}

#[test]
fn a_controller_that_the_v2_root_cannot_offer_is_missing_and_the_bare_group_stays() {
    let facts = Facts {
        pids: Place::V2,
        ..detect()
    };
    let (group, missing) = create(
        &facts,
        &Request {
            memory_mb: None,
            cpu_millis: None,
            tree: super::Tree::Loose,
            ..request("root")
        },
    );
    assert_eq!(missing.iter().map(|missing| missing.limit).collect::<Vec<_>>(), [Pids]);
    assert!(
        missing[0].reason.to_string().contains("cgroup.subtree_control`: "),
        "{}",
        missing[0].reason
    );
    assert_eq!(group.paths(), [group.v2_dir().unwrap()]);
    group.remove().unwrap();
}

#[test]
fn a_cpu_limit_above_our_own_is_held_by_ours() {
    let facts = detect();
    let only_cpu = |run, millis| Request {
        memory_mb: None,
        pids: None,
        cpu_millis: Some(millis),
        tree: super::Tree::Loose,
        ..request(run)
    };
    let tight = complete(&facts, &only_cpu("tight", 500));
    let dir = tight
        .paths()
        .into_iter()
        .find(|path| path.join("cpu.cfs_quota_us").exists())
        .unwrap();
    let loose = complete(
        &Facts {
            cpu: Place::V1 { dir: dir.clone() },
            ..facts
        },
        &only_cpu("loose", 1500),
    );
    assert_eq!(loose.holds().collect::<Vec<_>>(), [Cpu]);
    assert_eq!(
        std::fs::read_to_string(dir.join("cpu.cfs_quota_us")).unwrap(),
        "50000\n"
    );
    loose.remove().unwrap();
    tight.remove().unwrap();
}

#[test]
fn a_run_id_that_could_leave_the_directory_makes_nothing() {
    for run in ["", "../x", "a/b", "A", "a b", "a\n", &"a".repeat(65)] {
        let (group, missing) = create(&detect(), &request(run));
        let expected = [Memory, Pids, Cpu].map(|limit| Missing {
            limit,
            reason: Reason::BadRunId(run.to_owned()),
        });
        assert_eq!((group.paths().len(), missing), (0, expected.to_vec()), "{run:?}");
        assert_eq!(group.kill().unwrap_err().kind(), std::io::ErrorKind::Unsupported);
    }
}

#[test]
fn the_same_run_twice_is_refused_and_the_first_stays() {
    let first = complete(&detect(), &request("twin"));
    let (second, missing) = create(&detect(), &request("twin"));
    assert_eq!((second.paths().len(), missing.len()), (0, 3));
    assert!(
        missing
            .iter()
            .all(|missing| missing.reason.to_string().contains("File exists")),
        "{missing:?}"
    );
    assert!(first.paths().iter().all(|path| path.exists()));
    first.remove().unwrap();
}
