//! What the broker's tests play on: a server with a real certificate, a broker, and a client that speaks raw bytes.
//!
//! All on one thread, on loopback ports that are gone with the test.

use std::cell::RefCell;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::pki_types::PrivateKeyDer;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use super::upstream::Trust;
use super::{Api, Broker, Config, Endpoint, Limits, Secret};

pub(super) const KEY: &str = "sk-real-0123456789-secret";
pub(super) const PLACEHOLDER: &str = "glee-placeholder-the-key-stays-outside";

/// What the server does once it has read a request.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Send(Vec<u8>),
    Wait(Duration),
    /// Closes without a farewell; so does the end of the script.
    Cut,
}

pub(super) fn send(text: &str) -> Step {
    Step::Send(text.as_bytes().to_vec())
}

/// A whole answer of JSON.
pub(super) fn json(body: &str) -> Vec<Step> {
    let length = body.len();
    vec![send(&format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    ))]
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Seen {
    /// Every value of this header.
    pub(super) fn header(&self, name: &str) -> Vec<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .filter(|(n, _)| n.eq_ignore_ascii_case(name))
            .map(|(_, value)| value)
            .collect()
    }
}

pub(super) struct Stage {
    pub(super) broker: Rc<Broker>,
    seen: Rc<RefCell<Vec<Seen>>>,
    door: SocketAddr,
}

/// How a stage differs from the ordinary.
pub(super) struct Props {
    pub(super) api: Api,
    pub(super) tls: bool,
    /// In the server's certificate; the broker always asks for `api.test`.
    pub(super) certified: &'static str,
    pub(super) trusted: bool,
    pub(super) base: &'static str,
    pub(super) key: Option<&'static str>,
    pub(super) limits: Limits,
    pub(super) script: Vec<Step>,
}

impl Props {
    pub(super) fn new(api: Api, script: Vec<Step>) -> Self {
        Self {
            api,
            tls: true,
            certified: "api.test",
            trusted: true,
            base: "",
            key: Some(KEY),
            limits: Limits::STANDARD,
            script,
        }
    }
}

/// Runs the scene with a runtime of its own.
pub(super) fn play<T>(props: Props, scene: impl AsyncFnOnce(Stage) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    LocalSet::new().block_on(&runtime, async move {
        let stage = Stage::set(props).await;
        tokio::time::timeout(Duration::from_secs(20), scene(stage))
            .await
            .expect("the scene comes to an end")
    })
}

impl Stage {
    async fn set(props: Props) -> Self {
        let CertifiedKey { cert, signing_key } =
            generate_simple_self_signed([props.certified.to_owned()]).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(cert.der().clone()).expect("a root");
        let key = PrivateKeyDer::try_from(signing_key.serialize_der()).expect("a key");
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![cert.der().clone()], key)
            .expect("a server");
        let acceptor = props.tls.then(|| TlsAcceptor::from(Arc::new(config)));

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let server = listener.local_addr().expect("an address");
        let seen: Rc<RefCell<Vec<Seen>>> = Rc::default();
        spawn_local(host(listener, acceptor, props.script, Rc::clone(&seen)));

        let scheme = if props.tls { "https" } else { "http" };
        let config = Config {
            api: props.api,
            endpoint: Endpoint::parse(&format!("{scheme}://api.test{}", props.base)).expect("an endpoint"),
            key: props.key.map(|key| Secret::new(key.to_owned()).expect("a key")),
            placeholder: PLACEHOLDER.to_owned(),
            limits: props.limits,
        };
        let trust = if props.trusted {
            Trust::Only(roots)
        } else {
            Trust::Native
        };
        let broker = Broker::trusting(trust, config, move || TcpStream::connect(server)).expect("a broker");

        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let door = listener.local_addr().expect("an address");
        let serving = Rc::clone(&broker);
        spawn_local(async move {
            while let Ok((stream, _)) = listener.accept().await {
                spawn_local(Rc::clone(&serving).serve(stream));
            }
        });
        Self { broker, seen, door }
    }

    pub(super) async fn open(&self) -> TcpStream {
        TcpStream::connect(self.door).await.expect("the broker listens")
    }

    /// One request on a connection of its own, and all that came back.
    pub(super) async fn ask(&self, request: &str) -> String {
        let mut stream = self.open().await;
        stream.write_all(request.as_bytes()).await.expect("the broker reads");
        rest(&mut stream).await
    }

    /// `POST` with the placeholder, as the CLI of this API does.
    pub(super) async fn post(&self, path: &str, body: &str) -> String {
        self.ask(&post(path, body)).await
    }

    pub(super) fn seen(&self) -> Vec<Seen> {
        self.seen.borrow().clone()
    }

    /// The one request that reached the server.
    pub(super) fn only_seen(&self) -> Seen {
        let [seen] = <[Seen; 1]>::try_from(self.seen()).expect("one request");
        seen
    }
}

pub(super) fn post(path: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: 127.0.0.1:9786\r\nauthorization: Bearer {PLACEHOLDER}\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// What comes until the connection ends, however it ends.
pub(super) async fn rest(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await;
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The next piece that arrives.
pub(super) async fn piece(stream: &mut TcpStream) -> String {
    let mut buffer = vec![0; 1 << 16];
    let length = stream.read(&mut buffer).await.expect("a piece");
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

async fn host(listener: TcpListener, acceptor: Option<TlsAcceptor>, script: Vec<Step>, seen: Rc<RefCell<Vec<Seen>>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let (acceptor, script, seen) = (acceptor.clone(), script.clone(), Rc::clone(&seen));
        spawn_local(async move {
            match acceptor {
                Some(acceptor) => act(acceptor.accept(stream).await?, script, seen).await,
                None => act(stream, script, seen).await,
            }
        });
    }
}

async fn act(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    script: Vec<Step>,
    seen: Rc<RefCell<Vec<Seen>>>,
) -> io::Result<()> {
    let request = read_request(&mut stream).await?;
    seen.borrow_mut().push(request);
    for step in script {
        match step {
            Step::Send(bytes) => {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
            }
            Step::Wait(time) => sleep(time).await,
            Step::Cut => break,
        }
    }
    Ok(())
}

async fn read_request(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Seen> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = find(&bytes, b"\r\n\r\n") {
            break at + 4;
        }
        more(stream, &mut bytes).await?;
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut body = bytes.split_off(end);
    let seen = Seen { head, body: Vec::new() };
    if !seen.header("transfer-encoding").is_empty() {
        while !body.ends_with(b"0\r\n\r\n") {
            more(stream, &mut body).await?;
        }
    } else if let Some(length) = seen.header("content-length").first() {
        while body.len() < length.parse::<usize>().expect("a length") {
            more(stream, &mut body).await?;
        }
    }
    Ok(Seen { body, ..seen })
}

async fn more(stream: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}
