//! Looking at what is hidden: with a descriptor that only names it, and on request by its name.

use glee_tests::{Caller, Policy, Run, World};
use serde_json::{Value, json};

use crate::support::{denials, prepared, put, reported, row, world};

fn hidden(caller: Caller) -> World {
    let world = world(caller);
    put(&world, &world.home().join("hid/file"), 0o444);
    put(&world, &world.home().join("hid/dir/file"), 0o644);
    world.link("nowhere", "@HOME/hid/dangling");
    world.link("@HOME/hid/file", "@PROJECT/link");
    let tagged = put(&world, &world.home().join("hid/tagged"), 0o644)
        .display()
        .to_string();
    let set = "import os, sys; os.setxattr(sys.argv[1], 'user.a', b'b')";
    assert_eq!(
        Run::bare(&world).command(["python3", "-c", set, &tagged]).go().code(),
        Some(0)
    );
    world
}

fn ask(world: &World, line: &str, flags: &[&str]) -> Value {
    let hidden = world.home().join("hid").display().to_string();
    let script = format!(
        "import ctypes, os\nh = '{hidden}'; c = ctypes.CDLL(None, use_errno=True)\ntry: {line}\nexcept OSError: pass"
    );
    let run = prepared(world, Policy::Named("restricted"), flags).command(["python3", "-I", "-c", &script]);
    let (outcome, report) = reported(world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    report
}

pub(crate) fn opened_as_a_place(caller: Caller) {
    let world = hidden(caller);
    for (line, name) in [
        ("os.open(h + '/file', os.O_PATH)", "hid/file"),
        ("os.open('link', os.O_PATH)", "hid/file"),
        ("os.open(h + '/dangling', os.O_PATH | os.O_NOFOLLOW)", "hid/dangling"),
        ("os.open(h + '/dir', os.O_PATH | os.O_DIRECTORY)", "hid/dir"),
    ] {
        let report = ask(&world, line, &[]);
        row(&report, "fs.hidden", &world.home().join(name).display().to_string());
        assert_eq!(denials(&report).len(), 1, "{line}: {report:#}");
    }
    for line in [
        "os.open(h + '/dangling', os.O_PATH)",
        "os.open(h + '/file', os.O_PATH | os.O_DIRECTORY)",
        "os.open('link', os.O_PATH | os.O_NOFOLLOW)",
        "os.open('/usr', os.O_PATH)",
    ] {
        assert_eq!(ask(&world, line, &[])["denials"], json!([]), "{line}");
    }
}

pub(crate) fn asked_for_a_console(caller: Caller) {
    let world = world(caller);
    for (request, rows) in [
        ("0x5603", 0),
        ("0x4b33", 0),
        ("0x4b3b", 0),
        ("0x4b44", 0),
        ("0x5606", 1),
    ] {
        let line = format!("import fcntl; fcntl.ioctl(os.openpty()[1], {request}, bytearray(64))");
        let report = ask(&world, &line, &[]);
        assert_eq!(denials(&report).len(), rows, "{request}: {report:#}");
    }
}

pub(crate) fn explained(caller: Caller) {
    let world = hidden(caller);
    let path = |name: &str| world.home().join(name).display().to_string();
    for (line, name) in [
        ("os.stat('link')", "hid/file"),
        ("os.access('link', os.F_OK)", "hid/file"),
        ("os.access(h + '/file', os.R_OK)", "hid/file"),
        ("os.lstat(h + '/dangling')", "hid/dangling"),
        ("os.statvfs(h)", "hid"),
        ("os.getxattr(h + '/tagged', 'user.a')", "hid/tagged"),
        ("os.readlink(h + '/dangling')", "hid/dangling"),
        ("os.listxattr(h + '/file')", "hid/file"),
        ("c.inotify_add_watch(c.inotify_init(), h.encode(), 2)", "hid"),
    ] {
        let report = ask(&world, line, &["--explain"]);
        assert_eq!(row(&report, "fs.hidden", &path(name))["program"], "python3", "{line}");
        assert_eq!(ask(&world, line, &[])["denials"], json!([]), "{line}");
    }
    put(&world, &world.project().join("own"), 0o644);
    let report = ask(&world, "os.access('own', os.W_OK)", &["--explain"]);
    let found = row(&report, "fs.write", &path("project/own"));
    assert!(
        found["hint"].as_str().is_some_and(|hint| hint.starts_with("fs.write")),
        "{found}"
    );
    let mut lines = vec![
        "os.access(h + '/file', os.X_OK)",
        "os.stat(h + '/dangling')",
        "os.lstat('link')",
        "os.access('own', os.R_OK)",
        "os.readlink(h + '/file')",
        "os.getxattr(h + '/tagged', 'user.b')",
    ];
    // Root writes to what it likes.
    if caller == Caller::User {
        lines.push("os.access(h + '/file', os.W_OK)");
    }
    for line in lines {
        let report = ask(&world, line, &["--explain"]);
        let about = |row: &&Value| {
            row["path"]
                .as_str()
                .is_some_and(|at| at.starts_with(&path("hid")) || at.starts_with(&path("project/")))
        };
        assert_eq!(denials(&report).iter().find(about), None, "{line}");
    }
}

/// That something is there can be seen; what may be done with it is the cover's answer.
pub(crate) fn covered(caller: Caller) {
    let world = world(caller);
    put(&world, &world.project().join(".env"), 0o644);
    put(&world, &world.project().join("shut/file"), 0o644);
    let policy = "extends: workspace\nfs: {deny: [\"**/.env\", \"shut\"]}\n";
    let ask = |line: &str| {
        let script = format!("import os\ntry: {line}\nexcept OSError: pass");
        let run =
            prepared(&world, Policy::Yaml(policy.into()), &["--explain"]).command(["python3", "-I", "-c", &script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        let at = |name: &str| world.project().join(name).display().to_string();
        let ours = [at(".env"), at("shut")];
        let rows = denials(&report).iter();
        rows.filter(|row| ours.iter().any(|path| row["path"] == **path))
            .map(|row| (row["kind"].clone(), row["hint"].clone()))
            .collect::<Vec<_>>()
    };
    for (line, deny) in [
        ("os.access('.env', os.R_OK)", "**/.env"),
        ("os.access('.env', os.W_OK)", "**/.env"),
        ("os.access('shut', os.R_OK | os.X_OK)", "shut"),
    ] {
        let hint = format!("remove fs.deny \"{deny}\"");
        assert_eq!(ask(line), [("fs.read".into(), hint.into())], "{line}");
    }
    for line in ["os.access('.env', os.F_OK)", "os.stat('.env')", "os.stat('shut')"] {
        assert_eq!(ask(line), [], "{line}");
    }
}
