use super::{Api, Carries, Served};
use crate::broker::endpoint::{Endpoint, Scheme};

const ALL: [Api; 3] = [Api::Codex, Api::Claude, Api::Gemini];

#[test]
fn every_vendor_is_spoken_to_with_tls_and_in_canonical_spelling() {
    for api in ALL {
        let endpoint = Endpoint::parse(api.vendor_url()).expect("an endpoint");
        assert_eq!((endpoint.scheme(), endpoint.port()), (Scheme::Https, 443));
        assert_eq!(endpoint.to_string(), api.vendor_url());
        assert_eq!(endpoint.base(), api.spec().default_base);
    }
}

#[test]
fn no_route_deletes_or_changes_what_is_kept_at_the_vendor() {
    for route in ALL.into_iter().flat_map(|api| api.spec().routes) {
        assert!(matches!(route.method, "GET" | "POST" | "HEAD"), "{}", route.path);
        for kept in [
            "files",
            "batches",
            "fine_tun",
            "keys",
            "organization",
            "skills",
            "sessions",
        ] {
            assert!(!route.path.contains(kept), "{}", route.path);
        }
    }
}

#[test]
fn only_the_question_whether_anyone_is_there_is_answered_without_the_vendor() {
    let here: Vec<_> = ALL
        .into_iter()
        .flat_map(|api| api.spec().routes)
        .filter(|route| route.served == Served::Here)
        .map(|route| (route.method, route.path))
        .collect();
    assert_eq!(here, [("HEAD", "/")]);
}

#[test]
fn whatever_is_posted_is_judged() {
    for route in ALL.into_iter().flat_map(|api| api.spec().routes) {
        let judged = matches!(route.carries, Carries::Prompt(_));
        assert_eq!(judged, route.method == "POST", "{}", route.path);
    }
}

#[test]
fn a_scanner_has_room_for_every_counter_and_every_path() {
    for usage in ALL.map(|api| &api.spec().usage) {
        assert!(usage.counters.len() <= crate::broker::usage::COUNTERS);
        for root in usage.roots {
            let deepest = usage.counters.iter().map(|c| c.path.len()).max().unwrap_or(0);
            assert!(root.len() + deepest <= crate::broker::usage::DEPTH);
        }
    }
}
