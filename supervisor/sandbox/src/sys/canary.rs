//! Forbidden things, tried on ourselves. Whatever opens is closed at once; nothing is written, sent or left behind.
//!
//! A call here is meant to fail. If one succeeds, this process must end without becoming anything else.

use std::io;
use std::net::{IpAddr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use super::fd::own;
use super::net::{raw_v4, raw_v6};
use super::{check, cpath, done};

/// Any port will do: nothing is sent there.
const PORT: u16 = 9;

pub fn open_for_reading(path: &Path) -> io::Result<()> {
    open(path, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY)
}

/// A nameless file in the directory, which is gone when it is closed.
pub fn open_for_writing(dir: &Path) -> io::Result<()> {
    open(dir, libc::O_WRONLY | libc::O_TMPFILE)
}

fn open(path: &Path, flags: libc::c_int) -> io::Result<()> {
    let path = cpath(path)?;
    // SAFETY: `path` is NUL-terminated; a mode is given in case one is needed.
    check(unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, 0o600) }.into())
        .map(own)
        .map(drop)
}

/// Fails with `EROFS` if the mount at the path is read-only.
pub fn is_writable_mount(path: &Path) -> io::Result<()> {
    let path = cpath(path)?;
    let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
    // SAFETY: `path` is NUL-terminated.
    let held = check(unsafe { libc::open(path.as_ptr(), flags) }.into()).map(own)?;
    let mut facts = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `facts` has room for the answer.
    done(unsafe { libc::fstatvfs(held.as_raw_fd(), facts.as_mut_ptr()) })?;
    // SAFETY: zeroed before and filled by the call, which succeeded.
    let facts = unsafe { facts.assume_init() };
    if facts.f_flag & libc::ST_RDONLY == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(libc::EROFS))
    }
}

fn socket(family: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: socket takes three integers.
    check(unsafe { libc::socket(family, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) }.into()).map(own)
}

pub fn unix_socket() -> io::Result<()> {
    socket(libc::AF_UNIX).map(drop)
}

pub fn internet_socket() -> io::Result<()> {
    socket(libc::AF_INET).map(drop)
}

fn connect<A>(socket: &OwnedFd, address: &A, size: usize) -> io::Result<()> {
    let size = libc::socklen_t::try_from(size.min(size_of::<A>())).unwrap_or(0);
    let address: *const A = address;
    // SAFETY: callers pass a live sockaddr of the socket's own family; the kernel copies at most its size.
    done(unsafe { libc::connect(socket.as_raw_fd(), address.cast(), size) })
}

/// A datagram socket is connected by finding a route. No packet leaves.
pub fn route_to(address: IpAddr) -> io::Result<()> {
    match SocketAddr::new(address, PORT) {
        SocketAddr::V4(v4) => connect_v4(&v4),
        SocketAddr::V6(v6) => connect_v6(&v6),
    }
}

fn connect_v4(to: &SocketAddrV4) -> io::Result<()> {
    let address = raw_v4(to);
    connect(&socket(libc::AF_INET)?, &address, size_of_val(&address))
}

fn connect_v6(to: &SocketAddrV6) -> io::Result<()> {
    let address = raw_v6(to);
    connect(&socket(libc::AF_INET6)?, &address, size_of_val(&address))
}

/// A datagram socket with an abstract name that the kernel chose. Whoever shares our network namespace can connect to it, as long
/// as it is open. Nobody reads from it.
#[derive(Debug)]
pub struct Bait {
    _socket: OwnedFd,
    name: BaitName,
}

/// Where it is.
#[derive(Debug, Clone, Copy)]
pub struct BaitName {
    address: libc::sockaddr_un,
    size: usize,
}

impl Bait {
    pub fn lay() -> io::Result<Self> {
        let socket = socket(libc::AF_UNIX)?;
        // SAFETY: sockaddr_un is plain data; all zeroes is a valid value.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let family_only = libc::socklen_t::try_from(size_of::<libc::sa_family_t>()).unwrap_or(2);
        // SAFETY: the address is live; with the family alone the kernel makes up a name.
        done(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), family_only) })?;
        let mut size = libc::socklen_t::try_from(size_of::<libc::sockaddr_un>()).unwrap_or(0);
        // SAFETY: `address` is live and `size` is its size.
        done(unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut size) })?;
        let size = usize::try_from(size).unwrap_or(0);
        Ok(Self {
            _socket: socket,
            name: BaitName { address, size },
        })
    }

    #[must_use]
    pub fn name(&self) -> BaitName {
        self.name
    }
}

impl BaitName {
    /// For a process that is not our child: the name without its family.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let length = self.size.saturating_sub(size_of::<libc::sa_family_t>());
        let name = self.address.sun_path.iter().take(length);
        name.map(|byte| byte.cast_unsigned()).collect()
    }

    /// `None` if no address has room for it.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        // SAFETY: sockaddr_un is plain data; all zeroes is a valid value.
        let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
        address.sun_family = libc::AF_UNIX as libc::sa_family_t;
        let name = address.sun_path.get_mut(..bytes.len())?;
        for (place, byte) in name.iter_mut().zip(bytes) {
            *place = byte.cast_signed();
        }
        let size = size_of::<libc::sa_family_t>() + bytes.len();
        Some(Self { address, size })
    }

    /// Connects to it, from wherever we are.
    pub fn take(&self) -> io::Result<()> {
        connect(&socket(libc::AF_UNIX)?, &self.address, self.size)
    }
}

pub fn user_namespace() -> io::Result<()> {
    super::process::unshare(libc::CLONE_NEWUSER)
}

#[must_use]
pub fn parent() -> libc::pid_t {
    // SAFETY: getppid cannot fail.
    unsafe { libc::getppid() }
}

pub fn io_uring() -> io::Result<()> {
    let mut parameters = [0u64; 15];
    // SAFETY: the parameters are a live array of the size of the kernel's `io_uring_params`, 120 bytes.
    check(unsafe { libc::syscall(libc::SYS_io_uring_setup, 1u32, parameters.as_mut_ptr()) })
        .map(own)
        .map(drop)
}

pub fn new_mount() -> io::Result<()> {
    // SAFETY: the name is NUL-terminated.
    check(unsafe { libc::syscall(libc::SYS_fsopen, c"tmpfs".as_ptr(), 1u32) })
        .map(own)
        .map(drop)
}

/// The raw call: the process has one thread.
pub fn become_root() -> io::Result<()> {
    // SAFETY: setresuid takes three integers.
    check(unsafe { libc::syscall(libc::SYS_setresuid, 0, 0, 0) }).map(drop)
}

pub fn has_no_new_privs() -> io::Result<u64> {
    ask(libc::PR_GET_NO_NEW_PRIVS, 0)
}

/// 2: a filter.
pub fn seccomp_mode() -> io::Result<u64> {
    ask(libc::PR_GET_SECCOMP, 0)
}

/// How many capabilities the bounding set has.
pub fn bounding_set() -> io::Result<u64> {
    let mut count = 0;
    for capability in 0..64 {
        match ask(libc::PR_CAPBSET_READ, capability) {
            Err(e) if e.raw_os_error() == Some(libc::EINVAL) => break,
            found => count += found?,
        }
    }
    Ok(count)
}

fn ask(option: libc::c_int, value: libc::c_ulong) -> io::Result<u64> {
    // SAFETY: the options used here take integers only.
    let found = check(unsafe { libc::prctl(option, value, 0, 0, 0) }.into())?;
    Ok(u64::try_from(found).unwrap_or(0))
}

#[cfg(test)]
#[path = "canary_tests.rs"]
mod tests;
