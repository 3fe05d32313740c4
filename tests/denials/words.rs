//! What a row says, and what is no row.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use glee_tests::{Caller, Listener, Policy, Run};
use serde_json::{Value, json};

use crate::support::{denials, prepared, put, reported, row, world};

fn words(row: &Value) -> [&str; 4] {
    ["rule", "hint", "program", "syscall"].map(|key| row[key].as_str().unwrap_or_default())
}

pub(crate) fn rules_and_hints(caller: Caller) {
    let world = world(caller);
    let key = put(&world, &world.home().join(".ssh/id_ed25519"), 0o600)
        .display()
        .to_string();
    let envrc = world.project().join(".envrc").display().to_string();
    let denied = put(&world, &world.project().join("conf/.env"), 0o600)
        .display()
        .to_string();
    let policy = "extends: workspace\nfs:\n  write: [\".\"]\n  deny: [\"**/.env\"]\n";
    let script = "cat ~/.ssh/id_ed25519; cat conf/.env; echo x > .envrc; exec cat /dev/null";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let [rule, hint, program, call] = words(row(&report, "fs.hidden", &key));
    assert_eq!(
        (rule, hint, program, call),
        (
            "no grant covers the path",
            "fs.read: [\"~/.ssh/id_ed25519\"]",
            "cat",
            "openat"
        )
    );
    let [rule, hint, ..] = words(row(&report, "fs.read", &denied));
    assert!(
        rule.starts_with("fs.deny `**/.env` (") && rule.ends_with("policy.yml:4)"),
        "{rule}"
    );
    assert_eq!(hint, "remove fs.deny \"**/.env\"");
    let [rule, hint, program, _] = words(row(&report, "fs.write", &envrc));
    assert!(rule.contains("programs outside obey it"), "{rule}");
    assert_eq!((hint, program), ("unprotect: [\".envrc\"]", "sh"));
    assert_eq!(denials(&report).len(), 3, "{:#}", report["denials"]);
}

pub(crate) fn ordinary_failures(caller: Caller) {
    let world = world(caller);
    let mine = put(&world, &world.project().join("mine"), 0o644);
    // Who makes a directory with all above it tries the last first.
    put(&world, &world.home().join(".store/deep/file"), 0o644);
    let script = format!(
        "cat nowhere; cat /no/such/file; cat ~/not-there; mkdir /usr; ls {0}/below; cat {0}; cat /proc/self/status; \
         echo x > /tmp/t && cat /tmp/t && rm /tmp/t; echo x > ~/mine && rm ~/mine; \
         mkdir ~/.store/deep/new; mkdir -p ~/.store/deep/new && exec true",
        mine.display()
    );
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", &script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(
        (outcome.code(), &report["denials"]),
        (Some(0), &json!([])),
        "{}",
        outcome.describe()
    );
}

pub(crate) fn links(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("data/secret"), 0o600);
    symlink(world.home().join("data"), world.project().join("data")).expect("make a link");
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["cat", "data/secret"]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(1), "{}", outcome.describe());
    assert_eq!(
        row(&report, "fs.hidden", &secret.display().to_string())["program"],
        "cat"
    );
}

pub(crate) fn looks(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secret"), 0o600).display().to_string();
    let ask = |flags: &[&str]| {
        let run = prepared(&world, Policy::Named("restricted"), flags).command(["test", "-e", &secret]);
        reported(&world, run).1
    };
    assert_eq!(ask(&[])["denials"], json!([]));
    assert_eq!(row(&ask(&["--explain"]), "fs.hidden", &secret)["program"], "test");
}

pub(crate) fn without(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("secret"), 0o600).display().to_string();
    let script = format!("cat {secret}; unshare -U true; exec true");
    let run = prepared(&world, Policy::Named("restricted"), &["--no-denials"]).command(["sh", "-c", &script]);
    let (_, report) = reported(&world, run);
    assert_eq!(denials(&report).len(), 1, "{report}");
    assert_eq!(row(&report, "syscall", "unshare")["program"], "unshare");
}

