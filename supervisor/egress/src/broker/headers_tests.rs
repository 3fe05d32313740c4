use std::rc::Rc;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

use super::{credential, downward, encoding, is_event_stream, keys_given, upward};
use crate::broker::api::Api;
use crate::broker::redact::Key;
use crate::broker::secret::Secret;

const SECRET: &str = "sk-real-0123456789";

fn key() -> Key {
    Key::new(Rc::new(Secret::new(SECRET.to_owned()).expect("a key")))
}

fn map(pairs: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        (
            HeaderName::from_bytes(name.as_bytes()).expect("a name"),
            HeaderValue::from_str(value).expect("a value"),
        )
    };
    let mut headers = HeaderMap::new();
    for (name, value) in pairs.iter().map(pair) {
        headers.append(name, value);
    }
    headers
}

#[test]
fn nothing_that_names_an_account_or_a_hop_goes_up() {
    let client = map(&[
        ("authorization", "Bearer one"),
        ("authorization", "Basic two"),
        ("x-api-key", "three"),
        ("x-goog-api-key", "four"),
        ("api-key", "five"),
        ("cookie", "six=6"),
        ("proxy-authorization", "seven"),
        ("proxy-connection", "keep-alive"),
        ("connection", "keep-alive, X-Hop"),
        ("x-hop", "eight"),
        ("keep-alive", "5"),
        ("te", "trailers"),
        ("trailer", "x"),
        ("transfer-encoding", "chunked"),
        ("upgrade", "h2c"),
        ("expect", "100-continue"),
        ("host", "127.0.0.1:9786"),
        ("content-length", "3"),
        ("accept-encoding", "gzip, br"),
        ("x-http-method-override", "DELETE"),
        ("x-original-url", "/v1/files"),
        ("x-rewrite-url", "/v1/files"),
        ("x-forwarded-host", "evil.test"),
        ("x-forwarded-path", "/v1/files"),
        ("forwarded", "host=evil.test"),
        ("openai-organization", "org"),
        ("openai-project", "proj"),
        ("anthropic-workspace-id", "other"),
        ("x-goog-user-project", "other"),
        ("range", "bytes=0-1"),
        ("accept-charset", "utf-7"),
        ("x-stainless", "1"),
        ("x-stainless-lang", "js"),
        ("user-agent", "a"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "a"),
        ("anthropic-beta", "b"),
    ]);
    let headers = upward(
        &client,
        Api::Claude.spec(),
        HeaderValue::from_static("api.test"),
        credential(Api::Claude.spec(), &key()),
    );
    let expected = map(&[
        ("x-stainless-lang", "js"),
        ("user-agent", "a"),
        ("anthropic-version", "2023-06-01"),
        ("anthropic-beta", "a"),
        ("anthropic-beta", "b"),
        ("host", "api.test"),
        ("accept-encoding", "identity"),
        ("connection", "close"),
        ("x-api-key", SECRET),
    ]);
    assert_eq!(headers, expected);
}

#[test]
fn the_key_is_never_shown_by_a_map_of_headers() {
    let headers = upward(
        &HeaderMap::new(),
        Api::Codex.spec(),
        HeaderValue::from_static("x"),
        credential(Api::Codex.spec(), &key()),
    );
    assert!(!format!("{headers:?}").contains(SECRET));
}

#[test]
fn nothing_that_leads_elsewhere_or_holds_the_key_comes_down() {
    let server = map(&[
        ("content-type", "application/json"),
        ("location", "https://evil.test"),
        ("set-cookie", "a=b"),
        ("alt-svc", "h3=\":443\""),
        ("connection", "x-drop"),
        ("x-drop", "1"),
        ("x-echo", "a sk-real-0123456789 b"),
        ("x-sk-real-0123456789", "1"),
        ("request-id", "r1"),
    ]);
    let expected = map(&[
        ("content-type", "application/json"),
        ("x-echo", "a ****************** b"),
        ("request-id", "r1"),
    ]);
    assert_eq!(downward(&server, Some(&key())), (expected, 2));
}

#[test]
fn keys_are_read_from_every_header_that_can_carry_one() {
    let client = map(&[
        ("authorization", "bearer one"),
        ("x-api-key", "two"),
        ("authorization", "Basic three"),
    ]);
    let keys: Vec<_> = keys_given(&client).map(String::from_utf8_lossy).collect();
    assert_eq!(keys, ["one", "Basic three", "two"]);
}

#[test]
fn streams_and_encodings_are_told_by_their_headers() {
    assert!(is_event_stream(&map(&[(
        "content-type",
        "Text/Event-Stream; charset=utf-8"
    )])));
    assert!(!is_event_stream(&map(&[("content-type", "application/json")])));
    assert_eq!(encoding(&map(&[("content-encoding", "identity")])), None);
    assert_eq!(
        encoding(&map(&[("content-encoding", "identity"), ("content-encoding", "br")])),
        Some("br".to_owned())
    );
}
