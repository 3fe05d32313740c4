use proptest::prelude::*;
use serde_json::json;

use super::{Framing, Scanner, Tokens};
use crate::broker::api::Api;

fn read(api: Api, framing: Framing, text: &str) -> Tokens {
    let mut scanner = Scanner::new(&api.spec().usage, framing);
    scanner.read(text.as_bytes());
    scanner.tokens()
}

fn tokens(input: u64, output: u64, cached: u64) -> Tokens {
    Tokens { input, output, cached }
}

#[test]
fn a_codex_stream_counts_what_response_completed_says() {
    let stream = concat!(
        "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"usage\":null}}\n\n",
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"usage\":",
        "{\"input_tokens\":110,\"input_tokens_details\":{\"cached_tokens\":30},\"output_tokens\":7,",
        "\"output_tokens_details\":{\"reasoning_tokens\":2},\"total_tokens\":117}}}\n\n",
    );
    assert_eq!(read(Api::Codex, Framing::Events, stream), tokens(110, 7, 30));
}

#[test]
fn a_claude_stream_counts_the_last_word_and_the_caches() {
    let stream = concat!(
        "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":11,",
        "\"cache_creation_input_tokens\":5,\"cache_read_input_tokens\":3,\"cache_creation\":{\"ephemeral_5m_input_tokens\":5},",
        "\"output_tokens\":1}}}\r\n\r\n",
        ": \"a comment\n",
        "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},",
        "\"usage\":{\"output_tokens\": 42}}\n\n",
    );
    assert_eq!(read(Api::Claude, Framing::Events, stream), tokens(19, 42, 3));
}

#[test]
fn a_claude_answer_in_one_piece_counts_too() {
    let answer = json!({"content": [], "usage": {"input_tokens": 9, "output_tokens": 4}});
    assert_eq!(read(Api::Claude, Framing::Json, &answer.to_string()), tokens(9, 4, 0));
    assert_eq!(
        read(Api::Claude, Framing::Json, &format!("{answer:#}\n")),
        tokens(9, 4, 0)
    );
}

#[test]
fn a_gemini_stream_counts_its_last_totals_in_both_framings() {
    let first = json!({"usageMetadata": {"promptTokenCount": 11, "totalTokenCount": 11}});
    let last = json!({"candidates": [{"index": 0}], "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 7,
        "thoughtsTokenCount": 5, "cachedContentTokenCount": 3, "totalTokenCount": 24}});
    let events = format!("data: {first}\n\ndata: {last}\n\n");
    assert_eq!(read(Api::Gemini, Framing::Events, &events), tokens(12, 12, 3));
    let list = format!("[{first:#},\n{last:#}\n]");
    assert_eq!(read(Api::Gemini, Framing::Json, &list), tokens(12, 12, 3));
}

#[test]
fn arguments_shaped_like_a_counter_are_not_believed() {
    let usage = json!({"input_tokens": 999_999, "output_tokens": 999_999, "usage": {"output_tokens": 999_999}});
    let tool = json!({"content": [{"type": "tool_use", "input": {"usage": usage, "message": {"usage": usage}}}],
        "usage": {"input_tokens": 2, "output_tokens": 1}});
    assert_eq!(read(Api::Claude, Framing::Json, &tool.to_string()), tokens(2, 1, 0));
    let metadata = json!({"promptTokenCount": 999_999, "candidatesTokenCount": 999_999});
    let call = json!({"candidates": [{"content": {"parts": [{"functionCall": {"args": {"usageMetadata": metadata}}}]}}],
        "usageMetadata": {"promptTokenCount": 2}});
    assert_eq!(read(Api::Gemini, Framing::Json, &call.to_string()), tokens(2, 0, 0));
}

#[test]
fn what_is_no_whole_number_is_no_count() {
    for value in ["1.5", "1e9", "-4", "null", "\"77\"", "[5]", "{\"x\":5}", "true"] {
        let text = format!("{{\"usage\":{{\"input_tokens\":{value},\"output_tokens\":3}}}}");
        assert_eq!(read(Api::Claude, Framing::Json, &text), tokens(0, 3, 0), "{value}");
    }
    let huge = format!("{{\"usage\":{{\"input_tokens\":{}}}}}", "9".repeat(40));
    assert_eq!(read(Api::Claude, Framing::Json, &huge), tokens(u64::MAX, 0, 0));
}

#[test]
fn a_stream_cut_in_a_number_does_not_count_half_of_it() {
    let text = "data: {\"usage\":{\"input_tokens\":12,\"output_tokens\":34";
    assert_eq!(read(Api::Claude, Framing::Events, text), tokens(12, 0, 0));
}

#[test]
fn a_count_of_tokens_before_a_request_is_no_cost() {
    assert_eq!(
        read(Api::Claude, Framing::Json, "{\"input_tokens\":2095}"),
        tokens(0, 0, 0)
    );
    assert_eq!(
        read(Api::Gemini, Framing::Json, "{\"totalTokens\":31}"),
        tokens(0, 0, 0)
    );
}

proptest! {
    #[test]
    fn no_text_changes_the_count_however_it_is_cut(text in any::<String>(), quoted in any::<bool>(), cut in 1usize..50) {
        let text = if quoted { format!("{text}\",\"usage\":{{\"input_tokens\":5}}\n") } else { text };
        let delta = json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}});
        let end = json!({"type": "message_delta", "usage": {"output_tokens": 8}});
        let stream = format!("data: {delta}\n\ndata: {end}\n\n");
        let mut scanner = Scanner::new(&Api::Claude.spec().usage, Framing::Events);
        for chunk in stream.as_bytes().chunks(cut) {
            scanner.read(chunk);
        }
        prop_assert_eq!(scanner.tokens(), tokens(0, 8, 0));
        prop_assert_eq!(read(Api::Claude, Framing::Events, &stream), tokens(0, 8, 0));
    }

    #[test]
    fn arbitrary_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for framing in [Framing::Json, Framing::Events] {
            Scanner::new(&Api::Codex.spec().usage, framing).read(&bytes);
        }
    }
}
