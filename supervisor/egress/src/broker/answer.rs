//! What the broker says itself: why it refused, or why nobody answered, in the words of the API that the CLI speaks.
//!
//! Pure. Never says anything of the key.

use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use serde_json::json;

use super::api::Api;
use super::judge::Fault;

/// Tells an answer of the broker's from one of the API's.
pub const MARK: HeaderName = HeaderName::from_static("x-glee-broker");

/// Why a request was not forwarded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("`{method} {path}` is not a request that this agent needs")]
    Request { method: String, path: String },
    #[error("the request names a whole URL; only a path is taken")]
    WholeUrl,
    #[error("the query parameter `{0}` is not one that this agent needs")]
    Query(String),
    #[error("no upgrade to another protocol")]
    Upgrade,
    #[error("the request is larger than {0} bytes")]
    TooLarge(u64),
    #[error("the requests at once are larger than {0} bytes")]
    TooMuchAtOnce(u64),
    #[error("the request broke off")]
    BrokenOff,
    #[error("this request has no body")]
    Body,
    #[error("the body must be `application/json` in UTF-8")]
    NotJson,
    #[error("the body has the content-encoding `{0}`, in which it cannot be judged")]
    Encoded(String),
    #[error(transparent)]
    Asks(#[from] Fault),
}

/// Why a forwarded request has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("cannot connect to {endpoint}: {source}")]
    Connect { endpoint: String, source: std::io::Error },
    #[error("cannot connect to {endpoint}: no connection within {seconds} s")]
    ConnectTimeout { endpoint: String, seconds: u64 },
    #[error("cannot trust {endpoint}: {source}")]
    Tls { endpoint: String, source: std::io::Error },
    #[error("cannot trust {0}: no trusted certificates on this machine (install ca-certificates or set SSL_CERT_FILE)")]
    NoRoots(String),
    #[error("cannot speak TLS: {0}")]
    TlsSetup(#[from] rustls::Error),
    #[error("{endpoint} did not answer: {}", causes(source))]
    Exchange { endpoint: String, source: hyper::Error },
    #[error("{endpoint} did not answer within {seconds} s")]
    HeadTimeout { endpoint: String, seconds: u64 },
    #[error("{endpoint} switched to another protocol")]
    Switched { endpoint: String },
    #[error("{endpoint} answered with content-encoding `{encoding}`, in which the key could hide")]
    Encoded { endpoint: String, encoding: String },
    #[error("cannot build a request for {0}")]
    Request(String),
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Request { .. }
            | Self::WholeUrl
            | Self::Query(_)
            | Self::Body
            | Self::NotJson
            | Self::Encoded(_)
            | Self::Asks(_) => StatusCode::FORBIDDEN,
            // codex falls back to plain requests at once on this status, and after seven attempts on any other.
            Self::Upgrade => StatusCode::UPGRADE_REQUIRED,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooMuchAtOnce(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::BrokenOff => StatusCode::REQUEST_TIMEOUT,
        }
    }

    pub(super) fn response(&self, api: Api) -> Response<Full<Bytes>> {
        let text = format!("refused by the sandbox's model broker: {self}");
        response(api, self.status(), Kind::Refused, &text)
    }
}

impl Failure {
    fn status(&self) -> StatusCode {
        match self {
            Self::ConnectTimeout { .. } | Self::HeadTimeout { .. } => StatusCode::GATEWAY_TIMEOUT,
            Self::Connect { .. }
            | Self::Tls { .. }
            | Self::NoRoots(_)
            | Self::TlsSetup(_)
            | Self::Exchange { .. }
            | Self::Switched { .. }
            | Self::Encoded { .. }
            | Self::Request(_) => StatusCode::BAD_GATEWAY,
        }
    }

    pub(super) fn response(&self, api: Api) -> Response<Full<Bytes>> {
        let text = format!("the sandbox's model broker: {self}");
        response(api, self.status(), Kind::Failed, &text)
    }
}

/// An error and what caused it: hyper keeps the cause to itself.
pub(super) fn causes(error: &hyper::Error) -> String {
    let first: Option<&dyn std::error::Error> = Some(error);
    let chain: Vec<String> = std::iter::successors(first, |error| error.source())
        .map(ToString::to_string)
        .collect();
    chain.join(": ")
}

/// For a CLI that asks whether anyone is there.
pub(super) fn present() -> Response<Full<Bytes>> {
    Response::new(Full::default())
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Refused,
    Failed,
}

fn response(api: Api, status: StatusCode, kind: Kind, text: &str) -> Response<Full<Bytes>> {
    let (mark, openai, anthropic, google) = match kind {
        Kind::Refused => (
            "refused",
            "glee_broker_refused",
            "permission_error",
            "PERMISSION_DENIED",
        ),
        Kind::Failed => ("failed", "glee_broker_failed", "api_error", "UNAVAILABLE"),
    };
    let body = match api {
        Api::Codex => json!({"error": {"message": text, "type": openai, "param": null, "code": openai}}),
        Api::Claude => json!({"type": "error", "error": {"type": anthropic, "message": text}}),
        Api::Gemini => json!({"error": {"code": status.as_u16(), "message": text, "status": google}}),
    };
    let mut response = Response::new(Full::new(Bytes::from(body.to_string())));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(MARK, HeaderValue::from_static(mark));
    response
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
