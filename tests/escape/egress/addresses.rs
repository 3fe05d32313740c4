//! Addresses: without asking for a name, and names that lead where no name should lead.

use glee_tests::{Attempt, Bare, Outcome, World};

use super::{Reported, lab, seen, under};

fn ask(host: &str) -> String {
    format!("'GET /@ID HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n'")
}

/// The name is allowed, as if its owner had been trusted; its address is not what names are for.
fn leads(name: &'static str, port: u16) -> Attempt {
    under(
        &format!("allow: ['{name}:{port}']"),
        format!(
            "@NET say {name} {port} {0}; @NET connect {name}:{port} {0}; @NET socks name {name} {port} {0}",
            ask(name)
        ),
    )
}

/// Heard at the public address is no leak.
fn at_the_private_address(w: &World, _: &Outcome) -> Option<String> {
    w.lab().heard_of("10.0.0.5:80")
}

macro_rules! direct {
    ($address:literal) => {
        lab(format!("@NET say {} 80 {}", $address, ask("allowed.test")))
    };
}

claims! {
    address_without_a_name_is_not_reached => direct!("203.0.113.20"),
    address_of_the_allowed_name_is_not_reached_directly => direct!("203.0.113.10"),
    ipv6_address_is_not_reached => direct!("2001:db8:1::10"),
    mapped_address_is_not_reached => direct!("::ffff:203.0.113.20"),
    any_address_of_the_internet_is_not_reached => direct!("8.8.8.8"),
    synthetic_range_leads_nowhere_but_to_its_names => lab("for i in 0 2 3 77 255; do \
        @NET say 198.18.0.$i 80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'; done; \
        @NET say 198.19.255.255 80 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'"),
    tcp_by_system_call_is_not_heard => lab("@A tcp 80 @ID 203.0.113.20"),
    tcp6_by_system_call_is_not_heard => lab("@A tcp6 80 @ID 2001:db8:1::10"),
    another_port_of_the_allowed_name_is_not_heard => lab("@NET say allowed.test 7777 @ID"),
    source_options_do_not_help => lab("@NET bound 203.0.113.20 80 @ID"),

    name_of_a_private_address_leads_nowhere => leads("private.test", 80).reported("10.0.0.5: private"),
    name_of_a_private_172_address_leads_nowhere => leads("private172.test", 80).reported("private"),
    name_of_a_private_192_address_leads_nowhere => leads("private192.test", 80).reported("private"),
    name_of_loopback_leads_nowhere => leads("loop.test", 80).reported("loopback"),
    name_of_another_loopback_leads_nowhere => leads("loop9.test", 80).reported("loopback"),
    name_of_loopback_6_leads_nowhere => leads("loop6.test", 80).reported("loopback"),
    name_of_metadata_leads_nowhere => leads("meta.test", 80).reported("cloud metadata"),
    name_of_azure_metadata_leads_nowhere => leads("azure.test", 80).reported("cloud metadata"),
    name_of_a_link_local_address_leads_nowhere => leads("linklocal.test", 80).reported("link-local"),
    name_of_a_carriers_address_leads_nowhere => leads("cgnat.test", 80).reported("carrier-grade NAT"),
    name_of_the_unspecified_address_leads_nowhere => leads("zero.test", 80).reported("unspecified"),
    name_of_the_hosts_address_leads_nowhere => leads("own.test", 80).reported("an address of this machine"),
    name_of_the_hosts_ipv6_address_leads_nowhere => leads("own6.test", 80).reported("an address of this machine"),
    name_of_the_synthetic_range_leads_nowhere => leads("synthetic.test", 80).reported("benchmarking"),
    name_of_a_unique_local_address_leads_nowhere => leads("unique.test", 80).reported("unique-local"),
    name_of_a_mapped_private_address_leads_nowhere => leads("mapped.test", 80).reported("private"),
    name_of_a_translated_private_address_leads_nowhere => leads("nat64.test", 80).reported("private"),
    name_of_a_tunnelled_private_address_leads_nowhere => leads("sixtofour.test", 80).reported("6to4"),
    name_of_a_reserved_address_leads_nowhere => leads("reserved.test", 80).reported("reserved")
        .bare(Bare::Nobody("the kernel does not connect there")),
    name_of_a_multicast_address_leads_nowhere => leads("multicast.test", 80).reported("multicast")
        .bare(Bare::Nobody("the kernel does not connect there")),
    name_of_the_broadcast_address_leads_nowhere => leads("broadcast.test", 80).reported("broadcast")
        .bare(Bare::Nobody("the kernel does not connect there")),
    name_with_private_addresses_only_leads_nowhere => leads("mixed.test", 80).reported("mixed.test"),
    name_by_dns_of_a_private_address_leads_nowhere => leads("ip-10-1-2-3.test", 80).reported("10.1.2.3: private"),
    alias_of_a_private_name_leads_nowhere => leads("cname.test", 80).reported("10.0.0.5: private"),

    rebinding_to_a_private_address_leads_nowhere => under("allow: [rebind.test]",
        "@NET say rebind.test 80 'GET /first HTTP/1.1\\r\\nHost: rebind.test\\r\\n\\r\\n'; \
         @NET say rebind.test 80 'GET /@ID HTTP/1.1\\r\\nHost: rebind.test\\r\\n\\r\\n'")
        .reported("10.0.0.5: private"),
    rebinding_at_each_question_never_reaches_the_private_address => seen("for i in 1 2 3 4; do \
        @NET connect flip.test:80 'GET /@ID HTTP/1.1\\r\\nHost: flip.test\\r\\n\\r\\n'; done", at_the_private_address)
        .yaml("extends: restricted\nnetwork: {allow: [flip.test]}\n").reported("10.0.0.5: private"),
    names_of_the_proxys_own_ports_lead_nowhere => under("allow: ['loop.test:3128', 'loop.test:1080']",
        "@NET connect loop.test:3128 'CONNECT other.test:80 HTTP/1.1\\r\\n\\r\\n' \
            'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'").reported("loopback"),
}
