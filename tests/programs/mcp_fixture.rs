//! The real MCP server, with the tools, prompts and resources that the conformance suite wants to find.
//!
//! Shares transport, limits and every tool of ours with the product. The suite cannot send the token, so this program adds
//! it to what arrives, and prints where it listens.
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    deprecated,
    reason = "a fixture fails by panicking, and the suite asks for what the protocol gives up"
)]

use std::time::Duration;

use glee_engine::project::Scene;
use glee_mcp::server::Server;
use glee_mcp::transport::http;
use glee_mcp::transport::token::Token;
use hyper::header::{AUTHORIZATION, HeaderValue};
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// One red pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
/// No sound.
const AUDIO: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==";
const STATE: &str = "state-of-the-fixture";

#[derive(Clone, Copy, PartialEq)]
enum Change {
    Tools,
    Prompts,
}

#[derive(Clone)]
struct Fixture {
    ours: Server,
    changes: broadcast::Sender<Change>,
}

/// A result that is whole, in the words of the newest protocol; older clients are not told.
fn whole(mut value: Value) -> Value {
    value["resultType"] = json!("complete");
    value
}

fn typed<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value.clone()).unwrap_or_else(|e| panic!("{e}: {value}"))
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn image() -> Value {
    json!({ "type": "image", "data": IMAGE, "mimeType": "image/png" })
}

fn form(message: &str, properties: Value, required: &[&str]) -> Value {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

fn sampling(prompt: &str) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": 100 } })
}

fn name_form(message: &str, key: &str) -> Value {
    form(message, json!({ key: { "type": "string" } }), &[key])
}

fn needed(requests: Value, state: Option<&str>) -> InputRequiredResult {
    let mut result = json!({ "resultType": "input_required", "inputRequests": requests });
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    typed(result)
}

/// Asks the client, as the older protocol does.
async fn ask(context: &RequestContext<RoleServer>, request: Value) -> Result<Value, ErrorData> {
    let answer = context.peer.send_request(typed(request)).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(serde_json::to_value(answer).expect("JSON"))
}

const TOOLS: &[&str] = &[
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_error_handling",
    "test_tool_with_progress",
    "test_sampling",
    "test_elicitation",
    "test_streaming_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_reconnection",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
    "json_schema_2020_12_tool",
    CUSTOM_HEADER,
];

/// Wants its argument in a header of the request as well, where what lies between can see it.
const CUSTOM_HEADER: &str = "test_custom_header";

fn tool(name: &'static str) -> Tool {
    let schema = if name == "json_schema_2020_12_tool" {
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": { "$anchor": "addressDef", "type": "object", "properties": { "street": { "type": "string" }, "city": { "type": "string" } } } },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" },
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false,
        })
    } else if name == CUSTOM_HEADER {
        let region = json!({ "type": "string", "x-mcp-header": "Region" });
        json!({ "type": "object", "properties": { "region": region }, "required": ["region"] })
    } else {
        json!({ "type": "object", "properties": { "message": { "type": "string" }, "prompt": { "type": "string" } } })
    };
    Tool::new(
        name,
        format!("For the conformance suite: {name}"),
        typed::<JsonObject>(schema),
    )
}

