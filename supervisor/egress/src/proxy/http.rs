//! The HTTP proxy: `CONNECT` for tunnels, absolute targets for requests in the clear.
//!
//! INVARIANT: a tunnel is announced only when the server has been reached; a destination that is refused or cannot be
//! reached is answered with the reason instead.

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::bound::Bound;
use crate::gate::Language;
use crate::http::Bad;
use crate::http::authority::Authority;
use crate::http::body::Body;
use crate::http::head::{Head, Scan, Target};
use crate::record::Via;
use crate::refusal::{Kind, Refusal};
use crate::window::Window;

use super::tunnel::{Passage, Way, refuse, tunnel};
use super::{Desk, forward};

const ESTABLISHED: &[u8] = b"HTTP/1.1 200 Connection established\r\n\r\n";

/// What a head asks of the proxy.
enum Asked {
    Tunnel(Authority),
    Request(forward::Request),
}

/// Serves one connection to its end.
pub async fn serve(desk: &Desk, mut client: TcpStream) {
    let mut window = Window::new(&desk.pool);
    let length = match timeout(desk.limits.first_bytes, read_head(&mut client, &mut window)).await {
        Ok(Ok(length)) => length,
        Ok(Err(None)) => return,
        Ok(Err(Some(bad))) => return turn_away(desk, client, Via::Http, &bad_request(bad)).await,
        Err(_) => {
            let slow = Refusal::new(Kind::BadRequest, "the request's head took too long");
            return turn_away(desk, client, Via::Http, &slow).await;
        }
    };
    let asked = read(window.bytes().get(..length).unwrap_or_default());
    window.consume(length);
    match asked {
        Ok(Asked::Tunnel(authority)) => connect(desk, client, window, authority).await,
        Ok(Asked::Request(request)) => forward::serve(desk, client, window, request).await,
        Err((via, refusal)) => turn_away(desk, client, via, &refusal).await,
    }
}

/// Refuses something whose destination is not known.
pub async fn turn_away(desk: &Desk, client: TcpStream, via: Via, refusal: &Refusal) {
    desk.ledger.refuse(via, "", 0, refusal);
    desk.turn_away(client, Language::Http, "the destination", refusal).await;
}

/// The length of the head, once it is all there. `Err(None)` when the client left.
async fn read_head(client: &mut TcpStream, window: &mut Window) -> Result<usize, Option<Bad>> {
    let (mut reader, _) = client.split();
    let mut scan = Scan::default();
    loop {
        if let Some(length) = scan.advance(window.bytes())? {
            return Ok(length);
        }
        match window.fill(&mut reader).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return Err(None),
        }
    }
}

fn bad_request(bad: Bad) -> Refusal {
    Refusal::new(Kind::BadRequest, bad.to_string())
}

fn read(head: &[u8]) -> Result<Asked, (Via, Refusal)> {
    let head = Head::parse(head).map_err(|bad| (Via::Http, bad_request(bad)))?;
    match head.line.target {
        Target::Authority(authority) => {
            let bad = |bad| (Via::Connect, bad_request(bad));
            if !matches!(head.body, Body::None | Body::Sized(0)) {
                let refusal = Refusal::new(Kind::BadRequest, "a `CONNECT` with a body");
                return Err((Via::Connect, refusal));
            }
            let authority = Authority::parse(authority).map_err(bad)?;
            match authority.port {
                Some(_) => Ok(Asked::Tunnel(authority)),
                None => Err(bad(Bad::Target)),
            }
        }
        Target::Absolute { .. } => match forward::Request::read(&head) {
            Ok(request) => Ok(Asked::Request(request)),
            Err(refusal) => Err((Via::Http, refusal)),
        },
        Target::Origin(_) | Target::Asterisk => {
            let reason = "this is a proxy: it takes `CONNECT host:port` or a whole `http://` URL, not a path";
            Err((Via::Http, Refusal::new(Kind::BadRequest, reason)))
        }
    }
}

async fn connect(desk: &Desk, mut client: TcpStream, window: Window, authority: Authority) {
    let bound = Bound {
        host: desk.meant(authority.host),
        port: authority.port.unwrap_or_default(),
    };
    let track = desk.open(Via::Connect, &bound);
    let reached = match desk.decide(&bound) {
        Ok(rule) => desk.dial(&bound).await.map(|server| (rule, server)),
        Err(refusal) => Err(refusal),
    };
    let (rule, server) = match reached {
        Ok(reached) => reached,
        Err(refusal) => return refuse(desk, client, &bound, &track, Language::Http, &refusal).await,
    };
    if client.write_all(ESTABLISHED).await.is_ok() {
        let passage = Passage { bound, rule, track };
        tunnel(desk, client, window, passage, Way::Ready(server)).await;
    }
}
