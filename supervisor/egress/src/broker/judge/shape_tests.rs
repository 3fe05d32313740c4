use super::{Shape, is_snake_of, kind, message, object, searches};

#[test]
fn a_kind_with_a_date_takes_dates_only() {
    let bash = kind("bash_#");
    assert!(bash.is("bash_20250124"));
    for other in [
        "bash_",
        "bash_2025012",
        "bash_202501244",
        "bash_2025012x",
        "bash_#",
        "Bash_20250124",
        "bash",
    ] {
        assert!(!bash.is(other), "{other}");
    }
    assert!(kind("custom").is("custom") && !kind("custom").is("custom_20250124"));
}

#[test]
fn protocol_buffers_are_spelled_in_two_ways_and_no_third() {
    for key in ["inlineData", "inline_data"] {
        let Shape::Object(object) = message(&[("inlineData", &Shape::Plain)]) else {
            panic!()
        };
        assert!(object.field(key).is_some(), "{key}");
    }
    for key in [
        "inlinedata",
        "inline_Data",
        "InlineData",
        "inline__data",
        "inline_data_",
        "inlineData_",
        "inline",
    ] {
        assert!(!is_snake_of(key, "inlineData"), "{key}");
    }
    let Shape::Object(object) = object(&[("inlineData", &Shape::Plain)]) else {
        panic!()
    };
    assert!(object.field("inline_data").is_none());
}

#[test]
fn models_that_search_are_known_by_their_names() {
    for model in [
        "gpt-4o-search-preview",
        "o3-deep-research",
        "openai/gpt-4o:online",
        "Deep-Research-Pro",
    ] {
        assert!(searches(model), "{model}");
    }
    for model in [
        "gpt-6.1-sol",
        "claude-opus-4-8",
        "gemini-3-flash-preview",
        "gpt-5.2-codex",
    ] {
        assert!(!searches(model), "{model}");
    }
}
