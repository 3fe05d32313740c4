use super::*;

const PROGRAM: &str = "/opt/glee/bin/glee-supervisor";

fn entered(client: Client, text: &str) -> String {
    let once = client
        .entered(text, PROGRAM)
        .unwrap_or_else(|why| panic!("{client:?}: {why}\n{text}"));
    let twice = client
        .entered(&once, PROGRAM)
        .unwrap_or_else(|why| panic!("{client:?}: {why}\n{once}"));
    assert_eq!(once, twice, "a second time changes nothing");
    once
}

#[test]
fn an_absent_file_becomes_a_whole_one() {
    let text = entered(Client::Cursor, "");
    let want = "{\n  \"mcpServers\": {\n    \"glee\": {\n      \"args\": [\n        \"mcp\"\n      ],\n      \
        \"command\": \"/opt/glee/bin/glee-supervisor\"\n    }\n  }\n}\n";
    assert_eq!(text, want);
    let text = entered(Client::Codex, "");
    assert!(text.starts_with("[mcp_servers.glee]\n"), "{text}");
    assert!(text.contains("tool_timeout_sec = 3600\n"), "{text}");
}

#[test]
fn whatever_else_is_in_the_file_stays_to_the_byte() {
    for text in [
        "{}",
        "{ }\n",
        "{\n}\n",
        "{\"a\":1}",
        "{\"a\": {\"mcpServers\": {}}, \"b\": [1, {\"c\": \"}\"}]}",
        "{\n\t\"z\": 1,\n\t\"a\": \"\\\"{[\"\n}\n",
        "{\n    // mine\n    \"theme\": \"dark\", // here too\n    /* } */\n    \"x\": null,\n}\n",
        "\u{feff}{\"a\":1}",
        "{\"mcpServers\": {}}",
        "{\"mcpServers\": {\"other\": {\"command\": \"x\"}}}",
        "{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"}, // keep\n  },\n  \"last\": true\n}",
        "{\"mcpServers\": {/* none */}}",
        "{\"k\": 1e400, \"n\": 123456789012345678901234567890}",
    ] {
        for client in [Client::Claude, Client::Gemini, Client::Cursor] {
            let new = entered(client, text);
            let kept: Vec<&str> = text
                .split(['\n', '{', '}'])
                .map(|part| part.trim_end_matches([' ', ',']))
                .collect();
            for part in kept {
                assert!(new.contains(part), "{part:?} is gone\n{text}\n{new}");
            }
            assert!(new.len() > text.len());
            // As far as the old text was plain JSON, the new one is, and says the same and one thing more.
            if let Ok(old) = serde_json::from_str::<Value>(text) {
                let mut new: Value = serde_json::from_str(&new).unwrap_or_else(|e| panic!("{e}\n{new}"));
                let servers = new["mcpServers"].as_object_mut().expect("servers");
                assert_eq!(servers.remove("glee").expect("ours")["command"], PROGRAM);
                if servers.is_empty() && old.get("mcpServers").is_none() {
                    new.as_object_mut().expect("an object").remove("mcpServers");
                }
                assert_eq!(new, old, "{text}");
            }
        }
    }
}

#[test]
fn an_entry_of_ours_is_brought_up_to_date_and_keeps_what_the_user_added() {
    let text = "{\"mcpServers\": {\"glee\": {\"command\": \"/old\", \"disabled\": true}, \"b\": {}}}";
    let new: Value = serde_json::from_str(&entered(Client::Claude, text)).expect("JSON");
    assert_eq!(new["mcpServers"]["glee"]["command"], PROGRAM);
    assert_eq!(new["mcpServers"]["glee"]["disabled"], true);
    assert_eq!(new["mcpServers"]["b"], json!({}));
    let text = "# mine\nmodel = \"x\" # here\n\n[mcp_servers.glee]\ncommand = \"/old\"\nenabled = false\n\n[mcp_servers.b]\ncommand = \"b\"\n";
    let new = entered(Client::Codex, text);
    for kept in [
        "# mine\nmodel = \"x\" # here\n",
        "enabled = false\n",
        "[mcp_servers.b]\ncommand = \"b\"\n",
        PROGRAM,
    ] {
        assert!(new.contains(kept), "{kept}\n{new}");
    }
    assert!(!new.contains("/old"), "{new}");
}

#[test]
fn toml_keeps_its_comments_and_its_inline_tables() {
    let text = "mcp_servers = { other = { command = \"x\" } } # all of them\n";
    let new = entered(Client::Codex, text);
    assert!(
        new.contains("other = { command = \"x\" }") && new.contains("# all of them"),
        "{new}"
    );
    let new = entered(Client::Codex, "[profiles.a]\nmodel = \"m\"\n");
    assert!(new.starts_with("[profiles.a]\nmodel = \"m\"\n"), "{new}");
}

#[test]
fn what_is_not_understood_is_refused() {
    for text in [
        "[]",
        "1",
        "{",
        "}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1 \"b\":2}",
        "{,}",
        "{\"a\":1,,}",
        "{\"a\":[1}}",
        "{\"mcpServers\": []}",
        "{\"mcpServers\": 1}",
        "{\"mcpServers\": {\"glee\": 3}}",
        "{} x",
        "{\"a\":1}}",
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "{\"mcpServers\": {\"glee\": {}, \"glee\": {}}}",
        "{'a': 1}",
        "{\"a\": \"\n\"}",
        "{/* }",
        "{\"a\": /",
        "nonsense",
        "{\"a\": 1",
    ] {
        assert!(Client::Claude.entered(text, PROGRAM).is_err(), "{text}");
    }
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    assert!(Client::Gemini.entered(&deep, PROGRAM).is_err());
    for text in [
        "mcp_servers = 1",
        "[mcp_servers]\nglee = 1\n",
        "= 1",
        "[a",
        "mcp_servers = []",
    ] {
        assert!(Client::Codex.entered(text, PROGRAM).is_err(), "{text}");
    }
}
