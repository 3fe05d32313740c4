//! What fails outside as well is no denial, however near it comes to a protected name.

use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::net::UnixListener;

use glee_tests::{Caller, Policy, World};
use serde_json::{Value, json};

use crate::support::{denials, prepared, put, reported, row, world};

/// A project with protected names of every kind: a repository, a file, a directory, and one that is not there.
fn project(caller: Caller) -> World {
    let world = world(caller);
    world.git_init();
    for file in [
        "@PROJECT/a",
        "@PROJECT/d/q",
        "@PROJECT/.envrc",
        "@PROJECT/.vscode/settings.json",
        "@PROJECT/sub/.envrc",
    ] {
        world.file(file, "text\n");
    }
    world
}

fn asked(world: &World, script: &[&str]) -> Value {
    let run = prepared(world, Policy::Named("workspace"), &[]).command(script.iter().copied());
    let (outcome, report) = reported(world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    report
}

/// Each line is an expression of Python that may fail.
fn python(world: &World, lines: &[&str]) -> Value {
    let attempts: String = lines
        .iter()
        .map(|line| format!("try: {line}\nexcept OSError: pass\n"))
        .collect();
    asked(world, &["python3", "-I", "-c", &format!("import os\n{attempts}")])
}

/// `mv` tries first whether the directory itself can be made.
pub(crate) fn moves(caller: Caller) {
    let world = project(caller);
    for words in [["mv", "d/q", "."], ["mv", "a", "sub"]] {
        assert_eq!(asked(&world, &words)["denials"], json!([]), "{words:?}");
    }
    let there = [".", "sub"].map(|dir| {
        world
            .project()
            .join(dir)
            .join(if dir == "." { "q" } else { "a" })
            .exists()
    });
    assert_eq!(there, [true, true]);
}

pub(crate) fn names(caller: Caller) {
    let world = project(caller);
    let mut lines = vec![
        "os.rename('missing', '.envrc')",
        "os.rename('missing', '.claude')",
        "os.link('missing', '.git/hooks/x')",
        "os.unlink('.git/hooks/missing')",
        "os.unlink('.vscode')",
        "os.rename('a', '.vscode')",
        "os.rename('d', '.envrc')",
        "os.rename('d', '.git')",
        "os.rename('.git', '.git/sub')",
        "os.rename('.vscode', '.')",
        "os.rename('.vscode', '.vscode')",
        "os.rename('.git', 'd/../.git')",
        "os.rmdir('.envrc')",
        "os.rmdir('.git')",
        "os.rmdir('sub')",
        "os.truncate('.claude', 0)",
        "os.chmod('.claude', 0o600)",
        "os.open('.envrc', os.O_WRONLY | os.O_CREAT | os.O_EXCL)",
    ];
    // Root gives away what it likes.
    if caller == Caller::User {
        lines.push("os.chown('.envrc', 0, 0)");
    }
    for line in lines {
        assert_eq!(python(&world, &[line])["denials"], json!([]), "{line}");
    }
}

/// The other way round: nothing of this fails outside.
pub(crate) fn refused(caller: Caller) {
    for (line, call, name) in [
        ("os.rename('a', '.envrc')", "rename", ".envrc"),
        ("os.rename('.envrc', 'b')", "rename", ".envrc"),
        ("os.rename('.git', 'b')", "rename", ".git"),
        ("os.rename('d', '.claude')", "rename", ".claude"),
        ("os.link('a', '.git/hooks/x')", "link", ".git/hooks/x"),
        ("os.unlink('.envrc')", "unlink", ".envrc"),
        ("os.mkdir('.claude')", "mkdir", ".claude"),
        ("os.chmod('.envrc', 0o600)", "chmod", ".envrc"),
        ("os.chown('.envrc', os.getuid(), -1)", "chown", ".envrc"),
        // What was made inside is moved as it would have been outside.
        (
            "open('/tmp/x', 'w').close(); os.rename('/tmp/x', '.envrc')",
            "rename",
            ".envrc",
        ),
    ] {
        let world = project(caller);
        let report = python(&world, &[line]);
        let path = world.project().join(name).display().to_string();
        assert_eq!(row(&report, "fs.write", &path)["syscall"], call, "{line}: {report:#}");
        assert_eq!(denials(&report).len(), 1, "{line}: {report:#}");
    }
}

pub(crate) fn slashes(caller: Caller) {
    let world = project(caller);
    let secret = put(&world, &world.home().join("hidden/file"), 0o600)
        .display()
        .to_string();
    for end in ["/", "/."] {
        let line = format!("os.open('{secret}{end}', os.O_RDONLY)");
        assert_eq!(python(&world, &[&line])["denials"], json!([]), "{line}");
    }
    // Of a directory it is the same as without.
    let dir = world.home().join("hidden").display().to_string();
    let report = python(&world, &[&format!("os.open('{dir}/', os.O_RDONLY)")]);
    row(&report, "fs.hidden", &dir);
}

/// What can be done with a name depends on what it is, hidden or not.
pub(crate) fn kinds(caller: Caller) {
    let world = project(caller);
    let hidden = world.home().join("hidden");
    put(&world, &hidden.join("dir/file"), 0o600);
    put(&world, &hidden.join("file"), 0o600);
    world.link("file", "@HOME/hidden/link");
    world.link("nowhere", "@HOME/hidden/dangling");
    let socket = UnixListener::bind(hidden.join("socket")).expect("listen on a socket");
    let (uid, gid) = (Some(world.caller().uid()), Some(world.caller().gid()));
    chown(hidden.join("socket"), uid, gid).expect("give the socket away");
    let hidden = hidden.display().to_string();
    for line in [
        "os.open(h + '/file', os.O_RDONLY | os.O_DIRECTORY)",
        "os.open(h + '/dir', os.O_RDWR | os.O_DIRECTORY)",
        "os.open(h + '/link', os.O_RDONLY | os.O_NOFOLLOW)",
        "os.open(h + '/link', os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW)",
        "os.open(h + '/socket', os.O_RDONLY)",
        "os.open(h + '/file', os.O_RDWR | os.O_TMPFILE)",
        "os.truncate(h + '/dir', 0)",
        "os.truncate('.vscode', 0)",
        "os.removexattr(h + '/file', 'user.nothing')",
        "os.removexattr('.envrc', 'user.nothing')",
        "os.open(h + '/file', os.O_RDONLY | os.O_CREAT | os.O_EXCL)",
        "os.open(h + '/dangling', os.O_WRONLY | os.O_CREAT | os.O_EXCL)",
        "os.open(h + '/dir', os.O_RDONLY | os.O_CREAT)",
        "os.open(h + '/file', os.O_PATH | os.O_DIRECTORY)",
        "os.open(h + '/missing', os.O_PATH)",
        "os.link(h + '/file', 'new/')",
        "os.link(h + '/file', 'new/.')",
        "os.link(h + '/file/', 'new')",
        "os.chdir(h + '/file')",
        "os.chdir(h + '/missing')",
        "os.open(h + '/' + 'n' * 256, os.O_WRONLY | os.O_CREAT)",
        "os.symlink('x', h + '/' + 'n' * 256)",
        "os.mkdir(h + '/' + 'n' * 256)",
    ] {
        let report = python(&world, &[&format!("h = '{hidden}'; {line}")]);
        assert_eq!(report["denials"], json!([]), "{line}");
    }
    drop(socket);
    // What is there as it is asked for is refused.
    let report = python(
        &world,
        &[&format!("os.open('{hidden}/dir', os.O_RDONLY | os.O_DIRECTORY)")],
    );
    row(&report, "fs.hidden", &format!("{hidden}/dir"));
}

/// Calls with what is not open, or no socket.
pub(crate) fn descriptors(caller: Caller) {
    let world = project(caller);
    let socket = world.home().join("service.sock");
    let _listener = UnixListener::bind(&socket).expect("listen on a socket");
    let (uid, gid) = (Some(world.caller().uid()), Some(world.caller().gid()));
    chown(&socket, uid, gid).expect("give the socket away");
    let to = "import ctypes, socket, struct; c = ctypes.CDLL(None)\n\
        at = struct.pack('=H', 2) + struct.pack('>H', 80) + bytes([192, 0, 2, 1]) + bytes(8)\n\
        un = struct.pack('=H', 1) + b'PATH' + bytes(2)\n\
        new = struct.pack('=H', 1) + b'.git/hooks/socket' + bytes(2)\n"
        .replace("PATH", &socket.display().to_string());
    let calls = |number: &str| {
        format!(
            "{to}c.connect({number}, at, 16); c.connect({number}, un, len(un)); c.sendto({number}, b'x', 1, 0, at, 16)\n\
            c.bind({number}, new, len(new))\n"
        )
    };
    let family =
        format!("{to}s = socket.socket(); [f(s.fileno(), a, len(a)) for f, a in [(c.connect, un), (c.bind, new)]]");
    let report = asked(&world, &["python3", "-I", "-c", &family]);
    assert_eq!(report["denials"], json!([]));
    for number in ["-1", "77", "open('a').fileno()"] {
        let report = asked(&world, &["python3", "-I", "-c", &calls(number)]);
        assert_eq!(report["denials"], json!([]), "{number}");
    }
    // What is one is refused.
    let ask = |kind: &str, line: &str| {
        let line = format!("{to}s = socket.socket(socket.{kind}); {line}");
        asked(&world, &["python3", "-I", "-c", &line])
    };
    let report = ask("AF_INET", "c.connect(s.fileno(), at, 16)");
    row(&report, "network", "192.0.2.1:80");
    let report = ask("AF_UNIX", "c.connect(s.fileno(), un, len(un))");
    row(&report, "unix", &socket.display().to_string());
    let report = ask("AF_UNIX", "c.bind(s.fileno(), new, len(new))");
    let new = world.project().join(".git/hooks/socket").display().to_string();
    row(&report, "fs.write", &new);
}

/// Behind a hidden link `..` leads to where the link leads.
pub(crate) fn behind_links(caller: Caller) {
    let world = project(caller);
    for file in ["hidden/near", "hidden/d/file", "else/dir/file", "else/far"] {
        put(&world, &world.home().join(file), 0o600);
    }
    world.link("@HOME/else/dir", "@HOME/hidden/link");
    let hidden = world.home().join("hidden").display().to_string();
    for (line, path) in [
        ("os.open(h + '/link/../far', os.O_RDONLY)", Some("else/far")),
        (
            "os.open(h + '/link/../new', os.O_WRONLY | os.O_CREAT)",
            Some("else/new"),
        ),
        ("os.mkdir(h + '/link/../made')", Some("else/made")),
        ("os.open(h + '/d/../near', os.O_RDONLY)", Some("hidden/near")),
        ("os.open(h + '/link/../near', os.O_RDONLY)", None),
        ("os.open(h + '/nowhere/../near', os.O_RDONLY)", None),
        ("os.open(h + '/d/nowhere/../file', os.O_RDONLY)", None),
        ("os.open(h + '/nowhere/../new', os.O_WRONLY | os.O_CREAT)", None),
        ("os.mkdir(h + '/nowhere/../made')", None),
    ] {
        let report = python(&world, &[&format!("h = '{hidden}'; {line}")]);
        let rows: Vec<&str> = denials(&report).iter().filter_map(|row| row["path"].as_str()).collect();
        let expected: Vec<String> = path
            .map(|path| world.home().join(path).display().to_string())
            .into_iter()
            .collect();
        assert_eq!(rows, expected, "{line}: {report:#}");
    }
}

/// What can be reached, but not through a hidden directory and out of it again: the directory is what is wanting, and granting it helps.
pub(crate) fn through_hidden(caller: Caller) {
    let world = project(caller);
    for file in ["hidden/d/file", "hidden/near"] {
        put(&world, &world.home().join(file), 0o600);
    }
    let at = |name: &str| world.home().join(name).display().to_string();
    let near = at("hidden/d/../near");
    let own = format!("{}/{}{}/a", at("hidden"), "../".repeat(16), world.project().display());
    for (asked, granted, wanting) in [
        (&near, vec![at("hidden/near")], Some("hidden/d")),
        (&near, vec![at("hidden/near"), at("hidden/d")], None),
        (&own, vec![], Some("hidden")),
        (&own, vec![at("hidden/d")], None),
    ] {
        let mut arguments = Vec::new();
        granted
            .iter()
            .for_each(|path| arguments.extend(["--read", path.as_str()]));
        let run = prepared(&world, Policy::Named("workspace"), &arguments);
        let report = reported(&world, run.command(["sh", "-c", "cat $0; exec true", asked])).1;
        let rows: Vec<&str> = denials(&report).iter().filter_map(|row| row["path"].as_str()).collect();
        let wanting: Vec<String> = wanting.map(at).into_iter().collect();
        assert_eq!(rows, wanting, "{asked} with {granted:?}: {report:#}");
    }
}

/// `cp -a` gives a link its owner and times, and leaves what it leads to alone.
pub(crate) fn links(caller: Caller) {
    let world = project(caller);
    put(&world, &world.home().join("outside/f"), 0o644);
    world.link("@HOME/outside/f", "@PROJECT/d/l");
    let report = asked(
        &world,
        &["sh", "-c", "cp -a d d2 && touch -h d2/l && chown -h $(id -u) d2/l"],
    );
    assert_eq!(report["denials"], json!([]));
    let through = python(&world, &["os.utime('d/l', (1, 1))"]);
    let file = world.home().join("outside/f").display().to_string();
    row(&through, "fs.write", &file);
    // A link that stays as it is.
    world.link("a", "@PROJECT/.vscode/link");
    let report = python(
        &world,
        &[
            "os.utime('.vscode/link', (1, 1), follow_symlinks=False)",
            "os.chown('.vscode/link', os.getuid(), -1, follow_symlinks=False)",
            "os.lchown('.vscode/link', os.getuid(), -1)",
            // fchmodat2, which no file system takes for a link.
            "__import__('ctypes').CDLL(None).syscall(452, -100, b'.vscode/link', 0o600, 0x100)",
        ],
    );
    let link = world.project().join(".vscode/link").display().to_string();
    let mut calls: Vec<[&str; 3]> = denials(&report)
        .iter()
        .map(|row| ["kind", "path", "syscall"].map(|key| row[key].as_str().unwrap_or_default()))
        .collect();
    calls.sort_unstable();
    let expected = ["lchown", "utimensat"].map(|call| ["fs.write", &link, call]);
    calls.dedup();
    assert_eq!(calls, expected, "{report:#}");
}

pub(crate) fn own_root(caller: Caller) {
    let world = project(caller);
    let secret = put(&world, &world.home().join("hidden/file"), 0o600)
        .display()
        .to_string();
    fs::write(world.project().join("own"), "").expect("write a file");
    let project = world.project().display().to_string();
    let lines = [
        format!("os.open('/proc/self/root{secret}', os.O_RDONLY)"),
        format!("os.open('/proc/self/root/{project}/own', os.O_RDONLY)"),
        "os.open('/proc/self/cwd/own', os.O_RDONLY)".to_owned(),
    ];
    let report = python(&world, &lines.each_ref().map(String::as_str));
    row(&report, "fs.hidden", &secret);
    assert_eq!(denials(&report).len(), 1, "{report:#}");
    world.dir("@PROJECT/odd (deleted)");
    for path in [
        "/proc/self/../..' + s + '",
        "//proc/self/cwd/../hidden/file",
        "/proc//self/root' + s + '",
        "/proc/' + str(os.getpid()) + '/root' + s + '",
        "/./proc/self/cwd/../hidden/file",
        "/proc/self/task/' + str(os.getpid()) + '/cwd/../hidden/file",
        "/proc/self/fd/' + str(os.open('.', os.O_RDONLY)) + '/../hidden/file",
        "/dev/fd/' + str(os.open('.', os.O_RDONLY)) + '/../hidden/file",
        "' + './' * 2037 + '../hidden/file",
        "' + (os.chdir('odd (deleted)') or '') + '../../hidden/file",
    ] {
        let report = python(&world, &[&format!("s = '{secret}'; os.open('{path}', os.O_RDONLY)")]);
        row(&report, "fs.hidden", &secret);
        assert_eq!(denials(&report).len(), 1, "{path}: {report:#}");
    }
}
