use super::DoorKind::{Broker, DnsTcp, DnsUdp, HttpProxy, Relay, Socks};
use super::*;
use crate::rules::tests::rules;

const FIXED: [(&str, DoorKind); 4] = [
    ("127.0.0.1:1080", Socks),
    ("127.0.0.1:3128", HttpProxy),
    ("127.0.0.53:53", DnsUdp),
    ("127.0.0.53:53", DnsTcp),
];
const RANGES: [(&str, u8); 2] = [("198.18.0.0", 15), ("fd67:6c65:6500::", 96)];

fn plan(allow: &[&str], deny: &[&str]) -> Doors {
    let rules = rules(allow, deny);
    Doors::plan(Some(&rules), Some(&Book::new(&rules)), &[])
}

/// The doors of the relay, as text.
fn relays(doors: &Doors) -> Vec<String> {
    let relays = doors.doors.iter().filter(|door| door.kind == Relay);
    relays.map(|door| door.at.to_string()).collect()
}

fn routes(doors: &Doors) -> Vec<String> {
    let own = RANGES.map(|(address, length)| format!("{address}/{length}"));
    let routes = doors
        .routes
        .iter()
        .map(|(address, length)| format!("{address}/{length}"));
    routes.filter(|route| !own.contains(route)).collect()
}

#[test]
fn without_rules_there_is_at_most_the_broker() {
    let broker = Door {
        at: "127.0.0.1:9786".parse().unwrap(),
        kind: Broker,
    };
    let doors = |doors| Doors {
        doors,
        routes: vec![],
        left_out: 0,
    };
    assert_eq!(Doors::plan(None, None, &[]), doors(vec![]));
    assert_eq!(Doors::plan(None, None, &[Service::Broker]), doors(vec![broker]));
    let endpoint = Door {
        at: "127.0.0.1:9787".parse().unwrap(),
        kind: DoorKind::Endpoint,
    };
    let both = Doors::plan(None, None, &[Service::Broker, Service::Endpoint]);
    assert_eq!(both, doors(vec![broker, endpoint]));
}

#[test]
fn no_relay_listens_where_the_endpoint_does() {
    let rules = rules(&["example.com:9787", "*.example.org:9787"], &[]);
    let doors = Doors::plan(Some(&rules), Some(&Book::new(&rules)), &[Service::Endpoint]);
    let on_port: Vec<&Door> = doors
        .doors
        .iter()
        .filter(|door| door.at.port() == ENDPOINT_PORT)
        .collect();
    let clashes = on_port
        .iter()
        .filter(|door| door.at.ip().is_unspecified() || door.at.ip().is_loopback());
    assert_eq!(clashes.map(|door| door.kind).collect::<Vec<_>>(), [DoorKind::Endpoint]);
}

#[test]
fn rules_bring_dns_the_proxies_and_the_synthetic_ranges() {
    let door = |(at, kind): (&str, DoorKind)| Door {
        at: at.parse().unwrap(),
        kind,
    };
    let expected = Doors {
        doors: FIXED.map(door).into(),
        routes: RANGES
            .map(|(address, length)| (address.parse().unwrap(), length))
            .into(),
        left_out: 0,
    };
    assert_eq!(plan(&[], &["a.org"]), expected);
}

#[test]
fn an_exact_name_has_a_door_per_port_and_family() {
    let doors = plan(&["a.org", "b.org:22"], &["a.org:80"]);
    let expected = [
        "198.18.0.1:443",
        "198.18.0.2:22",
        "[fd67:6c65:6500::c612:1]:443",
        "[fd67:6c65:6500::c612:2]:22",
    ];
    assert_eq!(
        (relays(&doors), routes(&doors)),
        (expected.map(String::from).into(), vec![])
    );
}

#[test]
fn a_single_address_has_a_door_at_that_very_address() {
    let allow = [
        "127.0.0.1:5432",
        "192.0.2.1:22",
        "[2001:db8::1]:22",
        "[::1]:99",
        "10.0.0.9:25",
    ];
    let doors = plan(&allow, &["10.0.0.9:25"]);
    assert_eq!(
        relays(&doors),
        ["127.0.0.1:5432", "192.0.2.1:22", "[::1]:99", "[2001:db8::1]:22"]
    );
    assert_eq!(routes(&doors), ["10.0.0.9/32", "192.0.2.1/32", "2001:db8::1/128"]);
}

#[test]
fn no_relay_takes_the_place_of_another_door() {
    let allow = [
        "127.0.0.1:3128",
        "127.0.0.1:1080",
        "127.0.0.53:53",
        "127.0.0.1:9786",
        "127.0.0.2:3128",
    ];
    assert_eq!(relays(&plan(&allow, &[])), ["127.0.0.1:9786", "127.0.0.2:3128"]);
    let rules = rules(&allow, &[]);
    let with_broker = Doors::plan(Some(&rules), Some(&Book::new(&rules)), &[Service::Broker]);
    assert_eq!(relays(&with_broker), ["127.0.0.2:3128"]);
}

