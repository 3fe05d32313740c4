//! Argument rules for sockets.
//!
//! Pure tables; `rules` says how they are read and which half of an argument counts.

use super::filter::Verdict;
use super::rules::{Body, Clause, Test, deny, is, unless, when};

pub(super) const NO_SOCKETS: &str =
    "`isolation: landlock` has no sockets: without a network namespace they reach the host";
const FAMILY: Verdict = deny(libc::EAFNOSUPPORT, "this address family is not for the sandbox");
const KIND: Verdict = deny(libc::EPERM, "only stream and datagram sockets of the usual protocols");

const UNIX: Test = is(0, &[libc::AF_UNIX as u32]);
const INTERNET: Test = is(0, &[libc::AF_INET as u32, libc::AF_INET6 as u32]);
const NETLINK: Test = is(0, &[libc::AF_NETLINK as u32]);
const STREAM: u32 = libc::SOCK_STREAM as u32;
const DATAGRAM: u32 = libc::SOCK_DGRAM as u32;
const SEQPACKET: u32 = libc::SOCK_SEQPACKET as u32;

/// The type without SOCK_CLOEXEC and SOCK_NONBLOCK, as the kernel splits it.
const fn kind(values: &'static [u32]) -> Test {
    Test::OneOf {
        arg: 1,
        mask: 0xf,
        values,
    }
}

const UNIX_ALLOWED: Clause = when(&[UNIX, kind(&[STREAM, DATAGRAM, SEQPACKET])], Verdict::Allow);
/// getifaddrs (Node, Go, glibc) needs it, in an empty network namespace as well, where there is nothing to learn.
/// Changing anything takes CAP_NET_ADMIN, which nobody inside has. All other netlink protocols stay closed.
const ROUTE_ALLOWED: Clause = when(&[NETLINK, is(2, &[libc::NETLINK_ROUTE as u32])], Verdict::Allow);
const OTHER_KINDS: Clause = when(
    &[is(
        0,
        &[libc::AF_UNIX as u32, libc::AF_INET as u32, libc::AF_INET6 as u32],
    )],
    KIND,
);

/// Only what TCP and UDP need. MPTCP and SMC pass by Landlock's TCP rules; SCTP, UDP-Lite and raw are attack surface.
pub(super) const SOCKET_LOOPBACK: Body = Body {
    clauses: &[
        UNIX_ALLOWED,
        when(
            &[INTERNET, kind(&[STREAM, DATAGRAM]), is(2, &[0, 6, 17])],
            Verdict::Allow,
        ), // any, TCP, UDP
        ROUTE_ALLOWED,
        OTHER_KINDS,
    ],
    otherwise: FAMILY,
};
pub(super) const SOCKET_HOST: Body = Body {
    clauses: &[
        UNIX_ALLOWED,
        when(
            &[INTERNET, kind(&[STREAM, DATAGRAM]), is(2, &[0, 6, 17, 1, 58])],
            Verdict::Allow,
        ), // and ICMP, ICMPv6
        ROUTE_ALLOWED,
        OTHER_KINDS,
    ],
    otherwise: FAMILY,
};
pub(super) const SOCKET_NONE: Body = Body {
    clauses: &[],
    otherwise: deny(libc::EAFNOSUPPORT, NO_SOCKETS),
};

pub(super) const SOCKETPAIR: Body = Body {
    clauses: &[UNIX_ALLOWED, when(&[UNIX], KIND)],
    otherwise: FAMILY,
};
/// A datagram socket of a pair can still be sent anywhere by address; the others are connected for good.
pub(super) const SOCKETPAIR_CONNECTED: Body = Body {
    clauses: &[
        when(&[UNIX, kind(&[STREAM, SEQPACKET])], Verdict::Allow),
        when(&[UNIX], deny(libc::EPERM, NO_SOCKETS)),
    ],
    otherwise: FAMILY,
};

/// Those of TCP-AO libc does not know: TCP_AO_ADD_KEY, TCP_AO_DEL_KEY, TCP_AO_INFO, TCP_AO_REPAIR.
const SEGMENT_KEYS: &[u32] = &[libc::TCP_MD5SIG as u32, libc::TCP_MD5SIG_EXT as u32, 38, 39, 40, 42];

