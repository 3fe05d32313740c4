//! What a broker is told before it starts.
//!
//! Pure.

use std::time::Duration;

use super::api::Api;
use super::endpoint::Endpoint;
use super::secret::Secret;

#[derive(Debug)]
pub struct Config {
    pub api: Api,
    pub endpoint: Endpoint,
    /// None for a server of the user's own that asks for none.
    pub key: Option<Secret>,
    /// What the CLI in the sandbox believes to be its key.
    pub placeholder: String,
    pub limits: Limits,
}

/// The bounds of one broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Connections from the sandbox at once.
    pub connections: usize,
    /// Bytes of one request's body.
    pub body: u64,
    /// Bytes of all bodies that are held at once: each is held whole until it is sent.
    pub bodies: u64,
    /// For a connection to the endpoint, TLS included.
    pub connect: Duration,
    /// From the last byte of a request to the head of its answer. An answer that is not streamed has its head only when
    /// the model has finished; the vendors' own clients wait as long.
    pub head: Duration,
    /// Without a byte of an answer, or of a next request.
    pub idle: Duration,
}

impl Limits {
    /// What a run gets.
    pub const STANDARD: Self = Self {
        connections: 64,
        body: 64 << 20,
        bodies: 128 << 20,
        connect: Duration::from_secs(10),
        head: Duration::from_secs(600),
        idle: Duration::from_secs(600),
    };
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BrokerProblem {
    #[error("the placeholder for the key holds the key itself")]
    PlaceholderIsKey,
    #[error("cannot write `{0}` into a request")]
    Host(String),
}