pub(crate) fn limits(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nlimits: {file_size_mb: 1}\n";
    let script = "exec dd if=/dev/zero of=big bs=65536 count=64";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
    let (_, report) = reported(&world, run);
    assert_eq!(
        words(row(&report, "limit", "limits.file_size_mb"))[1],
        "limits: {file_size_mb: 2}"
    );
    let _ = fs::remove_file(world.project().join("big"));
    let run = prepared(&world, Policy::Named("restricted"), &["--timeout", "300ms"]).command(["sleep", "20"]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(124), "{}", outcome.describe());
    let [rule, hint, ..] = words(row(&report, "limit", "max_runtime_mins"));
    assert_eq!((rule, hint), ("max_runtime_mins: 0.005 (--timeout)", "--timeout 600ms"));
}

pub(crate) fn full(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nlimits: {open_files: 64, disk_mb: 8}\n";
    let many =
        "import os\nfor n in range(200):\n    try: os.open('/etc/passwd', os.O_RDONLY)\n    except OSError: pass";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-c", many]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let found = row(&report, "limit", "limits.open_files");
    assert_eq!(
        words(found)[1..],
        ["limits: {open_files: 128}", "python3", "openat"],
        "{found}"
    );
    // Of 200, 64 fit with those that are open at its start; each of the rest fails.
    assert!(
        found["count"].as_u64().is_some_and(|count| (100..200).contains(&count)),
        "{found}"
    );
    assert_ne!(found["pid"], 0, "{found}");
    assert_eq!(denials(&report).len(), 1, "{:#}", report["denials"]);

    let fill = "head -c 30000000 /dev/zero > /tmp/much; exec true";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", fill]);
    let (_, report) = reported(&world, run);
    assert_eq!(
        words(row(&report, "limit", "limits.disk_mb"))[1],
        "limits: {disk_mb: 16}"
    );

    let little = "for n in 1 2 3 4 5; do cat /etc/passwd > /tmp/$n; done";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", little]);
    assert_eq!(reported(&world, run).1["denials"], json!([]));
}

/// Sockets and threads fill the table, too.
pub(crate) fn crowded(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nlimits: {open_files: 1024}\n";
    let attempts = "def more(n):\n for _ in range(n):\n  try: kept.append(os.open('/etc/passwd', os.O_RDONLY))\n  except OSError: pass\n";
    for fill in [
        "try:\n while True: kept.append(socket.socket())\nexcept OSError: more(50)",
        "for _ in range(16): threading.Thread(target=more, args=[100]).start()",
    ] {
        let script = format!("import os, socket, threading\nkept = []\n{attempts}{fill}");
        let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-I", "-c", &script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        row(&report, "limit", "limits.open_files");
    }
}

