//! The ways out of a run: which doors its network namespace has, what the sandbox finds in `/etc` because of them, and who
//! serves them.
//!
//! Decided before anything starts; `serve` runs in the companion process. What is decided on is the egress room's business.

use std::ffi::OsString;
use std::io;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use glee_egress::book::Book;
use glee_egress::broker::{Api, Broker, Endpoint, EndpointProblem, Limits, Secret};
use glee_egress::dns::Resolver;
use glee_egress::doors::{self, DoorKind, Service};
use glee_egress::reach::{Reach, Whose};
use glee_egress::rules::{RuleProblem, Rules};
use glee_egress::serve::{self, Model};
use glee_egress::{broker, limits};
use glee_policy::ResolvedPolicy;
use glee_policy::resolved::{Isolation, Mode, Network};
use glee_sandbox::launch::Serve;
use glee_sandbox::plan::{Door, Doors, Keeper, MadeFile, Transport};
use glee_sandbox::seccomp::Observe;

use crate::agent::key::Key;
use crate::agent::overlay::{Overlay, PLACEHOLDER, Way};
use crate::agent::profile::Style;
use crate::endpoint;

/// Everything that leaves the sandbox goes through this.
#[derive(Debug)]
pub struct Egress {
    plan: doors::Doors,
    rules: Option<Rules>,
    model: Option<ModelDoor>,
}

/// The broker to be.
#[derive(Debug)]
struct ModelDoor {
    api: Api,
    endpoint: Endpoint,
    whose: Whose,
    key: Option<Key>,
}

#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    #[error("cannot enforce `network` ({origin}): {problem}")]
    Rule { origin: String, problem: RuleProblem },
    #[error("cannot use the model's endpoint `{url}`: {problem}")]
    Endpoint { url: String, problem: EndpointProblem },
}

/// The broker's address inside.
#[must_use]
pub fn broker_url() -> String {
    format!("http://127.0.0.1:{}", doors::BROKER_PORT)
}

/// `None`: nothing leaves.
pub fn plan(
    policy: &ResolvedPolicy,
    overlay: Option<&Overlay>,
    endpoint: endpoint::Endpoint,
) -> Result<Option<Egress>, EgressError> {
    let rules = match &policy.network {
        Network::Names { allow, deny } => Some(Rules::new(allow, deny).map_err(|problem| misplaced(policy, problem))?),
        Network::Off | Network::Host => None,
    };
    let model = overlay.map(model).transpose()?.flatten();
    let mut services = Vec::new();
    services.extend(model.as_ref().map(|_| Service::Broker));
    services.extend((endpoint == endpoint::Endpoint::Offered).then_some(Service::Endpoint));
    if rules.is_none() && services.is_empty() {
        return Ok(None);
    }
    let book = rules.as_ref().map(Book::new);
    let plan = doors::Doors::plan(rules.as_ref(), book.as_ref(), &services);
    Ok(Some(Egress { plan, rules, model }))
}

fn misplaced(policy: &ResolvedPolicy, problem: RuleProblem) -> EgressError {
    let origin = ["allow", "deny"]
        .iter()
        .find_map(|list| policy.origins.get(&format!("network.{list}.{}", problem.rule())));
    EgressError::Rule {
        origin: origin.map_or_else(|| policy.name.clone(), ToString::to_string),
        problem,
    }
}

fn model(overlay: &Overlay) -> Result<Option<ModelDoor>, EgressError> {
    let Way::Broker { endpoint: url, key } = &overlay.way else {
        return Ok(None);
    };
    let endpoint = Endpoint::parse(url).map_err(|problem| EgressError::Endpoint {
        url: url.clone(),
        problem,
    })?;
    Ok(Some(ModelDoor {
        api: match overlay.profile.api.style {
            Style::Claude => Api::Claude,
            Style::Codex => Api::Codex,
            Style::Gemini => Api::Gemini,
        },
        endpoint,
        whose: if *url == overlay.profile.api.endpoint {
            Whose::Vendor
        } else {
            Whose::User
        },
        key: key.clone(),
    }))
}

impl ModelDoor {
    fn open(&self) -> io::Result<Rc<Broker>> {
        let key = self.key.as_ref().map(|key| Secret::new(key.reveal().to_owned()));
        let config = broker::Config {
            api: self.api,
            endpoint: self.endpoint.clone(),
            key: key.transpose().map_err(io::Error::other)?,
            placeholder: PLACEHOLDER.to_owned(),
            limits: Limits::STANDARD,
        };
        let reach = Reach::new(&self.endpoint, self.whose, Resolver::system()).map_err(io::Error::other)?;
        Broker::new(config, reach).map_err(io::Error::other)
    }
}

impl Egress {
    /// Is there anything for the companion to serve?
    #[must_use]
    pub fn has_companion(&self) -> bool {
        self.rules.is_some() || self.model.is_some()
    }

