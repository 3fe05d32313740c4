//! Unix sockets between our own processes: small messages, and descriptors along with them.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

use super::event::{self, Want};
use super::fd::{self, own};
use super::process::Pid;
use super::{check, done};

/// Two connected ends that keep message boundaries, both close-on-exec.
pub fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut fds = [-1; 2];
    // SAFETY: `fds` is a live array of two ints, which the kernel fills.
    done(unsafe {
        libc::socketpair(
            libc::AF_UNIX,
            libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC,
            0,
            fds.as_mut_ptr(),
        )
    })?;
    Ok((own(fds[0].into()), own(fds[1].into())))
}

/// Two connected ends of a stream of bytes, both close-on-exec.
pub fn stream_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    std::os::unix::net::UnixStream::pair().map(|(a, b)| (a.into(), b.into()))
}

/// What the other side says before it closes its end. `None` if that takes longer, or is more, than it may.
pub fn last_words(socket: BorrowedFd<'_>, patience: Duration, most: usize) -> Option<Vec<u8>> {
    let end = Instant::now() + patience;
    let (mut words, mut buffer) = (Vec::new(), vec![0; 64 * 1024]);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let ready = event::poll(&[(Some(socket), Want::Read)], Some(left)).ok()?;
        if !ready.first().is_some_and(|r| r.readable || r.hangup) {
            return None;
        }
        match fd::read(socket, &mut buffer).ok()? {
            0 => return Some(words),
            n => words.extend(buffer.get(..n).unwrap_or_default()),
        }
        if words.len() > most {
            return None;
        }
    }
}

/// Leaves a handle on what is open to the kernel, which closes it in its own time.
///
/// It is sent to a socket that nothing refers to but the message itself, and such sockets the kernel collects: since Linux 6.9
/// in a worker of its own, before that in whoever closes the socket, who then waits as for any other last close.
pub fn abandon(fd: BorrowedFd<'_>) -> io::Result<()> {
    let (lost, sender) = pair()?;
    send_all(sender.as_fd(), b"a", &[lost.as_fd(), fd])
}

/// The most descriptors that the kernel takes in one message.
pub const MOST: usize = 253;

/// Room for them, aligned as the kernel wants control messages.
#[repr(C, align(8))]
struct Control([u8; 1040]);

/// What kind of socket it is: `SOCK_STREAM`, `SOCK_DGRAM` and so on.
pub fn kind(socket: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    number(socket, libc::SO_TYPE)
}

/// Its address family: `AF_UNIX`, `AF_INET` and so on.
pub fn family(socket: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    number(socket, libc::SO_DOMAIN)
}

fn number(socket: BorrowedFd<'_>, option: libc::c_int) -> io::Result<libc::c_int> {
    let mut value: libc::c_int = 0;
    let mut size = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: `value` and `size` are live locals; the kernel writes at most `size` bytes.
    done(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw mut value).cast(),
            &raw mut size,
        )
    })?;
    Ok(value)
}

/// Is there another end, or was there one? A stream that is connected stays connected to that.
pub fn is_connected(socket: BorrowedFd<'_>) -> bool {
    // SAFETY: sockaddr_storage is plain data; all zeroes is a valid value.
    let mut peer: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let mut size = size_of::<libc::sockaddr_storage>() as libc::socklen_t;
    // SAFETY: `peer` and `size` are live locals; the kernel writes at most `size` bytes.
    done(unsafe { libc::getpeername(socket.as_raw_fd(), (&raw mut peer).cast(), &raw mut size) }).is_ok()
}

/// Sends one message, with a descriptor if given.
pub fn send(socket: BorrowedFd<'_>, bytes: &[u8], fd: Option<BorrowedFd<'_>>) -> io::Result<()> {
    send_all(socket, bytes, fd.as_slice())
}

