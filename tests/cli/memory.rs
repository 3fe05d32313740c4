//! Memories: found again by their words, whatever the words are.

use std::fs;

use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::Place;

#[track_caller]
fn found(at: &Place, arguments: &[&str]) -> Vec<String> {
    let seen = at.seen([&["memory"], arguments, &["--json"]].concat());
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{arguments:?}");
    let list: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("not JSON: {e}: {}", seen.stdout));
    let list = list.as_array().expect("a list");
    assert!(list.iter().all(|memory| memory["trusted"] == false), "{list:?}");
    list.iter()
        .map(|memory| memory["content"].as_str().expect("a text").to_owned())
        .collect()
}

#[track_caller]
fn add(at: &Place, category: &str, text: &str) -> String {
    let seen = at.seen(["memory", "add", "--category", category, "--json", "--", text]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    let added: Value = serde_json::from_str(&seen.stdout).expect("JSON");
    added["id"].to_string()
}

claims! {
    fn what_is_added_is_found_listed_and_forgotten(at) {
        assert_eq!(found(at, &["search", "tokens"]), [""; 0]);
        let rotation = add(at, "decisions", "Tokens are rotated by the gateway");
        add(at, "notes", "The gateway is written in Go");
        assert_eq!(found(at, &["search", "who rotates a token?"]), ["Tokens are rotated by the gateway"]);
        assert_eq!(found(at, &["search", "gateway", "--category", "notes"]), ["The gateway is written in Go"]);
        assert_eq!(found(at, &["search", "gateway", "--limit", "1"]).len(), 1);
        assert_eq!(found(at, &["list"]), ["The gateway is written in Go", "Tokens are rotated by the gateway"]);
        assert_eq!(at.seen(["memory", "forget", &rotation]).status, 0);
        assert_eq!(at.seen(["memory", "forget", &rotation]).status, 1);
        assert_eq!(found(at, &["search", "token"]), [""; 0]);
        assert_eq!(at.seen(["memory", "forget", "--category", "notes"]).status, 0);
        assert_eq!(found(at, &["list"]), [""; 0]);
    }

    fn a_text_comes_from_standard_input_and_is_shown_without_driving_the_terminal(at) {
        let run = at.call(["memory", "add", "-"]).stdin("two\nlines \u{1b}[2J\u{202e}");
        assert_eq!(crate::seen::Seen::of(&run.go()).status, 0);
        assert_eq!(found(at, &["list"]), ["two\nlines \u{1b}[2J\u{202e}"]);
        let shown = at.seen(["memory", "list"]).stdout;
        assert!(shown.contains("    two\n    lines \\u{1b}[2J\\u{202e}\n"), "{shown}");
    }

    fn no_words_are_an_error_of_the_query_language(at) {
        add(at, "general", "alpha beta");
        for words in ["alpha AND", "\"alpha", "alpha*", "content:alpha", "NEAR(alpha", "alpha; DROP TABLE memories", "(alpha", "'alpha"] {
            assert_eq!(found(at, &["search", words]), ["alpha beta"], "{words}");
        }
        assert_eq!(at.seen(["memory", "search", "--", "-"]).status, 1);
    }

    fn each_project_has_its_own_and_nothing_lies_in_it(at) {
        let before = at.listing();
        add(at, "general", "here");
        assert_eq!(at.listing(), before);
        at.world.dir("@PROJECT/other/.glee");
        assert_eq!(found(at, &["list", "--project", "@PROJECT/other"]), [""; 0]);
        assert_eq!(found(at, &["list"]), ["here"]);
        assert_eq!(at.host("find @STATE/glee -type f -perm /077"), "");
    }

    fn a_damaged_file_is_named_and_nothing_of_it_is_lost(at) {
        add(at, "general", "precious");
        let path = at.host("find @STATE/glee -name memory.db");
        let whole = fs::read(path.trim()).expect("read the file");
        let mut torn = whole.clone();
        torn.truncate(whole.len() / 2);
        fs::write(path.trim(), &torn).expect("tear the file");
        for call in [vec!["memory", "list"], vec!["memory", "add", "more"], vec!["memory", "search", "precious"]] {
            let seen = at.seen(&call);
            assert!(seen.status == 1 && seen.stderr.contains("is damaged") && seen.stderr.contains("memory.db"), "{call:?}: {seen:?}");
        }
        assert_eq!(fs::read(path.trim()).expect("read the file"), torn);
        fs::write(path.trim(), &whole).expect("restore the file");
        assert_eq!(found(at, &["list"]), ["precious"]);
    }

    fn what_is_too_long_or_no_category_is_refused(at) {
        let long = "x".repeat(70_000);
        let seen = at.seen(["memory", "add", &long]);
        assert!(seen.status == 1 && seen.stderr.contains("too long"), "{}", seen.stderr);
        for category in ["", "A", "a/b", "a b", "../x"] {
            assert_eq!(at.seen(["memory", "add", "--category", category, "x"]).status, 2, "{category}");
        }
        assert_eq!(found(at, &["list"]), [""; 0]);
    }

    fn several_processes_add_at_once(at) {
        at.host("pids=; for n in 1 2 3 4 5 6 7 8; do XDG_STATE_HOME=@STATE @BIN memory add \"number $n\" & pids=\"$pids $!\"; done 2>/dev/null
            for pid in $pids; do wait $pid; done");
        assert_eq!(found(at, &["list"]).len(), 8);
        let json = at.seen(["memory", "list", "--json"]).stdout;
        assert_ne!(serde_json::from_str::<Value>(&json).expect("JSON"), json!([]));
    }
}
