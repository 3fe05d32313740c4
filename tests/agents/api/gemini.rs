//! Google's Generative Language API, as gemini speaks it.

use serde_json::{Value, json};

use super::{Dialect, Request, Turn, event};

pub(super) static DIALECT: Dialect = Dialect {
    is_turn: |path| path.starts_with("/v1beta/models/") && path.ends_with(":streamGenerateContent"),
    events,
    whole,
    streams: |_| true,
    error: |status| json!({"error": {"code": status, "message": "scripted error", "status": "UNAUTHENTICATED"}}),
    other,
};

fn whole(turn: &Turn, number: usize) -> Value {
    let part = match turn {
        Turn::Text(text) => json!({"text": text}),
        Turn::Shell(command) => json!({"functionCall": {"id": format!("call_{number}"), "name": "run_shell_command",
            "args": {"command": command, "description": "scripted"}}}),
        Turn::Call(tool, args) => json!({"functionCall": {"id": format!("call_{number}"), "name": tool, "args": args}}),
        Turn::Error(_) | Turn::Cut | Turn::Hang => panic!("{turn:?} says nothing"),
    };
    answer(&json!([part]), number)
}

fn answer(parts: &Value, number: usize) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 110, "cachedContentTokenCount": 30, "candidatesTokenCount": 7,
            "totalTokenCount": 117},
        "modelVersion": "scripted", "responseId": format!("r{number}")})
}

fn events(turn: &Turn, number: usize, _: &Request) -> Vec<String> {
    let begun = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 110, "totalTokenCount": 110}, "modelVersion": "scripted",
        "responseId": format!("r{number}")});
    vec![event(&begun), event(&whole(turn, number))]
}

/// Questions on the side: which model to take, how long a prompt is.
fn other(path: &str) -> Option<Value> {
    if path.ends_with(":countTokens") {
        return Some(json!({"totalTokens": 5}));
    }
    let simple = r#"{"complexity_reasoning": "none", "complexity_score": 1}"#;
    path.ends_with(":generateContent")
        .then(|| answer(&json!([{"text": simple}]), 0))
}
