use proptest::prelude::*;

use super::*;

fn block(address: &str, length: u8) -> Block {
    Block::new(address.parse().unwrap(), length)
}

#[test]
fn a_block_holds_its_first_and_last_address_and_not_the_next() {
    let ten = block("10.9.8.7", 8);
    assert_eq!(
        (ten.address(), ten.last()),
        ("10.0.0.0".parse().unwrap(), "10.255.255.255".parse().unwrap())
    );
    assert!(ten.contains(ten.address()) && ten.contains(ten.last()));
    assert!(!ten.contains("11.0.0.0".parse().unwrap()) && !ten.contains("9.255.255.255".parse().unwrap()));
    assert!(!block("0.0.0.0", 0).contains("::1".parse().unwrap()));
    assert!(block("0.0.0.0", 0).contains("255.255.255.255".parse().unwrap()));
    assert!(block("::", 0).contains("ffff::1".parse().unwrap()));
    assert_eq!(block("10.0.0.1", 200).single(), Some("10.0.0.1".parse().unwrap()));
    assert_eq!(ten.single(), None);
}

#[test]
fn blocks_of_ipv4_in_ipv6_are_ipv4_blocks() {
    let ten = block("10.0.0.0", 8);
    assert_eq!(block("::ffff:10.0.0.0", 104).canonical(), (ten, None));
    assert_eq!(
        block("::10.0.0.0", 104).canonical(),
        (block("::10.0.0.0", 104), Some(ten))
    );
    assert_eq!(block("::1", 128).canonical(), (block("::1", 128), None));
    assert_eq!(
        block("::", 127).canonical(),
        (block("::", 127), Some(block("0.0.0.0", 31)))
    );
    assert_eq!(block("::", 0).canonical(), (block("::", 0), None));
    assert_eq!(block("2001:db8::", 112).canonical(), (block("2001:db8::", 112), None));
    assert_eq!(ten.canonical(), (ten, None));
}

proptest! {
    #[test]
    fn one_block_is_within_another_exactly_if_both_its_ends_are(
        a in any::<u32>(), la in 0u8..=32, b in any::<u32>(), lb in 0u8..=32,
    ) {
        let (a, b) = (Block::new(Ipv4Addr::from(a).into(), la), Block::new(Ipv4Addr::from(b).into(), lb));
        prop_assert_eq!(a.is_within(b), b.contains(a.address()) && b.contains(a.last()));
        prop_assert!(a.is_within(Block::new(a.address(), la / 2)));
    }
}
