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

#[tokio::test]
async fn a_dial_waits_for_its_turn_but_not_forever() {
    let slots = Slots::new(&Limits {
        dials: 1,
        ..Limits::STANDARD
    });
    let patience = Duration::from_millis(50);
    let first = slots.dial(patience).await;
    assert!(first.is_some() && slots.dial(patience).await.is_none());
    let leaving = async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        drop(first);
    };
    let (second, ()) = tokio::join!(slots.dial(Duration::from_secs(10)), leaving);
    assert!(second.is_some());
}
