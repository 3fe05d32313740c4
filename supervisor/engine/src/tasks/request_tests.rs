use super::*;

fn read(json: &str) -> Result<Request, String> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_back() {
    let request = Request {
        description: "Find endpoints".to_owned(),
        agent: AgentName::new("explore"),
        session: "task-a1b2c3d4".parse().ok(),
        inputs: [("severity".to_owned(), "high".to_owned())].into(),
        permissions: Permissions::new("network: false\n").ok(),
        timeout: Some(Duration::from_millis(1500)),
        ..Request::new("Search for all REST endpoints")
    };
    let json = serde_json::to_string(&request).unwrap();
    assert_eq!(read(&json), Ok(request));
}

#[test]
fn the_documented_call_is_a_request() {
    let read = read(
        r#"{"description": "Find API endpoints", "prompt": "Search", "agent_name": "explore", "agent_cli": "codex",
            "session_id": null}"#,
    );
    let request = read.unwrap();
    assert_eq!(
        (request.title().as_str(), request.cli),
        ("Find API endpoints", Some(Cli::Codex))
    );
}

#[test]
fn what_is_not_known_or_not_possible_is_refused() {
    for (json, why) in [
        (r#"{"description": "x"}"#, "prompt"),
        (r#"{"prompt": "x", "cwd": "/"}"#, "cwd"),
        (r#"{"prompt": "x", "parent": "01jd0000000000000000000000"}"#, "parent"),
        (r#"{"prompt": "x", "session_id": "../x"}"#, "not the id of a session"),
        (r#"{"prompt": "x", "agent_name": "../x"}"#, "not a name for an agent"),
        (r#"{"prompt": "x", "agent_cli": "bash"}"#, "bash"),
        (r#"{"prompt": "x", "timeout_ms": 0}"#, "at least 1"),
        (r#"{"prompt": "x", "timeout_ms": -5}"#, "-5"),
        (r#"{"prompt": "x", "permissions": ["x"]}"#, "mapping"),
        (r#"{"prompt": "x", "permissions": {"fs": {"rad": []}}}"#, "rad"),
    ] {
        let error = read(json).unwrap_err();
        assert!(error.contains(why), "{json}: {error}");
    }
}

#[test]
fn a_title_is_one_line() {
    let title = Request::new("  first line\nsecond").title();
    assert_eq!(title, "first line");
    assert_eq!(Request::new(&"ä".repeat(300)).title().len(), MOST_DESCRIPTION);
}
