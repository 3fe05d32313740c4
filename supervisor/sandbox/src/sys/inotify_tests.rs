use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use super::super::{event, fd, socket};
use super::*;

/// The other end of a pipe tells: it hangs up when the last handle is closed, and not before.
#[test]
fn what_is_abandoned_is_closed_by_the_kernel_soon() {
    let (read, write): (OwnedFd, OwnedFd) = fd::pipe().expect("a pipe");
    socket::abandon(write.as_fd()).expect("abandon");
    let hung_up = |patience| {
        let waiting = [(Some(read.as_fd()), event::Want::Nothing)];
        event::poll(&waiting, Some(patience)).expect("poll")[0].hangup
    };
    assert!(!hung_up(Duration::from_millis(50)), "we still hold it");
    drop(write);
    assert!(hung_up(Duration::from_secs(10)), "the kernel holds it for good");
}

/// Far more than a user may have at a time, and none of them is missing.
#[test]
fn a_thousand_queues_one_after_the_other_can_be_had() {
    let started = Instant::now();
    for _ in 0..1000 {
        let queue = Inotify::new().expect("one more");
        queue.watch(Path::new("/")).expect("watch");
        assert!(queue.0.as_raw_fd() < 100, "handles are left open");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}