pub(crate) fn clients(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nnetwork: {allow: [\"allowed.example\"]}\n";
    let ask = "import socket, sys\ntry: socket.getaddrinfo(sys.argv[1], 80)\nexcept OSError: pass";
    let script = "python3 -c \"$1\" one.example; python3 -c \"$1\" two.example; \
                  getent ahosts two.example; exec true";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script, "sh", ask]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let found = row(&report, "network", "one.example");
    assert_eq!(found["program"], "python3", "{found}");
    assert_ne!(found["pid"], 0, "{found}");
    // Asked for by two programs: neither is named.
    let found = row(&report, "network", "two.example");
    assert_eq!((&found["program"], &found["pid"]), (&"".into(), &0.into()), "{found}");
    assert!(
        report["egress"]
            .as_array()
            .is_some_and(|rows| rows.iter().all(|row| row.get("clients").is_none()))
    );
    // A proxy is told the name inside of a connection.
    let proxied = "import os, socket\np = os.environ['http_proxy'].split('//')[1].strip('/').split(':')\n\
                   s = socket.create_connection((p[0], int(p[1])))\n\
                   s.sendall(b'CONNECT three.example:443 HTTP/1.1\\r\\nHost: three.example:443\\r\\n\\r\\n')\ns.recv(100)";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-c", proxied]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let found = row(&report, "network", "three.example:443");
    assert_eq!(found["program"], "python3", "{found}");
}

/// What `touch`, `chown` and `setfattr` do to a file that can only be read.
pub(crate) fn changes(caller: Caller) {
    let world = world(caller);
    let file = put(&world, &world.project().join("file"), 0o644).display().to_string();
    let set = Run::bare(&world).command([
        "python3",
        "-c",
        "import os, sys\nos.setxattr(sys.argv[1], 'user.a', b'b')",
        &file,
    ]);
    assert_eq!(set.go().code(), Some(0));
    let script = "import os, sys\nf = sys.argv[1]\ndef attempt(change, *more):\n try: change(f, *more)\n except OSError: pass\n\
        attempt(os.utime); attempt(os.chown, -1, -1); attempt(os.lchown, -1, -1)\n\
        attempt(os.setxattr, 'user.a', b'b'); attempt(os.removexattr, 'user.a')";
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["python3", "-I", "-c", script, &file]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let mut calls: Vec<&str> = denials(&report)
        .iter()
        .filter(|row| row["kind"] == "fs.write" && row["path"] == file.as_str())
        .filter_map(|row| row["syscall"].as_str())
        .collect();
    calls.sort_unstable();
    assert_eq!(
        calls,
        ["chown", "lchown", "removexattr", "setxattr", "utimensat"],
        "{report:#}"
    );
}

/// `..` after a name that is not there, and slashes without number.
pub(crate) fn spellings(caller: Caller) {
    let world = world(caller);
    let secret = put(&world, &world.home().join("sec/deep/b"), 0o700)
        .display()
        .to_string();
    // What no policy can name is granted with its directory.
    let starred = put(&world, &world.home().join("sec/a*b"), 0o600).display().to_string();
    let top = put(&world, &world.home().join("a*b"), 0o600).display().to_string();
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["cat", &starred, &top]);
    let (_, report) = reported(&world, run);
    let hints = [&starred, &top].map(|path| words(row(&report, "fs.hidden", path))[1]);
    assert_eq!(
        hints,
        ["fs.read: [\"~/sec\"]", "no policy key allows this"],
        "{report:#}"
    );
    for script in [
        "cat ~/sec/../sec/deep/b",
        "cat ~/sec///deep/./b",
        "~/sec/deep/../../sec/deep/b",
    ] {
        let run =
            prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", &format!("{script}; exec true")]);
        let (_, report) = reported(&world, run);
        let [_, hint, ..] = words(row(&report, "fs.hidden", &secret));
        assert_eq!(hint, "fs.read: [\"~/sec/deep/b\"]", "{script}: {report:#}");
    }
}

/// Making one directory is refused; making all above it is not.
pub(crate) fn directories(caller: Caller) {
    let world = world(caller);
    put(&world, &world.home().join("ext/file"), 0o644);
    let new = world.home().join("ext/new").display().to_string();
    let ask = |script: &str| {
        let run = prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", script]);
        reported(&world, run).1
    };
    let report = ask("mkdir ~/ext/new; exec true");
    assert_eq!(
        words(row(&report, "fs.write", &new))[1..3],
        ["fs.write: [\"~/ext\"]", "mkdir"]
    );
    assert_eq!(
        ask("mkdir ~/ext/new; mkdir ~/ext && mkdir ~/ext/new; exec true")["denials"],
        json!([])
    );
}