#[test]
fn a_wildcard_or_a_block_takes_one_door_for_all_addresses_of_its_ports_only() {
    let doors = plan(
        &[
            "*.a.org",
            "b.org",
            "b.org:22",
            "127.0.0.1:443",
            "127.0.0.1:5432",
            "10.0.0.0/8:25",
        ],
        &[],
    );
    assert_eq!(
        relays(&doors),
        [
            "127.0.0.1:5432",
            "198.18.0.1:22",
            "[::]:25",
            "[::]:80",
            "[::]:443",
            "[fd67:6c65:6500::c612:1]:22"
        ]
    );
    assert_eq!(routes(&doors), ["10.0.0.0/8"]);
}

#[test]
fn a_wildcard_never_takes_the_port_of_a_fixed_door() {
    let doors = plan(&["*.a.org:3128", "*.a.org:53", "10.0.0.0/8:1080", "b.org:3128"], &[]);
    assert_eq!(relays(&doors), ["198.18.0.1:3128", "[fd67:6c65:6500::c612:1]:3128"]);
    assert_eq!(doors.left_out, 3);
}

#[test]
fn beyond_128_doors_the_fullest_ports_get_one_door_each() {
    let mut allow: Vec<String> = (0..40).map(|number| format!("n{number}.org")).collect();
    allow.push("127.0.0.1:5432".to_owned());
    let doors = plan(&allow.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    // 160 are wanted on 80 and 443; giving up one of the two is enough.
    assert_eq!(relays(&doors).len(), 1 + 1 + 80);
    let all = relays(&doors);
    assert!(all.contains(&"[::]:80".to_owned()) && all.contains(&"127.0.0.1:5432".to_owned()));
    assert_eq!(doors.left_out, 0);
}

#[test]
fn there_are_never_more_than_512_relay_doors_and_the_rest_is_counted() {
    let allow: Vec<String> = (2000..2900).map(|port| format!("a.org:{port}")).collect();
    let doors = plan(&allow.iter().map(String::as_str).collect::<Vec<_>>(), &[]);
    let beyond = doors.left_out;
    assert_eq!(relays(&doors).len(), MAX_RELAY);
    assert!(beyond > 0);
    // Those below 2000 + the number kept are all there.
    assert!(relays(&doors).contains(&"[::]:2000".to_owned()));
}

#[test]
fn nothing_is_bound_or_routed_that_is_no_place_for_a_door() {
    let allow = [
        "0.0.0.7",
        "224.0.0.1",
        "255.255.255.255",
        "fe80::1",
        "ff02::1",
        "[ff00::/8]:7",
    ];
    let doors = plan(&allow, &[]);
    assert_eq!((relays(&doors), routes(&doors)), (vec![], vec![]));
}

#[test]
fn wide_blocks_are_routed_as_they_are_and_loopback_is_not() {
    let doors = plan(
        &["0.0.0.0/0", "::/0", "126.0.0.0/7", "127.0.0.0/8", "127.1.0.0/16", "::1"],
        &[],
    );
    assert_eq!(routes(&doors), ["0.0.0.0/0", "126.0.0.0/7", "::/0"]);
    assert_eq!(relays(&doors), ["[::]:80", "[::]:443"]);
}

#[test]
fn mapped_addresses_are_planned_as_ipv4() {
    let doors = plan(&["[::ffff:192.0.2.1]:22", "[::ffff:10.0.0.0/104]:25"], &[]);
    assert_eq!(relays(&doors), ["192.0.2.1:22", "[::]:25"]);
    assert_eq!(routes(&doors), ["10.0.0.0/8", "192.0.2.1/32"]);
}

#[test]
fn no_two_tcp_doors_are_in_each_others_way() {
    for allow in [
        vec!["*.a.org", "b.org", "127.0.0.1", "::1", "198.18.0.1", "10.0.0.0/8:9786"],
        vec!["b.org:53", "127.0.0.53:53", "*.c.org:53", "127.0.0.0/8:3128"],
    ] {
        let rules = rules(&allow, &[]);
        let doors = Doors::plan(Some(&rules), Some(&Book::new(&rules)), &[Service::Broker]).doors;
        let tcp: Vec<SocketAddr> = doors
            .iter()
            .filter(|door| door.kind != DnsUdp)
            .map(|door| door.at)
            .collect();
        for (place, one) in tcp.iter().enumerate() {
            for other in &tcp[place + 1..] {
                let overlap = one.ip() == other.ip() || one.ip().is_unspecified() || other.ip().is_unspecified();
                assert!(one.port() != other.port() || !overlap, "{one} and {other}");
            }
        }
    }
}
