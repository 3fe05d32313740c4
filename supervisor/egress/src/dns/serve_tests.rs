use std::net::SocketAddr;
use std::sync::Mutex as StdMutex;
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::super::answer::NameRefusal;
use super::super::response::tests::{name, wire};
use super::super::response::{Asked, Kind, Response};
use super::*;
use crate::rules::tests::rules;

type Refused = Arc<StdMutex<Vec<RefusedName>>>;

fn answerer() -> (Arc<Answerer<impl Sink>>, Refused) {
    let rules = Arc::new(rules(&["a.org"], &[]));
    let book = Arc::new(Mutex::new(Book::new(&rules)));
    let refused = Refused::default();
    let seen = Arc::clone(&refused);
    let sink = move |name| seen.lock().unwrap().push(name);
    (Arc::new(Answerer::new(rules, book, Families::Both, sink)), refused)
}

async fn udp() -> (UdpSocket, Refused) {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    client.connect(server.local_addr().unwrap()).await.unwrap();
    let (answerer, refused) = answerer();
    tokio::spawn(serve_udp(server, answerer));
    (client, refused)
}

async fn tcp() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(serve_tcp(listener, answerer().0));
    at
}

fn asked(host: &str) -> Asked {
    Asked::new(7, &name(host), Kind::A)
}

fn synthetic() -> Option<Response> {
    Some(Response::Addresses(vec!["198.18.0.1".parse().unwrap()]))
}

async fn ask(client: &UdpSocket, asked: &Asked) -> Option<Response> {
    client.send(&asked.write()).await.unwrap();
    let mut buffer = [0; 600];
    let length = timeout(IDLE, client.recv(&mut buffer)).await.unwrap().unwrap();
    asked.read(&buffer[..length])
}

#[tokio::test]
async fn a_datagram_is_answered_and_a_refused_name_reported() {
    let (client, refused) = udp().await;
    assert_eq!(ask(&client, &asked("a.org")).await, synthetic());
    assert_eq!(ask(&client, &asked("b.org")).await, Some(Response::NoSuchName));
    let hint = "network: {allow: [\"b.org\"]}".to_owned();
    let expected = RefusedName {
        name: "b.org".to_owned(),
        why: NameRefusal::NotAllowed { hint },
    };
    assert_eq!(*refused.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn junk_and_oversized_datagrams_do_not_stop_the_answerer() {
    let (client, _) = udp().await;
    for junk in [vec![], vec![0; 5], vec![0xff; 1232], vec![0; 1233], vec![0; 60000]] {
        client.send(&junk).await.unwrap();
    }
    // An oversized query is not answered, also if its first bytes are a good one.
    let mut long = asked("a.org").write();
    long.resize(1233, 0);
    client.send(&long).await.unwrap();
    assert_eq!(ask(&client, &Asked::new(9, &name("a.org"), Kind::A)).await, synthetic());
}

#[tokio::test]
async fn a_connection_may_ask_sixty_four_times() {
    let mut stream = TcpStream::connect(tcp().await).await.unwrap();
    for _ in 0..MAX_QUERIES {
        frame::write(&mut stream, &asked("a.org").write()).await.unwrap();
        let reply = frame::read(&mut stream, 512).await.unwrap();
        assert_eq!(asked("a.org").read(&reply), synthetic());
    }
    let _ = frame::write(&mut stream, &asked("a.org").write()).await;
    assert!(frame::read(&mut stream, 512).await.is_err());
}

#[tokio::test]
async fn a_message_over_tcp_may_come_byte_by_byte_but_not_too_long() {
    let at = tcp().await;
    let mut slow = TcpStream::connect(at).await.unwrap();
    slow.set_nodelay(true).unwrap();
    let query = asked("a.org").write();
    let length = u16::try_from(query.len()).unwrap().to_be_bytes();
    for byte in length.iter().chain(&query) {
        slow.write_all(&[*byte]).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(
        asked("a.org").read(&frame::read(&mut slow, 512).await.unwrap()),
        synthetic()
    );
    let mut long = TcpStream::connect(at).await.unwrap();
    long.write_all(&[0xff, 0xff]).await.unwrap();
    assert_eq!(long.read(&mut [0; 1]).await.unwrap_or(0), 0, "closed");
}

#[tokio::test]
async fn the_ninth_connection_waits_for_one_of_eight_and_idle_ones_are_closed() {
    let at = tcp().await;
    let begin = Instant::now();
    let mut idle = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        let mut stream = TcpStream::connect(at).await.unwrap();
        // One byte of a message does not count as a message.
        stream.write_all(&[0]).await.unwrap();
        idle.push(stream);
    }
    let mut ninth = TcpStream::connect(at).await.unwrap();
    frame::write(&mut ninth, &asked("a.org").write()).await.unwrap();
    let early = timeout(Duration::from_millis(300), ninth.readable()).await;
    assert!(early.is_err(), "eight are being served");
    let reply = timeout(IDLE * 2, frame::read(&mut ninth, 512)).await.unwrap().unwrap();
    assert_eq!(asked("a.org").read(&reply), synthetic());
    assert!(begin.elapsed() >= IDLE - Duration::from_millis(100));
    assert_eq!(idle[0].read(&mut [0; 1]).await.unwrap_or(0), 0, "closed");
}

#[tokio::test]
async fn connections_end_with_the_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let server = tokio::spawn(serve_tcp(listener, answerer().0));
    frame::write(&mut stream, &asked("a.org").write()).await.unwrap();
    frame::read(&mut stream, 512).await.unwrap();
    server.abort();
    let closed = timeout(Duration::from_secs(1), stream.read(&mut [0; 1])).await.unwrap();
    assert_eq!(closed.unwrap_or(0), 0);
}

#[tokio::test]
async fn a_whole_message_in_one_write_is_one_message_each() {
    let mut stream = TcpStream::connect(tcp().await).await.unwrap();
    let mut both = Vec::new();
    for host in ["a.org", "b.org"] {
        let query = asked(host).write();
        both.extend_from_slice(&u16::try_from(query.len()).unwrap().to_be_bytes());
        both.extend(query);
    }
    stream.write_all(&both).await.unwrap();
    assert_eq!(
        asked("a.org").read(&frame::read(&mut stream, 512).await.unwrap()),
        synthetic()
    );
    let second = frame::read(&mut stream, 512).await.unwrap();
    assert_eq!(asked("b.org").read(&second), Some(Response::NoSuchName));
    assert!(second.windows(wire("b.org").len()).any(|part| part == wire("b.org")));
}