/// What is covered or closed although it is granted: no grant of the same path helps.
pub(crate) fn granted(caller: Caller) {
    let world = world(caller);
    let dir = world.dir("@OUT/ro").display().to_string();
    world.host_does("mkfifo @OUT/ro/pipe; mkdir -m 0 @OUT/closed");
    let closed = world.outside().join("closed").display().to_string();
    let _socket = Listener::unix(&world.outside().join("ro/socket"));
    world.give("@OUT/ro/socket", caller.uid());
    let script = "import os, socket, sys\nd, closed = sys.argv[1:]\ndef attempt(call, *args):\n try: call(*args)\n except OSError: pass\n\
        attempt(os.open, d + '/pipe', os.O_RDONLY | os.O_NONBLOCK); attempt(os.listdir, closed)\n\
        attempt(socket.socket(socket.AF_UNIX).connect, d + '/socket')";
    let run = prepared(&world, Policy::Named("workspace"), &["--read", &dir, "--read", &closed]);
    let (outcome, report) = reported(&world, run.command(["python3", "-I", "-c", script, &dir, &closed]));
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let write = format!("fs.write: [\"{dir}\"]");
    for (kind, name, advice) in [
        ("fs.read", "pipe", write.as_str()),
        ("unix", "socket", "no policy key allows this"),
    ] {
        let [rule, hint, ..] = words(row(&report, kind, &format!("{dir}/{name}")));
        let begins = format!("a {name} of the host leads to a program outside");
        assert!(rule.starts_with(&begins), "{rule}");
        assert_eq!(hint, advice, "{report:#}");
    }
    let rows = if caller == Caller::Root {
        let [rule, hint, ..] = words(row(&report, "fs.read", &closed));
        assert!(rule.ends_with(", never as root"), "{rule}");
        assert_eq!(hint, "change its permissions, or run as its owner");
        3
    } else {
        2
    };
    assert_eq!(denials(&report).len(), rows, "{report:#}");
}

/// Bytes that are no text.
pub(crate) fn bytes(caller: Caller) {
    let world = world(caller);
    let name = std::ffi::OsStr::from_bytes(b"b\xff");
    let path = put(&world, &world.outside().join(name), 0o644);
    let dir = world.outside().display().to_string();
    let script = format!("import os\ntry: os.open(b'{dir}/b\\xff', os.O_RDONLY)\nexcept OSError: pass");
    let run = prepared(&world, Policy::Named("workspace"), &[]).command(["python3", "-I", "-c", &script]);
    let (_, report) = reported(&world, run);
    let found = row(&report, "fs.hidden", &path.to_string_lossy());
    let hex: String = path
        .as_os_str()
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    assert_eq!(found["path_hex"], hex, "{found}");
}

/// What a hint says is what helps.
pub(crate) fn followed(caller: Caller) {
    let world = world(caller);
    let script = "git init -q . && git config user.name x";
    let ask = |policy: &str| {
        let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
        reported(&world, run)
    };
    let (outcome, _) = ask("extends: workspace\nunprotect: [\".git/config\", \".git/config.lock\"]\n");
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let (_, report) = ask("extends: workspace\n");
    let lock = world.project().join(".git/config.lock").display().to_string();
    let hint = "unprotect: [\".git/config\", \".git/config.lock\"]";
    assert_eq!(words(row(&report, "fs.write", &lock))[1], hint, "{report:#}");
}

/// It stays only because of what lies in it.
pub(crate) fn git_directories(caller: Caller) {
    for dir in [".git", "sub/.git", "sub"] {
        let world = world(caller);
        world.git_init();
        world.file("@PROJECT/sub/file", "text\n");
        let made = Run::bare(&world).command(["git", "init", "-q", "sub"]).go();
        assert_eq!(made.code(), Some(0), "{}", made.describe());
        let ask = |policy: String| {
            let script = "import os, sys; os.rename(sys.argv[1], sys.argv[1] + '.old')";
            let run = prepared(&world, Policy::Yaml(policy), &[]).command(["python3", "-I", "-c", script, dir]);
            reported(&world, run)
        };
        let (outcome, report) = ask("extends: workspace\n".into());
        assert_eq!(outcome.code(), Some(1), "{}", outcome.describe());
        let path = world.project().join(dir).display().to_string();
        let hint = words(row(&report, "fs.write", &path))[1];
        assert!(!hint.contains(".git\""), "{hint}");
        let (outcome, report) = ask(format!("extends: workspace\n{hint}\n"));
        assert_eq!(outcome.code(), Some(0), "{hint}: {}", outcome.describe());
        assert_eq!(report["denials"], json!([]), "{hint}");
    }
}

