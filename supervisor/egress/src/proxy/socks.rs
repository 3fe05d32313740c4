//! SOCKS5 (RFC 1928): `CONNECT` by name or address.
//!
//! A user name and password (RFC 1929) are read and ignored: the door is in the sandbox, and who is in there may use it.
//! INVARIANT: what is not SOCKS5 is closed without an answer; what is refused gets a reply code.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bound::Bound;
use crate::closing::{farewell, reset_on_drop};
use crate::host::Host;
use crate::record::Via;
use crate::refusal::{Kind, Refusal};
use crate::window::Window;

use super::tunnel::{Passage, Way, tunnel};
use super::{Desk, answer};

const VERSION: u8 = 5;
const CONNECT: u8 = 1;
const SUCCEEDED: u8 = 0;
const COMMAND_NOT_SUPPORTED: u8 = 7;
const ADDRESS_TYPE_NOT_SUPPORTED: u8 = 8;
const NO_AUTHENTICATION: u8 = 0;
const PASSWORD: u8 = 2;
const NO_METHOD: u8 = 0xff;

/// How a handshake ended.
enum Asked {
    Connect(Host, u16),
    /// A reply code, and what the ledger says of it.
    Refused {
        code: u8,
        host: String,
        port: u16,
        reason: &'static str,
    },
}

/// Serves one connection to its end.
pub async fn serve(desk: &Desk, mut client: TcpStream) {
    let mut window = Window::new(&desk.pool);
    let (host, port) = match timeout(desk.limits.first_bytes, handshake(&mut client, &mut window)).await {
        Ok(Ok(Asked::Connect(host, port))) => (host, port),
        Ok(Ok(Asked::Refused {
            code,
            host,
            port,
            reason,
        })) => {
            let refusal = Refusal::new(Kind::BadRequest, reason);
            desk.ledger.refuse(Via::Socks, &host, port, &refusal);
            return farewell(client, &reply(code), &desk.limits).await;
        }
        Ok(Err(_)) | Err(_) => return farewell(client, &[], &desk.limits).await,
    };
    let bound = Bound {
        host: desk.meant(host),
        port,
    };
    let track = desk.open(Via::Socks, &bound);
    let reached = match desk.decide(&bound) {
        Ok(rule) => desk.dial(&bound).await.map(|server| (rule, server)),
        Err(refusal) => Err(refusal),
    };
    match reached {
        Ok((rule, server)) => {
            if client.write_all(&reply(SUCCEEDED)).await.is_ok() {
                let passage = Passage { bound, rule, track };
                tunnel(desk, client, window, passage, Way::Ready(server)).await;
            }
        }
        Err(refusal) => {
            track.refused(&refusal);
            farewell(client, &reply(answer::socks_code(refusal.kind)), &desk.limits).await;
        }
    }
}

/// Enters why a connection is not served, and resets it: before the handshake there is no way to say it.
pub fn turn_away(desk: &Desk, client: &TcpStream, refusal: &Refusal) {
    desk.ledger.refuse(Via::Socks, "", 0, refusal);
    reset_on_drop(client);
}

/// A reply without an address: nobody needs the one we connect from.
fn reply(code: u8) -> [u8; 10] {
    [VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

async fn handshake(client: &mut TcpStream, window: &mut Window) -> io::Result<Asked> {
    let [version, count] = take(client, window).await?;
    if version != VERSION {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let methods = take_some(client, window, usize::from(count)).await?;
    if methods.contains(&NO_AUTHENTICATION) {
        client.write_all(&[VERSION, NO_AUTHENTICATION]).await?;
    } else if methods.contains(&PASSWORD) {
        client.write_all(&[VERSION, PASSWORD]).await?;
        let [negotiation, length] = take(client, window).await?;
        take_some(client, window, usize::from(length)).await?;
        let [length] = take(client, window).await?;
        take_some(client, window, usize::from(length)).await?;
        if negotiation != 1 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        client.write_all(&[1, SUCCEEDED]).await?;
    } else {
        client.write_all(&[VERSION, NO_METHOD]).await?;
        return Err(io::ErrorKind::InvalidData.into());
    }
    request(client, window).await
}

async fn request(client: &mut TcpStream, window: &mut Window) -> io::Result<Asked> {
    let [version, command, reserved, address_type] = take(client, window).await?;
    if version != VERSION || reserved != 0 {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let (host, text) = match address_type {
        1 => {
            let addr = IpAddr::from(Ipv4Addr::from(take::<4>(client, window).await?));
            (Some(Host::from(addr)), addr.to_string())
        }
        3 => {
            let [length] = take(client, window).await?;
            let name = take_some(client, window, usize::from(length)).await?;
            (Host::parse(&name).ok(), String::from_utf8_lossy(&name).into_owned())
        }
        4 => {
            let addr = IpAddr::from(Ipv6Addr::from(take::<16>(client, window).await?));
            (Some(Host::from(addr)), addr.to_string())
        }
        _ => {
            return Ok(Asked::Refused {
                code: ADDRESS_TYPE_NOT_SUPPORTED,
                host: String::new(),
                port: 0,
                reason: "an unknown type of address",
            });
        }
    };
    let port = u16::from_be_bytes(take(client, window).await?);
    let refused = |code, reason| Asked::Refused {
        code,
        host: text,
        port,
        reason,
    };
    Ok(match (command, host) {
        (CONNECT, Some(host)) => Asked::Connect(host, port),
        (CONNECT, None) => refused(answer::socks_code(Kind::Forbidden), "not a host"),
        (_, _) => refused(
            COMMAND_NOT_SUPPORTED,
            "only `CONNECT` is offered, neither `BIND` nor UDP",
        ),
    })
}

async fn take<const COUNT: usize>(client: &mut TcpStream, window: &mut Window) -> io::Result<[u8; COUNT]> {
    let bytes = take_some(client, window, COUNT).await?;
    bytes.try_into().map_err(|_| io::ErrorKind::UnexpectedEof.into())
}

async fn take_some(client: &mut TcpStream, window: &mut Window, count: usize) -> io::Result<Vec<u8>> {
    let (mut reader, _) = client.split();
    loop {
        if let Some(taken) = window.bytes().get(..count) {
            let taken = taken.to_vec();
            window.consume(count);
            return Ok(taken);
        }
        if window.fill(&mut reader).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
