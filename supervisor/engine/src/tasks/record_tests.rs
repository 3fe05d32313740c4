use serde_json::json;

use super::*;

#[test]
fn a_result_fits_whatever_it_is_made_of() {
    for text in ["\u{1}", "a", "\u{1f600}", "\""] {
        let mut kept = Kept {
            output: Some(text.repeat(900_000 / text.len())),
            ..Kept::default()
        };
        fit(&mut kept);
        assert!(kept.json().to_string().len() <= MOST_RESULT, "{text:?}");
        assert!(kept.output.is_some_and(|output| output.len() > 1000), "{text:?}");
    }
}

#[test]
fn the_model_counts_only_where_the_broker_counts() {
    let broker = |requests: u64, refused: u64| json!({"model": {"access": "broker", "usage": {"requests": requests, "refused": refused}}});
    assert_eq!(model_requests(&broker(3, 1)), Some(2));
    assert_eq!(
        model_requests(&json!({"model": {"access": "broker", "usage": null}})),
        Some(0)
    );
    assert_eq!(model_requests(&json!({"model": {"access": "host"}})), None);
    assert_eq!(model_requests(&json!({"model": null})), None);
}

#[test]
fn tokens_are_the_brokers_where_it_counted_any() {
    let usage = |usage| json!({"model": {"access": "broker", "usage": usage}});
    assert_eq!(
        counted(&usage(json!({"input_tokens": 110, "output_tokens": 7}))),
        Some((110, 7))
    );
    assert_eq!(
        counted(&usage(json!({"input_tokens": 0, "output_tokens": 7}))),
        Some((0, 7))
    );
    assert_eq!(counted(&usage(json!({"requests": 2}))), None);
    assert_eq!(
        counted(&json!({"model": {"access": "host", "usage": {"input_tokens": 1}}})),
        None
    );
    assert_eq!(counted(&json!({"model": null})), None);
}

#[test]
fn the_reason_is_what_was_said_last() {
    let said = last_of(&format!("first {} last\n", "ä".repeat(2000)));
    assert!(said.len() <= COMPLAINT && said.ends_with("last"));
}
