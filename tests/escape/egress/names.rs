//! Spellings of names and addresses, by each way in: DNS, `CONNECT`, an absolute target, SOCKS.

use glee_tests::{Attempt, Bare};

use super::{Reported, lab, under};

const ASK: &str = "'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'";

/// A `CONNECT` for this target, then a request.
fn connect(target: &str) -> Attempt {
    lab(format!("@NET connect '{target}' {ASK}"))
}

/// A request with this authority in its target.
fn absolute(authority: &str) -> Attempt {
    lab(format!(
        "@NET proxy 'GET http://{authority}/@ID HTTP/1.1\\r\\nHost: {authority}\\r\\n\\r\\n'"
    ))
}

fn socks(kind: &str, host: &str) -> Attempt {
    lab(format!("@NET socks {kind} '{host}' 80 {ASK}"))
}

/// As a program that knows no proxies does it.
fn plain(host: &str) -> Attempt {
    lab(format!("@NET say '{host}' 80 {ASK}"))
}

const SUFFIX: &str = "allow: ['*.allowed.test', allowed.test]";

claims! {
    another_name_is_not_resolved => plain("other.test").reported("other.test"),
    another_name_in_capitals_is_not_resolved => plain("OTHER.test").reported("other.test"),
    another_name_with_a_final_dot_is_not_resolved => plain("evil.wild.test.").reported("evil.wild.test"),
    a_name_that_ends_alike_is_not_resolved => plain("notallowed.test").reported("notallowed.test"),
    a_name_that_begins_alike_is_not_resolved => plain("allowed.test.evil.test").reported("allowed.test.evil.test"),
    a_name_below_the_allowed_one_is_not_resolved => plain("sub.allowed.test").reported("sub.allowed.test"),
    a_fullwidth_name_is_not_resolved => plain("ｏther.test").bare(Bare::Nobody("the C library's own IDNA varies")),
    curl_does_not_reach_another_name => lab("curl -s -m 5 http://other.test/@ID; curl -s -m 5 -k https://other.test/@ID")
        .reported("other.test"),
    curl_without_proxies_does_not_reach_another_name => lab("curl -s -m 5 --noproxy '*' http://other.test/@ID")
        .reported("other.test"),
    curl_does_not_reach_another_address_by_resolve => lab("curl -s -m 5 --noproxy '*' \
        --resolve other.test:80:203.0.113.20 http://other.test/@ID"),

    connect_to_another_name_is_refused => connect("other.test:80").reported("other.test"),
    connect_in_capitals_is_refused => connect("OTHER.TEST:80").reported("other.test"),
    connect_with_a_final_dot_is_refused => connect("other.test.:80").reported("other.test"),
    connect_with_two_final_dots_is_refused => connect("other.test..:80").reported("no host"),
    connect_to_a_fullwidth_name_is_refused => connect("\\xef\\xbd\\x8fther.test:80").reported("other.test"),
    connect_with_a_fullwidth_dot_is_refused => connect("other\\xe3\\x80\\x82test:80").reported("other.test"),
    connect_with_a_user_is_refused => connect("allowed.test@other.test:80")
        .reported("refused"),
    connect_with_a_user_and_a_port_is_refused => connect("allowed.test:80@other.test:80")
        .reported("refused"),
    connect_in_percent_signs_is_refused => connect("%6f%74her.test:80")
        .reported("refused"),
    connect_with_a_null_byte_is_refused => connect("other.test\\x00.allowed.test:80")
        .reported("refused"),
    connect_with_a_null_byte_under_a_wildcard_is_refused => under(SUFFIX,
        format!("@NET connect 'other.test\\x00.allowed.test:80' {ASK}"))
        .reported("refused"),
    connect_with_an_encoded_null_byte_is_refused => under(SUFFIX,
        format!("@NET connect 'other.test%00.allowed.test:80' {ASK}"))
        .reported("refused"),
    connect_to_an_address_is_refused => connect("203.0.113.20:80").reported("203.0.113.20"),
    connect_to_the_allowed_names_own_address_is_refused => connect("203.0.113.10:80").reported("203.0.113.10"),
    connect_to_an_address_as_one_number_is_refused => connect("3405803796:80")
        .reported("refused"),
    connect_to_a_hexadecimal_address_is_refused => connect("0xcb.0x0.0x71.0x14:80")
        .reported("refused"),
    connect_to_an_octal_address_is_refused => connect("0313.0.0161.024:80")
        .reported("refused"),
    connect_to_a_short_address_is_refused => connect("203.0.28948:80")
        .reported("refused"),
    connect_to_a_mapped_address_is_refused => connect("[::ffff:203.0.113.20]:80").reported("203.0.113.20"),
    connect_to_an_ipv6_address_is_refused => connect("[2001:db8:1::10]:80").reported("2001:db8:1::10"),
    connect_with_a_zone_is_refused => connect("[2001:db8:1::10%eth0]:80")
        .bare(Bare::Nobody("only link-local addresses have zones that work"))
        .reported("refused"),
    connect_to_another_port_is_refused => connect("allowed.test:7777").reported("allowed.test:7777"),
    connect_before_an_answer_is_refused => lab(format!("@NET early other.test:80 {ASK}")).reported("other.test"),

    absolute_target_for_another_name_is_refused => absolute("other.test").reported("other.test"),
    absolute_target_with_a_user_is_refused => absolute("allowed.test@other.test")
        .reported("refused"),
    absolute_target_in_percent_signs_is_refused => absolute("%6fther.test")
        .reported("refused"),
    absolute_target_for_an_address_is_refused => absolute("203.0.113.20").reported("203.0.113.20"),
    absolute_target_for_a_number_is_refused => absolute("3405803796")
        .reported("refused"),
    absolute_target_for_a_mapped_address_is_refused => absolute("[::ffff:cb00:7114]").reported("203.0.113.20"),
    absolute_target_with_an_allowed_host_header_is_refused => lab("@NET proxy 'GET http://other.test/@ID HTTP/1.1\\r\\n\
        Host: allowed.test\\r\\n\\r\\n'")
        .reported("refused"),
    host_header_for_another_name_is_refused => lab("@NET proxy 'GET http://allowed.test/@ID HTTP/1.1\\r\\n\
        Host: other.test\\r\\n\\r\\n'")
        .reported("refused"),

    socks_to_another_name_is_refused => socks("name", "other.test").reported("other.test"),
    socks_to_a_name_with_a_null_byte_is_refused => under(SUFFIX,
        format!("@NET socks name 'other.test\\x00.allowed.test' 80 {ASK}"))
        .reported("refused"),
    socks_to_a_name_with_a_user_is_refused => socks("name", "allowed.test@other.test")
        .reported("refused"),
    socks_to_an_address_as_a_name_is_refused => socks("name", "203.0.113.20").reported("203.0.113.20"),
    socks_to_an_odd_address_as_a_name_is_refused => socks("name", "0xcb007114")
        .reported("refused"),
    socks_to_an_address_is_refused => socks("v4", "203.0.113.20").reported("203.0.113.20"),
    socks_to_an_ipv6_address_is_refused => socks("v6", "2001:db8:1::10").reported("2001:db8:1::10"),
    socks_to_a_mapped_address_is_refused => socks("v6", "::ffff:203.0.113.20").reported("203.0.113.20"),
    curl_with_socks_does_not_reach_another_name => lab("curl -s -m 5 --socks5-hostname 127.0.0.1:1080 \
        http://other.test/@ID; curl -s -m 5 --socks5 127.0.0.1:1080 http://203.0.113.20/@ID")
        .reported("203.0.113.20"),
}
