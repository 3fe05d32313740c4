//! Streamable HTTP on a loopback address: who may come in, how much they may send, how long they may take.
//!
//! The protocol itself is the library's, with its checks of Host and Origin. INVARIANT: of who is not let in nothing but the head
//! of a request is read.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::MOST_MESSAGE;
use super::token::Token;

/// The one path that is served.
pub const PATH: &str = "/mcp";
/// Bodies that are read at the same time: that many messages are held at most.
const MOST_BODIES: usize = 16;
const MOST_SESSIONS: usize = 256;
const MOST_HEAD: usize = 64 << 10;
/// How long a head, or the silence before it, may take.
const HEAD_TIME: Duration = Duration::from_secs(10);
const BODY_TIME: Duration = Duration::from_secs(30);
/// A session in which nothing happened for so long is forgotten. Longer than a task may take.
const IDLE_TIME: Duration = Duration::from_secs(2 * 60 * 60);
/// Before a client comes back.
const RETRY: Duration = Duration::from_secs(3);
/// After an `accept` that failed for want of something.
const PAUSE: Duration = Duration::from_millis(50);

/// How much a server holds at once.
struct Bounds {
    connections: usize,
    /// For how long an answer whose stream broke off is kept.
    kept: Duration,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    #[error("`{0}` is not a loopback address")]
    NotLoopback(SocketAddr),
    #[error("cannot listen on {address}: {error}")]
    Io { address: SocketAddr, error: io::Error },
}

impl ListenError {
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotLoopback(_) => "use 127.0.0.1 or [::1]; for another machine, forward the port over SSH",
            Self::Io { .. } => "choose another port, or 0 for any that is free",
        }
    }
}

/// Listens on a loopback address; nothing else is ever listened on.
pub async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ListenError> {
    if !address.ip().is_loopback() {
        return Err(ListenError::NotLoopback(address));
    }
    let cannot = |error| ListenError::Io { address, error };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    Ok((listener, address))
}

/// Who may come in.
#[derive(Debug)]
pub enum Guard {
    /// Whoever has the token.
    Token(Token),
    /// Whoever reaches the address: the one sandbox of its network namespace.
    Namespace,
}

impl Guard {
    fn lets_in(&self, headers: &HeaderMap) -> bool {
        match self {
            Self::Token(token) => {
                let mut given = headers.get_all(header::AUTHORIZATION).iter();
                given.next().is_some_and(|value| token.opens(value.as_bytes())) && given.next().is_none()
            }
            Self::Namespace => true,
        }
    }

    /// One sandbox is one client; and it is a stranger.
    fn bounds(&self) -> Bounds {
        match self {
            Self::Token(_) => Bounds {
                connections: 128,
                kept: SessionConfig::DEFAULT_COMPLETED_CACHE_TTL,
            },
            Self::Namespace => Bounds {
                connections: 32,
                kept: Duration::ZERO,
            },
        }
    }

    /// How long a client whose stream broke off should wait; that is told by an empty event. Gemini takes that for broken
    /// JSON, and inside no stream breaks off but by the end of the run.
    fn retry(&self) -> Option<Duration> {
        match self {
            Self::Token(_) => Some(RETRY),
            Self::Namespace => None,
        }
    }
}

struct Front<H, A> {
    guard: Guard,
    arrive: A,
    sessions: Arc<LocalSessionManager>,
    protocol: StreamableHttpService<H, LocalSessionManager>,
    bodies: Semaphore,
}

