//! One connection to the endpoint for one request.
//!
//! Dials what the connector dials, trusts what this machine trusts, speaks HTTP/1.1. No pool: an answer can never be
//! taken for another request's, and a new TLS session is resumed in one round trip.

use std::cell::OnceCell;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Context;

use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{sleep_until, timeout};
use tokio_rustls::TlsConnector;

use super::answer::Failure;
use super::config::Limits;
use super::endpoint::{Endpoint, Scheme};
use super::upload::{Upload, Watch};
use crate::host::Host;

pub type Connecting<'a> = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + 'a>>;

/// Dials the endpoint. A vendor's host is resolved and checked as any other name; a user's own is what they named.
pub trait Connect {
    fn connect(&self) -> Connecting<'_>;
}

impl<F, T> Connect for F
where
    F: Fn() -> T,
    T: Future<Output = io::Result<TcpStream>> + 'static,
{
    fn connect(&self) -> Connecting<'_> {
        Box::pin(self())
    }
}

/// Whose certificates are believed.
#[derive(Debug, Clone)]
pub(super) enum Trust {
    /// This machine's, or those of `SSL_CERT_FILE`.
    Native,
    #[cfg(test)]
    Only(RootCertStore),
}

pub(super) struct Upstream {
    endpoint: Endpoint,
    connector: Box<dyn Connect>,
    trust: Trust,
    limits: Limits,
    tls: OnceCell<Arc<ClientConfig>>,
}

trait Wire: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Wire for T {}

/// The connection's own work, done whenever someone waits for its answer.
pub(super) struct Line(Option<Pin<Box<dyn Future<Output = hyper::Result<()>>>>>);

impl Line {
    /// How it ends is told to the one who reads the answer.
    pub(super) fn drive(&mut self, cx: &mut Context<'_>) {
        if self.0.as_mut().is_some_and(|line| line.as_mut().poll(cx).is_ready()) {
            self.0 = None;
        }
    }
}

impl Upstream {
    pub(super) fn new(endpoint: Endpoint, connector: Box<dyn Connect>, trust: Trust, limits: Limits) -> Self {
        Self {
            endpoint,
            connector,
            trust,
            limits,
            tls: OnceCell::new(),
        }
    }

    /// Sends the request and waits for the head of its answer.
    pub(super) async fn exchange(
        &self,
        request: Request<Upload>,
        watch: &Watch,
    ) -> Result<(Response<Incoming>, Line), Failure> {
        let wire = timeout(self.limits.connect, self.dial())
            .await
            .map_err(|_| Failure::ConnectTimeout {
                endpoint: self.endpoint.to_string(),
                seconds: self.limits.connect.as_secs(),
            })??;
        let failed = |source| Failure::Exchange {
            endpoint: self.endpoint.to_string(),
            source,
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(wire)).await.map_err(failed)?;
        let mut line = Line(Some(Box::pin(connection)));
        let mut answer = pin!(sender.send_request(request));
        let mut head = pin!(poll_fn(|cx| {
            line.drive(cx);
            answer.as_mut().poll(cx)
        }));
        let response = loop {
            // A slow upload is no slow answer.
            let deadline = watch.moved() + self.limits.head;
            tokio::select! {
                response = &mut head => break response.map_err(failed)?,
                () = sleep_until(deadline) => {}
            }
            if watch.moved() + self.limits.head <= deadline {
                return Err(Failure::HeadTimeout {
                    endpoint: self.endpoint.to_string(),
                    seconds: self.limits.head.as_secs(),
                });
            }
        };
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            return Err(Failure::Switched {
                endpoint: self.endpoint.to_string(),
            });
        }
        Ok((response, line))
    }

    async fn dial(&self) -> Result<Box<dyn Wire>, Failure> {
        let stream = self.connector.connect().await.map_err(|source| Failure::Connect {
            endpoint: self.endpoint.to_string(),
            source,
        })?;
        // Without it the last piece of a body may wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        match self.endpoint.scheme() {
            Scheme::Http => Ok(Box::new(stream)),
            Scheme::Https => {
                let untrusted = |source| Failure::Tls {
                    endpoint: self.endpoint.to_string(),
                    source,
                };
                let name = self.server_name().map_err(untrusted)?;
                let connector = TlsConnector::from(self.tls()?);
                let stream = connector.connect(name, stream).await.map_err(untrusted)?;
                Ok(Box::new(stream))
            }
        }
    }

    fn server_name(&self) -> io::Result<ServerName<'static>> {
        match self.endpoint.host() {
            Host::Addr(addr) => Ok(ServerName::from(*addr)),
            Host::Name(name) => {
                ServerName::try_from(name.to_string()).map_err(|e| io::Error::new(io::ErrorKind::InvalidInput, e))
            }
        }
    }

    /// Made at the first use: reading a machine's certificates takes milliseconds.
    fn tls(&self) -> Result<Arc<ClientConfig>, Failure> {
        if let Some(config) = self.tls.get() {
            return Ok(Arc::clone(config));
        }
        let roots = self.roots();
        if roots.is_empty() {
            return Err(Failure::NoRoots(self.endpoint.to_string()));
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let config = self.tls.get_or_init(|| Arc::new(config));
        Ok(Arc::clone(config))
    }

    /// Reads the certificates now, while every file can still be read.
    pub(super) fn prepare(&self) {
        if self.endpoint.scheme() == Scheme::Https {
            // A failure is told to whoever asks for something.
            let _ = self.tls();
        }
    }

    fn roots(&self) -> RootCertStore {
        match &self.trust {
            Trust::Native => {
                let mut roots = RootCertStore::empty();
                // A certificate that cannot be read is one that is not trusted.
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
                roots
            }
            #[cfg(test)]
            Trust::Only(roots) => roots.clone(),
        }
    }
}
