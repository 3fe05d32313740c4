//! Which headers pass, in each direction, and where the key goes in.
//!
//! Pure. INVARIANT: a request has exactly one credential, the broker's; a response has none.

use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

use super::api::{Auth, Spec};
use super::redact::Key;

/// Between two ends of one connection only (RFC 9110, 7.6.1), and framing, which hyper writes anew.
const HOP_BY_HOP: &[&str] = &[
    "connection",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
    "expect",
];
/// What a client of any API may say. Nothing else goes up, nor what its API does not list: a gateway may take another path,
/// method, host or account from a header (`X-Original-URL`, `Forwarded`, `OpenAI-Project`, …) than the ones decided on.
const FROM_CLIENT: &[&str] = &[
    "accept",
    "accept-language",
    "content-type",
    "content-encoding",
    "user-agent",
    "x-client-request-id",
    "x-stainless-",
];
/// Leads elsewhere, or speaks of a connection that the client does not have.
const NOT_FROM_SERVER: &[&str] = &[
    "set-cookie",
    "set-cookie2",
    "location",
    "content-location",
    "refresh",
    "alt-svc",
    "strict-transport-security",
];
/// How clients of the three vendors say their key; the last is Azure's.
const KEY_HEADERS: &[&str] = &["authorization", "x-api-key", "x-goog-api-key", "api-key"];

/// The keys that a client gave, without `Bearer`.
pub(super) fn keys_given(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    KEY_HEADERS.iter().flat_map(|name| headers.get_all(*name)).map(|value| {
        let value = value.as_bytes();
        match value.split_at_checked(7) {
            Some((scheme, key)) if scheme.eq_ignore_ascii_case(b"bearer ") => key,
            Some(_) | None => value,
        }
    })
}

/// What goes to the API.
pub(super) fn upward(
    client: &HeaderMap,
    spec: &Spec,
    host: HeaderValue,
    credential: Option<(HeaderName, HeaderValue)>,
) -> HeaderMap {
    let listed = |name: &str| {
        FROM_CLIENT
            .iter()
            .chain(spec.headers)
            .any(|listed| is_meant(listed, name))
    };
    let mut headers = passing(client, listed);
    headers.insert(header::HOST, host);
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    // One request, one connection: no answer can be taken for another's.
    headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    headers.extend(credential);
    headers
}

/// What goes back to the sandbox, and how often the key was hidden in it.
pub(super) fn downward(server: &HeaderMap, key: Option<&Key>) -> (HeaderMap, u64) {
    let mut headers = HeaderMap::new();
    let mut found = 0;
    for (name, value) in &passing(server, |name| !NOT_FROM_SERVER.contains(&name)) {
        let Some(key) = key else {
            headers.append(name, value.clone());
            continue;
        };
        if holds_folded(name.as_str().as_bytes(), key.bytes()) {
            found += 1;
            continue;
        }
        match key
            .hidden_in(value.as_bytes())
            .map(|hidden| HeaderValue::from_bytes(&hidden))
        {
            None => {
                headers.append(name, value.clone());
            }
            Some(hidden) => {
                found += 1;
                headers.extend(hidden.ok().map(|hidden| (name.clone(), hidden)));
            }
        }
    }
    (headers, found)
}

/// The header that holds the key. Marked as sensitive, so that no log shows it.
pub(super) fn credential(spec: &Spec, key: &Key) -> Option<(HeaderName, HeaderValue)> {
    let Auth { header, prefix } = &spec.auth;
    let mut value = HeaderValue::from_bytes(&[prefix.as_bytes(), key.bytes()].concat()).ok()?;
    value.set_sensitive(true);
    Some((header.clone(), value))
}

/// A listed name that ends in `-` is the beginning of one.
fn is_meant(listed: &str, name: &str) -> bool {
    match listed.ends_with('-') {
        true => name.starts_with(listed),
        false => name == listed,
    }
}

fn passing(from: &HeaderMap, passes: impl Fn(&str) -> bool) -> HeaderMap {
    let named: Vec<String> = from
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|name| name.trim().to_ascii_lowercase())
        .collect();
    let mut headers = HeaderMap::new();
    for (name, value) in from {
        let text = name.as_str();
        let dropped = HOP_BY_HOP.contains(&text)
            || !passes(text)
            || text.starts_with("proxy-")
            || named.iter().any(|name| name == text);
        if !dropped {
            headers.append(name, value.clone());
        }
    }
    headers
}

fn holds_folded(name: &[u8], key: &[u8]) -> bool {
    name.windows(key.len()).any(|window| window.eq_ignore_ascii_case(key))
}

/// `text/event-stream`, whatever parameters follow.
pub(super) fn is_event_stream(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// The coding of a body that is not plain.
pub(super) fn encoding(headers: &HeaderMap) -> Option<String> {
    let coded = |value: &HeaderValue| !value.as_bytes().eq_ignore_ascii_case(b"identity") && !value.is_empty();
    let value = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .find(|value| coded(value))?;
    Some(String::from_utf8_lossy(value.as_bytes()).chars().take(40).collect())
}

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;