/// Sends one message with descriptors, at most `MOST`.
pub fn send_all(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    if fds.len() > MOST {
        return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
    }
    let mut iov = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut control = Control([0; 1040]);
    // SAFETY: msghdr is plain data; all zeroes is a valid value.
    let mut msg: libc::msghdr = unsafe { std::mem::zeroed() };
    msg.msg_iov = &raw mut iov;
    msg.msg_iovlen = 1;
    if !fds.is_empty() {
        let size = u32::try_from(size_of::<libc::c_int>() * fds.len()).unwrap_or(4);
        msg.msg_control = (&raw mut control).cast();
        // SAFETY: CMSG_SPACE is arithmetic.
        msg.msg_controllen = unsafe { libc::CMSG_SPACE(size) } as usize;
        // SAFETY: `msg` has a control buffer that is larger than one header.
        let header = unsafe { libc::CMSG_FIRSTHDR(&raw const msg) };
        // SAFETY: CMSG_LEN is arithmetic.
        let length = unsafe { libc::CMSG_LEN(size) } as usize;
        let value = libc::cmsghdr {
            cmsg_len: length,
            cmsg_level: libc::SOL_SOCKET,
            cmsg_type: libc::SCM_RIGHTS,
        };
        // SAFETY: `header` points into `control`, which is live, aligned and large enough.
        unsafe { header.write(value) };
        // SAFETY: the data follows the header inside `control`.
        let data = unsafe { libc::CMSG_DATA(header) };
        for (at, fd) in fds.iter().enumerate() {
            // SAFETY: `at` is below `MOST`, and `control` has room for that many ints after the header.
            let place = unsafe { data.cast::<libc::c_int>().add(at) };
            // SAFETY: `place` lies inside `control`, as said above.
            unsafe { place.write_unaligned(fd.as_raw_fd()) };
        }
    }
    loop {
        // SAFETY: every pointer in `msg` refers to a live local.
        match check(unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const msg, libc::MSG_NOSIGNAL) } as libc::c_long) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(drop),
        }
    }
}

/// Receives one message. An empty one means that the other side is gone.
pub fn receive(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let (bytes, fds) = receive_all(socket, wait)?;
    Ok((bytes, fds.into_iter().next()))
}

/// As `receive`, with every descriptor that came along.
pub fn receive_all(socket: BorrowedFd<'_>, wait: Wait) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = vec![0u8; 4096];
    let mut iov = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    let mut control = Control([0; 1040]);
    // SAFETY: msghdr is plain data; all zeroes is a valid value.
    let mut msg: libc::msghdr = unsafe { std::mem::zeroed() };
    msg.msg_iov = &raw mut iov;
    msg.msg_iovlen = 1;
    msg.msg_control = (&raw mut control).cast();
    msg.msg_controllen = size_of::<Control>();
    let flags = match wait {
        Wait::Block => libc::MSG_CMSG_CLOEXEC,
        Wait::No => libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT,
    };
    let got = loop {
        // SAFETY: every pointer in `msg` refers to a live local.
        match check(unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut msg, flags) } as libc::c_long) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    bytes.truncate(usize::try_from(got).unwrap_or(0));
    // SAFETY: `msg` was filled by the kernel; the control buffer is live.
    let header = unsafe { libc::CMSG_FIRSTHDR(&raw const msg) };
    if header.is_null() {
        return Ok((bytes, Vec::new()));
    }
    // SAFETY: not null, so it points to a whole header inside `control`.
    let found = unsafe { header.read() };
    if found.cmsg_level != libc::SOL_SOCKET || found.cmsg_type != libc::SCM_RIGHTS {
        return Ok((bytes, Vec::new()));
    }
    // SAFETY: the data of an SCM_RIGHTS message follows its header.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: CMSG_LEN is arithmetic.
    let header_size = unsafe { libc::CMSG_LEN(0) } as usize;
    let count = found.cmsg_len.saturating_sub(header_size) / size_of::<libc::c_int>();
    let mut fds = Vec::with_capacity(count);
    for at in 0..count {
        // SAFETY: the kernel wrote `count` ints after the header, inside `control`.
        let place = unsafe { data.cast::<libc::c_int>().add(at) };
        // SAFETY: `place` lies inside what the kernel wrote, as said above.
        let raw = unsafe { place.read_unaligned() };
        fds.push(own(raw.into()));
    }
    Ok((bytes, fds))
}

/// Who connected to the other end, as seen from our own namespaces. Told by the kernel, not by the peer.
pub fn peer(socket: BorrowedFd<'_>) -> io::Result<(Pid, u32)> {
    let mut who = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: `who` and `size` are live locals; the kernel writes at most `size` bytes.
    done(unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut who).cast(),
            &raw mut size,
        )
    })?;
    Ok((Pid(who.pid), who.uid))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Block,
    No,
}
