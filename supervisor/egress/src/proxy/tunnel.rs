//! A connection whose destination was allowed: check what the client says first, connect, relay, record.
//!
//! INVARIANT: on 443 and 80 no byte goes to the server before the client's first flight was found good.

use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

use crate::bound::Bound;
use crate::gate::{Gate, Language, Stop};
use crate::http::guard::Look;
use crate::limits::Limits;
use crate::record::Track;
use crate::refusal::Refusal;
use crate::relay::{End, Server, Start, relay};
use crate::window::Window;

use super::Desk;

/// The way to the server.
pub(super) enum Way {
    /// Still to be dialled, once the client's first bytes are good.
    Later,
    /// The client was told that it stands.
    Ready(TcpStream),
}

/// An allowed destination with the rule that allows it.
pub(super) struct Passage {
    pub(super) bound: Bound,
    pub(super) rule: String,
    pub(super) track: Track,
}

/// Serves the connection to its end. `window` holds what the client has sent behind its request to a proxy.
pub(super) async fn tunnel(desk: &Desk, mut client: TcpStream, mut window: Window, passage: Passage, way: Way) {
    let Passage { bound, rule, track } = passage;
    let mut gate = Gate::new(bound.clone());
    let mut passed = 0;
    if gate.language() != Language::Unknown {
        passed = match first_flight(&mut client, &mut window, &mut gate, &desk.limits).await {
            Ok(passed) => passed,
            Err(None) => return,
            Err(Some(stop)) => {
                let refusal = desk.explain(&stop, &bound);
                return refuse(desk, client, &bound, &track, gate.language(), &refusal).await;
            }
        };
    }
    let server = match way {
        Way::Ready(server) => server,
        Way::Later => match desk.dial(&bound).await {
            Ok(server) => server,
            Err(refusal) => return refuse(desk, client, &bound, &track, gate.language(), &refusal).await,
        },
    };
    track.allowed(&rule);
    let start = Start { gate, window, passed };
    carry(desk, client, server, start, &bound, &track).await;
}

/// Relays, and says why if the gate stopped it.
pub(super) async fn carry(
    desk: &Desk,
    mut client: TcpStream,
    mut server: TcpStream,
    start: Start,
    bound: &Bound,
    track: &Track,
) {
    let down = Window::new(&desk.pool);
    let end = relay(&mut client, &mut server, start, down, &track.counts, &desk.limits).await;
    drop(server);
    match end {
        End::Closed | End::Idle | End::Reset => {}
        End::Stopped { stop, server } => {
            let refusal = desk.explain(&stop, bound);
            match server {
                Server::Silent => refuse(desk, client, bound, track, stop.language(), &refusal).await,
                Server::Speaking => track.refused(&refusal),
            }
        }
    }
}

/// Enters the refusal and tells the client.
pub(super) async fn refuse(
    desk: &Desk,
    client: TcpStream,
    bound: &Bound,
    track: &Track,
    language: Language,
    refusal: &Refusal,
) {
    track.refused(refusal);
    let place = bound.host.with_port(bound.port);
    desk.turn_away(client, language, &place, refusal).await;
}

/// Reads until the gate lets the first bytes pass, and says how many. `Err(None)` when the client left.
async fn first_flight(
    client: &mut TcpStream,
    window: &mut Window,
    gate: &mut Gate,
    limits: &Limits,
) -> Result<usize, Option<Stop>> {
    let due = Instant::now() + limits.first_bytes;
    let (mut reader, _) = client.split();
    loop {
        match gate.look(window.bytes())? {
            Look::Pass(count) => return Ok(count),
            Look::Hold | Look::Drop(_) => return Ok(0),
            Look::More => {}
        }
        match timeout_at(due, window.fill(&mut reader)).await {
            Ok(Ok(1..)) => {}
            Ok(Ok(0) | Err(_)) => return Err(None),
            Err(_) => return Err(Some(Stop::Slow(gate.language()))),
        }
    }
}
