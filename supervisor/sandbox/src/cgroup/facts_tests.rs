//! Claims about which controller is found where, for the usual machines.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Controller::{Cpu, Memory, Pids};
use super::owner::Owner;
use super::{Facts, Place, Reason, Unified};

const OWNER: Owner = Owner {
    pid: 7,
    started: 99,
    pid_namespace: 1,
};

/// `available` and `delegated` as the two v2 files would say; `None` where there is no v2.
fn facts(mountinfo: &str, cgroup: &str, v2: Option<(&str, &str)>) -> Facts {
    let read = |path: &Path| {
        let (available, delegated) = v2?;
        match path.file_name()?.to_str()? {
            "cgroup.controllers" => Some(available.into()),
            "cgroup.subtree_control" => Some(delegated.into()),
            other => panic!("nothing else is read: {other}"),
        }
    };
    Facts::assemble(mountinfo.as_bytes(), cgroup.as_bytes(), OWNER, read, |_| false)
}

/// A desktop: the user's own slice hands `memory` and `pids` down, the scope we are in hands nothing down.
fn desktop(owned: &str) -> Option<Unified> {
    let read = |path: &Path| {
        let (dir, file) = (path.parent()?.to_str()?, path.file_name()?.to_str()?);
        let text = match (dir, file) {
            ("/c/user/app.slice/term.scope", "cgroup.subtree_control") => "",
            ("/c/user/app.slice/term.scope" | "/c/user/app.slice", _) => "memory pids",
            ("/c/user" | "/c", _) => "cpu memory pids",
            _ => return None,
        };
        Some(text.into())
    };
    Facts::assemble(
        b"1 2 0:3 / /c rw - cgroup2 cgroup2 rw\n",
        b"0::/user/app.slice/term.scope\n",
        OWNER,
        read,
        |dir| dir.starts_with(owned),
    )
    .v2
}

#[test]
fn a_cgroup_above_that_hands_controllers_down_and_is_ours_takes_the_run() {
    let slice = Unified {
        dir: "/c/user/app.slice".into(),
        available: [Memory, Pids].into(),
        delegated: [Memory, Pids].into(),
    };
    assert_eq!(desktop("/c/user"), Some(slice));
}

#[test]
fn a_cgroup_above_that_is_not_ours_is_left_alone() {
    let own = Unified {
        dir: "/c/user/app.slice/term.scope".into(),
        available: [Memory, Pids].into(),
        delegated: BTreeSet::new(),
    };
    assert_eq!(desktop("/c/user/app.slice/term.scope"), Some(own));
}

fn v1(dir: &str) -> Place {
    Place::V1 {
        dir: PathBuf::from(dir),
    }
}

#[test]
fn hybrid_machine_has_v1_controllers_and_a_bare_v2() {
    let found = facts(
        "32 31 0:29 / /c/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n\
         35 31 0:32 / /c/memory rw - cgroup cgroup rw,memory\n\
         39 31 0:36 / /c/pids rw - cgroup cgroup rw,pids\n\
         41 31 0:38 / /c/unified rw - cgroup2 cgroup2 rw\n",
        "8:pids:/\n4:memory:/api/5\n1:cpu,cpuacct:/\n0::/\n",
        Some(("hugetlb\n", "\n")),
    );
    let v2 = Unified {
        dir: "/c/unified".into(),
        available: BTreeSet::new(),
        delegated: BTreeSet::new(),
    };
    let expected = Facts {
        memory: v1("/c/memory/api/5"),
        pids: v1("/c/pids"),
        cpu: v1("/c/cpu,cpuacct"),
        v2: Some(v2),
        owner: OWNER,
    };
    assert_eq!(found, expected);
}

