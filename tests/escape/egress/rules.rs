//! Rules: what is not allowed by a line is refused, a denied name stays denied, and a repository cannot allow anything.

use glee_tests::{Attempt, Policy, World};

use super::{Reported, lab, under};

/// Each way in, for one host and port.
fn tries(rules: &str, host: &str, port: u16) -> Attempt {
    let ask = format!("'GET /@ID HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n'");
    under(
        rules,
        format!("@NET say {host} {port} {ask}; @NET connect {host}:{port} {ask}; @NET socks name {host} {port} {ask}"),
    )
}

/// The repository asks for the network; nobody has trusted it.
fn untrusted(network: &'static str) -> Attempt {
    lab("@NET say other.test 80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .given(move |w: &World| {
            let text = format!("security:\n  subagent_permissions:\n    network: {network}\n");
            w.file("@PROJECT/.glee/config.yml", &text);
        })
        .policy(Policy::Unstated)
        .may_refuse()
}

claims! {
    wildcard_does_not_match_its_own_apex => tries("allow: ['*.allowed.test']", "allowed.test", 80).reported("allowed.test"),
    wildcard_does_not_match_a_name_that_ends_alike => tries("allow: ['*.allowed.test']", "notallowed.test", 80)
        .reported("notallowed.test"),
    exact_name_does_not_match_below => tries("allow: [allowed.test]", "sub.allowed.test", 80).reported("sub.allowed.test"),
    denied_name_wins_over_a_wildcard => tries("allow: ['*.allowed.test'], deny: [denied.allowed.test]",
        "denied.allowed.test", 80).reported("network.deny"),
    denied_wildcard_wins_over_an_exact_name => tries("allow: [sub.allowed.test], deny: ['*.allowed.test']",
        "sub.allowed.test", 80).reported("network.deny"),
    denied_address_wins_over_an_allowed_name => tries("allow: [allowed.test], deny: ['203.0.113.10']",
        "allowed.test", 80).reported("203.0.113.10"),
    denied_block_wins_over_an_allowed_name => tries("allow: [allowed.test], deny: ['203.0.113.0/24']",
        "allowed.test", 80).reported("203.0.113.0/24"),
    denied_port_is_refused => tries("allow: ['allowed.test:8080', allowed.test], deny: ['allowed.test:8080']",
        "allowed.test", 8080).reported("8080"),
    another_port_is_refused => tries("allow: [allowed.test]", "allowed.test", 8080).reported("8080"),
    default_port_is_refused_when_another_is_named => tries("allow: ['allowed.test:8080']", "allowed.test", 80)
        .reported("allowed.test"),
    address_rule_does_not_allow_a_neighbour => tries("allow: ['203.0.113.10']", "203.0.113.20", 80).reported("203.0.113.20"),
    block_does_not_allow_beyond_its_end => tries("allow: ['203.0.113.0/28']", "203.0.113.20", 80).reported("203.0.113.20"),
    whole_internet_does_not_mean_private_addresses => tries("allow: ['0.0.0.0/0', '::/0']", "10.0.0.5", 80).reported("10.0.0.5"),
    whole_internet_does_not_mean_metadata => tries("allow: ['0.0.0.0/0', '::/0']", "169.254.169.254", 80)
        .reported("169.254.169.254"),
    whole_internet_does_not_mean_the_host => tries("allow: ['0.0.0.0/0', '::/0']", "203.0.113.1", 80)
        .reported("203.0.113.1"),
    whole_internet_does_not_mean_names => tries("allow: ['0.0.0.0/0', '::/0']", "other.test", 80).reported("other.test"),
    name_rule_under_workspace_allows_no_more => lab("@NET say other.test 80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .yaml("extends: workspace\nnetwork: {allow: [allowed.test]}\n").reported("other.test"),
    flag_allows_no_more_than_it_says => lab("@NET say other.test 80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .policy(Policy::Named("restricted")).flags(&["--net", "allowed.test"]).reported("other.test"),
    repository_does_not_allow_a_name => untrusted("{allow: [other.test]}"),
    repository_does_not_allow_everything => untrusted("{allow: ['*.test', '0.0.0.0/0']}"),
    repository_does_not_give_the_hosts_network => untrusted("true"),
    repository_does_not_remove_a_denial => untrusted("{allow: [other.test], deny: []}"),
    no_network_has_no_way_out => lab("@NET connect other.test:80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'; \
        @NET say other.test 80 @ID").yaml("extends: restricted\nnetwork: false\n"),
}
