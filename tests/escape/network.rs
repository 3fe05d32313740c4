//! `network: false`: no way to the host's loopback, and none from the host to a server inside.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use glee_tests::{Attempt, Bare, Leak, Listener, Outcome, World, attack_tool, attempt};

fn tcp(script: &'static str) -> Attempt {
    attempt(script, Leak::Heard).given(|w| w.listen(Listener::tcp()))
}

fn tcp6(script: &'static str) -> Attempt {
    attempt(script, Leak::Heard).given(|w| w.listen(Listener::tcp6()))
}

fn udp(script: &'static str) -> Attempt {
    attempt(script, Leak::Heard).given(|w| w.listen(Listener::udp()))
}

/// A kind of socket whose effect nobody can hear: that it can be had is already too much.
fn kind(script: &'static str) -> Attempt {
    attempt(script, Leak::Claimed)
}

/// Bare where the kernel has that kind of socket.
macro_rules! kind_if_built {
    ($attack:literal) => {
        kind(concat!("@A ", $attack)).bare(Bare::Where("this kernel is built without it", || has($attack)))
    };
}

fn has(attack: &str) -> bool {
    let out = Command::new(attack_tool())
        .args(attack.split(' '))
        .output()
        .expect("run the attack tool");
    String::from_utf8_lossy(&out.stdout).contains("worked]]")
}

/// A port that is free now; a visitor on the host tries it for two seconds.
fn visited(w: &World) {
    let port = TcpListener::bind("127.0.0.1:0")
        .and_then(|l| l.local_addr())
        .expect("a free port")
        .port();
    w.define("PORT", port);
    w.victim("@A", &["visit", "@PORT", "@OUT/reached", "@ID"], &[]);
}

fn lists_the_port(w: &World, o: &Outcome) -> Option<String> {
    let port: u16 = w.fill("@PORT").parse().expect("a port");
    o.says(&format!(":{port:04X} "))
        .then(|| "the host's listener is listed".into())
}

fn lists_interfaces(_: &World, o: &Outcome) -> Option<String> {
    let names = std::fs::read_dir("/sys/class/net").expect("list interfaces").flatten();
    let mut names = names
        .filter_map(|e| e.file_name().into_string().ok())
        .filter(|n| n != "lo");
    names
        .find(|n| o.out().lines().any(|l| l.trim().starts_with(&format!("{n}:"))))
        .map(|n| format!("the host's interface {n}"))
}

