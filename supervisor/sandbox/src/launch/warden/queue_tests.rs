use super::*;

#[test]
fn each_thing_is_done_once_and_in_its_turn() {
    let mut queue = Queue::default();
    [1, 2, 1, 3].into_iter().for_each(|thing| queue.push(thing));
    let order: Vec<i32> = std::iter::from_fn(|| queue.pop().map(|(thing, _)| thing)).collect();
    assert_eq!(order, [1, 2, 3]);
}

#[test]
fn what_is_cancelled_is_not_done_and_does_not_count_as_waiting() {
    let mut queue = Queue::default();
    let long_ago = Instant::now()
        .checked_sub(Duration::from_secs(9))
        .expect("up for that long");
    queue.push_since(1, long_ago);
    queue.push(2);
    assert!(queue.waited(Duration::from_secs(5)));
    queue.cancel(&1);
    assert!(!queue.waited(Duration::from_secs(5)));
    queue.push(1);
    queue.cancel(&2);
    assert_eq!(
        (queue.len(), queue.pop().map(|(thing, _)| thing), queue.is_empty()),
        (1, Some(1), true)
    );
}

#[test]
fn what_was_cancelled_does_not_wait() {
    let mut queue = Queue::default();
    let long_ago = Instant::now() - Duration::from_secs(60);
    queue.push("first");
    queue.push_since("second", long_ago);
    queue.cancel(&"second");
    assert_eq!(queue.pop().map(|(thing, _)| thing), Some("first"));
    assert!(queue.is_empty() && !queue.waited(Duration::from_secs(5)));
    queue.push("third");
    queue.push_since("second", long_ago);
    queue.cancel(&"second");
    queue.push("second");
    assert_eq!(queue.pop().map(|(thing, _)| thing), Some("third"));
    assert!(!queue.waited(Duration::from_secs(5)));
    assert_eq!(queue.pop().map(|(thing, _)| thing), Some("second"));
    assert!(queue.is_empty());
}
