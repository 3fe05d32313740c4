use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Fault, KEYS, Shape, claude, codex, gemini, judge};

const ALL: [&Shape; 6] = [
    &codex::PROMPT,
    &claude::PROMPT,
    &gemini::PROMPT,
    &gemini::COUNT,
    &gemini::EMBED,
    &gemini::EMBED_BATCH,
];

fn verdict(shape: &'static Shape, body: &Value) -> Result<(), Fault> {
    judge(shape, body.to_string().as_bytes())
}

fn passes(shape: &'static Shape, body: &Value) {
    assert_eq!(verdict(shape, body), Ok(()), "{body:#}");
}

/// The body is refused, and the reason names this place or one in it.
fn refused(shape: &'static Shape, at: &str, body: &Value) {
    let fault = verdict(shape, body).expect_err(&format!("{body:#}")).to_string();
    let below = fault.strip_prefix(&format!("`{at}"));
    assert!(
        below.is_some_and(|rest| rest.starts_with(['`', '.', '['])),
        "{at}: {fault}"
    );
}

/// What codex sends, in short.
fn codex_prompt() -> Value {
    json!({
        "model": "gpt-6.1-sol", "instructions": "see https://example.com/", "stream": true, "store": false,
        "input": [
            {"type": "additional_tools", "id": "at_1", "tools": [{"type": "namespace", "name": "functions", "tools": [
                {"type": "custom", "name": "exec", "format": {"type": "grammar", "syntax": "lark", "definition": "a: /x/"}},
                {"type": "function", "name": "wait", "strict": false, "parameters": {"type": "object",
                    "$schema": "http://json-schema.org/draft-07/schema#", "properties": {"url": {"$ref": "#/$defs/u"}}}}]}]},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fetch https://a.test/?x"},
                {"type": "input_image", "image_url": "data:image/png;base64,iVBO", "detail": "high"}]},
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "x", "content": null},
            {"type": "custom_tool_call", "call_id": "c", "name": "exec", "input": "curl https://a.test", "status": "completed"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": [{"type": "input_text", "text": "x"}]},
            {"type": "function_call", "call_id": "d", "name": "wait", "arguments": "{\"type\":\"mcp\"}"},
            {"type": "function_call_output", "call_id": "d", "output": "https://a.test"},
            {"type": "tool_search_call", "call_id": "e", "execution": "client", "arguments": {"query": "x"}}],
        "tools": [{"type": "function", "name": "f", "parameters": {"properties": {"$ref": {"type": "string"}}}},
            {"type": "tool_search", "execution": "client"}, {"type": "shell", "environment": {"type": "local"}},
            {"type": "local_shell"}, {"type": "apply_patch"}],
        "tool_choice": "auto", "parallel_tool_calls": true, "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"], "prompt_cache_key": "k", "text": {"verbosity": "low"},
        "client_metadata": {"x-codex-turn-metadata": "{\"remote\":\"https://github.com/a/b\"}"},
        "background": false, "previous_response_id": null, "prompt": null
    })
}