impl Fixture {
    /// Progress and messages on the way, with a little time between them.
    async fn log(&self, context: &RequestContext<RoleServer>) {
        let is_new = context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        for said in [
            "Tool execution started",
            "Tool processing data",
            "Tool execution completed",
        ] {
            // The newer protocol wants messages only where the request asks for them.
            if !is_new || context.meta.log_level().is_some() {
                let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(said));
                drop(context.peer.notify_logging_message(message).await);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn tool(
        &self,
        params: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.clone().unwrap_or_default());
        let said = params.input_responses.clone().unwrap_or_default();
        let content = |key: &str, name: &str| {
            let value = said
                .get(key)
                .and_then(|response| response.get("content"))
                .and_then(|content| content.get(name));
            value.cloned()
        };
        let result = match params.name.as_ref() {
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => json!({ "content": [image()] }),
            "test_audio_content" => json!({ "content": [{ "type": "audio", "data": AUDIO, "mimeType": "audio/wav" }] }),
            "test_embedded_resource" => json!({ "content": [embedded("test://embedded-resource")] }),
            "test_multiple_content_types" => json!({ "content": [
                { "type": "text", "text": "Multiple content types test:" },
                image(),
                { "type": "resource", "resource": { "uri": "test://mixed-content-resource", "mimeType": "application/json", "text": "{\"test\":\"data\",\"value\":123}" } },
            ] }),
            "test_tool_with_logging" | "test_logging_tool" => {
                self.log(context).await;
                text("It is logged")
            }
            "test_error_handling" => {
                json!({ "isError": true, "content": [{ "type": "text", "text": "This tool intentionally returns an error for testing" }] })
            }
            "test_tool_with_progress" => {
                for progress in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        drop(
                            context
                                .peer
                                .notify_progress(ProgressNotificationParam::new(token, progress).with_total(100.0))
                                .await,
                        );
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                text("done")
            }
            "test_sampling" => {
                let answer = ask(context, sampling(arguments["prompt"].as_str().unwrap_or("Hello"))).await?;
                text(&format!(
                    "LLM response: {}",
                    answer["content"]["text"].as_str().unwrap_or_default()
                ))
            }
            "test_elicitation" => {
                let properties = json!({ "username": { "type": "string", "description": "User's response" }, "email": { "type": "string", "description": "User's email address" } });
                let answer = ask(
                    context,
                    form(
                        arguments["message"].as_str().unwrap_or("Who?"),
                        properties,
                        &["username", "email"],
                    ),
                )
                .await?;
                text(&format!("User response: {answer}"))
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": { "type": "string", "default": "John Doe" },
                    "age": { "type": "integer", "default": 30 },
                    "score": { "type": "number", "default": 95.5 },
                    "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
                    "verified": { "type": "boolean", "default": true },
                });
                text(&format!(
                    "Elicitation completed: {}",
                    ask(context, form("Please review", properties, &[])).await?
                ))
            }
            "test_elicitation_sep1330_enums" => {
                let titled = |title: &str| json!([{ "const": "value1", "title": format!("First {title}") }, { "const": "value2", "title": format!("Second {title}") }, { "const": "value3", "title": format!("Third {title}") }]);
                let plain = json!(["option1", "option2", "option3"]);
                let properties = json!({
                    "untitledSingle": { "type": "string", "enum": plain },
                    "titledSingle": { "type": "string", "oneOf": titled("Option") },
                    "legacyEnum": { "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"] },
                    "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
                    "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
                });
                text(&format!(
                    "Elicitation completed: {}",
                    ask(context, form("Please choose", properties, &[])).await?
                ))
            }
            "test_missing_capability" => {
                let can = context.client_capabilities().unwrap_or_default();
                if can.sampling.is_none() {
                    let needed = typed(json!({ "sampling": {} }));
                    return Err(ErrorData::missing_required_client_capability(needed));
                }
                text("it is there")
            }
            "test_reconnection" => text("reconnected"),
            "test_trigger_tool_change" => {
                drop(self.changes.send(Change::Tools));
                text("changed")
            }
            "test_trigger_prompt_change" => {
                drop(self.changes.send(Change::Prompts));
                text("changed")
            }
            "test_streaming_elicitation" | "test_input_required_result_elicitation" => {
                match content("user_name", "name") {
                    Some(name) => text(&format!("Hello, {name}!")),
                    None => {
                        return Ok(
                            needed(json!({ "user_name": name_form("What is your name?", "name") }), None).into(),
                        );
                    }
                }
            }
            "test_input_required_result_sampling" => match said.get("capital_question") {
                Some(answer) => text(&answer.to_string()),
                None => {
                    return Ok(needed(
                        json!({ "capital_question": sampling("What is the capital of France?") }),
                        None,
                    )
                    .into());
                }
            },
            "test_input_required_result_list_roots" => match said.get("client_roots") {
                Some(roots) => text(&roots.to_string()),
                None => {
                    return Ok(needed(
                        json!({ "client_roots": { "method": "roots/list", "params": {} } }),
                        None,
                    )
                    .into());
                }
            },
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                match (params.request_state.as_deref(), said.get("confirm")) {
                    (Some(STATE), Some(_)) => text("state-ok"),
                    (Some(_), _) => {
                        return Err(ErrorData::invalid_params("this is not the state that was given", None));
                    }
                    (None, _) => {
                        let confirm = form("Please confirm", json!({ "ok": { "type": "boolean" } }), &["ok"]);
                        return Ok(needed(json!({ "confirm": confirm }), Some(STATE)).into());
                    }
                }
            }
            "test_input_required_result_multiple_inputs" => {
                let all = ["user_name", "greeting", "client_roots"]
                    .iter()
                    .all(|key| said.contains_key(*key));
                if !(all && params.request_state.as_deref() == Some(STATE)) {
                    let requests = json!({
                        "user_name": name_form("What is your name?", "name"),
                        "greeting": sampling("Generate a greeting"),
                        "client_roots": { "method": "roots/list", "params": {} },
                    });
                    return Ok(needed(requests, Some(STATE)).into());
                }
                text("All of it is there")
            }
            "test_input_required_result_multi_round" => match params.request_state.as_deref() {
                None => {
                    return Ok(needed(
                        json!({ "step1": name_form("Step 1: What is your name?", "name") }),
                        Some("round-1"),
                    )
                    .into());
                }
                Some("round-1") => {
                    return Ok(needed(
                        json!({ "step2": name_form("Step 2: What is your favorite color?", "color") }),
                        Some("round-2"),
                    )
                    .into());
                }
                Some("round-2") => text(&format!("{said:?}")),
                Some(_) => return Err(ErrorData::invalid_params("this is not the state that was given", None)),
            },
            "test_input_required_result_capabilities" => {
                let can = context.client_capabilities().unwrap_or_default();
                let mut requests = json!({});
                if can.sampling.is_some() {
                    requests["greeting"] = sampling("Generate a greeting");
                }
                if can.elicitation.is_some() {
                    requests["user_name"] = name_form("What is your name?", "name");
                }
                return Ok(needed(requests, Some(STATE)).into());
            }
            _ => text("as it should be"),
        };
        Ok(typed::<CallToolResult>(whole(result)).into())
    }
}

