//! A new network namespace: its loopback interface, a handle on it, addresses made local, sockets that listen in it.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};

use super::fd::own;
use super::{check, done};

/// Not in `libc`.
const SIOCGSKNS: libc::c_ulong = 0x894C;

/// A socket that is there to ask things of its network namespace.
fn socket() -> io::Result<OwnedFd> {
    // SAFETY: socket takes three integers.
    let raw = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(raw.into()).map(own)
}

/// A handle on the network namespace we are in, without a look into `/proc`. Needs CAP_NET_ADMIN in it. Linux 4.9.
pub fn own_namespace() -> io::Result<OwnedFd> {
    let socket = socket()?;
    // SAFETY: SIOCGSKNS takes no argument and returns a new descriptor.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGSKNS) }.into()).map(own)
}

/// Where the settings of a network namespace are: those of whoever looks for one there.
#[derive(Debug)]
pub struct Settings(OwnedFd);

impl Settings {
    pub fn open() -> io::Result<Self> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: the path is a NUL-terminated literal.
        let dir = check(unsafe { libc::open(c"/proc/sys".as_ptr(), flags) }.into())?;
        Ok(Self(own(dir)))
    }

    /// No copies of what is sent are kept for the sake of time stamps, unless a right or `SO_TIMESTAMPING` asks for them: they are
    /// memory that nobody counts. Needs CAP_NET_ADMIN in the namespace. Older kernels have no such setting in a namespace.
    pub fn keep_no_copies(&self) -> io::Result<()> {
        let (name, flags) = (c"net/core/tstamp_allow_data", libc::O_WRONLY | libc::O_CLOEXEC);
        // SAFETY: the path is a NUL-terminated literal.
        let file = check(unsafe { libc::openat(self.0.as_raw_fd(), name.as_ptr(), flags) }.into()).map(own)?;
        // SAFETY: one byte is read from a literal.
        check(unsafe { libc::write(file.as_raw_fd(), c"0".as_ptr().cast(), 1) } as libc::c_long).map(drop)
    }
}

/// Brings `lo` up, with 127.0.0.1 and ::1 as the kernel assigns them.
pub fn loopback_up() -> io::Result<()> {
    let socket = socket()?;
    // SAFETY: ifreq is plain data; all zeroes is a valid value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or(0);
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP | libc::IFF_RUNNING).unwrap_or(0);
    // SAFETY: `request` is live and initialised; SIOCSIFFLAGS reads it.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) })
}

/// Waiting connections per door; the kernel lowers it to its own bound.
const BACKLOG: libc::c_int = 1024;

/// A listening TCP socket at this address, whether the address is there already or not. `[::]` takes IPv4 too.
pub fn listen(at: SocketAddr) -> io::Result<OwnedFd> {
    let socket = bound(at, libc::SOCK_STREAM)?;
    // SAFETY: listen takes two integers.
    done(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
    Ok(socket)
}

/// A bound UDP socket.
pub fn datagram(at: SocketAddr) -> io::Result<OwnedFd> {
    bound(at, libc::SOCK_DGRAM)
}

fn bound(at: SocketAddr, kind: libc::c_int) -> io::Result<OwnedFd> {
    let family = if at.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    // SAFETY: socket takes three integers.
    let raw = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK, 0) };
    let socket = own(check(raw.into())?);
    match at {
        SocketAddr::V4(v4) => {
            set(&socket, libc::IPPROTO_IP, libc::IP_FREEBIND, 1)?;
            bind(&socket, &raw_v4(&v4))?;
        }
        SocketAddr::V6(v6) => {
            set(&socket, libc::IPPROTO_IPV6, libc::IPV6_FREEBIND, 1)?;
            let only = libc::c_int::from(!v6.ip().is_unspecified());
            set(&socket, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY, only)?;
            bind(&socket, &raw_v6(&v6))?;
        }
    }
    Ok(socket)
}

/// As the kernel wants it.
pub(super) fn raw_v4(address: &SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from(*address.ip()).to_be(),
        },
        sin_zero: [0; 8],
    }
}

/// As the kernel wants it.
pub(super) fn raw_v6(address: &SocketAddrV6) -> libc::sockaddr_in6 {
    libc::sockaddr_in6 {
        sin6_family: libc::AF_INET6 as libc::sa_family_t,
        sin6_port: address.port().to_be(),
        sin6_flowinfo: 0,
        sin6_addr: libc::in6_addr {
            s6_addr: address.ip().octets(),
        },
        sin6_scope_id: 0,
    }
}