/// As if the kernel did not have them: what libraries try at every start is not worth a row.
pub(crate) fn absent_calls(caller: Caller) {
    let world = world(caller);
    let tried = "import ctypes, sys\nlibc = ctypes.CDLL(None, use_errno=True)\n\
        for nr in map(int, sys.argv[1:]):\n assert (libc.syscall(nr, 0, 0, 0, 0, 0), ctypes.get_errno()) == (-1, 38), nr";
    let reported_calls = [
        (libc::SYS_io_uring_setup, "io_uring_setup"),
        (libc::SYS_open_tree, "open_tree"),
        (libc::SYS_fsopen, "fsopen"),
        (libc::SYS_mount_setattr, "mount_setattr"),
        (libc::SYS_memfd_secret, "memfd_secret"),
    ];
    let probes = [libc::SYS_clone3, libc::SYS_openat2, libc::SYS_mbind];
    let numbers = reported_calls
        .iter()
        .map(|(nr, _)| *nr)
        .chain(probes)
        .map(|nr| nr.to_string());
    for flags in [&[][..], &["--no-denials"]] {
        let command = ["python3", "-I", "-c", tried]
            .map(str::to_owned)
            .into_iter()
            .chain(numbers.clone());
        let run = prepared(&world, Policy::Named("restricted"), flags).command(command);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        for (_, name) in reported_calls {
            assert_eq!(row(&report, "syscall", name)["count"], 1, "{report:#}");
        }
        assert_eq!(denials(&report).len(), reported_calls.len(), "{report:#}");
    }
}

