use super::*;

fn listen(cli: Cli, lines: &[&str]) -> (Listener, Vec<String>) {
    let mut listener = Listener::new(cli, 1000);
    let deeds = lines.iter().filter_map(|line| listener.hear(line.as_bytes())).collect();
    (listener, deeds)
}

#[test]
fn codex_is_understood() {
    let (heard, deeds) = listen(
        Cli::Codex,
        &[
            r#"{"type":"thread.started","thread_id":"01-a"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.completed","item":{"type":"error","message":"only a warning"}}"#,
            r#"{"type":"item.started","item":{"type":"command_execution","command":"ls -l"}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"first"}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"last"}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":5,"output_tokens":7}}"#,
        ],
    );
    assert_eq!(heard.conversation().map(ConversationId::as_str), Some("01-a"));
    assert_eq!(heard.answer().text(), "last");
    assert_eq!(heard.turn(), Some(&Turn::Completed));
    assert_eq!((heard.tokens().input, heard.tokens().output), (Some(5), Some(7)));
    assert_eq!((heard.tools(), deeds), (1, vec!["ls -l".to_owned()]));
}

#[test]
fn claude_is_understood_and_a_success_that_is_an_error_is_one() {
    let (heard, deeds) = listen(
        Cli::Claude,
        &[
            r#"{"type":"system","subtype":"init","session_id":"s-1"}"#,
            r#"{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"ls"}}]}}"#,
            r#"{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":2}}"#,
        ],
    );
    assert_eq!(heard.answer().text(), "done");
    assert_eq!(heard.turn(), Some(&Turn::Completed));
    assert_eq!(deeds, ["Bash ls"]);
    let (heard, _) = listen(
        Cli::Claude,
        &[r#"{"type":"result","subtype":"success","is_error":true,"result":"401"}"#],
    );
    assert_eq!(heard.turn(), Some(&Turn::Failed("401".into())));
}

#[test]
fn gemini_is_understood_and_its_answer_is_what_it_said_last() {
    let (heard, deeds) = listen(
        Cli::Gemini,
        &[
            r#"{"type":"init","session_id":"g-1"}"#,
            r#"{"type":"message","role":"user","content":"question"}"#,
            r#"{"type":"message","role":"assistant","content":"I look","delta":true}"#,
            r#"{"type":"tool_use","tool_name":"run_shell_command","parameters":{"command":"ls"}}"#,
            r#"{"type":"message","role":"assistant","content":"two ","delta":true}"#,
            r#"{"type":"message","role":"assistant","content":"files","delta":true}"#,
            r#"{"type":"result","status":"success","stats":{"input_tokens":3,"output_tokens":4}}"#,
        ],
    );
    assert_eq!(heard.answer().text(), "two files");
    assert_eq!(heard.turn(), Some(&Turn::Completed));
    assert_eq!(deeds, ["run_shell_command ls"]);
    let (heard, _) = listen(
        Cli::Gemini,
        &[r#"{"type":"result","status":"error","error":{"message":"no"}}"#],
    );
    assert_eq!(heard.turn(), Some(&Turn::Failed("no".into())));
}

#[test]
fn what_is_no_event_changes_nothing() {
    for cli in super::super::cli::ORDER {
        let (heard, deeds) = listen(
            cli,
            &[
                "",
                "{",
                "null",
                "[1]",
                r#"{"type":5}"#,
                r#"{"type":"result"}"#,
                "\u{1b}[31m",
                r#"{"item":{}}"#,
            ],
        );
        assert!(heard.turn() != Some(&Turn::Completed) && deeds.is_empty(), "{heard:?}");
        assert_eq!(heard.conversation(), None);
    }
}

#[test]
fn lines_are_cut_wherever_the_reads_fall_and_too_long_ones_are_counted() {
    let mut lines = Lines::default();
    let mut seen: Vec<String> = Vec::new();
    let mut push = |line: &[u8]| seen.push(String::from_utf8_lossy(line).into_owned());
    for piece in ["a", "b\nc", "\n\nd"] {
        lines.take(piece.as_bytes(), &mut push);
    }
    let long = vec![b'x'; LONGEST_LINE / 2 + 1];
    lines.take(&long, &mut push);
    lines.take(&long, &mut push);
    lines.take(b"\ne", &mut push);
    lines.end(&mut push);
    assert_eq!(seen, ["ab", "c", "", "e"]);
    assert_eq!(lines.too_long, 1);
}

#[test]
fn the_stub_is_understood() {
    let (heard, deeds) = listen(
        Cli::Stub,
        &[
            r#"{"type":"start","conversation":"stub-7"}"#,
            r#"{"type":"tool","name":"shell ls"}"#,
            r#"{"type":"say","text":"one\n"}"#,
            "noise",
            r#"{"type":"say","text":"two\n"}"#,
            r#"{"type":"end"}"#,
        ],
    );
    assert_eq!(
        (heard.answer().text().as_str(), heard.turn()),
        ("one\ntwo\n", Some(&Turn::Completed))
    );
    assert_eq!((heard.tools(), deeds), (1, vec!["shell ls".to_owned()]));
    let (heard, _) = listen(Cli::Stub, &[r#"{"type":"end","error":"no"}"#]);
    assert_eq!(heard.turn(), Some(&Turn::Failed("no".to_owned())));
}