    /// For the sandbox, which makes them.
    #[must_use]
    pub fn doors(&self) -> Doors {
        let door = |door: &doors::Door| Door {
            at: door.at,
            transport: match door.kind {
                DoorKind::DnsUdp => Transport::Udp,
                DoorKind::DnsTcp
                | DoorKind::HttpProxy
                | DoorKind::Socks
                | DoorKind::Relay
                | DoorKind::Broker
                | DoorKind::Endpoint => Transport::Tcp,
            },
            keeper: match door.kind {
                DoorKind::Endpoint => Keeper::Porter,
                DoorKind::DnsUdp
                | DoorKind::DnsTcp
                | DoorKind::HttpProxy
                | DoorKind::Socks
                | DoorKind::Relay
                | DoorKind::Broker => Keeper::Companion,
            },
            purpose: match door.kind {
                DoorKind::DnsUdp | DoorKind::DnsTcp => "answers for the names allowed",
                DoorKind::HttpProxy => "HTTP proxy",
                DoorKind::Socks => "SOCKS proxy",
                DoorKind::Relay => "carries connections to what is allowed",
                DoorKind::Broker => "the model's API, without its key",
                DoorKind::Endpoint => "MCP: what the task may ask of the supervisor",
            },
        };
        Doors {
            list: self.plan.doors.iter().map(door).collect(),
            local: self.plan.routes.clone(),
        }
    }

    /// Which names may be reached.
    #[must_use]
    pub fn rules(&self) -> Option<&Rules> {
        self.rules.as_ref()
    }

    /// Which name had which address, if these were given one during the run.
    #[must_use]
    pub fn book_after(&self, entered: &[String]) -> Option<Book> {
        self.rules.as_ref().map(|rules| Book::after(rules, entered))
    }

    /// Files that make names lead to the doors.
    fn files(&self) -> Vec<MadeFile> {
        if self.rules.is_none() {
            return Vec::new();
        }
        vec![
            file(
                "/etc/resolv.conf",
                format!("nameserver {}\noptions timeout:2 attempts:2\n", doors::DNS),
            ),
            file(
                "/etc/hosts",
                "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost ip6-loopback\n".to_owned(),
            ),
            file(
                "/etc/nsswitch.conf",
                "passwd: files\ngroup: files\nhosts: files dns\n".to_owned(),
            ),
        ]
    }

    /// Variables for programs that know proxies.
    #[must_use]
    pub fn env(&self) -> Vec<(OsString, OsString)> {
        if self.rules.is_none() {
            return Vec::new();
        }
        let http = format!("http://127.0.0.1:{}", doors::HTTP_PROXY_PORT);
        let socks = format!("socks5h://127.0.0.1:{}", doors::SOCKS_PORT);
        let none = "localhost,127.0.0.1,::1".to_owned();
        let both = |name: &str, value: &str| {
            [
                (name.to_owned().into(), value.to_owned().into()),
                (name.to_lowercase().into(), value.to_owned().into()),
            ]
        };
        [
            both("HTTP_PROXY", &http),
            both("HTTPS_PROXY", &http),
            both("ALL_PROXY", &socks),
            both("NO_PROXY", &none),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn file(at: &str, text: String) -> MadeFile {
    MadeFile {
        at: at.into(),
        contents: text.into_bytes(),
    }
}

/// What the sandbox finds in `/etc` for the looking up of names.
///
/// Where nothing leads out and calls are looked at, programs are told to ask on loopback: there the question is sent, and
/// refused at once by the kernel, since nobody listens; so the listener can read which name was meant. The host's resolver
/// would be out of reach before anybody says what is wanted of it.
#[must_use]
pub fn files(egress: Option<&Egress>, policy: &ResolvedPolicy, observe: Observe) -> Vec<MadeFile> {
    let own = egress.map(Egress::files).unwrap_or_default();
    let walled = policy.mode == Mode::Restricted && policy.isolation == Isolation::Namespaces;
    let looked_at = observe != Observe::Nothing && walled && policy.network == Network::Off;
    if !looked_at || !own.is_empty() {
        return own;
    }
    let text = format!("nameserver {}\noptions timeout:1 attempts:1\n", doors::DNS);
    vec![file("/etc/resolv.conf", text)]
}

impl Serve for Egress {
    fn serve(
        &self,
        sockets: Vec<Option<OwnedFd>>,
        control: OwnedFd,
        settle: &dyn Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        // Doors of an address family that this kernel does not have are not there.
        let open = self.plan.doors.iter().zip(sockets);
        let (doors, sockets): (Vec<doors::Door>, Vec<OwnedFd>) =
            open.filter_map(|(door, socket)| Some((*door, socket?))).unzip();
        let ipv6 = sockets.iter().any(is_ipv6);
        let broker = self.model.as_ref().map(ModelDoor::open).transpose()?;
        if let Some(broker) = &broker {
            broker.prepare();
        }
        settle()?;
        let config = serve::Config {
            doors,
            rules: self.rules.clone(),
            book: self.rules.as_ref().map(Book::new),
            ipv6,
            resolver: Resolver::system(),
            broker: broker.map(|broker| broker as Rc<dyn Model>),
            limits: limits::Limits::STANDARD,
        };
        serve::serve(config, sockets, control)
    }
}

/// Asked of the socket: one for every address is bound to IPv4 alone where there is no IPv6.
fn is_ipv6(socket: &OwnedFd) -> bool {
    let address = socket.try_clone().and_then(|copy| TcpListener::from(copy).local_addr());
    address.is_ok_and(|address| address.is_ipv6())
}
