//! What the listener writes, the supervisor reads.

use super::*;

#[test]
fn every_kind_reason_and_subject_survives_the_way() {
    let subjects = [
        Subject::Call,
        Subject::Path(OsString::from_vec(b"/a\n\xff\0b".to_vec()).into()),
        Subject::Abstract(vec![0, 1, 255]),
        Subject::Address("[::1%0]:7".parse().unwrap_or_else(|_| "1.2.3.4:5".parse().unwrap())),
        Subject::Datagram("[::1]:7".parse().unwrap()),
        Subject::Host("a.example".into()),
    ];
    let mut list = Vec::new();
    for kind in KINDS {
        for because in REASONS {
            for subject in &subjects {
                list.push(Denied {
                    kind,
                    because,
                    subject: subject.clone(),
                    syscall: "openat".into(),
                    why: "é".into(),
                    pid: 7,
                    program: "a b".into(),
                    count: u64::MAX,
                });
            }
        }
    }
    let refusals = Refusals {
        list,
        omitted: 9,
        lost: 8,
        seen: 7,
        clients: [Transport::Tcp, Transport::Udp]
            .map(|transport| Client {
                transport,
                port: 65_535,
                pid: 9,
                program: "é\n".into(),
            })
            .to_vec(),
    };
    assert_eq!(Refusals::decode(&refusals.encode()), Some(refusals));
}

#[test]
fn what_was_cut_off_or_has_more_is_nothing() {
    let whole = Refusals {
        list: vec![Denied {
            kind: DeniedKind::Read,
            because: Because::Absent,
            subject: Subject::Path("/x".into()),
            syscall: "open".into(),
            why: String::new(),
            pid: 1,
            program: "cat".into(),
            count: 1,
        }],
        ..Refusals::default()
    }
    .encode();
    for length in 0..whole.len() {
        assert_eq!(Refusals::decode(&whole[..length]), None, "{length}");
    }
    let longer = [whole.as_slice(), b"x"].concat();
    assert_eq!(Refusals::decode(&longer), None);
}