#[test]
fn v2_only_machine_tells_available_from_delegated() {
    let found = facts(
        "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n",
        "0::/user.slice/a.scope\n",
        Some(("cpuset cpu io memory pids\n", "memory pids\n")),
    );
    let v2 = Unified {
        dir: "/sys/fs/cgroup/user.slice/a.scope".into(),
        available: BTreeSet::from([Memory, Pids, Cpu]),
        delegated: BTreeSet::from([Memory, Pids]),
    };
    assert_eq!(
        found,
        Facts {
            memory: Place::V2,
            pids: Place::V2,
            cpu: Place::V2,
            v2: Some(v2),
            owner: OWNER
        }
    );
}

#[test]
fn container_sub_root_is_honoured_on_v1_and_v2() {
    let found = facts(
        "35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
         41 31 0:38 /docker/abc /sys/fs/cgroup/unified rw - cgroup2 cgroup rw\n",
        "4:memory:/docker/abc/sub\n3:pids:/docker/abc\n0::/docker/abc\n",
        Some(("", "")),
    );
    assert_eq!(found.memory, v1("/sys/fs/cgroup/memory/sub"));
    assert_eq!(
        found.pids,
        Place::None {
            reason: Reason::OutOfView {
                own: "/docker/abc".into()
            }
        }
    );
    assert_eq!(
        found.cpu,
        Place::None {
            reason: Reason::NoController(Cpu)
        }
    );
    assert_eq!(found.v2.map(|v2| v2.dir), Some(PathBuf::from("/sys/fs/cgroup/unified")));
}

#[test]
fn writable_mount_is_preferred_over_an_earlier_read_only_one() {
    let found = facts(
        "1 2 0:3 / /ro ro - cgroup cgroup rw,memory\n1 2 0:3 / /rw rw - cgroup cgroup rw,memory\n",
        "4:memory:/\n",
        None,
    );
    assert_eq!(found.memory, v1("/rw"));
}

#[test]
fn covered_v2_mount_is_not_taken_for_v2() {
    let found = facts("1 2 0:3 / /cg rw - cgroup2 none rw\n", "0::/\n", None);
    assert_eq!(found.v2, None);
    assert_eq!(
        found.memory,
        Place::None {
            reason: Reason::OutOfView { own: "/".into() }
        }
    );
}

#[test]
fn nothing_mounted_is_said_so() {
    let none = || Place::None {
        reason: Reason::NoHierarchy,
    };
    let expected = Facts {
        memory: none(),
        pids: none(),
        cpu: none(),
        v2: None,
        owner: OWNER,
    };
    assert_eq!(facts("23 1 0:22 / /sys rw - sysfs sysfs rw\n", "", None), expected);
    assert_eq!(facts("", "0::/\n", None), expected);
}

#[test]
fn facts_serialise_for_doctor_even_with_a_path_that_is_not_utf8() {
    let found = Facts::assemble(
        b"1 2 0:3 / /c\xff rw - cgroup cgroup rw,memory\n",
        b"4:memory:/\n",
        OWNER,
        |_| None,
        |_| true,
    );
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        "{\"memory\":{\"version\":\"v1\",\"dir\":\"/c\u{fffd}\"},\
         \"pids\":{\"version\":\"none\",\"reason\":\"no mounted cgroup hierarchy offers the `pids` controller to us\"},\
         \"cpu\":{\"version\":\"none\",\"reason\":\"no mounted cgroup hierarchy offers the `cpu` controller to us\"},\
         \"v2\":null}"
    );
}

#[test]
fn this_machine_is_found_as_proc_says() {
    let found = super::detect();
    for controller in super::Controller::ALL {
        match found.place(controller) {
            Place::V1 { dir } => assert!(dir.join("cgroup.procs").exists(), "{}", dir.display()),
            Place::V2 => assert!(found.v2.is_some()),
            Place::None { reason } => panic!("{controller}: {reason}"),
        }
    }
    assert!(
        found
            .v2
            .is_some_and(|v2| Path::new(&v2.dir).join("cgroup.procs").exists())
    );
}
