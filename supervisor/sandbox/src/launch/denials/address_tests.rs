//! Addresses, well formed and not.

use super::*;

fn unix(name: &[u8]) -> Vec<u8> {
    [&(libc::AF_UNIX as u16).to_ne_bytes()[..], name].concat()
}

#[test]
fn every_family_is_read() {
    assert_eq!(parse(&unix(b"/run/x\0junk")), Some(Address::File("/run/x".into())));
    assert_eq!(parse(&unix(b"\0bus")), Some(Address::Abstract(b"bus".to_vec())));
    let mut v4 = (libc::AF_INET as u16).to_ne_bytes().to_vec();
    v4.extend([1, 187, 192, 0, 2, 1, 0, 0]);
    assert_eq!(parse(&v4), Some(Address::Internet("192.0.2.1:443".parse().unwrap())));
    let mut v6 = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
    v6.extend([0, 53, 0, 0, 0, 0]);
    v6.extend(Ipv6Addr::from_bits(0x2001_0db8 << 96 | 1).octets());
    assert_eq!(parse(&v6), Some(Address::Internet("[2001:db8::1]:53".parse().unwrap())));
}

#[test]
fn an_ipv4_address_in_ipv6_clothes_is_ipv4() {
    let mut v6 = (libc::AF_INET6 as u16).to_ne_bytes().to_vec();
    v6.extend([0, 53, 0, 0, 0, 0]);
    v6.extend(Ipv4Addr::new(127, 0, 0, 1).to_ipv6_mapped().octets());
    assert_eq!(parse(&v6), Some(Address::Internet("127.0.0.1:53".parse().unwrap())));
}

#[test]
fn what_is_cut_off_or_foreign_is_no_address() {
    for bytes in [
        &[][..],
        &[1],
        &[2, 0, 1],
        &[10, 0, 0, 53, 0, 0],
        &[16, 0, 0, 0],
        &unix(b""),
    ] {
        assert_eq!(parse(bytes), None, "{bytes:?}");
    }
}

#[test]
fn only_loopback_and_doors_are_local() {
    let doors = Doors {
        list: Vec::new(),
        local: vec![("198.18.0.0".parse().unwrap(), 15), ("fd00::".parse().unwrap(), 64)],
    };
    for local in ["127.9.9.9", "::1", "0.0.0.0", "::", "198.19.255.1", "fd00::7"] {
        assert!(is_local(local.parse().unwrap(), &doors), "{local}");
    }
    for outside in ["198.20.0.0", "10.0.0.1", "fd00:0:0:1::", "8.8.8.8"] {
        assert!(!is_local(outside.parse().unwrap(), &doors), "{outside}");
    }
}
