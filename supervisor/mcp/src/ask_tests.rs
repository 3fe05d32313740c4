use serde_json::json;

use super::*;

fn says(action: &str, content: Value) -> InputResponses {
    BTreeMap::from([(KEY.to_owned(), json!({ "action": action, "content": content }))])
}

fn put(waiting: &Waiting, about: &str) -> String {
    let result = waiting.put(about, "May it?".into()).expect("a question");
    result.request_state.expect("a handle")
}

#[test]
fn only_a_ticked_box_is_a_yes() {
    let waiting = Waiting::default();
    for (action, content, expected) in [
        ("accept", json!({ "approve": true }), Reply::Yes),
        ("accept", json!({ "approve": false }), Reply::No),
        ("accept", json!({ "approve": "true" }), Reply::No),
        ("accept", json!({}), Reply::No),
        ("accept", Value::Null, Reply::No),
        ("decline", json!({ "approve": true }), Reply::No),
        ("cancel", json!({ "approve": true }), Reply::Nobody),
    ] {
        let handle = put(&waiting, "x");
        let reply = waiting.answered("x", Some(&handle), Some(&says(action, content.clone())));
        assert_eq!(reply, Some(expected), "{action} {content}");
    }
}

#[test]
fn a_yes_counts_once_and_for_its_own_question() {
    let waiting = Waiting::default();
    let yes = says("accept", json!({ "approve": true }));
    let handle = put(&waiting, "a");
    assert_eq!(waiting.answered("a", None, Some(&yes)), None);
    assert_eq!(waiting.answered("a", Some("0".repeat(32).as_str()), Some(&yes)), None);
    assert_eq!(waiting.answered("a", Some(&handle), Some(&yes)), Some(Reply::Yes));
    assert_eq!(waiting.answered("a", Some(&handle), Some(&yes)), None, "again");
    let handle = put(&waiting, "a");
    assert_eq!(
        waiting.answered("b", Some(&handle), Some(&yes)),
        None,
        "another question"
    );
    assert_eq!(waiting.answered("a", Some(&handle), Some(&yes)), None, "used up");
    let handle = put(&waiting, "a");
    assert_eq!(waiting.answered("a", Some(&handle), None), None, "no answer");
}

#[test]
fn questions_that_nobody_answers_are_forgotten() {
    let waiting = Waiting::default();
    let first = put(&waiting, "first");
    for number in 0..MOST_WAITING {
        put(&waiting, &number.to_string());
    }
    assert_eq!(waiting.questions().len(), MOST_WAITING);
    let yes = says("accept", json!({ "approve": true }));
    assert_eq!(waiting.answered("first", Some(&first), Some(&yes)), None);
}
