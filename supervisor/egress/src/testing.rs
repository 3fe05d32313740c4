//! A small world for tests: a network namespace of its own, servers on its loopback, and a companion at its doors.
//!
//! Each test runs itself again in a fresh user and network namespace, where ports 80 and 443 are free, synthetic
//! addresses are local, and nothing leads out.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener as StdListener, UdpSocket as StdUdpSocket};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::PathBuf;
use std::process::Command;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector, client::TlsStream};

use crate::book::Book;
use crate::dns::{Resolver, Servers};
use crate::doors::{Door, DoorKind, Doors, Service};
use crate::limits::Limits;
use crate::record::{Attempt, Outcome, Via};
use crate::report::Report;
use crate::rules::Rules;
use crate::serve::{Config, Model, serve};

const INSIDE: &str = "GLEE_EGRESS_TEST_INSIDE";
const PLAYED: &str = "the play was performed";

/// Tests that run in a namespace of their own.
macro_rules! plays {
    ($($name:ident: $play:expr;)*) => {$(
        #[test]
        fn $name() {
            $crate::testing::inside(concat!(module_path!(), "::", stringify!($name)), || async {
                tokio::task::LocalSet::new().run_until(async { $play().await }).await
            });
        }
    )*};
}
pub(crate) use plays;

/// Runs `play` in a namespace of its own. `test` is the path of the calling test.
pub(crate) fn inside<F: Future<Output = ()>>(test: &str, play: impl FnOnce() -> F) {
    if std::env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            tokio::time::timeout(Duration::from_secs(60), play())
                .await
                .expect("the play took too long");
        });
        println!("{PLAYED}");
        return;
    }
    let (_crate, test) = test.split_once("::").unwrap();
    let script = "ip link set lo up && ip route add local 198.18.0.0/15 dev lo && exec \"$0\" \"$@\"";
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "sh", "-euc", script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .expect("`unshare` is not installed: this test needs the package `util-linux`");
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success() && out.contains(PLAYED), "{test}\n{out}\n{err}");
}

/// The names of the world, and where they are.
const HOSTS: &str = "127.0.0.10 a.example\n127.0.0.10 b.example\n127.0.0.12 down.example\n10.0.0.1 private.example\n";
/// What its policy allows. The addresses are there because the names lead to loopback.
const ALLOW: [&str; 12] = [
    "a.example",
    "a.example:22",
    "a.example:8080",
    "down.example",
    "private.example",
    "127.0.0.10:80",
    "127.0.0.10:443",
    "127.0.0.10:22",
    "127.0.0.10:8080",
    "127.0.0.12:80",
    "127.0.0.12:443",
    "127.0.0.11:443",
];

/// The address that the names `a.example`, `down.example`, `private.example` have in the namespace.
pub(crate) const A: &str = "198.18.0.1";
pub(crate) const DOWN: &str = "198.18.0.2";
pub(crate) const PRIVATE: &str = "198.18.0.3";
/// Where the servers of `a.example` are.
pub(crate) const REAL: &str = "127.0.0.10";
pub(crate) const HTTP_PROXY: &str = "127.0.0.1:3128";
pub(crate) const SOCKS: &str = "127.0.0.1:1080";
/// A door on every address, for a port that no rule names.
pub(crate) const ODD_PORT: u16 = 9999;

pub(crate) fn rules() -> Rules {
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rules::new(&set(&ALLOW), &set(&["denied.example"])).unwrap()
}

/// A companion at work in a thread of its own.
pub(crate) struct Companion {
    control: StdUnixStream,
    thread: JoinHandle<std::io::Result<()>>,
}

#[derive(Debug)]
struct Echo;

impl Model for Echo {
    fn serve(self: Rc<Self>, mut stream: TcpStream) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
        Box::pin(async move {
            let _ = stream.write_all(b"model").await;
        })
    }

    fn report(&self) -> serde_json::Value {
        serde_json::json!({"requests": 1})
    }
}

/// A file of names that leaves nothing behind: it has a name only as long as it takes to open it, and lives as long as this process.
fn hosts() -> PathBuf {
    let named = std::env::temp_dir().join(format!("glee-egress-hosts-{}", std::process::id()));
    fs::write(&named, HOSTS).unwrap();
    let file = fs::File::open(&named).unwrap();
    fs::remove_file(&named).unwrap();
    PathBuf::from(format!("/proc/self/fd/{}", file.into_raw_fd()))
}

