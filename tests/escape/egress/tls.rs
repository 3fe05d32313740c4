//! TLS: the hello names the allowed host, once and in the clear, or nothing passes.

use glee_tests::Attempt;

use super::{Reported, lab, under};

const ASK: &str = "'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'";

/// A hello of this kind, with the nonce in its session id.
fn hello(kind: &str) -> Attempt {
    lab(format!("@NET hello {kind} allowed.test 443 @ID"))
}

/// The same where the port promises nothing.
fn elsewhere(kind: &str) -> Attempt {
    under(
        "allow: ['allowed.test:8443', 'allowed.test:7777']",
        format!("PATIENCE=1 @NET hello {kind} @ID"),
    )
}

claims! {
    hello_for_another_name_does_not_pass => lab(format!("@NET tls allowed.test 443 other.test {ASK}"))
        .reported("another server"),
    hello_for_the_nonce_does_not_pass => lab("@NET tls allowed.test 443 @ID.other.test x").reported("another server"),
    hello_for_a_name_below_does_not_pass => lab(format!("@NET tls allowed.test 443 sub.allowed.test {ASK}"))
        .reported("another server"),
    hello_without_a_name_does_not_pass => lab(format!("@NET tls allowed.test 443 '' {ASK}"))
        .reported("without a server name"),
    hello_through_connect_for_another_name_does_not_pass => lab(format!("@NET tls_connect allowed.test:443 other.test {ASK}"))
        .reported("another server"),
    hello_with_two_names_does_not_pass => hello("two").reported("two server names"),
    hello_with_two_name_extensions_does_not_pass => hello("twice").reported("two server names"),
    hello_with_an_empty_extension_does_not_pass => hello("empty").reported("allowed.test"),
    hello_with_an_empty_name_does_not_pass => hello("nameless").reported("allowed.test"),
    hello_with_a_null_byte_in_its_name_does_not_pass => hello("nul").reported("allowed.test"),
    hello_for_an_address_does_not_pass => hello("address").reported("another server"),
    encrypted_hello_does_not_pass => hello("ech").reported("encrypted"),
    older_encrypted_name_does_not_pass => hello("esni").reported("encrypted"),
    hello_in_many_records_does_not_hide_its_name => hello("split").reported("another server"),
    hello_in_many_segments_does_not_hide_its_name => hello("segments").reported("another server"),
    hello_of_the_old_kind_does_not_pass => hello("sslv2").reported("SSLv2"),
    second_hello_in_the_same_record_does_not_pass => hello("two_hellos").reported("malformed"),
    what_is_not_tls_does_not_pass_on_443 => lab("@NET say allowed.test 443 'SSH-2.0-@ID\\r\\n'").reported("not TLS"),
    http_does_not_pass_on_443 => lab("@NET say allowed.test 443 'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n'")
        .reported("not TLS"),
    tls_does_not_pass_on_80 => lab("@NET hello other allowed.test 80 @ID").reported("allowed.test"),
    what_is_not_tls_does_not_pass_through_connect => lab("@NET connect allowed.test:443 'SSH-2.0-@ID\\r\\n'")
        .reported("not TLS"),
    what_is_not_tls_does_not_pass_through_socks => lab("@NET socks name allowed.test 443 'SSH-2.0-@ID\\r\\n'")
        .reported("not TLS"),
    hello_for_another_name_does_not_pass_on_another_port => under("allow: ['allowed.test:8443']",
        format!("@NET tls allowed.test 8443 other.test {ASK}")).reported("another server"),
    hello_behind_a_first_byte_does_not_pass_on_another_port => under("allow: ['allowed.test:8443']",
        "@NET hello segments allowed.test 8443 @ID").reported("another server"),
    hello_of_another_version_does_not_pass_on_another_port => elsewhere("version allowed.test 8443").reported("no known version"),
    hello_of_an_old_version_does_not_pass_on_another_port => elsewhere("old_version allowed.test 8443").reported("no known version"),
    hello_behind_an_alert_does_not_pass_on_another_port => elsewhere("alert allowed.test 8443").reported("before the client hello"),
    hello_after_an_alert_does_not_pass_on_another_port => elsewhere("alert_alone allowed.test 8443").reported("before the client hello"),
    hello_behind_a_change_of_ciphers_does_not_pass_on_another_port => elsewhere("ciphers allowed.test 8443")
        .reported("before the client hello"),
    hello_of_the_old_kind_does_not_pass_on_another_port => elsewhere("sslv2 allowed.test 8443").reported("SSLv2"),
    hello_behind_the_proxy_protocol_does_not_pass => elsewhere("proxied allowed.test 8443").reported("PROXY protocol"),
    hello_to_a_database_for_another_name_does_not_pass => elsewhere("database allowed.test 7777").reported("another server"),
    hello_with_its_question_for_another_name_does_not_pass => elsewhere("database_at_once allowed.test 7777").reported("another server"),
    hello_for_the_name_of_another_rule_does_not_pass => under("allow: [allowed.test, other.test]",
        format!("@NET tls allowed.test 443 other.test {ASK}")).reported("another server"),
    hello_that_never_ends_does_not_pass => lab("PATIENCE=1 @NET say allowed.test 443 '\\x16\\x03\\x01\\x02\\x00\\x01\\x00' @ID"),
}
