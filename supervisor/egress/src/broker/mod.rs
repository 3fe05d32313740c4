//! The model broker: an agent's way to its model's API, and to nothing else.
//!
//! Inside the sandbox it is plain HTTP on a loopback port; the connections accepted there are handed to `Broker::serve`.
//! Outside it speaks to the one configured endpoint with the user's key, which it puts in itself. Only the requests that
//! the agent's CLI needs are forwarded (`api`), once their bodies are known to ask for nothing but an answer (`judge`).
//! Answers are streamed, and what they cost is counted.
//! INVARIANT: the key is in no byte that goes into the sandbox. INVARIANT: nothing is asked of any other host, whatever
//! the request or the answer says.

mod answer;
mod api;
mod body;
mod config;
mod download;
mod endpoint;
mod headers;
mod judge;
mod redact;
mod report;
mod route;
mod secret;
mod upload;
mod upstream;
mod usage;

use std::cell::Cell;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;

use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderValue;
use hyper::http::request::Parts;
use hyper::http::uri::PathAndQuery;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;

pub use answer::MARK;
pub use api::Api;
pub use config::{BrokerProblem, Config, Limits};
pub use endpoint::{Endpoint, EndpointProblem, Scheme};
pub use report::BrokerReport;
pub use secret::{Secret, SecretProblem};
pub use upstream::{Connect, Connecting};

use crate::serve::Model;
use answer::{Failure, Refusal};
use body::{Judged, Store};
use download::Download;
use redact::{Key, Redactor};
use report::Tally;
use route::Target;
use upload::{Upload, Watch};
use upstream::{Trust, Upstream};
use usage::{Framing, Scanner};

type Answer = Response<Either<Full<Bytes>, Download>>;

/// One agent's API, for the time of one run.
pub struct Broker {
    api: Api,
    endpoint: Endpoint,
    host: HeaderValue,
    key: Option<Key>,
    placeholder: String,
    limits: Limits,
    upstream: Upstream,
    tally: Rc<Tally>,
    open: Cell<usize>,
    bodies: Rc<Store>,
}

impl Broker {
    pub fn new(config: Config, connector: impl Connect + 'static) -> Result<Rc<Self>, BrokerProblem> {
        Self::trusting(Trust::Native, config, connector)
    }

    fn trusting(trust: Trust, config: Config, connector: impl Connect + 'static) -> Result<Rc<Self>, BrokerProblem> {
        let Config {
            api,
            endpoint,
            key,
            placeholder,
            limits,
        } = config;
        let key = key.map(|key| Key::new(Rc::new(key)));
        if key
            .as_ref()
            .is_some_and(|key| key.hidden_in(placeholder.as_bytes()).is_some())
        {
            return Err(BrokerProblem::PlaceholderIsKey);
        }
        let host = endpoint.authority();
        let host = HeaderValue::try_from(&host).map_err(|_| BrokerProblem::Host(host))?;
        Ok(Rc::new(Self {
            api,
            host,
            key,
            placeholder,
            limits,
            upstream: Upstream::new(endpoint.clone(), Box::new(connector), trust, limits),
            tally: Rc::new(Tally::new(endpoint.to_string())),
            endpoint,
            open: Cell::new(0),
            bodies: Rc::default(),
        }))
    }

    #[must_use]
    pub fn report(&self) -> BrokerReport {
        self.tally.report()
    }

    /// Reads what serving will need of this machine's files, while all of them can still be read.
    pub fn prepare(&self) {
        self.upstream.prepare();
    }