fn embedded(uri: &str) -> Value {
    json!({ "type": "resource", "resource": { "uri": uri, "mimeType": "text/plain", "text": "Embedded resource content for testing." } })
}

fn prompts() -> Vec<Prompt> {
    typed(json!([
        { "name": "test_simple_prompt", "description": "No arguments" },
        { "name": "test_prompt_with_arguments", "description": "Two arguments", "arguments": [{ "name": "arg1", "required": true }, { "name": "arg2", "required": true }] },
        { "name": "test_prompt_with_embedded_resource", "description": "A resource", "arguments": [{ "name": "resourceUri", "required": true }] },
        { "name": "test_prompt_with_image", "description": "An image" },
        { "name": "test_input_required_result_prompt", "description": "Asks first" },
    ]))
}

impl ServerHandler for Fixture {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.ours.get_info();
        let mut can = serde_json::to_value(&info.capabilities).expect("JSON");
        can["tools"] = json!({ "listChanged": true });
        can["prompts"] = json!({ "listChanged": true });
        can["resources"] = json!({ "subscribe": true });
        can["logging"] = json!({});
        can["completions"] = json!({});
        info.capabilities = typed(can);
        info
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut all = self.ours.list_tools(params, context).await?;
        all.tools.extend(TOOLS.iter().map(|name| tool(name)));
        Ok(all)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let fixture = TOOLS.iter().find(|known| **known == name).map(|name| tool(name));
        fixture.or_else(|| self.ours.get_tool(name))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if TOOLS.contains(&params.name.as_ref()) {
            return self.tool(params, &context).await;
        }
        self.ours.call_tool(params, context).await
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut all = self.ours.list_prompts(params, context).await?;
        all.prompts.extend(prompts());
        Ok(all)
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = Value::Object(params.arguments.clone().unwrap_or_default());
        let user = |content: Value| json!({ "role": "user", "content": content });
        let words = |text: &str| user(json!({ "type": "text", "text": text }));
        let messages = match params.name.as_str() {
            "test_simple_prompt" => json!([words("This is a simple prompt for testing.")]),
            "test_prompt_with_arguments" => json!([words(&format!(
                "Prompt with arguments: arg1={}, arg2={}",
                arguments["arg1"], arguments["arg2"]
            ))]),
            "test_prompt_with_embedded_resource" => {
                let uri = arguments["resourceUri"].as_str().unwrap_or("test://none");
                json!([
                    user(embedded(uri)),
                    words("Please process the embedded resource above.")
                ])
            }
            "test_prompt_with_image" => json!([user(image()), words("Please analyze the image above.")]),
            "test_input_required_result_prompt" => {
                if params.input_responses.is_none() {
                    let request = name_form("What context should the prompt use?", "context");
                    return Ok(needed(json!({ "user_context": request }), None).into());
                }
                json!([words("With context.")])
            }
            _ => return self.ours.get_prompt(params, context).await,
        };
        Ok(typed::<GetPromptResult>(whole(json!({ "messages": messages }))).into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(typed(json!([
            { "uri": "test://static-text", "name": "text", "mimeType": "text/plain", "description": "A text" },
            { "uri": "test://static-binary", "name": "binary", "mimeType": "image/png", "description": "An image" },
        ]))))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(typed(json!([
            { "uriTemplate": "test://template/{id}/data", "name": "template", "mimeType": "application/json" },
        ]))))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri.as_str();
        let template = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let one = match (uri, template) {
            ("test://static-text", _) => {
                json!({ "uri": uri, "mimeType": "text/plain", "text": "This is the content of the static text resource." })
            }
            ("test://static-binary", _) => json!({ "uri": uri, "mimeType": "image/png", "blob": IMAGE }),
            (_, Some(id)) => {
                json!({ "uri": uri, "mimeType": "application/json", "text": json!({ "id": id, "templateTest": true }).to_string() })
            }
            (_, None) => {
                return Err(ErrorData::resource_not_found(
                    "there is no such resource",
                    Some(json!({ "uri": uri })),
                ));
            }
        };
        Ok(typed::<ReadResourceResult>(whole(json!({ "contents": [one] }))).into())
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Ok(typed(whole(
            json!({ "completion": { "values": ["paris", "park"], "total": 2, "hasMore": false } }),
        )))
    }

    async fn set_level(&self, _: SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if context
            .protocol_version()
            .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
        {
            return Err(ErrorData::method_not_found::<SetLevelRequestMethod>());
        }
        Ok(())
    }

    async fn subscribe(&self, _: SubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn unsubscribe(&self, _: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                change = changes.recv() => {
                    // What the filter leaves out is refused by the sink.
                    drop(match change {
                        Ok(Change::Tools) => context.sink().notify_tool_list_changed().await,
                        Ok(Change::Prompts) => context.sink().notify_prompt_list_changed().await,
                        Err(_) => return Ok(()),
                    });
                }
            }
        }
    }

    async fn get_task(
        &self,
        params: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.ours.get_task(params, context).await
    }

    async fn cancel_task(
        &self,
        params: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.ours.cancel_task(params, context).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        self.ours.on_custom_request(request, context).await
    }
}

fn main() {
    let scene = Scene::find(None).expect("a project");
    let (token, file) = Token::of_user().expect("a token");
    let secret = std::fs::read_to_string(file).expect("the token");
    let header = HeaderValue::from_str(&format!("Bearer {}", secret.trim())).expect("a header");
    let fixture = Fixture {
        ours: Server::new(scene),
        changes: broadcast::channel(16).0,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let listening = http::listen("127.0.0.1:0".parse().expect("an address"))
            .await
            .expect("listen");
        println!("http://{}{}", listening.1, http::PATH);
        let arrive = move |headers: &mut hyper::HeaderMap| {
            headers.insert(AUTHORIZATION, header.clone());
        };
        match http::serve(listening, http::Guard::Token(token), move || fixture.clone(), arrive).await {}
    });
}
