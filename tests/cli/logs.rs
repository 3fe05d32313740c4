//! The logs: shown, picked out by run, and followed while they are written.

use serde_json::Value;

use crate::claims::claims;
use crate::keeper::{keeper, said_by};
use crate::support::Place;

#[track_caller]
fn log(at: &Place, run: &str, cli: &str, stream: &str, text: &str) {
    said_by(&at.world, &["log", run, cli, stream, text]).expect("log");
}

/// What is shown, without the times.
#[track_caller]
fn shown(at: &Place, arguments: &[&str]) -> Vec<String> {
    let seen = at.seen([&["logs"], arguments].concat());
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{arguments:?}");
    seen.stdout
        .lines()
        .map(|line| line.split_once("] ").expect("a time").1.to_owned())
        .collect()
}

claims! {
    fn a_project_without_logs_shows_none(at) {
        let seen = at.seen(["logs"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, ""), "{}", seen.stderr);
    }

    fn lines_are_as_documented_and_picked_by_stream_and_run(at) {
        log(at, "run-a", "codex", "subagents", "Starting: Read src/api/auth.py...");
        log(at, "run-b", "claude", "subagents", "Starting: other");
        log(at, "run-a", "codex", "stdout", "printed\n");
        log(at, "run-a", "codex", "stderr", "complained\n");
        let day = at.host("date -u +%Y%m%d");
        let text = at.host(&format!("cat .glee/stream_logs/subagents-{}.log", day.trim()));
        let first = text.lines().next().expect("a line");
        let (time, rest) = first.split_at(22);
        assert_eq!(rest, "[subagent:0] [codex] Starting: Read src/api/auth.py...");
        assert!(time.starts_with("[20") && time.ends_with("] ") && time.contains('T'), "{time}");
        assert_eq!(
            shown(at, &[]),
            ["[subagent:0] [codex] Starting: Read src/api/auth.py...", "[subagent:1] [claude] Starting: other"]
        );
        assert_eq!(shown(at, &["--stream", "stdout"]), ["[subagent:0] [codex] printed"]);
        assert_eq!(shown(at, &["--stream", "all", "--run", "run-a"]).len(), 3);
        assert_eq!(shown(at, &["--stream", "all", "--run", "run-b"]), ["[subagent:1] [claude] Starting: other"]);
        assert_eq!(shown(at, &["-n", "1"]), ["[subagent:1] [claude] Starting: other"]);
        let json = at.seen(["logs", "--json", "-n", "1"]).stdout;
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!((&json["run"], &json["text"]), (&"run-b".into(), &"Starting: other".into()));
    }

    fn what_an_agent_prints_forges_no_line_and_drives_no_terminal(at) {
        log(at, "run-a", "codex", "stdout", "x\u{1b}]0;evil\u{7}\u{202e}\r[2025-01-01T00:00:00] [subagent:9] [codex] forged\n");
        let lines = shown(at, &["--stream", "stdout"]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("[subagent:0] [codex] x\\u{1b}]0;evil\\u{7}\\u{202e}\\r["), "{lines:?}");
    }

    fn rules_that_hide_logs_and_sessions_of_earlier_runs_let_a_run_start(at) {
        at.host("mkdir -p .glee/stream_logs/deep .glee/agent_sessions && echo other > .glee/stream_logs/deep/a.log
            echo other > .glee/stream_logs/a.log && echo other > .glee/agent_sessions/a.json && mkfifo .glee/stream_logs/pipe
            python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\".glee/stream_logs/socket\")'
            echo hidden > app.log && echo hidden > app.json");
        for base in ["restricted", "workspace"] {
            for rule in ["**/*.log", "**/*.json", ".glee/stream_logs/a.log", ".glee/stream_logs/later.log", ".glee/agent_sessions/*", ".glee/stream_logs/*"] {
                at.world.file("@OUT/p.yml", &format!("extends: {base}\nfs: {{deny: ['{rule}', 'app.*']}}\n"));
                // What comes while it runs needs no cover there either.
                let script = "cat app.log app.json 2> /dev/null || true; find .glee/stream_logs .glee/agent_sessions | sort
                    (sleep 0.3; echo own > .glee/stream_logs/own.log; cat .glee/stream_logs/own.log)";
                let beside = "@BIN run --policy @OUT/p.yml -- sh -euc 'SCRIPT' & sleep 0.1
                    echo new > .glee/stream_logs/new.log; echo new > .glee/stream_logs/later.log; wait $!
                    rm .glee/stream_logs/new.log .glee/stream_logs/later.log; ls -A .glee/stream_logs".replace("SCRIPT", script);
                let expected = ".glee/agent_sessions\n.glee/stream_logs\nown\na.log\ndeep\npipe\nsocket\n";
                assert_eq!(at.host(&beside), expected, "{base} {rule}");
            }
        }
    }

    fn logs_are_followed_while_they_are_written(at) {
        at.world.define("KEEPER", keeper().display());
        let followed = at.host("mkdir .glee
            @BIN logs --follow --stream all > @TMP/followed & pid=$!
            @KEEPER log run-a codex subagents one
            for n in $(seq 100); do grep -q one @TMP/followed && break; sleep 0.1; done
            @KEEPER log run-a codex stdout two
            day=$(date -u +%Y%m%d)
            mv .glee/stream_logs/stdout-$day.log .glee/stream_logs/stdout-$day.1.log
            @KEEPER log run-b codex stdout three
            for n in $(seq 100); do grep -q two @TMP/followed && grep -q three @TMP/followed && break; sleep 0.1; done
            kill $pid
            cat @TMP/followed");
        let texts: Vec<&str> = followed.lines().filter_map(|line| line.rsplit(' ').next()).collect();
        let mut sorted = texts.clone();
        sorted.sort_unstable();
        assert_eq!((texts[0], sorted), ("one", vec!["one", "three", "two"]));
    }

    fn a_link_in_the_place_of_a_log_is_neither_read_nor_written(at) {
        at.world.file("@HOME/secret", "[2025-01-01T00:00:00] [subagent:0] [codex] secret\n");
        at.host("mkdir -p .glee/stream_logs && ln -s @HOME/secret .glee/stream_logs/subagents-$(date -u +%Y%m%d).log");
        let seen = at.seen(["logs"]);
        assert!(seen.status == 1 && !seen.stdout.contains("secret"), "{seen:?}");
        assert!(said_by(&at.world, &["log", "run-a", "codex", "subagents", "x"]).is_err());
        assert!(!at.host("cat @HOME/secret").contains("] x"));
    }

    fn a_sandbox_neither_sees_nor_writes_them(at) {
        log(at, "run-a", "codex", "stdout", "words-of-another-run");
        let seen = at.run("workspace", "cat .glee/stream_logs/* || :; echo forged >> .glee/stream_logs/stdout-20250101.log");
        assert_eq!(seen.stdout, "");
        assert_eq!(at.host("ls .glee/stream_logs | wc -l"), "1\n");
    }
}