/// IPV6_2292PKTOPTIONS, the oldest of three ways to say how packets are to be sent: up to 64 KiB for each socket that stay with it.
const OLD_PACKET_OPTIONS: u32 = 6;
/// IPV6_FLOWLABEL_MGR. Labels are few, have one bound for the machine, and stay for minutes after their socket.
const FLOW_LABELS: u32 = 32;

/// TCP_ULP turns a TCP socket into an SMC or TLS one: past Landlock's TCP rules, and a source of kernel bugs. Keys for signed segments
/// (routers talk so) are memory of the kernel's that nobody counts: hundreds of megabytes in as many sockets as one may open.
const OTHER_PROTOCOL: Clause = when(
    &[is(1, &[libc::IPPROTO_TCP as u32]), is(2, &[libc::TCP_ULP as u32])],
    deny(libc::EPERM, "changes the protocol under a TCP socket"),
);
const KEYS: Clause = when(
    &[is(1, &[libc::IPPROTO_TCP as u32]), is(2, SEGMENT_KEYS)],
    deny(libc::EPERM, "keys of TCP segments are kernel memory that nobody counts"),
);
const OPTIONS: Clause = when(
    &[
        is(1, &[libc::IPPROTO_IPV6 as u32]),
        is(2, &[OLD_PACKET_OPTIONS, FLOW_LABELS]),
    ],
    deny(
        libc::EPERM,
        "these options of packets are kernel memory that nobody counts, or that is counted once for the machine",
    ),
);

/// IP_RECVERR and IPV6_RECVERR. A socket's queue of errors is memory that nobody counts, megabytes in each. On a loopback there is
/// nothing to learn from it: who is connected hears of a closed port all the same. It must seem to work, or the resolver gives up.
const ERRORS_V4: Clause = when(
    &[is(1, &[libc::IPPROTO_IP as u32]), is(2, &[libc::IP_RECVERR as u32])],
    Verdict::Errno(0),
);
const ERRORS_V6: Clause = when(
    &[is(1, &[libc::IPPROTO_IPV6 as u32]), is(2, &[libc::IPV6_RECVERR as u32])],
    Verdict::Errno(0),
);
/// SO_TIMESTAMPING, old and new: copies of what was sent go to the same queue (those that a message asks for by itself, see
/// `sys::net::Settings`). SO_TIMESTAMP and SO_TIMESTAMPNS stay. SO_ZEROCOPY: its pages are held against the user's `RLIMIT_MEMLOCK`, which
/// is one for all namespaces, and a loopback copies them all the same.
const STAMPS: Clause = when(
    &[
        is(1, &[libc::SOL_SOCKET as u32]),
        is(2, &[37, 65, libc::SO_ZEROCOPY as u32]),
    ],
    Verdict::Errno(libc::ENOPROTOOPT as u16),
);

pub(super) const SETSOCKOPT_LOOPBACK: Body = unless(&[OTHER_PROTOCOL, KEYS, OPTIONS, ERRORS_V4, ERRORS_V6, STAMPS]);
pub(super) const SETSOCKOPT_HOST: Body = unless(&[OTHER_PROTOCOL, KEYS, OPTIONS]);

const FASTOPEN: Verdict = deny(libc::EPERM, "TCP Fast Open connects past the network rules");
/// Nobody needs urgent data; on unix sockets it was a way into the kernel (CVE-2025-38236).
const URGENT: Verdict = deny(libc::EPERM, "urgent data is not for the sandbox");

pub(super) const SEND_FLAGS_ARG2: Body = unless(&[
    when(
        &[Test::AnyBit {
            arg: 2,
            mask: libc::MSG_FASTOPEN as u32,
        }],
        FASTOPEN,
    ),
    when(
        &[Test::AnyBit {
            arg: 2,
            mask: libc::MSG_OOB as u32,
        }],
        URGENT,
    ),
]);
pub(super) const SEND_FLAGS_ARG3: Body = unless(&[
    when(
        &[Test::AnyBit {
            arg: 3,
            mask: libc::MSG_FASTOPEN as u32,
        }],
        FASTOPEN,
    ),
    when(
        &[Test::AnyBit {
            arg: 3,
            mask: libc::MSG_OOB as u32,
        }],
        URGENT,
    ),
]);