claims! {
    tcp_does_not_reach_the_host => tcp("@A tcp @PORT @ID"),
    tcp_does_not_reach_the_host_under_workspace => tcp("@A tcp @PORT @ID").workspace(),
    tcp_to_the_unspecified_address_does_not_reach_the_host => tcp("@A tcp @PORT @ID 0.0.0.0"),
    tcp_to_another_loopback_address_does_not_reach_the_host => attempt("@A tcp @PORT @ID 127.9.9.9", Leak::Heard)
        .given(|w| w.listen(Listener::tcp_on(Ipv4Addr::new(127, 9, 9, 9)))),
    tcp_to_the_hosts_own_address_does_not_reach_it => attempt("@A tcp @PORT @ID @ADDRESS", Leak::Heard)
        .given(|w| if let Some(own) = own_address() {
            w.listen(Listener::tcp_on(own));
            w.define("ADDRESS", own);
        })
        .bare(Bare::Where("this machine has no address but loopback", || own_address().is_some())),
    tcp6_does_not_reach_the_host => tcp6("@A tcp6 @PORT @ID").bare(Bare::Where("this machine has no IPv6", ipv6)),
    mapped_address_does_not_reach_the_host => tcp("@A tcp6 @PORT @ID ::ffff:127.0.0.1")
        .bare(Bare::Where("this machine has no IPv6", ipv6)),
    udp_does_not_reach_the_host => udp("@A udp @PORT @ID"),
    udp6_does_not_reach_the_host => attempt("@A udp6 @PORT @ID", Leak::Heard).given(|w| w.listen(Listener::udp6()))
        .bare(Bare::Where("this machine has no IPv6", ipv6)),
    sendto_does_not_reach_the_host => udp("@A udp_sendto @PORT @ID"),
    sendmmsg_does_not_reach_the_host => udp("@A udp_sendmmsg @PORT @ID"),
    shell_sockets_do_not_reach_the_host => tcp("bash -c 'echo @ID > /dev/tcp/127.0.0.1/@PORT'"),
    shell_datagrams_do_not_reach_the_host => udp("bash -c 'echo @ID > /dev/udp/127.0.0.1/@PORT'"),
    fast_open_does_not_reach_the_host => tcp("@A fastopen @PORT @ID"),
    fast_open_by_sendmsg_does_not_reach_the_host => tcp("@A fastopen_sendmsg @PORT @ID"),
    fast_open_by_connect_does_not_reach_the_host => tcp("@A fastopen_connect @PORT @ID"),
    multipath_does_not_reach_the_host => tcp("@A mptcp @PORT @ID")
        .bare(Bare::Where("this kernel is built without MPTCP", || {
        std::path::Path::new("/proc/sys/net/mptcp").exists()
    })),
    io_uring_does_not_reach_the_host => tcp("@A uring_tcp @PORT @ID"),
    name_of_the_host_does_not_reach_it => tcp("bash -c 'echo @ID > /dev/tcp/localhost/@PORT'"),
    proxy_variables_do_not_reach_the_host => tcp("bash -c 'p=${http_proxy#http://}; \
        echo @ID > /dev/tcp/${p%:*}/${p#*:}'")
        .given(|w| w.define("PROXY", w.fill("http://127.0.0.1:@PORT"))).env("http_proxy", "@PROXY"),
    child_of_a_child_does_not_reach_the_host => tcp("sh -c \"sh -c 'setsid @A tcp @PORT @ID'\""),

    /// A socket stays in the network in which it was made.
    datagram_socket_as_standard_input_is_refused => udp("@A sendto_from_stdin @PORT @ID")
        .through(&["@A", "as_stdin", "udp"]).refused(),
    connection_as_standard_input_is_refused => tcp("@A from_stdin @PORT @ID").through(&["@A", "as_stdin", "tcp"]).refused(),
    connection_as_standard_input_is_refused_with_names_allowed => tcp("@A from_stdin @PORT @ID")
        .yaml("extends: workspace\nnetwork: {allow: ['example.org']}\n").through(&["@A", "as_stdin", "tcp"]).refused(),

    multipath_sockets_are_refused => kind_if_built!("family_protocol 2 1 262"),
    sctp_is_refused => kind_if_built!("sctp"),
    udplite_does_not_exist => kind_if_built!("family_protocol 2 2 136"),
    raw_sockets_are_refused => kind("@A raw; @A raw6; @A icmp").bare(Bare::RootOnly),
    packet_sockets_are_refused => kind("@A packet").bare(Bare::RootOnly),
    uevent_netlink_is_refused => kind("@A netlink 15"),
    audit_netlink_is_refused => kind("@A netlink 9"),
    socket_diagnosis_is_refused => kind("@A netlink 4"),
    crypto_sockets_are_refused => kind_if_built!("alg"),
    virtual_machine_sockets_are_refused => kind_if_built!("vsock"),
    virtual_machine_datagrams_are_refused => kind_if_built!("family 40 2"),
    key_sockets_are_refused => kind_if_built!("family 15 3"),
    xdp_sockets_are_refused => kind_if_built!("family 44 3")
        .bare(Bare::RootWhere("this kernel is built without it", || has("family 44 3"))),
    tipc_is_refused => kind_if_built!("family 30 1"),
    bluetooth_is_refused => kind_if_built!("family 31 5"),
    smc_is_refused => kind_if_built!("family 43 1"),
    rds_is_refused => kind_if_built!("family 21 5"),
    can_is_refused => kind_if_built!("family 29 3"),

    server_inside_is_not_reached_from_the_host => attempt("@A serve @PORT 1", Leak::Changed("@OUT/reached"))
        .given(visited),
    server_inside_is_not_reached_from_the_host_under_workspace => attempt("@A serve @PORT 1",
        Leak::Changed("@OUT/reached"))
        .given(visited).workspace(),
    connections_of_the_host_are_not_listed => attempt("cat /proc/net/tcp /proc/self/net/tcp /proc/1/net/tcp",
        Leak::Seen(lists_the_port))
        .given(|w| w.listen(Listener::tcp())),
    interfaces_of_the_host_are_not_listed => attempt("cat /proc/net/dev /proc/1/net/dev", Leak::Seen(lists_interfaces))
        .bare(Bare::Where("this machine has only \
        loopback", || std::fs::read_dir("/sys/class/net").is_ok_and(|d| d.count() > 1))),
}

fn ipv6() -> bool {
    TcpListener::bind("[::1]:0").is_ok()
}

/// An address that the kernel takes for its own, but not loopback.
fn own_address() -> Option<Ipv4Addr> {
    let trie = std::fs::read_to_string("/proc/net/fib_trie").unwrap_or_default();
    let lines: Vec<&str> = trie.lines().collect();
    let local = lines
        .windows(2)
        .filter(|pair| pair.last().is_some_and(|l| l.contains("/32 host LOCAL")));
    let mut addresses = local.filter_map(|pair| pair.first()?.split_whitespace().nth(1)?.parse::<Ipv4Addr>().ok());
    addresses.find(|a| !a.is_loopback())
}
