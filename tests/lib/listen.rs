//! Servers on the host that an attack should not reach. They hear a connection, a datagram, and the bytes in it.

use std::io::Read;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixDatagram, UnixListener};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Remembers everything that arrived. Its thread ends with the test process.
#[derive(Debug, Clone)]
pub struct Listener {
    heard: Arc<Mutex<Vec<u8>>>,
    port: u16,
}

impl Listener {
    pub fn tcp() -> Self {
        Self::tcp_at((Ipv4Addr::LOCALHOST, 0).into())
    }

    pub fn tcp6() -> Self {
        Self::tcp_at((Ipv6Addr::LOCALHOST, 0).into())
    }

    /// On another address of this machine's own. What is sent there never leaves it.
    pub fn tcp_on(address: Ipv4Addr) -> Self {
        Self::tcp_at((address, 0).into())
    }

    fn tcp_at(address: SocketAddr) -> Self {
        let server = TcpListener::bind(address).expect("listen on a loopback port");
        let this = Self::at(server.local_addr().expect("the port").port());
        let heard = this.clone();
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
                heard.hear(b"[connection]");
                heard.drain(stream);
            }
        });
        this
    }

    pub fn udp() -> Self {
        Self::udp_at((Ipv4Addr::LOCALHOST, 0).into())
    }

    pub fn udp6() -> Self {
        Self::udp_at((Ipv6Addr::LOCALHOST, 0).into())
    }

    fn udp_at(address: SocketAddr) -> Self {
        let server = UdpSocket::bind(address).expect("bind a loopback port");
        let this = Self::at(server.local_addr().expect("the port").port());
        let heard = this.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = server.recv(&mut buffer) {
                heard.hear(b"[datagram]");
                heard.hear(buffer.get(..n).unwrap_or_default());
            }
        });
        this
    }

    pub fn unix(path: &Path) -> Self {
        Self::unix_stream(UnixListener::bind(path).expect("listen on a unix socket"))
    }

    pub fn unix_abstract(name: &str) -> Self {
        let address = UnixAddr::from_abstract_name(name).expect("an abstract address");
        Self::unix_stream(UnixListener::bind_addr(&address).expect("listen on an abstract socket"))
    }

    fn unix_stream(server: UnixListener) -> Self {
        let this = Self::at(0);
        let heard = this.clone();
        thread::spawn(move || {
            for stream in server.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(Duration::from_millis(500)));
                heard.hear(b"[connection]");
                heard.drain(stream);
            }
        });
        this
    }

    pub fn unix_datagram(path: &Path) -> Self {
        Self::unix_packets(UnixDatagram::bind(path).expect("bind a unix socket"))
    }

    pub fn unix_datagram_abstract(name: &str) -> Self {
        let address = UnixAddr::from_abstract_name(name).expect("an abstract address");
        Self::unix_packets(UnixDatagram::bind_addr(&address).expect("bind an abstract socket"))
    }

    fn unix_packets(server: UnixDatagram) -> Self {
        let this = Self::at(0);
        let heard = this.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(n) = server.recv(&mut buffer) {
                heard.hear(b"[datagram]");
                heard.hear(buffer.get(..n).unwrap_or_default());
            }
        });
        this
    }

    fn at(port: u16) -> Self {
        Self {
            heard: Arc::default(),
            port,
        }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// All bytes so far; empty means that nobody came.
    pub fn heard(&self) -> Vec<u8> {
        self.heard.lock().expect("the listener's thread does not panic").clone()
    }

    fn hear(&self, bytes: &[u8]) {
        self.heard
            .lock()
            .expect("the listener's thread does not panic")
            .extend_from_slice(bytes);
    }

    fn drain(&self, mut from: impl Read) {
        let mut buffer = [0; 4096];
        while let Ok(n @ 1..) = from.read(&mut buffer) {
            self.hear(buffer.get(..n).unwrap_or_default());
        }
    }
}
