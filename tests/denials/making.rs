//! What is made by way of `..`, in a directory that is not there, and at a link.

use std::fs;

use glee_tests::{Caller, Policy};
use serde_json::json;

use crate::support::{denials, prepared, put, reported, row, world};

/// An out-of-source build names all that it makes with `..`.
pub(crate) fn beside_the_source(caller: Caller) {
    for flags in [&[][..], &["--workspace", "cow"]] {
        let world = world(caller);
        world.file("@PROJECT/src/m.c", "int main(void) { return 0; }\n");
        world.file("@PROJECT/out/old", "");
        world.link("made-by-link", "@PROJECT/out/link");
        let script = "cd src && cc -c -o ../out/m.o m.c && cc -o ../out/m m.c && ar rcs ../libx.a ../out/m.o && tar cf ../t.tar . \
            && echo hi > ../out/new && cat ../out/new && echo > ..data && echo > ../out/..data && echo > ../out/link \
            && mkdir ../out/d && mv m.c ../out/d/../m.c && flock ../out/d/../lock true \
            && python3 -I -c \"open('../py', 'w').close(); open('../out/../py2', 'x').close()\" \
            && node -e \"require('fs').writeFileSync('../out/js', 'x')\"";
        let run = prepared(&world, Policy::Named("workspace"), flags).command(["sh", "-ec", script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(
            (outcome.code(), outcome.out().as_str()),
            (Some(0), "hi\n"),
            "{}",
            outcome.describe()
        );
        assert_eq!(report["denials"], json!([]), "{flags:?}");
    }
    // What is refused is named as it would have been made.
    let world = world(caller);
    world.file("@PROJECT/src/m.c", "");
    put(&world, &world.home().join("hid/dir/file"), 0o644);
    let script = "cd src; echo > ../new; echo > ~/hid/dir/../new; echo > ~/nowhere/../new; exec true";
    let run = prepared(
        &world,
        Policy::Yaml("extends: restricted\nfs: {read: [\".\"]}\n".into()),
        &[],
    );
    let (_, report) = reported(&world, run.command(["sh", "-c", script]));
    row(&report, "fs.write", &world.project().join("new").display().to_string());
    row(&report, "fs.write", &world.home().join("hid/new").display().to_string());
    assert_eq!(denials(&report).len(), 2, "{report:#}");
}

/// However many are refused, the next one is not forgotten.
pub(crate) fn many_directories(caller: Caller) {
    let world = world(caller);
    for file in ["hid/file", ".ssh/file"] {
        put(&world, &world.home().join(file), 0o644);
    }
    let script = "i=0; while [ $i -lt 64 ]; do mkdir ~/hid/d$i; i=$((i+1)); done; mkdir ~/.ssh/evil; \
        for i in 1 2 3; do mkdir ~/hid/d63; done; exec true";
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", script]);
    let (_, report) = reported(&world, run);
    let made = |name: &str| world.home().join(name).display().to_string();
    for n in 0..63 {
        assert_eq!(row(&report, "fs.write", &made(&format!("hid/d{n}")))["count"], 1);
    }
    row(&report, "fs.write", &made(".ssh/evil"));
    assert_eq!(row(&report, "fs.write", &made("hid/d63"))["count"], 4);
    assert_eq!(
        (denials(&report).len(), &report["denials_omitted"]),
        (65, &json!(0)),
        "{report:#}"
    );
}

/// A grant of a link is one of what it leads to: who changes the link itself needs its directory.
pub(crate) fn links_themselves(caller: Caller) {
    let world = world(caller);
    put(&world, &world.project().join("ro/file"), 0o644);
    world.link("file", "@PROJECT/ro/l");
    let script = "touch -h ro/l && python3 -I -c \"import os; os.lchown('ro/l', -1, -1)\"";
    let ask = |policy: &str| {
        let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
        reported(&world, run)
    };
    let base = "extends: restricted\nfs: {read: [\".\"]";
    let (outcome, report) = ask(&format!("{base}}}\n"));
    assert_eq!(outcome.code(), Some(1), "{}", outcome.describe());
    let link = world.project().join("ro/l").display().to_string();
    let hint = &row(&report, "fs.write", &link)["hint"];
    assert_eq!(hint, "fs.write: [\"ro\"]", "{report:#}");
    let (outcome, report) = ask(&format!("{base}, write: [\"ro\"]}}\n"));
    assert_eq!(
        (outcome.code(), &report["denials"]),
        (Some(0), &json!([])),
        "{}",
        outcome.describe()
    );
    assert!(fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()));
}

/// What is covered, hidden behind a link that is followed, or not granted.
pub(crate) fn second_names(caller: Caller) {
    let world = world(caller);
    let denied = put(&world, &world.project().join("denied"), 0o644);
    let hidden = put(&world, &world.outside().join("file"), 0o644);
    world.link("@OUT/file", "@PROJECT/link");
    let ask = |policy: &str, line: &str| {
        let script = format!("import os, sys\nh = sys.argv[1]\ntry: {line}\nexcept OSError: pass");
        let run = prepared(&world, Policy::Yaml(format!("extends: workspace\n{policy}")), &[]);
        let hidden = hidden.display().to_string();
        let (outcome, report) = reported(&world, run.command(["python3", "-I", "-c", &script, &hidden]));
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        report
    };
    let deny = "fs: {write: [\".\"], deny: [\"denied\"]}\n";
    let report = ask(deny, "os.link('denied', 'new')");
    assert_eq!(
        row(&report, "fs.read", &denied.display().to_string())["hint"],
        "remove fs.deny \"denied\""
    );
    // With AT_SYMLINK_FOLLOW.
    let follow = "__import__('ctypes').CDLL(None).linkat(-100, b'link', -100, b'new', 0x400)";
    let report = ask("", follow);
    row(&report, "fs.hidden", &hidden.display().to_string());
    // A link itself can be given one.
    assert_eq!(
        ask("", "os.link('link', 'new', follow_symlinks=False)")["denials"],
        json!([])
    );
    // Root's sandbox always has mounts.
    if caller == Caller::User {
        let report = ask("isolation: landlock\n", "os.link(h, 'second')");
        row(&report, "fs.read", &hidden.display().to_string());
    }
}

pub(crate) fn links_to_nothing(caller: Caller) {
    let world = world(caller);
    world.link("nowhere", "@OUT/dangling");
    let link = world.outside().join("dangling").display().to_string();
    let dir = world.outside().display().to_string();
    let ask = |flags: &[&str]| {
        let run = prepared(&world, Policy::Named("workspace"), flags);
        reported(&world, run.command(["sh", "-c", "echo > $0", &link]))
    };
    let (_, report) = ask(&[]);
    assert_eq!(
        row(&report, "fs.write", &link)["hint"],
        format!("fs.write: [\"{dir}\"]")
    );
    let (outcome, report) = ask(&["--write", &dir]);
    assert_eq!(
        (outcome.code(), &report["denials"]),
        (Some(0), &json!([])),
        "{}",
        outcome.describe()
    );
}

pub(crate) fn moved_project(caller: Caller) {
    let world = world(caller);
    put(&world, &world.project().join("file"), 0o644);
    let project = world.project().display().to_string();
    for from in [project.as_str(), "../project"] {
        let script = "mv -T $0 ../other; exec true";
        let run = prepared(&world, Policy::Named("workspace"), &[]).command(["sh", "-c", script, from]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        row(&report, "fs.write", &project);
    }
}
