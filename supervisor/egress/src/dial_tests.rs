use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::dns::Servers;
use crate::rules::tests::rules;
use crate::special::tests::own;
use crate::special::{OWN, own_addresses};

/// A hosts file of its own, gone with the test.
struct Hosts(PathBuf);

impl Hosts {
    fn new(text: &str) -> Hosts {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("glee-dial-{}-{number}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        Hosts(path)
    }

    fn dialer(&self, allow: &[&str], deny: &[&str]) -> Dialer {
        // Port 9 of loopback: no name server; what is not in the file fails at once.
        let servers = Servers::At(vec!["127.0.0.1:9".parse().unwrap()]);
        Dialer::new(Arc::new(rules(allow, deny)), Resolver::new(self.0.clone(), servers))
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn host(text: &str) -> Host {
    Host::parse(text.as_bytes()).unwrap()
}

/// What a refused dial says: the address, why, and the line that would allow it.
fn refusal(dialled: Result<Dialled, DialError>) -> (String, &'static str, String) {
    match dialled {
        Err(DialError::Refused { addr, why, hint }) => (addr.to_string(), why, hint),
        other => panic!("{other:?}"),
    }
}

/// A listener on loopback and its port.
async fn listener(at: &str) -> (TcpListener, u16) {
    let listener = TcpListener::bind(at).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[tokio::test]
async fn loopback_is_dialled_only_with_a_rule_that_names_it() {
    let (listener, port) = listener("127.0.0.1:0").await;
    let hosts = Hosts::new("127.0.0.1 a.org\n");
    let by_name = format!("a.org:{port}");
    let by_address = format!("127.0.0.1:{port}");

    let without = hosts.dialer(&[&by_name, &format!("0.0.0.0/0:{port}")], &[]);
    let hint = format!("network: {{allow: [\"{by_address}\"]}}");
    let expected = ("127.0.0.1".to_owned(), "loopback", hint);
    assert_eq!(refusal(without.dial(&host("a.org"), port).await), expected);
    assert_eq!(refusal(without.dial(&host("::ffff:127.0.0.1"), port).await), expected);

    let with = hosts.dialer(&[&by_name, &by_address], &[]);
    for text in ["a.org", "127.0.0.1", "::ffff:127.0.0.1"] {
        let mut dialled = with.dial(&host(text), port).await.unwrap();
        assert_eq!(dialled.addr.to_string(), by_address);
        assert!(dialled.stream.nodelay().unwrap());
        let (mut accepted, _) = listener.accept().await.unwrap();
        accepted.write_all(b"x").await.unwrap();
        assert_eq!(dialled.stream.read_u8().await.unwrap(), b'x');
    }
}

#[tokio::test]
async fn the_hinted_rule_is_the_one_that_helps() {
    let (_listener, port) = listener("127.0.0.1:0").await;
    let hosts = Hosts::new("127.0.0.1 a.org\n");
    let name = format!("a.org:{port}");
    let (_, _, hint) = refusal(hosts.dialer(&[&name], &[]).dial(&host("a.org"), port).await);
    let line = hint.split('"').nth(1).unwrap();
    assert!(
        hosts
            .dialer(&[&name, line], &[])
            .dial(&host("a.org"), port)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn special_addresses_are_refused_by_what_they_are() {
    for (address, why) in [
        ("10.1.2.3", "private"),
        ("169.254.169.254", "cloud metadata"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("0.0.0.0", "unspecified"),
        ("224.0.0.1", "multicast"),
        ("198.18.0.1", "benchmarking"),
        ("::1", "loopback"),
        ("fd00:ec2::254", "cloud metadata"),
        ("fe80::1", "link-local"),
        ("64:ff9b::127.0.0.1", "loopback"),
    ] {
        let hosts = Hosts::new(&format!("{address} a.org\n"));
        let (_, seen, hint) = refusal(hosts.dialer(&["a.org"], &[]).dial(&host("a.org"), 443).await);
        assert_eq!(seen, why, "{address}");
        assert!(hint.ends_with(":443\"]}"), "{hint}");
    }
}

#[tokio::test]
async fn each_address_of_this_machine_is_refused_to_a_name() {
    for own in own_addresses().unwrap() {
        let hosts = Hosts::new(&format!("{own} a.org\n"));
        let dialled = hosts
            .dialer(&["a.org", "0.0.0.0/0", "::/0"], &[])
            .dial(&host("a.org"), 443)
            .await;
        assert_eq!(refusal(dialled).0, own.to_string());
    }
}

#[test]
fn a_public_address_of_this_machine_needs_a_rule_for_it_alone() {
    let own = own(&["192.0.2.5"], &[("2001:db8:5::", 48)]);
    for (address, wide, alone) in [
        ("192.0.2.5", "192.0.2.0/24", "192.0.2.5"),
        ("2001:db8:5::9", "2001:db8:5::/48", "2001:db8:5::9"),
    ] {
        let address: IpAddr = address.parse().unwrap();
        for rule in ["a.org", wide] {
            let checked = Hosts::new("").dialer(&[rule], &[]).check(address, 443, &own);
            assert!(
                matches!(checked, Err(DialError::Refused { why: OWN, .. })),
                "{rule}: {checked:?}"
            );
        }
        assert!(Hosts::new("").dialer(&[alone], &[]).check(address, 443, &own).is_ok());
    }
    let next = "192.0.2.6".parse().unwrap();
    assert!(Hosts::new("").dialer(&["a.org"], &[]).check(next, 443, &own).is_ok());
}

#[tokio::test]
async fn what_is_not_allowed_is_not_even_resolved() {
    let hosts = Hosts::new("127.0.0.1 a.org\n");
    let dialer = hosts.dialer(&["b.org", "*.c.org"], &["x.c.org"]);
    assert!(matches!(
        dialer.dial(&host("a.org"), 443).await,
        Err(DialError::NotAllowed { .. })
    ));
    assert!(matches!(
        dialer.dial(&host("b.org"), 22).await,
        Err(DialError::NotAllowed { .. })
    ));
    let denied = dialer.dial(&host("x.c.org"), 443).await;
    assert!(matches!(denied, Err(DialError::Denied { rule }) if rule == "x.c.org"));
}

#[tokio::test]
async fn a_name_that_leads_to_a_denied_address_is_denied() {
    let hosts = Hosts::new("192.0.2.1 a.org\n64:ff9b::192.0.2.1 b.org\n");
    for name in ["a.org", "b.org"] {
        let denied = hosts.dialer(&[name], &["192.0.2.0/24"]).dial(&host(name), 443).await;
        assert!(
            matches!(denied, Err(DialError::Denied { rule }) if rule == "192.0.2.0/24"),
            "{name}"
        );
    }
}

#[tokio::test]
async fn refused_addresses_are_left_out_and_the_rest_is_dialled() {
    let (_listener, port) = listener("127.0.0.2:0").await;
    let hosts = Hosts::new("10.0.0.1 a.org\n127.0.0.1 a.org\n127.0.0.2 a.org\n");
    let dialer = hosts.dialer(&[&format!("a.org:{port}"), &format!("127.0.0.2:{port}")], &[]);
    let dialled = dialer.dial(&host("a.org"), port).await.unwrap();
    assert_eq!(dialled.addr, SocketAddr::new("127.0.0.2".parse().unwrap(), port));
}

#[tokio::test]
async fn the_next_address_is_tried_at_once_when_one_refuses() {
    let (_listener, port) = listener("127.0.0.2:0").await;
    let hosts = Hosts::new("::1 a.org\n127.0.0.1 a.org\n127.0.0.2 a.org\n");
    let blocks = [
        format!("a.org:{port}"),
        format!("127.0.0.0/8:{port}"),
        format!("[::1]:{port}"),
    ];
    let allow: Vec<&str> = blocks.iter().map(String::as_str).collect();
    let begin = Instant::now();
    let dialled = hosts.dialer(&allow, &[]).dial(&host("a.org"), port).await.unwrap();
    assert_eq!(dialled.addr.ip().to_string(), "127.0.0.2");
    assert!(begin.elapsed() < STAGGER * 2, "two refused, and neither was waited for");
}

#[tokio::test]
async fn an_address_that_does_not_answer_holds_up_the_next_for_a_quarter_of_a_second() {
    // A full backlog drops what comes next, as a silent host would.
    let silent = tokio::net::TcpSocket::new_v4().unwrap();
    silent.bind("127.0.0.3:0".parse().unwrap()).unwrap();
    let silent = silent.listen(1).unwrap();
    let at = silent.local_addr().unwrap();
    let mut filling = Vec::new();
    while let Ok(stream) = timeout(Duration::from_millis(100), TcpStream::connect(at)).await {
        filling.push(stream.unwrap());
    }
    let (_listener, port) = listener(&format!("127.0.0.4:{}", at.port())).await;
    let begin = Instant::now();
    let answers = SocketAddr::new("127.0.0.4".parse().unwrap(), port);
    let dialled = connect(vec![at, answers]).await.unwrap();
    assert_eq!(dialled.addr, answers);
    assert!(
        (STAGGER..OVERALL / 2).contains(&begin.elapsed()),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn the_reason_of_a_failed_connection_comes_back() {
    let (unused, port) = listener("127.0.0.1:0").await;
    drop(unused);
    let rule = format!("127.0.0.1:{port}");
    let dialled = Hosts::new("")
        .dialer(&[&rule], &[])
        .dial(&host("127.0.0.1"), port)
        .await;
    assert!(matches!(dialled, Err(DialError::Connect(error)) if error.kind() == io::ErrorKind::ConnectionRefused));
}

#[tokio::test]
async fn a_connection_to_itself_is_none() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let at = socket.local_addr().unwrap();
    let stream = socket.connect(at).await.unwrap();
    assert_eq!(settle(stream, at).unwrap_err().kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn a_name_server_that_is_not_there_is_a_failure_and_no_missing_name() {
    let dialled = Hosts::new("").dialer(&["a.org"], &[]).dial(&host("a.org"), 443).await;
    assert!(matches!(dialled, Err(DialError::ResolveFailed { .. })), "{dialled:?}");
}

#[test]
fn a_missing_name_and_one_without_address_are_the_same_to_who_dials() {
    for error in [ResolveError::NoSuchName, ResolveError::NoAddress] {
        assert!(matches!(error.into(), DialError::NoSuchName));
    }
    assert!(matches!(ResolveError::Timeout.into(), DialError::ResolveTimeout));
}
