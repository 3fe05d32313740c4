use std::rc::Rc;

use proptest::prelude::*;

use super::{Key, Redactor};
use crate::broker::secret::Secret;

fn key(text: &str) -> Key {
    Key::new(Rc::new(Secret::new(text.to_owned()).expect("a key")))
}

fn stream(key: &Key, chunks: &[&[u8]]) -> (Vec<Vec<u8>>, u64) {
    let mut redactor = Redactor::new(key.clone());
    let mut out: Vec<Vec<u8>> = chunks.iter().map(|chunk| redactor.pass(chunk)).collect();
    out.push(redactor.end().to_vec());
    (out, redactor.found())
}

#[test]
fn the_key_is_hidden_wherever_the_stream_is_cut() {
    let key = key("sk-secret-1");
    let text = b"before sk-secret-1 between sk-sk-secret-1sk-secret-1 after sk-secret-";
    let hidden = b"before *********** between sk-********************** after sk-secret-";
    for cut in 0..text.len() {
        let (head, tail) = text.split_at(cut);
        let (out, found) = stream(&key, &[head, tail]);
        assert_eq!((out.concat().as_slice(), found), (hidden.as_slice(), 3), "cut at {cut}");
    }
}

#[test]
fn only_the_beginning_of_a_match_is_held_back() {
    let (out, found) = stream(
        &key("sk-secret-1"),
        &[b"data: sk-sec", b"ular\n\n", b"data: x\n\n", b"sk-"],
    );
    let expected: [&[u8]; 5] = [b"data: ", b"sk-secular\n\n", b"data: x\n\n", b"", b"sk-"];
    assert_eq!((out, found), (expected.map(<[u8]>::to_vec).to_vec(), 0));
}

#[test]
fn a_whole_value_tells_whether_the_key_was_in_it() {
    let key = key("sk-secret-1");
    assert_eq!(
        key.hidden_in(b"Bearer sk-secret-1"),
        Some(b"Bearer ***********".to_vec())
    );
    assert_eq!(key.hidden_in(b"Bearer sk-secret-2"), None);
}

proptest! {
    /// Few letters, so that the key has borders and the text is full of beginnings.
    #[test]
    fn no_key_survives_and_nothing_else_changes(
        secret in "[ab]{8,12}",
        pieces in prop::collection::vec(prop_oneof!["[ab]{0,20}", Just("!".to_owned()), Just("KEY".to_owned())], 0..12),
        cuts in prop::collection::vec(1usize..9, 1..40),
    ) {
        let text = pieces.concat().replace("KEY", &secret);
        let mut rest = text.as_bytes();
        let mut chunks = Vec::new();
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            chunks.push(head);
            rest = tail;
        }
        chunks.push(rest);
        let (out, found) = stream(&key(&secret), &chunks);
        let out = String::from_utf8(out.concat()).expect("ascii");
        // Leftmost first, as `str::replace` does.
        prop_assert_eq!(&out, &text.replace(&secret, &"*".repeat(secret.len())));
        prop_assert_eq!(found, u64::try_from(text.matches(&secret).count()).expect("few"));
        prop_assert!(!out.contains(&secret));
    }
}
