//! `mcp install`: into each client's own file, and nothing else changes.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use glee_tests::{Caller, claims};
use serde_json::Value;

use crate::support::Place;

claims! {
    every_client_is_entered_once_and_the_rest_stays => super::entered;
    printing_changes_nothing => super::printed;
    what_is_not_understood_stays => super::broken;
}

const FILES: [(&str, &str); 4] = [
    ("claude", "@HOME/.claude.json"),
    ("codex", "@HOME/.codex/config.toml"),
    ("gemini", "@HOME/.gemini/settings.json"),
    ("cursor", "@HOME/.cursor/mcp.json"),
];

fn entered(caller: Caller) {
    let at = Place::of(caller);
    for (client, file) in FILES {
        at.output(&["mcp", "install", client]);
        let path = at.world.path(file);
        let first = fs::read_to_string(&path).expect("the file");
        assert!(first.contains("glee-supervisor") && first.contains("glee"), "{first}");
        let meta = fs::metadata(&path).expect("the file");
        assert_eq!(
            (meta.permissions().mode() & 0o777, meta.uid()),
            (0o600, caller.uid()),
            "{client}"
        );
        let before = meta.ino();
        at.output(&["mcp", "install", client]);
        assert_eq!(
            fs::metadata(&path).expect("the file").ino(),
            before,
            "{client} was written again"
        );
        let names = fs::read_dir(path.parent().expect("a directory")).expect("list");
        let drafts = names
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(".glee-"))
            .count();
        assert_eq!(drafts, 0, "{client} left a draft");
    }
    // In what is there, with its comments, its rights and the link that leads to it.
    let text = "{\n  // mine\n  \"theme\": \"dark\",\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}}\n}\n";
    at.world.file("@HOME/dotfiles/settings.json", text);
    at.world.mode("@HOME/dotfiles/settings.json", 0o640);
    let link = at.world.path("@HOME/.gemini/settings.json");
    fs::remove_file(&link).expect("remove");
    at.world
        .link("@HOME/dotfiles/settings.json", "@HOME/.gemini/settings.json");
    at.output(&["mcp", "install", "gemini"]);
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
    let target = at.world.path("@HOME/dotfiles/settings.json");
    let new = fs::read_to_string(&target).expect("the file");
    assert!(
        new.contains("  // mine\n  \"theme\": \"dark\",\n") && new.contains("\"other\": {\"command\": \"x\"}"),
        "{new}"
    );
    assert_eq!(
        fs::metadata(&target).expect("the file").permissions().mode() & 0o777,
        0o640
    );
}

fn printed(caller: Caller) {
    let at = Place::of(caller);
    at.world.file("@HOME/.claude.json", "{\"a\": 1}\n");
    let diff = at.output(&["mcp", "install", "claude", "--print"]);
    assert!(
        diff.contains("+") && diff.contains("\"glee\"") && diff.contains("mcpServers"),
        "{diff}"
    );
    assert_eq!(
        fs::read_to_string(at.world.path("@HOME/.claude.json")).expect("the file"),
        "{\"a\": 1}\n"
    );
    for (client, file) in FILES.iter().skip(1) {
        at.output(&["mcp", "install", client, "--print"]);
        assert!(!at.world.path(file).exists(), "{client} was written");
    }
    at.output(&["mcp", "install", "claude"]);
    assert_eq!(at.output(&["mcp", "install", "claude", "--print"]), "");
    let text = fs::read_to_string(at.world.path("@HOME/.claude.json")).expect("the file");
    let json: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["a"], 1);
    assert_eq!(json["mcpServers"]["glee"]["args"], serde_json::json!(["mcp"]));
}

fn broken(caller: Caller) {
    let at = Place::of(caller);
    for (client, file) in FILES {
        at.world.file(file, "{[ what is this");
        let output = at.command(&["mcp", "install", client]).output().expect("start");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.code() == Some(1) && said.contains("not understood"),
            "{client}: {said}"
        );
        assert_eq!(
            fs::read_to_string(at.world.path(file)).expect("the file"),
            "{[ what is this"
        );
    }
}
