use glee_sandbox::seccomp::{Call, DenialAction, NetworkRule, Observe, SocketRule, Verdict};

use super::*;

const SPEC: FilterSpec = FilterSpec {
    network: NetworkRule::LoopbackOnly,
    sockets: SocketRule::Namespaced,
    denial: DenialAction::Notify,
    observe: Observe::Everything,
    debug: false,
};

/// What an engine makes of the profile: the first entry whose tests all hold; else the default.
fn action(profile: &Value, name: &str, args: &[u64; 6]) -> Value {
    let hits = |entry: &Value| {
        let named = entry["names"]
            .as_array()
            .is_some_and(|names| names.iter().any(|n| n == name));
        let tests = entry["args"].as_array().cloned().unwrap_or_default();
        named
            && tests.iter().all(|test| {
                let index = usize::try_from(test["index"].as_u64().unwrap_or(9)).unwrap_or(9);
                let (mask, wanted) = (
                    test["value"].as_u64().unwrap_or(0),
                    test["valueTwo"].as_u64().unwrap_or(1),
                );
                args.get(index).is_some_and(|arg| arg & mask == wanted)
            })
    };
    let entries = profile["syscalls"].as_array().cloned().unwrap_or_default();
    let entry = entries.iter().find(|entry| hits(entry));
    entry.map_or_else(|| profile["defaultAction"].clone(), |entry| entry["action"].clone())
}

fn allows(profile: &Value, name: &str, args: &[u64; 6]) -> bool {
    action(profile, name, args) == "SCMP_ACT_ALLOW"
}

/// Arguments that the rules look at: single bits, small numbers, all ones.
fn samples() -> Vec<[u64; 6]> {
    let values: Vec<u64> = (0..32)
        .map(|bit| 1 << bit)
        .chain([0, 2, 3, 6, 17, 0o644, 0x5412, 0xffff_ffff])
        .collect();
    let mut list = vec![[0; 6]];
    for value in values {
        for position in 0..4 {
            let mut args = [0; 6];
            args[position] = value;
            list.push(args);
        }
    }
    list
}

#[test]
fn what_the_compiled_filter_allows_or_reports_the_profile_leaves_to_it() {
    let table = Table::builtin().expect("the built-in list");
    let profile = profile(&table, &SPEC);
    for syscall in table.iter() {
        let Some(nr) = syscall.nr(Arch::NATIVE) else { continue };
        for args in samples() {
            let verdict = table.decide(&SPEC, Arch::NATIVE, &Call { nr, args });
            let name = syscall.name;
            match verdict {
                Verdict::Allow | Verdict::Observe => assert!(allows(&profile, name, &args), "{name} {args:x?}"),
                // An error here would hide the call from whoever writes the report.
                Verdict::Deny(_) => assert_ne!(action(&profile, name, &args), "SCMP_ACT_ERRNO", "{name} {args:x?}"),
                Verdict::Errno(_) | Verdict::Kill => {}
            }
        }
    }
}

#[test]
fn the_profile_alone_refuses_namespaces_mounts_and_kernel_doors() {
    let table = Table::builtin().expect("the built-in list");
    let profile = profile(&table, &SPEC);
    for name in [
        "mount",
        "unshare",
        "setns",
        "pivot_root",
        "clone3",
        "bpf",
        "keyctl",
        "io_uring_setup",
        "ptrace",
        "init_module",
    ] {
        assert!(!allows(&profile, name, &[0; 6]), "{name}");
    }
    for bit in [
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWNS,
        libc::CLONE_NEWNET,
        libc::CLONE_NEWPID,
    ] {
        let args = [u64::from(bit.unsigned_abs()) | libc::SIGCHLD as u64, 0, 0, 0, 0, 0];
        assert!(!allows(&profile, "clone", &args), "clone {bit:x}");
    }
    assert!(allows(&profile, "clone", &[libc::SIGCHLD as u64, 0, 0, 0, 0, 0]));
    assert!(!allows(&profile, "chmod", &[0, 0o4755, 0, 0, 0, 0]));
}

#[test]
fn unknown_calls_do_not_exist() {
    let table = Table::builtin().expect("the built-in list");
    let profile = profile(&table, &SPEC);
    assert_eq!(profile["defaultAction"], "SCMP_ACT_ERRNO");
    assert_eq!(profile["defaultErrnoRet"], libc::ENOSYS);
}
