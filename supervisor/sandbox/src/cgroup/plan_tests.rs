//! Claims about what is written where, without a kernel.

use super::plan::{Absent, Invalid, Setting, settings};
use super::proc_text::Version::{V1, V2};
use super::{Controller, Request};

fn request(memory_mb: Option<u64>, pids: Option<u64>, cpu_millis: Option<u64>) -> Request {
    Request {
        run: "r".to_owned(),
        memory_mb,
        pids,
        cpu_millis,
        tree: super::Tree::Loose,
    }
}

fn setting(file: &'static str, value: &str) -> Setting {
    Setting {
        file,
        value: value.to_owned(),
        absent: Absent::Fails,
        invalid: Invalid::Fails,
    }
}

#[test]
fn memory_limit_leaves_swap_no_way_out() {
    let request = request(Some(64), None, None);
    let v1 = [
        setting("memory.limit_in_bytes", "67108864"),
        Setting {
            absent: Absent::Instead("memory.swappiness", "0"),
            ..setting("memory.memsw.limit_in_bytes", "67108864")
        },
        Setting {
            absent: Absent::Skipped,
            ..setting("memory.kmem.tcp.limit_in_bytes", "16777216")
        },
    ];
    let v2 = [
        setting("memory.max", "67108864"),
        Setting {
            absent: Absent::Skipped,
            ..setting("memory.swap.max", "0")
        },
        Setting {
            absent: Absent::Skipped,
            ..setting("memory.oom.group", "1")
        },
    ];
    assert_eq!(settings(&request, Controller::Memory, V1), Some(v1.to_vec()));
    assert_eq!(settings(&request, Controller::Memory, V2), Some(v2.to_vec()));
}

#[test]
fn pids_limit_is_the_same_file_on_both() {
    let request = request(None, Some(512), None);
    for version in [V1, V2] {
        assert_eq!(
            settings(&request, Controller::Pids, version),
            Some(vec![setting("pids.max", "512")])
        );
        assert_eq!(settings(&request, Controller::Memory, version), None);
    }
}

#[test]
fn cpu_share_is_never_rounded_up() {
    let nested = |value| Setting {
        invalid: Invalid::Nested,
        ..setting("cpu.cfs_quota_us", value)
    };
    let cpu = |millis, version| settings(&request(None, None, Some(millis)), Controller::Cpu, version);
    assert_eq!(cpu(1500, V1), Some(vec![nested("150000")]));
    assert_eq!(cpu(1500, V2), Some(vec![setting("cpu.max", "150000 100000")]));
    assert_eq!(
        cpu(9, V1),
        Some(vec![setting("cpu.cfs_period_us", "1000000"), nested("9000")])
    );
    assert_eq!(cpu(9, V2), Some(vec![setting("cpu.max", "9000 1000000")]));
}

#[test]
fn extreme_numbers_do_not_wrap() {
    let most = request(Some(u64::MAX), None, Some(u64::MAX));
    let first = |controller| settings(&most, controller, V2).unwrap().remove(0);
    assert_eq!(first(Controller::Memory), setting("memory.max", "18446744073709551615"));
    assert_eq!(first(Controller::Cpu), setting("cpu.max", "1000000000 100000"));
    let zero = settings(&request(None, None, Some(0)), Controller::Cpu, V2);
    assert_eq!(zero, Some(vec![setting("cpu.max", "1000 1000000")]));
}
