//! What was no refusal the first time can be one later.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use glee_tests::{Caller, Policy};

use crate::support::{denials, prepared, put, read_report, reported, row, world};

/// Calls with two names that fail by one of them, then calls about the other alone.
pub(crate) fn beside_another_name(caller: Caller) {
    let world = world(caller);
    let granted = world.dir("@OUT/ro").display().to_string();
    let hidden = put(&world, &world.outside().join("hid/file"), 0o644)
        .display()
        .to_string();
    world.file("@PROJECT/there", "");
    world.dir("@PROJECT/dir");
    let script = "import os, sys\nro, hid = sys.argv[1:]\ndef attempt(call, *args):\n try: call(*args)\n except OSError: pass\n\
        attempt(os.link, 'dir', ro + '/new'); attempt(os.symlink, 'x', ro + '/new')\n\
        attempt(os.link, hid, 'there'); attempt(os.open, hid, os.O_PATH | os.O_NOFOLLOW)";
    let run = prepared(&world, Policy::Named("workspace"), &["--read", &granted]);
    let (outcome, report) = reported(&world, run.command(["python3", "-I", "-c", script, &granted, &hidden]));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let new = format!("{granted}/new");
    assert_eq!(row(&report, "fs.write", &new)["syscall"], "symlink", "{report:#}");
    assert_eq!(row(&report, "fs.hidden", &hidden)["syscall"], "openat", "{report:#}");
    assert_eq!(denials(&report).len(), 2, "{report:#}");
}

pub(crate) fn appeared(caller: Caller) {
    let world = world(caller);
    let later = world.outside().join("later");
    let script = "cat $0; echo asked; sleep 3; cat $0; exec true";
    let run = prepared(&world, Policy::Named("workspace"), &[]);
    let run = run.command(["sh", "-c", script, &later.display().to_string()]);
    let running = run.spawn();
    assert!(running.wait_for("asked"), "{}", running.finish().describe());
    put(&world, &later, 0o644);
    let report = read_report(&world, &running.finish());
    let found = row(&report, "fs.hidden", &later.display().to_string());
    assert_eq!(found["count"], 1, "{report:#}");
}

/// Whatever is renamed elsewhere on the machine, a path with `..` is looked at until it is clear where it leads.
pub(crate) fn beside_renames(caller: Caller) {
    const FILES: usize = 40;
    let world = world(caller);
    for n in 0..FILES {
        put(&world, &world.outside().join(format!("hid/{n}")), 0o644);
    }
    let storm = world.dir("@OUT/storm");
    fs::write(storm.join("a"), "").expect("write a file");
    let up = world
        .project()
        .components()
        .skip(1)
        .map(|_| "..")
        .collect::<Vec<_>>()
        .join("/");
    let hidden = format!("{up}{}/hid", world.outside().display());
    let script = format!(
        "import os, time\ntime.sleep(0.2)\nfor n in range({}):\n try: os.open('{hidden}/%d' % (n % {FILES}), os.O_RDONLY)\n except OSError: pass",
        FILES * 20
    );
    let ended = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        scope.spawn(|| {
            let until = Instant::now() + Duration::from_secs(20);
            while !ended.load(Ordering::Relaxed) && Instant::now() < until {
                fs::rename(storm.join("a"), storm.join("b")).expect("rename");
                fs::rename(storm.join("b"), storm.join("a")).expect("rename back");
            }
        });
        let run = prepared(&world, Policy::Named("workspace"), &[]);
        let (outcome, report) = reported(&world, run.command(["python3", "-I", "-c", &script]));
        ended.store(true, Ordering::Relaxed);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        report
    });
    for n in 0..FILES {
        let path = world.outside().join(format!("hid/{n}")).display().to_string();
        assert_eq!(row(&report, "fs.hidden", &path)["count"], 20, "{path}");
    }
}
