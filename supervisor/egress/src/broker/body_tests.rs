use std::rc::Rc;

use hyper::HeaderMap;
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderName, HeaderValue};

use super::{Share, Store, is_plain_json};
use crate::broker::answer::Refusal;
use crate::broker::config::Limits;

fn judged(headers: &[(HeaderName, &'static str)]) -> Result<(), Refusal> {
    let headers: HeaderMap = headers
        .iter()
        .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
        .collect();
    is_plain_json(&headers)
}

#[test]
fn only_json_in_utf_8_is_taken_for_a_prompt() {
    for kind in [
        "application/json",
        "Application/JSON; charset=UTF-8",
        "application/json;charset=utf-8",
    ] {
        assert_eq!(judged(&[(CONTENT_TYPE, kind)]), Ok(()), "{kind}");
    }
    for kind in [
        "",
        "text/plain",
        "application/x-protobuf",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
        "application/json; charset=utf-16",
        "application/json; charset=utf-7",
        "application/json, text/plain",
        "application/json; boundary=x",
        "application/jsonl",
    ] {
        assert_eq!(judged(&[(CONTENT_TYPE, kind)]), Err(Refusal::NotJson), "{kind}");
    }
    assert_eq!(judged(&[]), Err(Refusal::NotJson));
    let twice = [(CONTENT_TYPE, "application/json"), (CONTENT_TYPE, "application/json")];
    assert_eq!(judged(&twice), Err(Refusal::NotJson));
}

#[test]
fn a_coded_body_is_not_taken() {
    for coding in ["gzip", "br", "zstd", "deflate", "identity, gzip", "x"] {
        let headers = [(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, coding)];
        assert_eq!(judged(&headers), Err(Refusal::Encoded(coding.to_owned())));
    }
    assert_eq!(
        judged(&[(CONTENT_TYPE, "application/json"), (CONTENT_ENCODING, "identity")]),
        Ok(())
    );
}

#[test]
fn all_bodies_together_are_bounded_and_room_comes_back() {
    let limits = Limits {
        body: 10,
        bodies: 15,
        ..Limits::STANDARD
    };
    let store: Rc<Store> = Rc::default();
    let mut first = Share::of(&store);
    let mut second = Share::of(&store);
    assert_eq!(first.grow_to(11, &limits), Err(Refusal::TooLarge(10)));
    assert_eq!(first.grow_to(10, &limits), Ok(()));
    assert_eq!(second.grow_to(5, &limits), Ok(()));
    assert_eq!(second.grow_to(6, &limits), Err(Refusal::TooMuchAtOnce(15)));
    // What was told beforehand is held, whatever has come.
    assert_eq!((first.grow_to(1, &limits), store.0.get()), (Ok(()), 15));
    drop(first);
    assert_eq!((second.grow_to(6, &limits), store.0.get()), (Ok(()), 6));
    drop(second);
    assert_eq!(store.0.get(), 0);
}
