use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;

use super::super::message::{TC, TYPE_A, TYPE_AAAA, TYPE_CNAME};
use super::super::response::tests::{name, record, reply, wire};
use super::*;

/// The datagrams that answer a query.
type Script = fn(&[u8]) -> Vec<Vec<u8>>;

/// A name server on loopback; counts the datagrams it gets.
async fn server(script: Script) -> (SocketAddr, Arc<AtomicUsize>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    tokio::spawn(async move {
        let mut buffer = [0; 600];
        while let Ok((length, from)) = socket.recv_from(&mut buffer).await {
            counter.fetch_add(1, Ordering::Relaxed);
            for datagram in script(&buffer[..length]) {
                socket.send_to(&datagram, from).await.unwrap();
            }
        }
    });
    (at, count)
}

/// Also over TCP, on the same port.
async fn with_tcp(at: SocketAddr, script: fn(&[u8]) -> Vec<u8>) {
    let listener = TcpListener::bind(at).await.unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let query = frame::read(&mut stream, 512).await.unwrap();
            let _ = frame::write(&mut stream, &script(&query)).await;
        }
    });
}

fn conf(servers: Vec<SocketAddr>) -> Conf {
    Conf {
        timeout: Duration::from_millis(200),
        overall: Duration::from_millis(1500),
        ..Conf::new(servers)
    }
}

async fn lookup(servers: Vec<SocketAddr>) -> Result<Vec<String>, String> {
    let found = resolve(&conf(servers), &name("a.org")).await;
    found
        .map(|all| all.iter().map(ToString::to_string).collect())
        .map_err(|error| error.to_string())
}

/// The answer of `script` alone.
async fn from(script: Script) -> Result<Vec<String>, String> {
    lookup(vec![server(script).await.0]).await
}

fn is_a(query: &[u8]) -> bool {
    query[query.len() - 3] == 1
}