    /// Serves one connection from the sandbox to its end.
    pub async fn serve(self: Rc<Self>, stream: TcpStream) {
        let Some(_seat) = Seat::take(&self) else {
            self.tally.crowded();
            return;
        };
        // Each piece of a stream is a packet of its own.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| {
            let this = Rc::clone(&self);
            async move { Ok::<_, Infallible>(this.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.idle)
            .max_buf_size(128 << 10)
            .serve_connection(TokioIo::new(stream), service);
        // A client that goes away in the middle is no event.
        let _ = connection.await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Answer {
        self.tally.request();
        let target = route::target(
            self.api.spec(),
            &self.endpoint,
            request.method(),
            request.uri(),
            request.headers(),
        );
        let (path, keys, carries) = match target {
            Ok(Target::Upstream { path, keys, carries }) => (path, keys, carries),
            Ok(Target::Here) => return answer::present().map(Either::Left),
            Err(refusal) => return self.refuse(&refusal),
        };
        let (client, body) = request.into_parts();
        self.note_keys(&client, &keys);
        let body = match body::take(body, &client.headers, carries, &self.limits, &self.bodies).await {
            Ok(body) => body,
            Err(refusal) => return self.refuse(&refusal),
        };
        match self.forward(client, path, body).await {
            Ok(answer) => answer,
            Err(failure) => {
                self.tally.failed(&failure);
                failure.response(self.api).map(Either::Left)
            }
        }
    }

    fn refuse(&self, refusal: &Refusal) -> Answer {
        self.tally.refused(refusal);
        refusal.response(self.api).map(Either::Left)
    }

    /// The sandbox cannot use another account; that it tried is in the report.
    fn note_keys(&self, client: &Parts, in_query: &[String]) {
        let mut given = headers::keys_given(&client.headers).chain(in_query.iter().map(String::as_bytes));
        if given.any(|key| key != self.placeholder.as_bytes()) {
            self.tally.foreign_key();
        }
    }

    async fn forward(&self, client: Parts, path: PathAndQuery, body: Judged) -> Result<Answer, Failure> {
        let credential = self.key.as_ref().map(|key| {
            headers::credential(self.api.spec(), key).ok_or_else(|| Failure::Request(self.endpoint.to_string()))
        });
        let watch = Watch::new(Rc::clone(&self.tally));
        let mut request = Request::new(Upload::new(body, Rc::clone(&watch)));
        *request.method_mut() = client.method;
        *request.uri_mut() = Uri::from(path);
        *request.headers_mut() = headers::upward(
            &client.headers,
            self.api.spec(),
            self.host.clone(),
            credential.transpose()?,
        );

        let (response, line) = self.upstream.exchange(request, &watch).await?;
        self.tally.status(response.status().as_u16());
        let (server, body) = response.into_parts();
        if let Some(encoding) = headers::encoding(&server.headers) {
            return Err(Failure::Encoded {
                endpoint: self.endpoint.to_string(),
                encoding,
            });
        }
        let framing = match headers::is_event_stream(&server.headers) {
            true => Framing::Events,
            false => Framing::Json,
        };
        let (passing, hidden) = headers::downward(&server.headers, self.key.as_ref());
        self.tally.hidden(hidden);
        let body = Download::new(
            (body, line),
            self.key.clone().map(Redactor::new),
            Scanner::new(&self.api.spec().usage, framing),
            Rc::clone(&self.tally),
            self.limits.idle,
        );
        // Made anew: the server's own words for its status, which may hold anything, stay behind.
        let mut answer = Response::new(Either::Right(body));
        *answer.status_mut() = server.status;
        *answer.headers_mut() = passing;
        Ok(answer)
    }
}

impl Model for Broker {
    fn serve(self: Rc<Self>, stream: TcpStream) -> Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(Broker::serve(self, stream))
    }

    fn report(&self) -> serde_json::Value {
        serde_json::to_value(Broker::report(self)).unwrap_or_default()
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker")
            .field("api", &self.api)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// A place among the connections, given back on drop.
struct Seat<'b>(&'b Broker);

impl<'b> Seat<'b> {
    fn take(broker: &'b Broker) -> Option<Self> {
        let open = broker.open.get();
        (open < broker.limits.connections).then(|| {
            broker.open.set(open + 1);
            Self(broker)
        })
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.0.open.set(self.0.open.get().saturating_sub(1));
    }
}

#[cfg(test)]
mod exchange_tests;
#[cfg(test)]
mod judged_tests;
#[cfg(test)]
mod stage_tests;