/// `flock` opens its file for reading, and makes it. A file without a name is made in a directory.
pub(crate) fn locks(caller: Caller) {
    let world = world(caller);
    put(&world, &world.home().join("lk/old"), 0o644);
    let place = world.home().join("lk").display().to_string();
    let script = "flock ~/lk/lock true; flock ~/lk/old true\n\
        python3 -I -c 'import os, sys; os.open(sys.argv[1], os.O_RDWR | os.O_TMPFILE)' ~/lk; flock here true; exec true";
    let ask = |policy: &str| {
        let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["sh", "-c", script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        report
    };
    let report = ask("extends: workspace\n");
    for (kind, what, hint, program) in [
        ("fs.write", format!("{place}/lock"), "fs.write: [\"~/lk\"]", "flock"),
        ("fs.hidden", format!("{place}/old"), "fs.read: [\"~/lk/old\"]", "flock"),
        ("fs.write", place.clone(), "fs.write: [\"~/lk\"]", "python3"),
    ] {
        assert_eq!(words(row(&report, kind, &what))[1..3], [hint, program], "{report:#}");
    }
    assert_eq!(denials(&report).len(), 3, "{report:#}");
    // With what the hints say, nothing is refused.
    let report = ask("extends: workspace\nfs: {write: [\".\", \"~/lk\"]}\n");
    assert_eq!(report["denials"], json!([]));
    // Where it can only be read, what is there is opened as it is.
    let report = ask("extends: workspace\nfs: {read: [\"~/lk\"]}\n");
    let refused: Vec<&str> = denials(&report).iter().filter_map(|row| row["path"].as_str()).collect();
    assert_eq!(refused, [place.as_str()], "{report:#}");
    // A name that is only taken while the run lasts would have been made.
    let run = prepared(&world, Policy::Named("workspace"), &[]).command(["flock", ".envrc", "true"]);
    let (_, report) = reported(&world, run);
    let taken = world.project().join(".envrc").display().to_string();
    assert_eq!(
        words(row(&report, "fs.write", &taken))[2..],
        ["flock", "openat"],
        "{report:#}"
    );
}

pub(crate) fn entered(caller: Caller) {
    let world = world(caller);
    put(&world, &world.home().join("lk/file"), 0o644);
    let place = world.home().join("lk").display().to_string();
    let script = "cd ~/lk; cd /tmp; cd ~/nowhere; exec true";
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["sh", "-c", script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(
        words(row(&report, "fs.hidden", &place))[1..],
        ["fs.read: [\"~/lk\"]", "sh", "chdir"],
        "{report:#}"
    );
    assert_eq!(denials(&report).len(), 1, "{report:#}");
}

/// Without mounts nothing but Landlock stands in the way.
pub(crate) fn shortened(caller: Caller) {
    let world = world(caller);
    let file = put(&world, &world.project().join("file"), 0o644).display().to_string();
    let script = "import os, sys\ntry: os.truncate(sys.argv[1], 0)\nexcept OSError: pass";
    let policy = "extends: restricted\nisolation: landlock\nfs: {read: [\".\"]}\n";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-I", "-c", script, &file]);
    if caller == Caller::Root {
        // Root's sandbox always has mounts.
        let refused = run.go();
        assert_eq!(refused.code(), Some(125), "{}", refused.describe());
        return;
    }
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(fs::read(&file).expect("read a file"), b"secret");
    assert_eq!(row(&report, "fs.write", &file)["syscall"], "truncate", "{report:#}");
}

/// A script whose interpreter is hidden is not found, and neither is a program without its loader.
pub(crate) fn interpreters(caller: Caller) {
    let world = world(caller);
    let tool = |name: &str| world.home().join("tools").join(name).display().to_string();
    world.program("@HOME/tools/sh", "#!/bin/sh\n");
    world.program("@HOME/tools/ld.so", "");
    world.program("@HOME/tools/broken", "#!/nowhere/sh\n");
    world.program("@PROJECT/script", &format!("#!{} -x\n", tool("sh")));
    world.program("@PROJECT/twice", &format!("#! {}/script\n", world.project().display()));
    world.program("@PROJECT/broken", "#!/nowhere/sh\n");
    world.program("@PROJECT/whole", "#!/bin/sh\n");
    let loaded = world.project().join("loaded");
    let flag = format!("-Wl,--dynamic-linker={}", tool("ld.so"));
    world.file("@PROJECT/main.c", "int main(void) { return 0; }\n");
    let mut cc = Command::new("cc");
    let built = cc
        .arg(flag)
        .arg("-o")
        .args([&loaded, &world.project().join("main.c")])
        .status();
    assert!(built.is_ok_and(|status| status.success()));
    let ask = |path: &str| {
        let script = format!("{path}; {path}; exec true");
        let run = prepared(&world, Policy::Named("workspace"), &[]).command(["sh", "-c", &script]);
        reported(&world, run).1
    };
    for (path, needed) in [("./script", "sh"), ("./twice", "sh"), ("./loaded", "ld.so")] {
        let report = ask(path);
        let found = row(&report, "fs.hidden", &tool(needed));
        let hint = format!("fs.read: [\"~/tools/{needed}\"]");
        assert_eq!(words(found)[1..], [&hint, "sh", "execve"], "{path}: {report:#}");
        assert_eq!(
            (&found["count"], denials(&report).len()),
            (&json!(2), 1),
            "{path}: {report:#}"
        );
    }
    for path in ["./broken", "~/tools/broken", "./whole"] {
        assert_eq!(ask(path)["denials"], json!([]), "{path}");
    }
    row(&ask("~/tools/sh"), "fs.hidden", &tool("sh"));
}
