use std::collections::BTreeSet;

use super::*;

fn names(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object().expect("properties");
    properties.keys().cloned().collect()
}

#[test]
fn every_tool_says_what_it_takes_and_returns() {
    let all: BTreeSet<&str> = ALL.iter().map(|entry| entry.name).collect();
    assert_eq!((all.len(), ALL.len()), (13, 13));
    for entry in ALL {
        let tool = entry.tool();
        let (input, output) = ((entry.input)(), (entry.output)());
        assert!(
            entry.name.starts_with("glee_") && entry.description.ends_with('.'),
            "{}",
            entry.name
        );
        assert_eq!(
            (&input["type"], &input["additionalProperties"]),
            (&json!("object"), &json!(false)),
            "{}",
            entry.name
        );
        assert_eq!(output["type"], "object", "{}", entry.name);
        for schema in [&input, &output] {
            let known = names(schema);
            let required = schema["required"].as_array().expect("required");
            for name in required {
                assert!(known.contains(name.as_str().expect("a name")), "{}: {name}", entry.name);
            }
        }
        let hints = tool.annotations.expect("hints");
        assert_eq!(
            hints.read_only_hint,
            Some(entry.effect == Effect::Reads),
            "{}",
            entry.name
        );
    }
}

/// What a strict parser says about a field that it does not know names those it does.
fn fields<T: DeserializeOwned + std::fmt::Debug>() -> BTreeSet<String> {
    let error = serde_json::from_value::<T>(json!({ "no such field": 1 }))
        .expect_err("it is strict")
        .to_string();
    let (_, known) = error.split_once("expected").unwrap_or_default();
    known.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn a_task_is_described_as_it_is_read() {
    let mut shown = names(&(task::ENTRY.input)());
    assert!(shown.remove("background"));
    assert_eq!(shown, fields::<glee_engine::tasks::Request>());
}

#[test]
fn a_long_text_is_cut_between_characters() {
    assert_eq!(cut("short"), "short");
    let long = "ä".repeat(1000);
    assert_eq!(cut(&long), "ä".repeat(250));
}