fn set(socket: &OwnedFd, level: libc::c_int, option: libc::c_int, value: libc::c_int) -> io::Result<()> {
    let size = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(4);
    // SAFETY: `value` is a live int of the size given; the kernel copies it.
    done(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const value).cast(), size) })
}

fn bind<A>(socket: &OwnedFd, address: &A) -> io::Result<()> {
    let size = libc::socklen_t::try_from(size_of::<A>()).unwrap_or(0);
    let address: *const A = address;
    // SAFETY: callers pass a live sockaddr of the socket's own family; the kernel copies `size` bytes of it.
    done(unsafe { libc::bind(socket.as_raw_fd(), address.cast(), size) })
}

/// A request to add a route, as rtnetlink wants it: headers, then the attributes that follow them in `tail`.
#[repr(C)]
struct RouteRequest {
    header: libc::nlmsghdr,
    route: RouteMessage,
    tail: [u8; 32],
}

/// `struct rtmsg`.
#[repr(C)]
struct RouteMessage {
    family: u8,
    dst_len: u8,
    src_len: u8,
    tos: u8,
    table: u8,
    protocol: u8,
    scope: u8,
    kind: u8,
    flags: u32,
}

/// Makes a range of addresses local: what is sent to one of them arrives here, as if it were ours.
pub fn local_route(address: IpAddr, length: u8) -> io::Result<()> {
    const HEADERS: usize = size_of::<libc::nlmsghdr>() + size_of::<RouteMessage>();
    let mut tail = Vec::with_capacity(32);
    let mut attribute = |kind: u16, value: &[u8]| {
        let size = u16::try_from(value.len() + 4).unwrap_or(4);
        tail.extend(size.to_ne_bytes());
        tail.extend(kind.to_ne_bytes());
        tail.extend(value);
    };
    match address {
        IpAddr::V4(v4) => attribute(libc::RTA_DST, &v4.octets()),
        IpAddr::V6(v6) => attribute(libc::RTA_DST, &v6.octets()),
    }
    // The loopback interface is the first of every network namespace.
    attribute(libc::RTA_OIF, &1u32.to_ne_bytes());
    let size = HEADERS + tail.len();
    let mut request = RouteRequest {
        header: libc::nlmsghdr {
            nlmsg_len: u32::try_from(size).unwrap_or(0),
            nlmsg_type: libc::RTM_NEWROUTE,
            nlmsg_flags: (libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE) as u16,
            nlmsg_seq: 1,
            nlmsg_pid: 0,
        },
        route: RouteMessage {
            family: if address.is_ipv4() {
                libc::AF_INET
            } else {
                libc::AF_INET6
            } as u8,
            dst_len: length,
            src_len: 0,
            tos: 0,
            table: libc::RT_TABLE_LOCAL,
            protocol: libc::RTPROT_BOOT,
            scope: libc::RT_SCOPE_HOST,
            kind: libc::RTN_LOCAL,
            flags: 0,
        },
        tail: [0; 32],
    };
    for (to, from) in request.tail.iter_mut().zip(&tail) {
        *to = *from;
    }
    // SAFETY: socket takes three integers.
    let raw = unsafe {
        libc::socket(
            libc::AF_NETLINK,
            libc::SOCK_RAW | libc::SOCK_CLOEXEC,
            libc::NETLINK_ROUTE,
        )
    };
    let socket = own(check(raw.into())?);
    // SAFETY: `request` is live and holds at least `size` initialised bytes.
    check(unsafe { libc::send(socket.as_raw_fd(), (&raw const request).cast(), size, 0) } as libc::c_long)?;
    // The answer: a header, then the error as a negative number.
    let mut answer = [0u8; 128];
    // SAFETY: `answer` is live and as long as said.
    let got = unsafe { libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0) };
    check(got as libc::c_long)?;
    let code = answer
        .get(size_of::<libc::nlmsghdr>()..)
        .and_then(|rest| rest.first_chunk::<4>());
    match code.map(|bytes| i32::from_ne_bytes(*bytes)) {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::Error::from_raw_os_error(libc::EBADMSG)),
    }
}
