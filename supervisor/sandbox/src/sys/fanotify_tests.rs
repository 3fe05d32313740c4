use super::*;

/// An event as the kernel writes it: its head, a filesystem, and a handle of this kind.
fn written(mask: u64, detail: &[u8]) -> Vec<u8> {
    let length = u32::try_from(24 + detail.len()).expect("short");
    let mut event = length.to_ne_bytes().to_vec();
    event.extend([libc::FANOTIFY_METADATA_VERSION, 0]);
    event.extend(24_u16.to_ne_bytes());
    event.extend(mask.to_ne_bytes());
    event.extend((-1_i32).to_ne_bytes());
    event.extend(77_i32.to_ne_bytes());
    event.extend(detail);
    event
}

fn detail(kind: u8, handle: &[u8]) -> Vec<u8> {
    let mut detail = vec![kind, 0, 0, 0];
    detail.extend([7; 8]);
    detail.extend(u32::try_from(handle.len()).expect("short").to_ne_bytes());
    detail.extend(1_i32.to_ne_bytes());
    detail.extend(handle);
    detail
}

fn closed(handle: &[u8]) -> Event {
    let file = Handle(detail(0, handle).split_off(12));
    Event::Closed { on: FsId([7; 8]), file }
}

#[test]
fn events_are_told_one_by_one_to_the_end() {
    let fid = libc::FAN_EVENT_INFO_TYPE_FID;
    let mut bytes = written(libc::FAN_CLOSE_WRITE, &detail(fid, &[1; 8]));
    bytes.extend(written(libc::FAN_Q_OVERFLOW, &[]));
    bytes.extend(written(libc::FAN_CLOSE_WRITE, &detail(fid, &[2; 12])));
    assert_eq!(events(&bytes), [closed(&[1; 8]), Event::Overflow, closed(&[2; 12])]);
}

#[test]
fn what_is_not_understood_is_never_passed_over() {
    let fid = libc::FAN_EVENT_INFO_TYPE_FID;
    let whole = written(libc::FAN_CLOSE_WRITE, &detail(fid, &[1; 8]));
    let mut newer = whole.clone();
    newer[4] += 1;
    let mut empty = whole.clone();
    empty[..4].fill(0);
    for bytes in [
        written(libc::FAN_CLOSE_WRITE, &[]),
        written(libc::FAN_CLOSE_WRITE, &detail(fid, &[])),
        written(libc::FAN_CLOSE_WRITE, &detail(fid, &[0; 129])),
        written(libc::FAN_CLOSE_WRITE, &detail(fid + 1, &[1; 8])),
        whole.get(..20).expect("part").to_vec(),
        newer,
        empty,
    ] {
        assert_eq!(events(&bytes), [Event::Unknown], "{bytes:?}");
    }
}
