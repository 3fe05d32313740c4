//! Thousands of refusals of every kind, drawn at random, each looked for in the report.

use std::collections::BTreeMap;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;

use glee_tests::{Caller, Policy, World};

use crate::support::{denials, prepared, program, put, reported, size, world};

/// Refusals in one run: well below the bound on rows.
const EACH: usize = 500;
const POLICY: &str = "extends: restricted\nfs: {read: [\".\"], deny: [\"private\"]}\n";

/// Deterministic, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

/// Kind, call, what it is about, and by which program.
type Key = (String, String, String, String);

pub(crate) fn prove(caller: Caller) {
    let (mut all, mut found) = (0, 0);
    let mut missing = Vec::new();
    for seed in 0..size(1, 20) {
        let world = world(caller);
        let wanted = round(&world, seed as u64);
        for (key, count, seen) in wanted {
            all += count;
            found += seen.min(count);
            if seen != count {
                missing.push(format!("{key:?}: {seen} of {count}"));
            }
        }
    }
    let least = match caller {
        Caller::Root => 0.999,
        Caller::User => 0.99,
    };
    println!("{found} of {all} reported as {}", caller.name());
    let share = found as f64 / all as f64;
    assert!(share >= least, "{found} of {all}\n{}", missing.join("\n"));
}

fn round(world: &World, seed: u64) -> Vec<(Key, u64, u64)> {
    let mut random = Random(seed.wrapping_mul(7919) + 17);
    let (home, project) = (world.home(), world.project());
    let socket = home.join("service.sock");
    let _listener = UnixListener::bind(&socket).expect("listen on a socket");
    chown(&socket, Some(world.caller().uid()), Some(world.caller().gid())).expect("give the socket away");
    for n in 0..40 {
        put(world, &home.join(format!("secrets/{n}")), 0o600);
        put(world, &home.join(format!("bin/tool-{n}")), 0o755);
        put(world, &project.join(format!("private/{n}")), 0o755);
        put(world, &project.join(format!("files/{n}")), 0o644);
    }
    let mut wanted: BTreeMap<Key, u64> = BTreeMap::new();
    let mut lines = String::new();
    for at in 0..EACH {
        let program = format!("seeder-{}", at / 50);
        let n = random.below(40);
        let in_home = |dir: &str| home.join(format!("{dir}{n}")).display().to_string();
        let inside = |dir: &str| project.join(format!("{dir}{n}")).display().to_string();
        let (op, arg, kind, call, what) = match random.below(17) {
            0 => ("read", in_home("secrets/"), "fs.hidden", "openat", in_home("secrets/")),
            1 => ("oldread", in_home("secrets/"), "fs.hidden", "open", in_home("secrets/")),
            2 => (
                "exec",
                in_home("bin/tool-"),
                "fs.hidden",
                "execve",
                in_home("bin/tool-"),
            ),
            3 => ("read", inside("private/"), "fs.read", "openat", inside("private/")),
            4 => ("exec", inside("private/"), "fs.exec", "execve", inside("private/")),
            5 => ("write", format!("new-{n}"), "fs.write", "openat", inside("new-")),
            6 => ("append", format!("./files/{n}"), "fs.write", "openat", inside("files/")),
            7 => ("mkdir", inside("dir-"), "fs.write", "mkdir", inside("dir-")),
            8 => ("unlink", inside("files/"), "fs.write", "unlink", inside("files/")),
            9 => (
                "unlinkat",
                format!("files/{n}"),
                "fs.write",
                "unlinkat",
                inside("files/"),
            ),
            10 => ("symlink", inside("link-"), "fs.write", "symlink", inside("link-")),
            11 => ("truncate", inside("files/"), "fs.write", "truncate", inside("files/")),
            12 => ("chmod", inside("files/"), "fs.write", "chmod", inside("files/")),
            13 => {
                let name = socket.display().to_string();
                ("unix", name.clone(), "unix", "connect", name)
            }
            14 => {
                let address = format!("192.0.2.{n}:{}", 1 + n);
                ("net", address.clone(), "network", "connect", address)
            }
            15 => (
                "call",
                libc::SYS_ptrace.to_string(),
                "syscall",
                "ptrace",
                "ptrace".into(),
            ),
            _ => (
                "call",
                libc::SYS_unshare.to_string(),
                "syscall",
                "unshare",
                "unshare".into(),
            ),
        };
        lines.push_str(&format!("{program}\t{op}\t{arg}\n"));
        *wanted.entry((kind.into(), call.into(), what, program)).or_default() += 1;
    }
    let run = prepared(world, Policy::Yaml(POLICY.into()), &[]).command([program().as_str(), "list"]);
    let (outcome, report) = reported(world, run.stdin(lines));
    assert_eq!(
        (outcome.code(), outcome.out().as_str()),
        (Some(0), "done\n"),
        "{}",
        outcome.describe()
    );
    let mut seen: BTreeMap<Key, u64> = BTreeMap::new();
    for row in denials(&report) {
        let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let what = ["path", "host", "name"].map(text).concat();
        let key = (text("kind"), text("syscall"), what, text("program"));
        *seen.entry(key).or_default() += row["count"].as_u64().unwrap_or(0);
        assert_ne!(row["pid"], 0, "{row}");
    }
    wanted
        .into_iter()
        .map(|(key, count)| {
            let found = seen.get(&key).copied().unwrap_or(0);
            (key, count, found)
        })
        .collect()
}