impl Companion {
    pub(crate) fn start() -> Self {
        Self::with(Limits::STANDARD)
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let hosts = hosts();
        let rules = rules();
        let book = Book::new(&rules);
        let mut doors = Doors::plan(Some(&rules), Some(&book), &[Service::Broker]).doors;
        // The servers are at the addresses that rules name, and names need no IPv6 here.
        doors.retain(|door| door.kind != DoorKind::Relay || is_synthetic(door));
        doors.push(Door {
            at: ([0, 0, 0, 0], ODD_PORT).into(),
            kind: DoorKind::Relay,
        });
        let sockets: Vec<OwnedFd> = doors.iter().map(bind).collect();
        let (control, far) = StdUnixStream::pair().unwrap();
        let thread = std::thread::spawn(move || {
            let config = Config {
                doors,
                rules: Some(rules),
                book: Some(book),
                ipv6: false,
                // Port 9 of loopback: no name server; what is not in the file fails at once.
                resolver: Resolver::new(hosts, Servers::At(vec!["127.0.0.1:9".parse().unwrap()])),
                broker: Some(Rc::new(Echo)),
                limits,
            };
            serve(config, sockets, far.into())
        });
        Self { control, thread }
    }

    /// Ends the companion and reads its report.
    pub(crate) fn report(mut self) -> Report {
        self.control.write_all(b"d").unwrap();
        let mut json = Vec::new();
        self.control.read_to_end(&mut json).unwrap();
        self.thread.join().unwrap().unwrap();
        serde_json::from_slice(&json).unwrap()
    }

    /// Goes away without a word, and waits for the companion's end.
    pub(crate) fn abandon(self) {
        drop(self.control);
        self.thread.join().unwrap().unwrap();
    }
}

fn is_synthetic(door: &Door) -> bool {
    door.at.ip().to_string().starts_with("198.18.")
}

fn bind(door: &Door) -> OwnedFd {
    match door.kind {
        DoorKind::DnsUdp => StdUdpSocket::bind(door.at).unwrap().into(),
        DoorKind::DnsTcp
        | DoorKind::HttpProxy
        | DoorKind::Socks
        | DoorKind::Relay
        | DoorKind::Broker
        | DoorKind::Endpoint => StdListener::bind(door.at).unwrap().into(),
    }
}

/// One row without its texts.
pub(crate) fn brief(report: &Report) -> Vec<(&str, u16, Via, Outcome)> {
    let brief = |row: &'_ Attempt| (row.port, row.via, row.verdict);
    let rows = report.attempts.iter().map(|row| (row.host.as_str(), brief(row)));
    rows.map(|(host, (port, via, verdict))| (host, port, via, verdict))
        .collect()
}

/// The TLS server of `a.example`, and how many connections it had. It says hello and closes.
pub(crate) async fn tls_server() -> (TlsConnector, Arc<AtomicUsize>) {
    let key = rcgen::generate_simple_self_signed(vec!["a.example".to_owned(), "b.example".to_owned()]).unwrap();
    let certificate = CertificateDer::from(key.cert.der().to_vec());
    let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.signing_key.serialize_der()));
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.clone()], private).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind((REAL, 443)).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else {
                    return;
                };
                let _ = stream.write_all(b"hello from a").await;
                let _ = stream.shutdown().await;
            });
        }
    });
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = ClientConfig::builder()
        .with_root_certificates(roots)
        .with_no_client_auth();
    (TlsConnector::from(Arc::new(client)), count)
}

/// Speaks TLS over a connection, asking for `name`, and gives what the server says, or the error as text.
pub(crate) async fn speak_tls(connector: &TlsConnector, stream: TcpStream, name: &str) -> Result<String, String> {
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let stream: Result<TlsStream<TcpStream>, _> = connector.connect(name, stream).await;
    let mut stream = stream.map_err(|error| error.to_string())?;
    let mut said = String::new();
    stream
        .read_to_string(&mut said)
        .await
        .map_err(|error| error.to_string())?;
    Ok(said)
}

/// A server that answers each connection with `play`.
pub(crate) async fn server<F>(port: u16, play: impl Fn(TcpStream) -> F + 'static) -> Arc<AtomicUsize>
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind((REAL, port)).await.unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::task::spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(play(stream));
        }
    });
    count
}

/// Connects, sends, and reads to the end. An error is a text of its own.
pub(crate) async fn exchange(at: &str, port: u16, sent: &[u8]) -> String {
    let connected = async {
        let mut stream = TcpStream::connect((at, port)).await?;
        stream.write_all(sent).await?;
        std::io::Result::Ok(stream)
    };
    match connected.await {
        Ok(mut stream) => rest(&mut stream).await,
        Err(error) => format!("[{}]", error.kind()),
    }
}

/// What comes until the end. A reset is a text of its own.
pub(crate) async fn rest(stream: &mut TcpStream) -> String {
    let mut got = Vec::new();
    match stream.read_to_end(&mut got).await {
        Ok(_) => String::from_utf8_lossy(&got).into_owned(),
        Err(error) => format!("{}[{}]", String::from_utf8_lossy(&got), error.kind()),
    }
}

/// Answers with what it was asked, as the body.
pub(crate) async fn mirror(mut stream: TcpStream) {
    let mut buffer = vec![0; 65536];
    let mut asked = String::new();
    while let Ok(Ok(count @ 1..)) = tokio::time::timeout(Duration::from_millis(300), stream.read(&mut buffer)).await {
        asked.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    let answer = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{asked}");
    let _ = stream.write_all(answer.as_bytes()).await;
}
