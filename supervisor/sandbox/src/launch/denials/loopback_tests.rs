//! The kernel's lists of who listens.

use std::net::TcpListener;

use super::*;

#[test]
fn lines_of_both_families_are_read() {
    let line =
        |local: &str, state: &str| listening(&format!("   0: {local} 00000000:0000 {state} 00000000:00000000 00:00"));
    assert_eq!(line("0100007F:94D5", "0A"), "127.0.0.1:38101".parse().ok());
    assert_eq!(
        line("00000000000000000000000001000000:0016", "0A"),
        "[::1]:22".parse().ok()
    );
    // Connected, and not listening.
    assert_eq!(line("0100007F:94D5", "01"), None);
    assert_eq!(listening("  sl  local_address rem_address   st tx_queue"), None);
}

#[test]
fn a_server_of_this_machine_is_found_by_its_address_alone() {
    let server = TcpListener::bind("127.0.0.1:0").expect("listen");
    let to = server.local_addr().expect("an address");
    assert!(Loopback::default().serves(to));
    assert!(!Loopback::default().serves(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 9).into(), to.port())));
    drop(server);
    assert!(!Loopback::default().serves(to));
    let server = TcpListener::bind("0.0.0.0:0").expect("listen");
    let port = server.local_addr().expect("an address").port();
    assert!(Loopback::default().serves(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 9).into(), port)));
}
