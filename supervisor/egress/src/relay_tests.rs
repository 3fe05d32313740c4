use std::io;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::*;
use crate::bound::Bound;
use crate::host::Host;
use crate::window::Pool;

/// Two ends of one connection over loopback.
async fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let connect = TcpStream::connect(listener.local_addr().unwrap());
    let (far, near) = tokio::join!(connect, listener.accept());
    (far.unwrap(), near.unwrap().0)
}

fn quick() -> Limits {
    Limits {
        first_bytes: Duration::from_millis(200),
        idle: Duration::from_millis(800),
        grace: Duration::from_millis(100),
        ..Limits::STANDARD
    }
}

/// Relays between a client and a server, both played by `play`, on this port of `a.example`.
async fn run<F: Future>(
    port: u16,
    limits: Limits,
    play: impl FnOnce(TcpStream, TcpStream) -> F,
) -> (End, u64, u64, F::Output) {
    let (client, mut near_client) = pair().await;
    let (server, mut near_server) = pair().await;
    let pool = Pool::new();
    let host = Host::parse(b"a.example").unwrap();
    let start = Start {
        gate: Gate::new(Bound { host, port }),
        window: Window::new(&pool),
        passed: 0,
    };
    let counts = Counts::default();
    let relaying = async {
        let end = relay(
            &mut near_client,
            &mut near_server,
            start,
            Window::new(&pool),
            &counts,
            &limits,
        )
        .await;
        drop((near_client, near_server));
        end
    };
    let (end, played) = tokio::join!(relaying, play(client, server));
    (end, counts.up.get(), counts.down.get(), played)
}

#[tokio::test]
async fn a_half_close_leaves_the_other_direction_open() {
    let (end, up, down, got) = run(22, Limits::STANDARD, |mut client, mut server| async move {
        client.write_all(b"\x01question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut question = Vec::new();
        server.read_to_end(&mut question).await.unwrap();
        server.write_all(b"answer").await.unwrap();
        drop(server);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        (question, answer)
    })
    .await;
    assert_eq!(got, (b"\x01question".to_vec(), b"answer".to_vec()));
    assert_eq!((end, up, down), (End::Closed, 9, 6));
}

#[tokio::test]
async fn a_server_may_speak_first() {
    let (end, .., got) = run(22, Limits::STANDARD, |mut client, mut server| async move {
        server.write_all(b"SSH-2.0-server\r\n").await.unwrap();
        let mut greeting = [0; 16];
        client.read_exact(&mut greeting).await.unwrap();
        client.write_all(b"SSH-2.0-client\r\n").await.unwrap();
        let mut answer = [0; 16];
        server.read_exact(&mut answer).await.unwrap();
        (greeting, answer)
    })
    .await;
    assert_eq!(got, (*b"SSH-2.0-server\r\n", *b"SSH-2.0-client\r\n"));
    assert_eq!(end, End::Closed);
}

#[tokio::test]
async fn silence_ends_the_relay_and_bytes_put_that_off() {
    let limits = quick();
    let start = Instant::now();
    let (end, ..) = run(22, limits, |mut client, server| async move {
        for _ in 0..4 {
            client.write_all(b"\x01").await.unwrap();
            sleep(limits.idle / 4).await;
        }
        let mut rest = Vec::new();
        client.read_to_end(&mut rest).await.unwrap();
        drop(server);
    })
    .await;
    assert_eq!(end, End::Idle);
    assert!(
        start.elapsed() >= limits.idle * 3 / 2,
        "ended after {:?}",
        start.elapsed()
    );
}

#[tokio::test]
async fn a_reset_of_one_side_reaches_the_other() {
    let (end, .., error) = run(22, Limits::STANDARD, |mut client, mut server| async move {
        client.write_all(b"\x01hello").await.unwrap();
        let mut hello = [0; 6];
        server.read_exact(&mut hello).await.unwrap();
        reset_on_drop(&server);
        drop(server);
        client.read_u8().await.unwrap_err().kind()
    })
    .await;
    assert_eq!((end, error), (End::Reset, io::ErrorKind::ConnectionReset));
    let (end, .., error) = run(22, Limits::STANDARD, |client, mut server| async move {
        reset_on_drop(&client);
        drop(client);
        server.read_u8().await.unwrap_err().kind()
    })
    .await;
    assert_eq!((end, error), (End::Reset, io::ErrorKind::ConnectionReset));
}

const GOOD: &[u8] = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
const BAD: &[u8] = b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n";

#[tokio::test]
async fn a_bad_request_behind_a_good_one_never_arrives_and_the_good_one_is_answered() {
    let (end, up, down, got) = run(80, Limits::STANDARD, |mut client, mut server| async move {
        client.write_all(&[GOOD, BAD].concat()).await.unwrap();
        let mut requests = Vec::new();
        server.read_to_end(&mut requests).await.unwrap();
        server.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.unwrap();
        drop(server);
        requests
    })
    .await;
    assert_eq!(got, GOOD);
    let stop = Stop::Http(crate::http::Bad::HostOther);
    let server = Server::Silent;
    assert_eq!((end, up, down), (End::Stopped { stop, server }, 35, 27));
}

#[tokio::test]
async fn a_server_that_does_not_finish_is_cut_off_and_nothing_is_added() {
    let (end, ..) = run(80, quick(), |mut client, mut server| async move {
        client.write_all(&[GOOD, BAD].concat()).await.unwrap();
        server.write_all(b"HTTP/1.1 200 OK\r\n").await.unwrap();
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest).await;
        drop(server);
    })
    .await;
    let stop = Stop::Http(crate::http::Bad::HostOther);
    let server = Server::Speaking;
    assert_eq!(end, End::Stopped { stop, server });
}