/// Serves whoever the guard lets in, until the process ends. `arrive` sees the headers of a request before anything else does.
pub async fn serve<H: ServerHandler>(
    (listener, address): (TcpListener, SocketAddr),
    guard: Guard,
    make: impl Fn() -> H + Send + Sync + 'static,
    arrive: impl Fn(&mut HeaderMap) + Send + Sync + 'static,
) -> Infallible {
    let bounds = guard.bounds();
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.completed_cache_ttl = bounds.kept;
    sessions.session_config.keep_alive = Some(IDLE_TIME);
    sessions.session_config.sse_retry = guard.retry();
    let sessions = Arc::new(sessions);
    let protocol = StreamableHttpService::new(
        move || Ok(make()),
        Arc::clone(&sessions),
        rules(address).with_sse_retry(guard.retry()),
    );
    let front = Arc::new(Front {
        guard,
        arrive,
        sessions,
        protocol,
        bodies: Semaphore::new(MOST_BODIES),
    });
    let places = Arc::new(Semaphore::new(bounds.connections));
    loop {
        let place = Arc::clone(&places).acquire_owned().await;
        match listener.accept().await {
            Ok((stream, _)) => {
                let front = Arc::clone(&front);
                tokio::spawn(async move {
                    front.connection(stream).await;
                    drop(place);
                });
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// Only this address, under the names a browser or a client on this machine has for it.
fn rules(address: SocketAddr) -> StreamableHttpServerConfig {
    let port = address.port();
    let names = ["127.0.0.1", "localhost", "[::1]"];
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(names.map(|name| format!("{name}:{port}")))
        .with_allowed_origins(names.map(|name| format!("http://{name}:{port}")))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MOST_MESSAGE)
}

impl<H: ServerHandler, A: Fn(&mut HeaderMap) + Send + Sync + 'static> Front<H, A> {
    async fn connection(self: Arc<Self>, stream: TcpStream) {
        let service = service_fn(move |request| {
            let front = Arc::clone(&self);
            async move { Ok::<_, Infallible>(front.answer(request).await.unwrap_or_else(|refusal| refusal)) }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(MOST_HEAD)
            .serve_connection(TokioIo::new(stream), service)
            .await;
        // A client that breaks off or says nonsense is its own affair.
        drop(served);
    }

    /// `Err` is a refusal of ours, `Ok` what the protocol answers.
    async fn answer(&self, mut request: Request<Incoming>) -> Result<Answer, Answer> {
        (self.arrive)(request.headers_mut());
        if !self.guard.lets_in(request.headers()) {
            let mut refusal = plain(StatusCode::UNAUTHORIZED, "the token is missing or wrong");
            let scheme = HeaderValue::from_static("Bearer");
            refusal.headers_mut().insert(header::WWW_AUTHENTICATE, scheme);
            return Err(refusal);
        }
        if request.uri().path() != PATH {
            return Err(plain(StatusCode::NOT_FOUND, "only /mcp is served"));
        }
        let (head, body) = request.into_parts();
        let Ok(turn) = self.bodies.acquire().await else {
            return Err(plain(StatusCode::SERVICE_UNAVAILABLE, "the server is closing"));
        };
        let body = match tokio::time::timeout(BODY_TIME, Limited::new(body, MOST_MESSAGE).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                return Err(plain(StatusCode::PAYLOAD_TOO_LARGE, "a message has at most 4 MiB"));
            }
            Ok(Err(_)) => return Err(plain(StatusCode::BAD_REQUEST, "the body broke off")),
            Err(_) => return Err(plain(StatusCode::REQUEST_TIMEOUT, "the body took too long")),
        };
        drop(turn);
        let opens = head.method == Method::POST && may_open_a_session(&body);
        if opens && self.sessions.sessions.read().await.len() >= MOST_SESSIONS {
            return Err(plain(StatusCode::SERVICE_UNAVAILABLE, "too many sessions are open"));
        }
        Ok(self.protocol.handle(Request::from_parts(head, Full::new(body))).await)
    }
}

/// Only `initialize` does, whatever the headers say. What cannot be read counts as one.
fn may_open_a_session(body: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Message {
        method: Option<String>,
    }
    match serde_json::from_slice::<Message>(body) {
        Ok(message) => message.method.as_deref() == Some("initialize"),
        Err(_) => true,
    }
}

/// A refusal, after which the connection is closed: what is left of the request is not waited for.
fn plain(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    let close = HeaderValue::from_static("close");
    answer.headers_mut().insert(header::CONNECTION, close);
    answer
}