/// 192.0.2.1 and 2001:db8::1.
fn good(query: &[u8]) -> Vec<u8> {
    let v6 = [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    let answer = if is_a(query) {
        record("a.org", TYPE_A, &[192, 0, 2, 1])
    } else {
        record("a.org", TYPE_AAAA, &v6)
    };
    reply(query, 0, &[answer])
}

fn both() -> Result<Vec<String>, String> {
    Ok(vec!["2001:db8::1".to_owned(), "192.0.2.1".to_owned()])
}

fn only_v4() -> Result<Vec<String>, String> {
    Ok(vec!["192.0.2.1".to_owned()])
}

#[tokio::test]
async fn both_families_are_asked_for() {
    assert_eq!(from(|query| vec![good(query)]).await, both());
}

#[tokio::test]
async fn one_family_is_enough_if_the_other_is_empty_fails_or_never_answers() {
    let v4_only: [Script; 3] = [
        |query| vec![if is_a(query) { good(query) } else { reply(query, 0, &[]) }],
        |query| vec![if is_a(query) { good(query) } else { reply(query, 2, &[]) }],
        |query| if is_a(query) { vec![good(query)] } else { vec![] },
    ];
    for script in v4_only {
        assert_eq!(from(script).await, only_v4());
    }
    let v6_only: Script = |query| if is_a(query) { vec![] } else { vec![good(query)] };
    assert_eq!(from(v6_only).await, Ok(vec!["2001:db8::1".to_owned()]));
}

#[tokio::test]
async fn the_other_family_is_not_waited_for_long() {
    let scripts: [Script; 2] = [
        |query| if is_a(query) { vec![good(query)] } else { vec![] },
        |query| if is_a(query) { vec![] } else { vec![good(query)] },
    ];
    for script in scripts {
        let patient = Conf {
            timeout: Duration::from_secs(20),
            overall: Duration::from_secs(60),
            ..Conf::new(vec![server(script).await.0])
        };
        let begin = std::time::Instant::now();
        assert_eq!(
            resolve(&patient, &name("a.org")).await.map(|all| all.len()).ok(),
            Some(1)
        );
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn no_such_name_no_address_failure_and_silence_are_told_apart() {
    let missing = Err("name does not exist".to_owned());
    assert_eq!(from(|query| vec![reply(query, 3, &[])]).await, missing);
    assert_eq!(
        from(|query| vec![reply(query, 0, &[])]).await,
        Err("name has no address".to_owned())
    );
    assert_eq!(
        from(|_| vec![]).await,
        Err("no name server answered in time".to_owned())
    );
    let (at, _) = server(|query| vec![reply(query, 2, &[])]).await;
    assert_eq!(
        lookup(vec![at]).await,
        Err(format!("name server {at} answered with code 2"))
    );
}

#[tokio::test]
async fn the_next_server_is_asked_after_failure_silence_and_refusal_to_connect() {
    let (fails, failed) = server(|query| vec![reply(query, 2, &[])]).await;
    let (silent, _) = server(|_| vec![]).await;
    let (works, _) = server(|query| vec![good(query)]).await;
    let closed = UdpSocket::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for first in [fails, silent, closed] {
        assert_eq!(lookup(vec![first, works]).await, both());
    }
    assert_eq!(failed.load(Ordering::Relaxed), 2, "once for each family");
}

#[tokio::test]
async fn no_such_name_is_final() {
    let (missing, _) = server(|query| vec![reply(query, 3, &[])]).await;
    let (works, asked) = server(|query| vec![good(query)]).await;
    assert_eq!(
        lookup(vec![missing, works]).await,
        Err("name does not exist".to_owned())
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn forged_answers_before_the_true_one_are_ignored() {
    let script: Script = |query| {
        let evil = |query: &[u8]| reply(query, 0, &[record("a.org", TYPE_A, &[6, 6, 6, 6])]);
        let mut other_id = evil(query);
        other_id[0] ^= 1;
        let mut other_name = evil(query);
        other_name[13] = b'b';
        let mut no_question = evil(query);
        no_question[5] = 0;
        let mut a_query = evil(query);
        a_query[2] = 1;
        vec![
            other_id,
            other_name,
            no_question,
            a_query,
            vec![],
            vec![0xff; 500],
            good(query),
        ]
    };
    assert_eq!(from(script).await, both());
}

#[tokio::test]
async fn a_flood_of_forged_answers_ends_the_question() {
    let script: Script = |query| {
        let mut other_id = good(query);
        other_id[0] ^= 1;
        let mut all = vec![other_id; MAX_STRAY];
        all.push(good(query));
        all
    };
    let (at, _) = server(script).await;
    let found = lookup(vec![at]).await;
    assert!(
        found
            .as_ref()
            .is_err_and(|error| error.starts_with("cannot ask name server")),
        "{found:?}"
    );
}

#[tokio::test]
async fn an_answer_from_another_source_is_ignored() {
    let real = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let forger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = real.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 600];
        while let Ok((length, from)) = real.recv_from(&mut buffer).await {
            let query = &buffer[..length];
            let evil = reply(query, 0, &[record("a.org", TYPE_A, &[6, 6, 6, 6])]);
            // The kernel may tell the forger that nobody listens to it.
            let _ = forger.send_to(&evil, from).await;
            real.send_to(&good(query), from).await.unwrap();
        }
    });
    assert_eq!(lookup(vec![at]).await, both());
}

#[tokio::test]
async fn each_question_has_its_own_port_and_id() {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let at = socket.local_addr().unwrap();
    let asking = tokio::spawn(async move { lookup(vec![at]).await });
    let mut seen = Vec::new();
    let mut buffer = [0; 600];
    for _ in 0..4 {
        let (_, from) = socket.recv_from(&mut buffer).await.unwrap();
        seen.push((from.port(), [buffer[0], buffer[1]]));
    }
    asking.abort();
    let ports: std::collections::BTreeSet<_> = seen.iter().map(|(port, _)| port).collect();
    let ids: std::collections::BTreeSet<_> = seen.iter().map(|(_, id)| id).collect();
    assert_eq!(ports.len(), 4);
    assert!(ids.len() >= 3, "four random numbers of 16 bits: {ids:?}");
}

#[tokio::test]
async fn a_truncated_answer_is_asked_for_again_over_tcp() {
    let (at, _) = server(|query| vec![reply(query, TC, &[])]).await;
    with_tcp(at, |query| {
        let many: Vec<_> = (0..60)
            .map(|last| record("a.org", TYPE_A, &[192, 0, 2, last]))
            .collect();
        reply(query, 0, if is_a(query) { &many } else { &[] })
    })
    .await;
    assert_eq!(lookup(vec![at]).await.map(|all| all.len()), Ok(MAX_ADDRESSES));
}

#[tokio::test]
async fn truncation_without_or_over_tcp_fails_and_does_not_hang() {
    let (no_tcp, _) = server(|query| vec![reply(query, TC, &[])]).await;
    assert!(
        lookup(vec![no_tcp])
            .await
            .is_err_and(|error| error.starts_with("cannot ask"))
    );
    let (again, _) = server(|query| vec![reply(query, TC, &[])]).await;
    with_tcp(again, |query| reply(query, TC, &[])).await;
    assert!(lookup(vec![again]).await.is_err_and(|error| error.contains("broken")));
    let (other_id, _) = server(|query| vec![reply(query, TC, &[])]).await;
    with_tcp(other_id, |query| {
        let mut forged = good(query);
        forged[0] ^= 1;
        forged
    })
    .await;
    assert!(
        lookup(vec![other_id])
            .await
            .is_err_and(|error| error.starts_with("cannot ask"))
    );
}

#[tokio::test]
async fn broken_answers_fail_at_once() {
    let broken: [Script; 4] = [
        |query| {
            let circle = [
                record("a.org", TYPE_CNAME, &wire("b.org")),
                record("b.org", TYPE_CNAME, &wire("a.org")),
            ];
            vec![reply(query, 0, &circle)]
        },
        |query| vec![reply(query, 0, &[b"\xc0\x17".to_vec()])],
        |query| {
            let mut many = good(query);
            many[6..8].copy_from_slice(&[0xff, 0xff]);
            vec![many]
        },
        |query| vec![reply(query, 0, &[vec![0xc0]])],
    ];
    for script in broken {
        let patient = Conf {
            timeout: Duration::from_secs(20),
            overall: Duration::from_secs(60),
            ..Conf::new(vec![server(script).await.0])
        };
        let begin = std::time::Instant::now();
        let found = resolve(&patient, &name("a.org")).await;
        assert!(matches!(found, Err(ResolveError::Broken { .. })), "{found:?}");
        assert!(begin.elapsed() < Duration::from_secs(10));
    }
}

#[tokio::test]
async fn a_slow_server_ends_with_the_overall_timeout() {
    let slow = Conf {
        timeout: Duration::from_secs(60),
        overall: Duration::from_millis(300),
        ..Conf::new(vec![server(|_| vec![]).await.0])
    };
    let begin = std::time::Instant::now();
    let found = resolve(&slow, &name("a.org")).await;
    assert!(matches!(found, Err(ResolveError::Timeout)));
    assert!((300..10_000).contains(&begin.elapsed().as_millis()));
}

#[tokio::test]
async fn mapped_and_doubled_addresses_come_back_once_as_ipv4() {
    let script: Script = |query| {
        let mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1];
        let aaaa = reply(
            query,
            0,
            &[record("a.org", TYPE_AAAA, &mapped), record("a.org", TYPE_AAAA, &mapped)],
        );
        vec![if is_a(query) { good(query) } else { aaaa }]
    };
    assert_eq!(from(script).await, only_v4());
}

#[tokio::test]
async fn the_hosts_file_is_asked_first_and_read_each_time() {
    let path = std::env::temp_dir().join(format!("glee-hosts-{}", std::process::id()));
    let (at, asked) = server(|query| vec![good(query)]).await;
    let resolver = Resolver::new(path.clone(), Servers::At(vec![at]));
    let found = async || {
        let all = resolver.lookup(&name("a.org")).await.unwrap();
        all.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    std::fs::write(&path, "192.0.2.9 a.org\n").unwrap();
    assert_eq!(
        (found().await, asked.load(Ordering::Relaxed)),
        (vec!["192.0.2.9".to_owned()], 0)
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(found().await, both().unwrap());
}

#[test]
fn the_families_take_turns() {
    let addresses = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<IpAddr>>();
    let mixed = interleave(addresses(&[
        "1.1.1.1",
        "1.1.1.2",
        "1.1.1.3",
        "2001:db8::1",
        "2001:db8::2",
        "1.1.1.1",
    ]));
    assert_eq!(
        mixed,
        addresses(&["2001:db8::1", "1.1.1.1", "2001:db8::2", "1.1.1.2", "1.1.1.3"])
    );
    assert_eq!(interleave(vec![]), addresses(&[]));
}
