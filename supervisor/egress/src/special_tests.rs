use std::net::{Ipv4Addr, UdpSocket};

use proptest::prelude::*;

use super::*;

fn why(text: &str) -> Option<&'static str> {
    special(text.parse().unwrap())
}

/// A machine with these addresses and routes.
pub(crate) fn own(addresses: &[&str], routes: &[(&str, u8)]) -> Own {
    Own {
        interfaces: addresses.iter().map(|text| text.parse().unwrap()).collect(),
        routes: routes
            .iter()
            .map(|(text, length)| Block::new(text.parse().unwrap(), *length))
            .collect(),
    }
}

#[test]
fn each_special_range_is_special_from_its_first_to_its_last_address() {
    for (first, last, reason) in [
        ("0.0.0.1", "0.255.255.255", "this network"),
        ("10.0.0.0", "10.255.255.255", "private"),
        ("100.64.0.0", "100.127.255.255", "carrier-grade NAT"),
        ("127.0.0.0", "127.255.255.255", "loopback"),
        ("169.254.0.0", "169.254.255.255", "link-local"),
        ("172.16.0.0", "172.31.255.255", "private"),
        ("192.0.0.0", "192.0.0.255", "protocol assignments"),
        ("192.88.99.0", "192.88.99.255", "6to4 relay"),
        ("192.168.0.0", "192.168.255.255", "private"),
        ("198.18.0.0", "198.19.255.255", "benchmarking"),
        ("224.0.0.0", "239.255.255.255", "multicast"),
        ("240.0.0.0", "255.255.255.254", "reserved"),
        ("0.0.0.0", "0.0.0.0", "unspecified"),
        ("255.255.255.255", "255.255.255.255", "broadcast"),
        ("::", "::", "unspecified"),
        ("::1", "::1", "loopback"),
        ("::ffff:127.0.0.1", "::127.0.0.1", "loopback"),
        ("::ffff:0:7f00:1", "63:ffff::", "reserved"),
        ("64:ff9b::10.0.0.0", "64:ff9b::192.168.255.255", "private"),
        ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "local NAT64"),
        ("100::", "1fff:ffff::", "reserved"),
        ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"),
        (
            "2001:1::",
            "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            "protocol assignments",
        ),
        ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"),
        ("4000::", "fbff:ffff::", "reserved"),
        ("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique-local"),
        ("fe00::", "fe7f:ffff::", "reserved"),
        ("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
        ("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
        ("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"),
    ] {
        assert_eq!(
            (why(first), why(last)),
            (Some(reason), Some(reason)),
            "{first} to {last}"
        );
    }
}

#[test]
fn metadata_services_are_called_so_wherever_they_live() {
    for address in [
        "169.254.169.254",
        "169.254.170.2",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
        "fd20:ce::254",
        "::ffff:169.254.169.254",
        "64:ff9b::169.254.169.254",
    ] {
        assert_eq!(why(address), Some("cloud metadata"), "{address}");
    }
}

#[test]
fn ordinary_and_documentation_addresses_are_not_special() {
    for address in [
        "1.1.1.1",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.0.2.1",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.100.1",
        "203.0.113.1",
        "223.255.255.255",
        "2000::1",
        "2001:200::1",
        "2001:db8::1",
        "2606:4700::1",
        "3fff::1",
        "64:ff9b::8.8.8.8",
    ] {
        assert_eq!(why(address), None, "{address}");
    }
}

#[test]
fn translators_and_tunnels_show_the_address_within() {
    for (v6, v4) in [
        ("64:ff9b::10.1.2.3", Some("10.1.2.3")),
        ("2002:0a01:0203::1", Some("10.1.2.3")),
        ("2001:0:1:2:3:4:f5fe:fdfc", Some("10.1.2.3")),
        ("2001:db8::10.1.2.3", None),
    ] {
        let v4 = v4.map(|text| text.parse::<Ipv4Addr>().unwrap());
        assert_eq!(embedded(v6.parse().unwrap()), v4, "{v6}");
    }
}

#[test]
fn this_machine_knows_its_own_addresses_and_no_others() {
    let own = Own::now().unwrap();
    assert!(own.interfaces.contains(&Ipv4Addr::LOCALHOST.into()));
    for interface in &own.interfaces {
        assert!(own.has(*interface), "{interface}");
    }
    // Never configured on an interface, local by the route of 127.0.0.0/8.
    assert!(own.has("127.9.8.7".parse().unwrap()));
    assert!(!own.has("192.0.2.77".parse().unwrap()));
    assert!(!own.has("2001:db8::77".parse().unwrap()));
}

#[test]
fn asking_for_the_route_sends_nothing() {
    let listener = UdpSocket::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    assert!(is_routed_here("127.0.0.1".parse().unwrap()));
    assert_eq!(
        listener.recv(&mut [0; 1]).unwrap_err().kind(),
        std::io::ErrorKind::WouldBlock
    );
}

#[test]
fn only_local_and_anycast_routes_are_read_as_local() {
    let zeros = "00000000000000000000000000000000";
    let line = |destination: &str, length: &str, flags: &str| {
        format!("{destination} {length} {zeros} 00 {zeros} 00000400 00000001 00000000 {flags}       lo")
    };
    let net = "fd676c65650000000000000000000000";
    let block = Block::new("fd67:6c65:6500::".parse().unwrap(), 96);
    assert_eq!(local_route(&line(net, "60", "80000001")), Some(block));
    assert_eq!(local_route(&line(net, "60", "00100001")), Some(block));
    assert_eq!(local_route(&line(net, "60", "00000001")), None);
    assert_eq!(local_route(&line(zeros, "00", "00200200")), None);
    assert_eq!(local_route("not a route"), None);
    assert_eq!(local_route(""), None);
}

proptest! {
    #[test]
    fn ipv4_in_ipv6_is_as_special_as_alone(v4 in any::<Ipv4Addr>()) {
        let alone = special(v4.into());
        prop_assert_eq!(special(v4.to_ipv6_mapped().into()), alone);
        let translated = Ipv6Addr::from((0x64_ff9b_u128 << 96) | u128::from(u32::from(v4)));
        prop_assert_eq!(special(translated.into()), alone);
    }
}