/// What claude sends, in short.
fn claude_prompt() -> Value {
    json!({
        "model": "claude-opus-4-8", "max_tokens": 64000, "stream": true, "thinking": {"type": "adaptive"},
        "system": [{"type": "text", "text": "https://docs", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "system", "content": "skills"},
            {"role": "user", "content": [{"type": "text", "text": "fetch https://a.test"},
                {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "https://a.test"}}]},
            {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "s"},
                {"type": "tool_use", "id": "t", "name": "WebFetch", "caller": {"type": "direct"},
                    "input": {"url": "https://a.test", "type": "mcp", "mcp_servers": [1]}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": false, "content": [
                {"type": "tool_reference", "tool_name": "x"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBO"}}]}]}],
        "tools": [{"name": "Bash", "description": "https://x", "input_schema": {"type": "object"}},
            {"type": "custom", "name": "a", "input_schema": {}}, {"type": "bash_20250124", "name": "bash"},
            {"type": "text_editor_20250728", "name": "e"}, {"type": "memory_20250818", "name": "m"}],
        "tool_choice": {"type": "tool", "name": "Bash"}, "metadata": {"user_id": "{\"a\":\"b\"}"},
        "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
        "output_config": {"effort": "high", "format": {"type": "json_schema", "schema": {}}}, "mcp_servers": []
    })
}

/// What gemini sends, in short.
fn gemini_prompt() -> Value {
    json!({
        "systemInstruction": {"role": "user", "parts": [{"text": "https://docs"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]},
            {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "web_fetch",
                "args": {"fileData": {"fileUri": "https://a.test"}}}, "thoughtSignature": "s"}]},
            {"role": "user", "parts": [{"function_response": {"id": "c", "name": "web_fetch",
                "response": {"output": "https://a.test"}, "parts": [{"inline_data": {"mime_type": "a/b", "data": ""}}]}}]}],
        "tools": [{"functionDeclarations": [{"name": "glob", "description": "d", "parametersJsonSchema": {"type": "object"}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}},
        "generationConfig": {"temperature": 0, "topP": 0.95, "thinkingConfig": {"includeThoughts": true, "thinkingBudget": -1}}
    })
}

#[test]
fn what_the_clis_send_passes() {
    passes(&codex::PROMPT, &codex_prompt());
    passes(&claude::PROMPT, &claude_prompt());
    passes(&gemini::PROMPT, &gemini_prompt());
    passes(&gemini::COUNT, &json!({"generateContentRequest": gemini_prompt()}));
    passes(&gemini::COUNT, &json!({"contents": [{"parts": [{"text": "x"}]}]}));
    passes(
        &gemini::EMBED_BATCH,
        &json!({"requests": [{"model": "m", "content": {"parts": [{"text": "x"}]}}]}),
    );
}

#[test]
fn tools_that_openai_would_run_are_refused() {
    for kind in [
        "mcp",
        "web_search",
        "web_search_preview",
        "web_search_preview_2025_03_11",
        "web_search_2025_08_26",
        "file_search",
        "code_interpreter",
        "computer_use_preview",
        "image_generation",
        "x_search",
        "Function",
        "function ",
        "",
    ] {
        let tool = json!([{"type": kind, "server_url": "https://a.test"}]);
        let last = json!([{"type": kind}]);
        refused(&codex::PROMPT, "tools[]", &json!({"tools": tool}));
        refused(
            &codex::PROMPT,
            "tools[]",
            &json!({"tools": [{"type": "function"}, {"type": kind}]}),
        );
        refused(
            &codex::PROMPT,
            "tools[].tools[]",
            &json!({"tools": [{"type": "namespace", "tools": last}]}),
        );
        let added = json!([{"type": "additional_tools", "tools": last}]);
        refused(&codex::PROMPT, "input[].tools[]", &json!({"input": added}));
    }
    refused(&codex::PROMPT, "tools[]", &json!({"tools": [{"name": "f"}]}));
    refused(&codex::PROMPT, "tools[]", &json!({"tools": [{"type": "shell"}]}));
    refused(&codex::PROMPT, "tools[]", &json!({"tools": [{"type": "tool_search"}]}));
    refused(
        &codex::PROMPT,
        "tools[].execution",
        &json!({"tools": [{"type": "tool_search", "execution": "server"}]}),
    );
    let container = json!({"tools": [{"type": "shell", "environment": {"type": "container_auto"}}]});
    refused(&codex::PROMPT, "tools[].environment", &container);
    refused(
        &codex::PROMPT,
        "tools[].server_url",
        &json!({"tools": [{"server_url": "https://a.test"}]}),
    );
    refused(
        &codex::PROMPT,
        "tool_choice",
        &json!({"tool_choice": {"type": "web_search_preview"}}),
    );
}

#[test]
fn what_openai_would_fetch_or_look_up_is_refused() {
    let part = |part: Value| json!({"input": [{"type": "message", "content": [part]}]});
    for url in [
        "https://a.test/?x",
        "http://a",
        "//a.test",
        "DATA:x",
        " data:,",
        "gs://b/o",
        "file-123",
        "https://a#data:",
    ] {
        let image = json!({"type": "input_image", "image_url": url});
        refused(&codex::PROMPT, "input[].content[].image_url", &part(image.clone()));
        let output = json!({"input": [{"type": "function_call_output", "output": [image]}]});
        refused(&codex::PROMPT, "input[].output[].image_url", &output);
        let file = part(json!({"type": "input_file", "file_url": url}));
        refused(&codex::PROMPT, "input[].content[].file_url", &file);
    }
    let nested = part(json!({"type": "input_image", "image_url": {"url": "https://a.test"}}));
    refused(&codex::PROMPT, "input[].content[].image_url", &nested);
    refused(
        &codex::PROMPT,
        "input[].content[].file_id",
        &part(json!({"type": "input_file", "file_id": "f"})),
    );
    refused(&codex::PROMPT, "input[]", &json!({"input": [{"id": "msg_1"}]}));
    refused(
        &codex::PROMPT,
        "input[]",
        &json!({"input": [{"type": "item_reference", "id": "msg_1"}]}),
    );
    refused(
        &codex::PROMPT,
        "input[]",
        &json!({"input": [{"type": "mcp_approval_response", "approve": true}]}),
    );
    for key in ["previous_response_id", "conversation", "prompt"] {
        refused(&codex::PROMPT, key, &json!({key: "x_1"}));
        refused(&codex::PROMPT, key, &json!({key: {"id": "x_1"}}));
    }
    refused(&codex::PROMPT, "background", &json!({"background": true}));
    refused(&codex::PROMPT, "webhook", &json!({"webhook": "https://a.test"}));
    refused(&codex::PROMPT, "model", &json!({"model": "o3-deep-research"}));
    refused(
        &codex::PROMPT,
        "reasoning.x",
        &json!({"reasoning": {"x": "https://a.test"}}),
    );
}

#[test]
fn what_anthropic_would_run_or_fetch_is_refused() {
    for kind in [
        "web_search_20250305",
        "web_fetch_20260209",
        "code_execution_20260521",
        "mcp_toolset",
        "tool_search_tool_regex_20251119",
        "advisor_20260301",
        "bash_code_execution_20250825",
        "computer_2025",
        "unknown",
    ] {
        refused(
            &claude::PROMPT,
            "tools[]",
            &json!({"tools": [{"type": kind, "name": "x"}]}),
        );
        refused(
            &claude::PROMPT,
            "tools[]",
            &json!({"tools": [{"name": "x", "input_schema": {}, "type": kind}]}),
        );
    }
    refused(
        &claude::PROMPT,
        "mcp_servers",
        &json!({"mcp_servers": {"url": "https://a.test"}}),
    );
    refused(
        &claude::PROMPT,
        "mcp_servers[]",
        &json!({"mcp_servers": [{"type": "url", "url": "https://a.test"}]}),
    );
    refused(&claude::PROMPT, "mcp_servers", &json!({"mcp_servers": [null]}));
    refused(&claude::PROMPT, "container", &json!({"container": "c_1"}));
    refused(&claude::PROMPT, "container", &json!({"container": {"skills": []}}));
    let block = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    for kind in ["image", "document"] {
        for source in [
            json!({"type": "url", "url": "https://a.test"}),
            json!({"type": "file", "file_id": "f"}),
        ] {
            let body = block(json!({"type": kind, "source": source}));
            refused(&claude::PROMPT, "messages[].content[].source", &body);
            let deep = json!({"type": "tool_result", "content": [{"source": source, "type": kind}]});
            refused(&claude::PROMPT, "messages[].content[].content[].source", &block(deep));
        }
        let late = json!({"type": kind, "source": {"url": "https://a.test", "type": "base64"}});
        refused(&claude::PROMPT, "messages[].content[].source.url", &block(late));
        let text = block(json!({"type": kind, "source": "https://a.test"}));
        refused(&claude::PROMPT, "messages[].content[].source", &text);
    }
    for kind in [
        "container_upload",
        "server_tool_use",
        "mcp_tool_use",
        "web_fetch_tool_result",
    ] {
        refused(&claude::PROMPT, "messages[].content[]", &block(json!({"type": kind})));
    }
    let system = json!({"system": [{"type": "image", "source": {"type": "url"}}]});
    refused(&claude::PROMPT, "system[].source", &system);
}

#[test]
fn what_google_would_run_or_fetch_is_refused() {
    for tool in [
        "googleSearch",
        "google_search",
        "googleSearchRetrieval",
        "google_search_retrieval",
        "urlContext",
        "url_context",
        "codeExecution",
        "fileSearch",
        "file_search",
        "mcpServers",
        "mcp_servers",
        "computerUse",
        "googleMaps",
        "retrieval",
    ] {
        let at = format!("tools[].{tool}");
        refused(&gemini::PROMPT, &at, &json!({"tools": [{tool: {}}]}));
        refused(
            &gemini::PROMPT,
            &at,
            &json!({"tools": [{"functionDeclarations": [], tool: {}}]}),
        );
        let count = json!({"generateContentRequest": {"tools": [{tool: {}}]}});
        refused(&gemini::COUNT, &format!("generateContentRequest.{at}"), &count);
    }
    for (key, uri) in [("fileData", "fileUri"), ("file_data", "file_uri")] {
        let part = json!({key: {uri: "https://a.test"}});
        let contents = json!([{"parts": [part]}]);
        let at = format!("contents[].parts[].{key}");
        refused(&gemini::PROMPT, &at, &json!({"contents": contents}));
        refused(&gemini::COUNT, &at, &json!({"contents": contents}));
        refused(
            &gemini::EMBED,
            &format!("content.parts[].{key}"),
            &json!({"content": {"parts": [part]}}),
        );
        let deep = json!({"contents": [{"parts": [{"functionResponse": {"parts": [part]}}]}]});
        refused(
            &gemini::PROMPT,
            &format!("contents[].parts[].functionResponse.parts[].{key}"),
            &deep,
        );
    }
    refused(
        &gemini::PROMPT,
        "cachedContent",
        &json!({"cachedContent": "cachedContents/x"}),
    );
    refused(
        &gemini::PROMPT,
        "cached_content",
        &json!({"cached_content": "cachedContents/x"}),
    );
    refused(
        &gemini::PROMPT,
        "contents[].parts[].executableCode",
        &json!({"contents": [{"parts": [{"executableCode": {}}]}]}),
    );
}

#[test]
fn a_schema_refers_to_nothing_outside_itself() {
    let tool = |schema: Value| json!({"tools": [{"name": "x", "input_schema": schema}]});
    passes(
        &claude::PROMPT,
        &tool(json!({"properties": {"a": {"$ref": "#/$defs/a"}}, "$id": "https://a.test"})),
    );
    let outside = tool(json!({"properties": {"a": {"$ref": "https://a.test/?x"}}}));
    refused(&claude::PROMPT, "tools[].input_schema.properties.a.$ref", &outside);
}

#[test]
fn what_two_readers_could_read_differently_is_refused() {
    let deep = format!("{{\"metadata\":{}1{}}}", "[".repeat(200), "]".repeat(200));
    let cases: [&[u8]; 20] = [
        b"",
        b"x",
        b"null",
        b"[]",
        b"\"x\"",
        b"{} {}",
        b"{}x",
        b"{",
        b"\xef\xbb\xbf{}",
        b"{\"model\":\"\xff\"}",
        b"\xff\xfe{\x00}\x00",
        b"{\"model\":\"a\",\"model\":\"a\"}",
        b"{\"model\":\"a\",\"mod\\u0065l\":\"a\"}",
        b"{\"metadata\":{\"a\":1,\"b\":{},\"a\":1}}",
        b"{\"model\":\"\\ud800\"}",
        b"{\"model\":NaN}",
        b"{\"model\":1e999}",
        b"{'model':1}",
        b"{\"model\":\"a\",}",
        deep.as_bytes(),
    ];
    for body in cases {
        for shape in ALL {
            assert!(judge(shape, body).is_err(), "{}", String::from_utf8_lossy(body));
        }
    }
    let twice = judge(
        &claude::PROMPT,
        b"{\"tools\":[],\"t\\u006fols\":[{\"type\":\"web_search_20250305\"}]}",
    );
    assert_eq!(twice, Err(Fault::Twice("tools".to_owned())));
    let null = judge(&claude::PROMPT, b"{\"tools\":[{\"type\":null}]}");
    assert_eq!(null, Err(Fault::Form { at: "type".to_owned() }));
}

#[test]
fn keys_are_counted_while_their_object_is_open() {
    let object = |keys: usize| (0..keys).map(|n| format!("\"{n}\":0")).collect::<Vec<_>>().join(",");
    let many = format!("{{\"metadata\":{{{}}}}}", object(KEYS));
    assert_eq!(judge(&claude::PROMPT, many.as_bytes()), Err(Fault::TooManyKeys));
    let third = object(KEYS / 3);
    let closed = format!("{{\"metadata\":[{{{third}}},{{{third}}},{{{third}}},{{{third}}}]}}");
    assert_eq!(judge(&claude::PROMPT, closed.as_bytes()), Ok(()));
}

#[test]
fn a_refusal_says_why_in_words_of_bounded_length() {
    let fault = verdict(&gemini::PROMPT, &json!({"tools": [{"googleSearch": {}}]})).expect_err("refused");
    assert_eq!(
        fault.to_string(),
        "`tools[].googleSearch` is not known to stay between the agent and its model: the sandbox gives no network by \
         way of the model"
    );
    let fault = verdict(&gemini::PROMPT, &json!({"\u{1b}[2J".repeat(1 << 20): 1})).expect_err("refused");
    assert!(
        fault.to_string().len() < 600 && !fault.to_string().contains('\u{1b}'),
        "{fault}"
    );
}

/// Where the vendor reads nothing: the arguments and results of tools, and their schemas.
const UNREAD: &[&str] = &[
    "schema",
    "input_schema",
    "parameters",
    "parametersJsonSchema",
    "args",
    "response",
    "metadata",
    "client_metadata",
    "arguments",
];
const ORDERS: &[&str] = &[
    "mcp_servers",
    "container",
    "googleSearch",
    "google_search",
    "urlContext",
    "codeExecution",
    "fileData",
    "fileUri",
    "file_url",
    "file_id",
    "url",
    "cachedContent",
    "previous_response_id",
    "prompt",
    "background",
    "server_url",
];
const KINDS: &[&str] = &[
    "mcp",
    "web_search",
    "web_search_20250305",
    "web_fetch_20250910",
    "code_interpreter",
    "file_search",
    "url",
    "file",
    "code_execution_20250522",
    "mcp_toolset",
    "item_reference",
    "server_tool_use",
    "container_auto",
];

/// Looks for the forbidden shapes with no idea of an API.
fn naive(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(naive),
        Value::Object(fields) => {
            let is_call = fields.get("type") == Some(&json!("tool_use"));
            fields.iter().any(|(key, value)| {
                let empty = matches!(value, Value::Null | Value::Bool(false)) || value == &json!([]) || value == "";
                let order = ORDERS.contains(&key.as_str()) && !empty;
                let kind = key == "type" && value.as_str().is_some_and(|kind| KINDS.contains(&kind));
                let address = ["image_url", "file_data"].contains(&key.as_str())
                    && !value.as_str().is_some_and(|url| url.starts_with("data:"));
                let unread = UNREAD.contains(&key.as_str()) || (is_call && key == "input");
                !unread && (order || kind || address && !empty || naive(value))
            })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Puts the field into the nth object of the body.
fn graft(value: &mut Value, nth: &mut usize, key: &str, new: &Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| graft(item, nth, key, new)),
        Value::Object(fields) => {
            if *nth == 0 {
                fields.insert(key.to_owned(), new.clone());
            }
            *nth = nth.wrapping_sub(1);
            fields.values_mut().for_each(|field| graft(field, nth, key, new));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn planted() -> impl Strategy<Value = (String, Value)> {
    let keys: Vec<&str> = ORDERS
        .iter()
        .copied()
        .chain(["file_data", "type", "tools", "source", "image_url", "content", "parts"])
        .collect();
    let leaf = prop_oneof![
        prop::sample::select(KINDS).prop_map(|kind| json!(kind)),
        Just(json!("https://a.test/?secret")),
        Just(json!("data:,x")),
        Just(json!(null)),
        Just(json!([])),
        Just(json!(true)),
        Just(json!("text")),
    ];
    let names = keys.clone();
    let value = leaf.prop_recursive(3, 12, 3, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(names.clone()), inner, 0..3)
                .prop_map(|fields| fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()),
        ]
    });
    (prop::sample::select(keys).prop_map(str::to_owned), value)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn nothing_that_passes_holds_a_forbidden_shape(nth in 0_usize..30, which in 0_usize..3, (key, value) in planted()) {
        let (shape, mut body): (&'static Shape, Value) = match which {
            0 => (&codex::PROMPT, codex_prompt()),
            1 => (&claude::PROMPT, claude_prompt()),
            _ => (&gemini::PROMPT, gemini_prompt()),
        };
        graft(&mut body, &mut nth.clone(), &key, &value);
        if verdict(shape, &body).is_ok() {
            prop_assert!(!naive(&body), "{body:#}");
        }
    }

    #[test]
    fn arbitrary_bytes_are_judged_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[{}\\[\\]\",:a0 \\\\u]{0,60}") {
        for shape in ALL {
            let _ = judge(shape, &bytes);
            let passed = judge(shape, text.as_bytes()).is_ok();
            prop_assert!(!passed || serde_json::from_str::<Value>(&text).is_ok());
        }
    }
}
