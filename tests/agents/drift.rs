//! What each CLI needs is what its profile grants. When a new version needs more, these tests say what.
//!
//! A new version is one line in `versions.txt`; what fails here is what the profile, or the broker's list of requests,
//! must then learn.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cli::Cli;
use crate::support::{Place, Ran, claims};

/// The requests of the pinned version in a turn with a tool call, without their queries.
fn known_requests(cli: Cli) -> BTreeSet<String> {
    let request = match cli {
        Cli::Codex => "POST /v1/responses",
        Cli::Claude => "POST /v1/messages",
        Cli::Gemini => "POST /v1beta/models/gemini-2.5-pro:streamGenerateContent",
    };
    [request.to_owned()].into()
}

fn requests(ran: &Ran) -> BTreeSet<String> {
    let line = |method: &str, path: &str| format!("{method} {}", path.split('?').next().unwrap_or_default());
    ran.api
        .requests()
        .iter()
        .map(|request| line(&request.method, &request.path))
        .collect()
}

/// Names of the tools that the model is offered, wherever the vendor puts them.
pub(crate) fn tools(body: &str) -> BTreeSet<String> {
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            Value::Object(fields) => {
                found.extend(fields.get("name").and_then(Value::as_str).map(str::to_owned));
                for list in ["functionDeclarations", "tools"] {
                    fields.get(list).iter().for_each(|list| names(list, found));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut found = BTreeSet::new();
    let body: Value = serde_json::from_str(body).expect("a request of JSON");
    names(&body["tools"], &mut found);
    names(&body["input"], &mut found);
    found
}

/// What was tried and refused, one line each.
fn denied(report: &Value) -> Vec<String> {
    let denials = report["denials"].as_array().expect("a list of denials");
    let line = |denial: &Value| {
        let what = ["path", "host", "name"].iter().find_map(|key| denial[key].as_str());
        let [kind, program] = ["kind", "program"].map(|key| denial[key].as_str().unwrap_or("?"));
        format!("{program}: {kind} {}", what.unwrap_or("?"))
    };
    denials.iter().map(line).collect()
}

fn heading(at: &Place) -> String {
    format!(
        "{} {} differs from what its profile knows",
        at.cli.name(),
        at.cli.version()
    )
}

claims! {
    fn it_is_the_version_that_the_profile_was_made_for(at) {
        let api = crate::api::Api::serve(at.cli, vec![crate::api::Turn::text("unused")]);
        let program = at.cli.program().display().to_string();
        let outcome = at.sandboxed("restricted", &api).command([&program, "--version"]).go();
        assert!(outcome.says(at.cli.version()), "{}: {}", heading(at), outcome.describe());
    }

    fn it_needs_no_more_than_its_profile_grants(at) {
        let ran = at.run("workspace", at.shell("echo from the agent > made"));
        let none: [String; 0] = [];
        assert_eq!(denied(&ran.report), none, "{}: it tried more", heading(at));
        assert_eq!(&ran.usage()["reasons"], &serde_json::json!({}), "{}: it asks its API for more", heading(at));
        ran.succeeded(at);
    }

    fn it_asks_its_api_what_it_always_asked(at) {
        let ran = at.run("workspace", at.shell("true"));
        ran.succeeded(at);
        assert_eq!(requests(&ran), known_requests(at.cli), "{}: it asks other things", heading(at));
        let body = &ran.api.asked()[0].body;
        assert!(tools(body).contains(at.cli.shell_tool()), "{}: its tools are {:?}", heading(at), tools(body));
    }
}
