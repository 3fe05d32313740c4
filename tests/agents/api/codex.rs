//! OpenAI's Responses API, as codex speaks it.

use serde_json::{Value, json};

use super::{Dialect, Turn, event};

pub(super) static DIALECT: Dialect = Dialect {
    is_turn: |path| path == "/v1/responses",
    events,
    whole: |turn, number| json!({"id": id(number), "output": [item(turn, number)], "usage": usage()}),
    streams: |_| true,
    error: |_| json!({"error": {"message": "scripted error", "type": "invalid_request_error", "param": null, "code": "scripted"}}),
    other: |path| (path == "/v1/models").then(|| json!({"object": "list", "data": [], "models": []})),
};

fn id(number: usize) -> String {
    format!("resp_{number}")
}

fn usage() -> Value {
    json!({"input_tokens": 110, "input_tokens_details": {"cached_tokens": 30}, "output_tokens": 7,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 117})
}

fn item(turn: &Turn, number: usize) -> Value {
    match turn {
        Turn::Shell(command) => json!({"type": "function_call", "id": format!("fc_{number}"),
            "call_id": format!("call_{number}"), "name": "exec_command", "status": "completed",
            "arguments": json!({"cmd": command}).to_string()}),
        Turn::Text(text) => json!({"type": "message", "role": "assistant", "id": format!("msg_{number}"),
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Turn::Error(_) | Turn::Cut | Turn::Hang => panic!("{turn:?} says nothing"),
    }
}

fn events(turn: &Turn, number: usize) -> Vec<String> {
    let id = id(number);
    let item = item(turn, number);
    [
        json!({"type": "response.created", "response": {"id": id}}),
        json!({"type": "response.in_progress", "response": {"id": id}}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": {"id": id, "usage": usage()}}),
    ]
    .iter()
    .map(event)
    .collect()
}
