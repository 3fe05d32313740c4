use proptest::prelude::*;

use super::*;

pub(crate) fn rules(allow: &[&str], deny: &[&str]) -> Rules {
    let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    Rules::new(&set(allow), &set(deny)).unwrap_or_else(|problem| panic!("{problem}"))
}

fn host(text: &str) -> Host {
    Host::parse(text.as_bytes()).unwrap_or_else(|problem| panic!("{text}: {problem}"))
}

fn addr(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn allowed(rules: &Rules, text: &str, port: u16) -> bool {
    matches!(rules.decide(&host(text), port), Verdict::Allowed { .. })
}

fn refused(rule: Option<&str>, hint: &str) -> Verdict {
    Verdict::Refused {
        rule: rule.map(str::to_owned),
        hint: hint.to_owned(),
    }
}

#[test]
fn an_allow_rule_without_a_port_means_80_and_443_only() {
    let rules = rules(&["a.org"], &[]);
    let verdicts = [80, 443, 8443, 22, 0].map(|port| allowed(&rules, "a.org", port));
    assert_eq!(verdicts, [true, true, false, false, false]);
}

#[test]
fn an_allow_rule_with_a_port_means_that_port_only() {
    let rules = rules(&["a.org:8443"], &[]);
    let verdicts = [8443, 443, 80].map(|port| allowed(&rules, "a.org", port));
    assert_eq!(verdicts, [true, false, false]);
}

#[test]
fn a_deny_rule_without_a_port_means_every_port_and_wins() {
    let rules = rules(&["*.a.org", "*.a.org:22", "b.org"], &["x.a.org", "b.org:443"]);
    assert!(allowed(&rules, "y.a.org", 22));
    for port in [22, 80, 443] {
        let verdict = rules.decide(&host("x.a.org"), port);
        assert_eq!(verdict, refused(Some("x.a.org"), "remove network.deny \"x.a.org\""));
    }
    assert!(allowed(&rules, "b.org", 80) && !allowed(&rules, "b.org", 443));
}

#[test]
fn a_wildcard_is_every_depth_below_and_never_the_apex() {
    let rules = rules(&["*.a.org"], &[]);
    let verdicts = ["x.a.org", "y.x.a.org", "a.org", "xa.org", "a.org.evil.org"].map(|name| allowed(&rules, name, 443));
    assert_eq!(verdicts, [true, true, false, false, false]);
}

#[test]
fn the_verdict_names_the_rule_or_the_smallest_line_that_would_allow_it() {
    let rules = rules(&["*.a.org", "10.0.0.0/8"], &[]);
    let rule = "*.a.org".to_owned();
    assert_eq!(rules.decide(&host("x.a.org"), 443), Verdict::Allowed { rule });
    for (name, port, hint) in [
        ("b.org", 443, "network: {allow: [\"b.org\"]}"),
        ("b.org", 80, "network: {allow: [\"b.org\"]}"),
        ("b.org", 8443, "network: {allow: [\"b.org:8443\"]}"),
        ("192.0.2.1", 22, "network: {allow: [\"192.0.2.1:22\"]}"),
        ("2001:db8::1", 443, "network: {allow: [\"2001:db8::1\"]}"),
        ("2001:db8::1", 22, "network: {allow: [\"[2001:db8::1]:22\"]}"),
        ("b.org", 0, "port 0 cannot be allowed"),
    ] {
        assert_eq!(rules.decide(&host(name), port), refused(None, hint));
    }
}

#[test]
fn the_hinted_line_really_allows_it() {
    for (name, port) in [
        ("b.org", 443),
        ("b.org", 8443),
        ("192.0.2.1", 22),
        ("2001:db8::1", 22),
        ("::1", 80),
    ] {
        let Verdict::Refused { hint, .. } = rules(&[], &[]).decide(&host(name), port) else {
            panic!("nothing is allowed yet")
        };
        let line = hint.split('"').nth(1).unwrap();
        assert!(allowed(&rules(&[line], &[]), name, port), "{line}");
    }
}

#[test]
fn names_and_addresses_never_match_each_other() {
    let rules = rules(&["*.org", "0.0.0.0/0", "::/0"], &[]);
    assert!(!allowed(&rules, "a.com", 443));
    assert!(allowed(&rules, "192.0.2.1", 443) && allowed(&rules, "2001:db8::1", 443));
}

#[test]
fn rules_for_mapped_addresses_hold_for_the_ipv4_address() {
    let rules = rules(&["0.0.0.0/0", "::/0"], &["::ffff:10.0.0.0/104", "::/127"]);
    assert!(!allowed(&rules, "10.1.2.3", 443) && !allowed(&rules, "::ffff:10.1.2.3", 443));
    assert!(!allowed(&rules, "::1", 443) && !allowed(&rules, "0.0.0.1", 443));
    assert!(allowed(&rules, "11.1.2.3", 443));
}

#[test]
fn a_denied_ipv4_address_is_denied_through_a_translator_too() {
    let rules = rules(&["::/0"], &["203.0.113.0/24"]);
    for text in ["64:ff9b::203.0.113.9", "2002:cb00:7109::1"] {
        assert_eq!(rules.denies_address(addr(text), 443), Some("203.0.113.0/24"), "{text}");
        assert!(!allowed(&rules, text, 443), "{text}");
    }
}

#[test]
fn only_an_address_rule_names_an_address() {
    let rules = rules(&["a.org", "10.0.0.5", "10.1.0.0/16:5432", "[::1]:99"], &["10.1.9.0/24"]);
    for (text, port, named) in [
        ("10.0.0.5", 443, true),
        ("10.0.0.5", 22, false),
        ("10.0.0.6", 443, false),
        ("10.1.2.3", 5432, true),
        ("10.1.2.3", 443, false),
        ("10.1.9.3", 5432, false),
        ("::1", 99, true),
    ] {
        assert_eq!(rules.names_address(addr(text), port), named, "{text}:{port}");
    }
}

#[test]
fn a_block_wider_than_the_special_range_names_nothing_special() {
    let wide = rules(&["0.0.0.0/0", "::/0", "169.254.0.0/16", "8.0.0.0/6"], &[]);
    for text in [
        "127.0.0.1",
        "10.0.0.1",
        "169.254.169.254",
        "::1",
        "fd00:ec2::254",
        "fe80::1",
        "64:ff9b::10.0.0.1",
        "0.0.0.0",
    ] {
        assert!(!wide.names_address(addr(text), 80), "{text}");
        assert!(!wide.names_own_address(addr(text), 80), "{text}");
    }
    assert!(wide.names_address(addr("192.0.2.1"), 80) && wide.names_address(addr("169.254.1.1"), 80));
    let narrow = rules(&["169.254.169.254", "127.0.0.0/8", "fc00::/7", "192.168.0.0/16"], &[]);
    for text in ["169.254.169.254", "127.0.0.1", "fd12::1", "192.168.3.4"] {
        assert!(narrow.names_address(addr(text), 80), "{text}");
        assert!(narrow.names_own_address(addr(text), 80), "{text}");
    }
}

#[test]
fn a_public_address_of_this_machine_must_be_named_alone() {
    let rules = rules(&["192.0.2.0/24", "203.0.113.7"], &[]);
    assert!(rules.names_address(addr("192.0.2.7"), 80) && !rules.names_own_address(addr("192.0.2.7"), 80));
    assert!(rules.names_own_address(addr("203.0.113.7"), 80));
}

#[test]
fn ports_are_those_of_the_allow_rules_without_the_denied() {
    let rules = rules(
        &["a.org", "a.org:22", "*.b.org:8443", "10.0.0.0/8:5432"],
        &["a.org:80", "c.org:1"],
    );
    assert_eq!(rules.ports(), [22, 80, 443, 5432, 8443].into());
    assert_eq!(rules.ports_of(&host("a.org")), [22, 443].into());
    assert_eq!(rules.ports_of(&host("x.b.org")), [8443].into());
    assert_eq!(rules.ports_of(&host("b.org")), [].into());
    assert_eq!(rules.wildcard_ports(), [8443].into());
}

#[test]
fn a_rule_that_is_no_rule_is_refused_by_its_text() {
    let bad = |text: &str| {
        Rules::new(&[text.to_owned()].into(), &BTreeSet::new())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(bad("a b"), "network rule `a b` is not a host name");
    assert_eq!(
        bad("127.1"),
        "network rule `127.1` looks like an address but is not one"
    );
}

fn rule_text() -> impl Strategy<Value = String> {
    let host = prop_oneof![
        "(\\*\\.)?([ab]\\.){0,2}(org|net)",
        (any::<u8>(), 0u8..=32).prop_map(|(x, length)| format!("10.{x}.0.0/{length}")),
        (any::<u16>(), 0u8..=128).prop_map(|(x, length)| format!("[2001:db8:{x:x}::/{length}]")),
    ];
    (host, prop::option::of(prop_oneof![Just(22u16), Just(443)])).prop_map(|(host, port)| match port {
        Some(port) => format!("{host}:{port}"),
        None => host,
    })
}

fn asked() -> impl Strategy<Value = (String, u16)> {
    let host = prop_oneof![
        "([ab]\\.){0,3}(org|net)",
        any::<u8>().prop_map(|x| format!("10.{x}.0.1")),
        any::<u16>().prop_map(|x| format!("2001:db8:{x:x}::1")),
    ];
    (host, prop_oneof![Just(22u16), Just(80), Just(443), Just(8443)])
}

proptest! {
    #[test]
    fn more_deny_rules_never_allow_more(
        allow in prop::collection::btree_set(rule_text(), 0..5), deny in prop::collection::btree_set(rule_text(), 0..5),
        extra in rule_text(), (name, port) in asked(),
    ) {
        let Ok(before) = Rules::new(&allow, &deny) else { return Ok(()) };
        let mut more = deny.clone();
        more.insert(extra);
        let Ok(after) = Rules::new(&allow, &more) else { return Ok(()) };
        prop_assert!(allowed(&before, &name, port) || !allowed(&after, &name, port));
        let none = Rules::new(&BTreeSet::new(), &deny).unwrap();
        prop_assert!(!allowed(&none, &name, port));
    }

    #[test]
    fn ports_of_a_host_are_exactly_those_it_is_allowed_on(
        allow in prop::collection::btree_set(rule_text(), 0..5), deny in prop::collection::btree_set(rule_text(), 0..5),
        (name, _) in asked(),
    ) {
        let Ok(rules) = Rules::new(&allow, &deny) else { return Ok(()) };
        let ports: BTreeSet<u16> = [22, 80, 443, 8443].into_iter().filter(|port| allowed(&rules, &name, *port)).collect();
        prop_assert_eq!(rules.ports_of(&host(&name)), ports);
    }

    #[test]
    fn what_an_address_rule_names_is_what_it_allows(
        allow in prop::collection::btree_set(rule_text(), 0..5), deny in prop::collection::btree_set(rule_text(), 0..5),
        (name, port) in asked(),
    ) {
        let Ok(rules) = Rules::new(&allow, &deny) else { return Ok(()) };
        if let Host::Addr(address) = host(&name) && rules.names_address(address, port) {
            prop_assert!(allowed(&rules, &name, port));
        }
    }
}

#[test]
fn localhost_is_refused_with_what_to_write_instead() {
    for (rule, instead) in [
        ("localhost:9997", "127.0.0.1:9997"),
        ("*.localhost", "127.0.0.1:PORT"),
        ("0.0.0.0:9997", "127.0.0.1:9997"),
        ("[::]:9997", "[::1]:9997"),
        ("::", "[::1]:PORT"),
    ] {
        let problem = Rules::new(&[rule.to_owned()].into(), &BTreeSet::new()).unwrap_err();
        assert!(problem.to_string().contains(&format!("write `{instead}`")), "{problem}");
    }
    assert!(Rules::new(&BTreeSet::new(), &["localhost".to_owned()].into()).is_ok());
    assert!(Rules::new(&BTreeSet::new(), &["0.0.0.0".to_owned()].into()).is_ok());
}