#[tokio::test]
async fn a_first_line_that_never_ends_is_stopped() {
    let (end, up, ..) = run(8080, quick(), |mut client, server| async move {
        client.write_all(b"GET / HT").await.unwrap();
        let mut rest = Vec::new();
        let _ = client.read_to_end(&mut rest).await;
        drop(server);
    })
    .await;
    let stop = Stop::Slow(crate::gate::Language::Unknown);
    let server = Server::Silent;
    assert_eq!((end, up), (End::Stopped { stop, server }, 0));
}

#[tokio::test]
async fn websocket_frames_wait_for_the_server_and_then_flow() {
    let (end, .., got) = run(80, Limits::STANDARD, |mut client, mut server| async move {
        let ask = b"GET / HTTP/1.1\r\nHost: a.example\r\nUpgrade: websocket\r\n\r\n";
        client.write_all(&[&ask[..], b"\x81\x01a"].concat()).await.unwrap();
        let mut asked = vec![0; ask.len()];
        server.read_exact(&mut asked).await.unwrap();
        let early = timeout(Duration::from_millis(100), server.read_u8()).await;
        server
            .write_all(b"HTTP/1.1 101 Switching Protocols\r\n\r\n")
            .await
            .unwrap();
        let mut frame = [0; 3];
        server.read_exact(&mut frame).await.unwrap();
        client.read_exact(&mut [0; 36]).await.unwrap();
        (early.is_err(), frame)
    })
    .await;
    assert_eq!((end, got), (End::Closed, (true, *b"\x81\x01a")));
}

#[tokio::test]
async fn a_hundred_megabytes_arrive_as_they_were_sent() {
    const BLOCK: usize = 1 << 20;
    const BLOCKS: usize = 100;
    let block: Vec<u8> = (0..BLOCK).map(|at| u8::try_from(at % 251).unwrap()).collect();
    let expected = block.clone();
    let (end, _, down, ()) = run(22, Limits::STANDARD, |mut client, mut server| async move {
        let send = async {
            for _ in 0..BLOCKS {
                server.write_all(&block).await.unwrap();
            }
            drop(server);
        };
        let receive = async {
            let mut got = vec![0; BLOCK];
            for _ in 0..BLOCKS {
                client.read_exact(&mut got).await.unwrap();
                assert!(got == expected);
            }
            drop(client);
        };
        tokio::join!(send, receive);
    })
    .await;
    assert_eq!((end, down), (End::Closed, 100 << 20));
}

#[tokio::test]
async fn what_waits_to_be_known_passes_when_the_server_speaks_first() {
    let talk = |mut client: TcpStream, mut server: TcpStream| async move {
        client.write_all(b"hello").await.unwrap();
        sleep(Duration::from_millis(20)).await;
        server.write_all(b"220 ready").await.unwrap();
        let mut heard = [0; 5];
        server.read_exact(&mut heard).await.unwrap();
        heard
    };
    let (_, up, down, heard) = run(25, quick(), talk).await;
    assert_eq!((up, down, &heard), (5, 9, b"hello"));
}
