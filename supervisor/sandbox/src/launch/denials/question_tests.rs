use super::*;

fn message(labels: &[&[u8]], kind: u16) -> Vec<u8> {
    let mut bytes = vec![0xab, 0xcd, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in labels {
        bytes.push(u8::try_from(label.len()).unwrap());
        bytes.extend(*label);
    }
    bytes.push(0);
    bytes.extend(kind.to_be_bytes());
    bytes.extend([0, 1]);
    bytes
}

#[test]
fn a_question_for_a_host_gives_its_name() {
    for kind in [1, 28, 65] {
        let asked = message(&[b"API", b"example", b"com"], kind);
        assert_eq!(name(&asked).as_deref(), Some("api.example.com"));
    }
    let with_edns = {
        let mut bytes = message(&[b"a", b"b"], 1);
        bytes[11] = 1;
        bytes.extend([0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0]);
        bytes
    };
    assert_eq!(name(&with_edns).as_deref(), Some("a.b"));
}

#[test]
fn anything_else_gives_none() {
    let good = message(&[b"a", b"b"], 1);
    for cut in 0..good.len() {
        assert_eq!(name(&good[..cut]), None, "{cut}");
    }
    let changed = |at: usize, to: u8| {
        let mut bytes = good.clone();
        bytes[at] = to;
        name(&bytes)
    };
    // An answer, another kind of query, two questions, none, records in it, a pointer, a long label, an odd byte.
    for (at, to) in [
        (2, 0x80),
        (2, 0x28),
        (5, 2),
        (5, 0),
        (7, 1),
        (9, 1),
        (11, 2),
        (12, 0xc0),
        (12, 64),
        (13, 0x1b),
    ] {
        assert_eq!(changed(at, to), None, "{at} {to}");
    }
    assert_eq!(name(&message(&[], 1)), None);
    // Another type: nobody connects to what it says.
    assert_eq!(name(&message(&[b"a", b"b"], 12)), None);
    let long: Vec<&[u8]> = vec![&[b'a'; 63]; 5];
    assert_eq!(name(&message(&long, 1)), None);
}
