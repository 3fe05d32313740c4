use super::*;

#[test]
fn a_slot_comes_back_when_its_holder_is_gone() {
    let slots = Slots::new(&Limits {
        connections: 2,
        ..Limits::STANDARD
    });
    let first = slots.connection();
    let second = slots.connection();
    assert!(first.is_some() && second.is_some());
    assert!(slots.connection().is_none());
    drop(first);
    assert!(slots.connection().is_some());
}
