//! What goes in and out of a container is what goes in and out of a command.

use std::time::Duration;

use glee_tests::{Policy, Run};

use crate::claims::claims;
use crate::support::Place;

claims! {
    fn statuses_are_those_of_the_contract(at) {
        for (script, status) in [("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -9 $$", 137)] {
            let seen = at.sh("restricted", script).go();
            assert_eq!(seen.code(), Some(status), "{script}: {}", seen.describe());
        }
        let seen = at.run("restricted").command(["/nowhere/at/all"]).go();
        assert_eq!(seen.code(), Some(127), "{}", seen.describe());
        at.world.file("@PROJECT/plain", "text");
        let seen = at.run("restricted").command(["@PROJECT/plain"]).go();
        assert_eq!(seen.code(), Some(126), "{}", seen.describe());
    }

    fn an_engine_that_is_named_is_the_one_or_none(at) {
        for (host, said) in [
            ("unix:///nowhere/podman.sock", "nobody listens on `/nowhere/podman.sock`, which CONTAINER_HOST names"),
            ("tcp://127.0.0.1:1", "CONTAINER_HOST is `tcp://127.0.0.1:1`"),
        ] {
            let seen = at.sh("restricted", "echo ran").env("CONTAINER_HOST", host).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.describe());
            assert!(seen.err().contains(said), "{}", seen.err());
        }
    }

    fn the_deadline_is_ours(at) {
        let seen = at.sh("restricted", "trap '' TERM; echo ready; sleep 60").flags(["--timeout", "1s"]).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(124), "ready\n"), "{}", seen.describe());
        assert!(seen.took < Duration::from_secs(30), "{:?}", seen.took);
    }

    fn fifty_megabytes_pass_unchanged_in_both_directions(at) {
        let bytes: Vec<u8> = (0..50_000_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let seen = at.run("restricted").command(["cat"]).stdin(bytes.clone()).go();
        assert_eq!(seen.code(), Some(0), "{}", seen.err());
        assert!(seen.stdout == bytes, "{} bytes came back of {}", seen.stdout.len(), bytes.len());
    }

    fn the_two_outputs_stay_apart(at) {
        let seen = at.sh("restricted", "echo out; echo err >&2; test ! -t 0; test ! -t 1").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "out\n"), "{}", seen.describe());
        assert!(seen.err().contains("err\n"));
    }

    fn a_signal_reaches_the_command(at) {
        let script = "trap 'echo told; exit 9' USR1; echo ready; while :; do sleep 0.05; done";
        let running = at.sh("restricted", script).spawn();
        assert!(running.wait_for("ready"), "the command did not start");
        running.signal("USR1");
        let seen = running.finish();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(9), "ready\ntold\n"), "{}", seen.describe());
    }

    fn the_report_names_the_backend_and_its_layers(at) {
        let (flag, path) = at.report();
        let seen = at.sh("restricted", "true").flags(["--report", &flag]).go();
        assert_eq!(seen.code(), Some(0), "{}", seen.describe());
        let report = Place::read(&path);
        assert_eq!(report["backend"], "podman");
        assert_eq!(report["layers"]["isolation"], "container");
        assert_eq!(report["layers"]["seccomp"], true);
        assert_eq!(report["outcome"], "exited");
        for name in ["mount", "pid", "net", "ipc", "uts"] {
            let list = report["layers"]["namespaces"].as_array().expect("a list");
            assert!(list.iter().any(|n| n == name), "{name}: {list:?}");
        }
    }

    // One by its arguments, one by its number: the engine's own filter must leave both to ours.
    fn refused_calls_and_files_are_reported(at) {
        let (flag, path) = at.report();
        at.world.file("@HOME/secret", "x");
        let script = "
            python3 -c 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)' || true
            python3 -c 'import ctypes; ctypes.CDLL(None).swapoff(b\"/nothing\")'
            cat @HOME/secret || true
            echo x > @PROJECT/made || true";
        let seen = at.sh("restricted", &at.world.fill(script)).flags(["--report", &flag]).go();
        assert_eq!(seen.code(), Some(0), "{}", seen.describe());
        let report = Place::read(&path);
        let denials = report["denials"].as_array().expect("a list");
        for call in ["socket", "swapoff"] {
            let told = denials.iter().any(|denial| denial["kind"] == "syscall" && denial["syscall"] == call);
            assert!(told, "{call}: {denials:?}");
        }
        for file in ["@HOME/secret", "@PROJECT/made"] {
            let file = at.world.fill(file);
            assert!(denials.iter().any(|denial| denial["path"] == file.as_str()), "{file}: {denials:?}");
        }
    }

    fn the_receipt_and_the_changed_files_are_in_the_report(at) {
        let (flag, path) = at.report();
        at.world.file("@PROJECT/old", "x");
        let seen = at.sh("workspace", "echo made > new; rm old").flags(["--report", &flag]).go();
        assert_eq!(seen.code(), Some(0), "{}", seen.describe());
        let report = Place::read(&path);
        assert_eq!(report["receipt"]["verdict"], "passed", "{}", report["receipt"]);
        let canaries = report["receipt"]["canaries"].as_array().expect("a list");
        assert!(canaries.len() >= 14, "{canaries:?}");
        let changed = report["changed_files"].to_string();
        assert!(changed.contains("new") && changed.contains("old"), "{changed}");
    }

    fn memory_beyond_the_limit_ends_the_command_and_is_named(at) {
        let (flag, path) = at.report();
        let policy = Policy::Yaml("extends: restricted\nlimits: {memory_mb: 64, cpus: none}\n".to_owned());
        let script = "import time\nx = []\nwhile True: x.append(bytearray(8 << 20)); time.sleep(0.05)";
        let run = Run::sandboxed(&at.world, policy).flags(["--backend", "podman", "--report", &flag]);
        let seen = run.command(["python3", "-c", script]).go();
        assert_ne!(seen.code(), Some(0), "{}", seen.describe());
        assert_eq!(Place::read(&path)["cause"], "memory", "{}", seen.describe());
    }

    fn files_belong_to_who_owns_the_project(at) {
        let seen = at.sh("workspace", "echo made > made.txt; mkdir -p a/b; test \"$(id -u)\" != 0").go();
        assert_eq!(seen.code(), Some(0), "{}", seen.describe());
        let meta = std::fs::metadata(at.world.project().join("made.txt")).expect("the file is there");
        assert_eq!(std::os::unix::fs::MetadataExt::uid(&meta), std::os::unix::fs::MetadataExt::uid(
            &std::fs::metadata(at.world.project()).expect("the project")
        ));
    }

    fn modes_without_walls_are_refused(at) {
        for clause in ["mode: inherit", "extends: restricted\nisolation: landlock"] {
            let policy = Policy::Yaml(format!("{clause}\n"));
            let run = Run::sandboxed(&at.world, policy).flags(["--backend", "podman"]);
            let seen = run.command(["echo", "ran"]).go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(125), ""), "{}", seen.describe());
        }
    }
}
