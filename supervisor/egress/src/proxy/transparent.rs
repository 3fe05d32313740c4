//! Connections as programs make them: the address that one arrived at tells which host was meant.
//!
//! INVARIANT: an address that stands for no allowed name and that no address rule names leads nowhere.

use tokio::net::TcpStream;

use crate::bound::Bound;
use crate::closing::reset_on_drop;
use crate::gate::Language;
use crate::host::Host;
use crate::record::Via;
use crate::refusal::{Kind, Refusal};
use crate::window::Window;

use super::Desk;
use super::tunnel::{Passage, Way, refuse, tunnel};

/// Serves one connection to its end.
pub async fn serve(desk: &Desk, client: TcpStream) {
    let Some(bound) = destination(desk, &client) else {
        return;
    };
    let track = desk.open(Via::Transparent, &bound);
    let known = match bound.host {
        Host::Name(_) => true,
        Host::Addr(addr) => desk.rules.names_address(addr, bound.port),
    };
    match desk.decide(&bound) {
        Ok(rule) if known => {
            let window = Window::new(&desk.pool);
            tunnel(desk, client, window, Passage { bound, rule, track }, Way::Later).await;
        }
        Ok(_) => {
            track.refused(&Refusal::new(Kind::Forbidden, "no rule names this very address"));
            reset_on_drop(&client);
        }
        Err(refusal) if known => {
            let language = Language::of_port(bound.port);
            refuse(desk, client, &bound, &track, language, &refusal).await;
        }
        Err(refusal) => {
            track.refused(&refusal);
            reset_on_drop(&client);
        }
    }
}

/// Says that there are too many connections.
pub async fn turn_away(desk: &Desk, client: TcpStream, refusal: &Refusal) {
    if let Some(bound) = destination(desk, &client) {
        let track = desk.open(Via::Transparent, &bound);
        refuse(desk, client, &bound, &track, Language::of_port(bound.port), refusal).await;
    }
}

fn destination(desk: &Desk, client: &TcpStream) -> Option<Bound> {
    let local = client.local_addr().ok()?;
    Some(Bound {
        host: desk.meant(Host::from(local.ip())),
        port: local.port(),
    })
}
