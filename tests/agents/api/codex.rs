//! OpenAI's Responses API, as codex speaks it.

use serde_json::{Value, json};

use super::{Dialect, Request, Turn, event};

pub(super) static DIALECT: Dialect = Dialect {
    is_turn: |path| path == "/v1/responses",
    events,
    whole: |turn, number| json!({"id": id(number), "output": [item(turn, number, Shell::Exec)], "usage": usage()}),
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

/// Which tool runs a shell command: older models have one, newer ones write JavaScript that calls it.
#[derive(Debug, Clone, Copy)]
enum Shell {
    ExecCommand,
    Exec,
}

fn item(turn: &Turn, number: usize, shell: Shell) -> Value {
    let call = format!("call_{number}");
    match (turn, shell) {
        (Turn::Shell(command), Shell::ExecCommand) => {
            let arguments = json!({"cmd": command}).to_string();
            json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": call, "name": "exec_command",
                "status": "completed", "arguments": arguments})
        }
        (Turn::Shell(command), Shell::Exec) => {
            let script = format!("text(await tools.exec_command({}));", json!({"cmd": command}));
            json!({"type": "custom_tool_call", "id": format!("ctc_{number}"), "call_id": call, "name": "exec",
                "status": "completed", "input": script})
        }
        (Turn::Call(tool, arguments), Shell::Exec) if tool.starts_with("mcp__") => {
            let script = format!("text(JSON.stringify(await tools.{tool}({arguments})));");
            json!({"type": "custom_tool_call", "id": format!("ctc_{number}"), "call_id": call, "name": "exec",
                "status": "completed", "input": script})
        }
        (Turn::Call(tool, arguments), _) => {
            let mut item = json!({"type": "function_call", "id": format!("fc_{number}"), "call_id": call, "name": tool,
                "status": "completed", "arguments": arguments.to_string()});
            // Tools of an MCP server lie in a namespace of that server's.
            if let Some((server, name)) = tool.rsplit_once("__").filter(|(server, _)| server.starts_with("mcp__")) {
                item["namespace"] = json!(server);
                item["name"] = json!(name);
            }
            item
        }
        (Turn::Text(text), _) => json!({"type": "message", "role": "assistant", "id": format!("msg_{number}"),
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        (Turn::Error(_) | Turn::Cut | Turn::Hang, _) => panic!("{turn:?} says nothing"),
    }
}

fn events(turn: &Turn, number: usize, request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let shell = match body["tools"].as_array() {
        Some(tools) if tools.iter().any(|tool| tool["name"] == "exec_command") => Shell::ExecCommand,
        Some(_) | None => Shell::Exec,
    };
    let id = id(number);
    let item = item(turn, number, shell);
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
