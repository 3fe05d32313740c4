//! Decides what a request from the sandbox asks for, and whether it may.
//!
//! Pure. The list of the API's requests is matched as it is written: nothing is decoded, normalised or repaired, so what
//! was decided on is what is sent. INVARIANT: a path that leaves here is the endpoint's base and a listed route.

use hyper::http::uri::{PathAndQuery, Uri};
use hyper::{HeaderMap, Method, header};

use super::answer::Refusal;
use super::api::{Carries, Route, Served, Spec};
use super::endpoint::{Endpoint, is_segment};
use super::judge::searches;

/// Parameters that carry a key of the client's.
const CREDENTIALS: &[&str] = &["key", "api_key", "apikey", "access_token", "oauth_token", "token"];
/// What is quoted of a hostile path.
const QUOTED: usize = 120;

/// What becomes of a request that may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Here,
    Upstream {
        path: PathAndQuery,
        /// Keys that stood in the query.
        keys: Vec<String>,
        carries: Carries,
    },
}

pub(super) fn target(
    spec: &Spec,
    endpoint: &Endpoint,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Target, Refusal> {
    if uri.authority().is_some() || uri.scheme().is_some() {
        return Err(Refusal::WholeUrl);
    }
    if headers.contains_key(header::UPGRADE) {
        return Err(Refusal::Upgrade);
    }
    let refused = || Refusal::Request {
        method: method.as_str().chars().take(16).collect(),
        path: uri.path().chars().take(QUOTED).collect(),
    };
    let path = uri.path().strip_prefix(spec.inner_base).ok_or_else(refused)?;
    let route = spec
        .routes
        .iter()
        .find(|route| route.method == method.as_str() && matches(route, path))
        .ok_or_else(refused)?;
    let (query, keys) = query(spec, uri.query().unwrap_or_default())?;
    match route.served {
        Served::Here => Ok(Target::Here),
        Served::Upstream => {
            let base = match endpoint.base() {
                "" => spec.default_base,
                base => base,
            };
            let path = format!("{base}{path}{query}");
            let path = PathAndQuery::try_from(path).map_err(|_| refused())?;
            Ok(Target::Upstream {
                path,
                keys,
                carries: route.carries,
            })
        }
    }
}

fn matches(route: &Route, path: &str) -> bool {
    match route.path.split_once("{}") {
        None => route.path == path,
        Some((before, after)) => path
            .strip_prefix(before)
            .and_then(|rest| rest.strip_suffix(after))
            .is_some_and(|model| is_segment(model) && !searches(model)),
    }
}

/// The query that goes on, with its `?`, and the keys that do not.
fn query(spec: &Spec, text: &str) -> Result<(String, Vec<String>), Refusal> {
    let mut kept: Vec<&str> = Vec::new();
    let mut keys = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if CREDENTIALS
            .iter()
            .any(|credential| credential.eq_ignore_ascii_case(name))
        {
            keys.push(value.to_owned());
        } else if spec.query.contains(&name) {
            kept.push(pair);
        } else {
            return Err(Refusal::Query(name.chars().take(QUOTED).collect()));
        }
    }
    let mark = if kept.is_empty() { "" } else { "?" };
    Ok((format!("{mark}{}", kept.join("&")), keys))
}

#[cfg(test)]
#[path = "route_tests.rs"]
mod tests;
