//! How the broker reaches its endpoint: by the rules for a vendor's host, as it was written for one of the user's own.
//!
//! Touches the network. A vendor's name must not lead to this machine or its neighbours; an endpoint that the user wrote may
//! be just there (`http://127.0.0.1:11434`), and it alone is dialled.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpStream;

use crate::broker::{Connect, Connecting, Endpoint};
use crate::dial::Dialer;
use crate::dns::Resolver;
use crate::host::Host;
use crate::rules::{RuleProblem, Rules};

/// Whose endpoint it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    Vendor,
    User,
}

#[derive(Debug)]
pub struct Reach {
    host: Host,
    port: u16,
    way: Way,
}

#[derive(Debug)]
enum Way {
    Rules(Dialer),
    AsWritten(Resolver),
}

impl Reach {
    pub fn new(endpoint: &Endpoint, whose: Whose, resolver: Resolver) -> Result<Self, RuleProblem> {
        let (host, port) = (endpoint.host().clone(), endpoint.port());
        let way = match whose {
            Whose::Vendor => {
                let rules = Rules::new(&BTreeSet::from([host.with_port(port)]), &BTreeSet::new())?;
                Way::Rules(Dialer::new(Arc::new(rules), resolver))
            }
            Whose::User => Way::AsWritten(resolver),
        };
        Ok(Self { host, port, way })
    }

    async fn dial(&self) -> io::Result<TcpStream> {
        let resolver = match &self.way {
            Way::Rules(dialer) => {
                let dialled = dialer.dial(&self.host, self.port).await;
                return dialled.map(|dialled| dialled.stream).map_err(io::Error::other);
            }
            Way::AsWritten(resolver) => resolver,
        };
        let addresses: Vec<IpAddr> = match &self.host {
            Host::Addr(address) => vec![*address],
            Host::Name(name) => resolver.lookup(name).await.map_err(io::Error::other)?,
        };
        let addresses: Vec<SocketAddr> = addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, self.port))
            .collect();
        let stream = TcpStream::connect(addresses.as_slice()).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Connect for Reach {
    fn connect(&self) -> Connecting<'_> {
        Box::pin(self.dial())
    }
}
