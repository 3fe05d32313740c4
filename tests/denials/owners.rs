//! Root's command is not root: what belongs to others it cannot have, and the report says so. To an ordinary user that is no
//! denial.

use glee_tests::{Caller, Policy};

use crate::support::{denials, prepared, put, reported, row, world};

/// Somebody who is neither the caller nor the sandbox's user.
const OTHER: u32 = 54_321;

pub(crate) fn prove(caller: Caller) {
    for (line, kind, name) in [
        ("os.open('closed/file', os.O_RDONLY)", "fs.read", "closed/file"),
        (
            "os.open('closed/new', os.O_WRONLY | os.O_CREAT)",
            "fs.write",
            "closed/new",
        ),
        ("os.chmod('file', 0o600)", "fs.write", "file"),
        ("os.truncate('file', 0)", "fs.write", "file"),
        ("os.truncate('shut', 0)", "fs.write", "shut"),
        ("os.utime('file')", "fs.write", "file"),
        ("os.utime('file', (1, 1))", "fs.write", "file"),
        ("os.setxattr('file', 'user.a', b'b')", "fs.write", "file"),
        ("os.chown('file', 0, 0)", "fs.write", "file"),
        ("os.unlink('sticky/file')", "fs.write", "sticky/file"),
        ("os.rename('sticky/file', 'new')", "fs.write", "sticky/file"),
        ("os.rename('own', 'sticky/file')", "fs.write", "sticky/file"),
    ] {
        let world = world(caller);
        for file in ["closed/file", "sticky/file", "file", "own"] {
            put(&world, &world.project().join(file), 0o644);
        }
        put(&world, &world.project().join("shut"), 0o444);
        for (path, mode) in [("closed", 0o700), ("sticky", 0o1777)] {
            world.mode(&format!("@PROJECT/{path}"), mode);
        }
        for path in ["closed/file", "closed", "sticky/file", "sticky", "file"] {
            world.give(&format!("@PROJECT/{path}"), OTHER);
        }
        let script = format!("import os\nos.chmod('own', 0o600)\ntry: {line}\nexcept OSError: pass");
        let run = prepared(&world, Policy::Named("workspace"), &[]).command(["python3", "-I", "-c", &script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        if caller == Caller::Root {
            let path = world.project().join(name).display().to_string();
            let rule = row(&report, kind, &path)["rule"].as_str().unwrap_or_default();
            assert!(rule.ends_with(", never as root"), "{line}: {report:#}");
        }
        let rows = usize::from(caller == Caller::Root);
        assert_eq!(denials(&report).len(), rows, "{line}: {report:#}");
    }
}
