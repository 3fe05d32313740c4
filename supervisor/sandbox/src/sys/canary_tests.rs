use super::*;

/// The canary proves something: without a sandbox the bait is taken.
#[test]
fn a_bait_can_be_taken_from_where_it_lies_until_it_is_gone() {
    let bait = Bait::lay().expect("lay");
    let name = bait.name();
    assert!(name.take().is_ok());
    drop(bait);
    let refused = name.take().expect_err("gone").raw_os_error();
    assert_eq!(refused, Some(libc::ECONNREFUSED));
}
