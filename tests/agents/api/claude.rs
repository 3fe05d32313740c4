//! Anthropic's Messages API, as claude speaks it.

use serde_json::{Value, json};

use super::{Dialect, Request, Turn, event};

pub(super) static DIALECT: Dialect = Dialect {
    is_turn: |path| path == "/v1/messages",
    events,
    whole,
    streams: |request| serde_json::from_str::<Value>(&request.body).is_ok_and(|body| body["stream"] == true),
    error: |status| {
        let kind = if status == 401 {
            "authentication_error"
        } else {
            "api_error"
        };
        json!({"type": "error", "error": {"type": kind, "message": "scripted error"}})
    },
    other: |path| (path == "/v1/messages/count_tokens").then(|| json!({"input_tokens": 5})),
};

fn message(number: usize, content: &Value, stop: Option<&str>) -> Value {
    json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "scripted", "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 80, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 30, "output_tokens": 1}})
}

/// The block that ends with the turn, what it begins as, how it grows, and why the turn ends.
fn block(turn: &Turn, number: usize) -> (Value, Value, Value, &'static str) {
    match turn {
        Turn::Text(text) => (
            json!({"type": "text", "text": text}),
            json!({"type": "text", "text": ""}),
            json!({"type": "text_delta", "text": text}),
            "end_turn",
        ),
        Turn::Shell(command) => call(number, "Bash", &json!({"command": command, "description": "scripted"})),
        Turn::Call(tool, input) => call(number, tool, input),
        Turn::Error(_) | Turn::Cut | Turn::Hang => panic!("{turn:?} says nothing"),
    }
}

fn call(number: usize, tool: &str, input: &Value) -> (Value, Value, Value, &'static str) {
    let call =
        |input: &Value| json!({"type": "tool_use", "id": format!("toolu_{number}"), "name": tool, "input": input});
    (
        call(input),
        call(&json!({})),
        json!({"type": "input_json_delta", "partial_json": input.to_string()}),
        "tool_use",
    )
}

fn whole(turn: &Turn, number: usize) -> Value {
    let (block, _, _, stop) = block(turn, number);
    message(number, &json!([block]), Some(stop))
}

fn events(turn: &Turn, number: usize, _: &Request) -> Vec<String> {
    let (_, start, delta, stop) = block(turn, number);
    [
        json!({"type": "message_start", "message": message(number, &json!([]), None)}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
    .iter()
    .map(event)
    .collect()
}
