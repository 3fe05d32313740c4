//! HTTP in the clear: every request on a connection is for the allowed host, and can be read in one way only.
//!
//! What is allowed goes first and without the nonce; the hostile part carries it.

use glee_tests::Attempt;

use super::{Reported, lab, under};

/// Sent to port 80 of the allowed name, in pieces.
fn sent(pieces: &str) -> Attempt {
    lab(format!("LISTEN=1 PATIENCE=1 @NET say allowed.test 80 {pieces}"))
}

/// Sent to a port of the allowed name that promises nothing, in pieces.
fn elsewhere(pieces: &str) -> Attempt {
    under(
        "allow: ['allowed.test:8080']",
        format!("LISTEN=1 PATIENCE=1 @NET say allowed.test 8080 {pieces}"),
    )
}

/// A request for the allowed host with this method, and behind it one for another.
fn odd_method(method: &str) -> Attempt {
    elsewhere(&format!(
        "'{method} /first HTTP/1.1\\r\\nHost: allowed.test:8080\\r\\n\\r\\n{SECOND}'"
    ))
    .reported("request line")
}

const FIRST: &str = "GET /first HTTP/1.1\\r\\nHost: allowed.test\\r\\n";
const SECOND: &str = "GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n";

claims! {
    request_for_another_host_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .reported("another host"),
    request_for_another_port_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test:8080\\r\\n\\r\\n'")
        .reported("another host"),
    request_with_two_hosts_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\
        Host: other.test\\r\\n\\r\\n'").reported("two `Host` headers"),
    request_with_two_hosts_on_one_line_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test, other.test\\r\\n\\r\\n'")
        .reported("allowed.test"),
    request_without_a_host_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nAccept: a\\r\\n\\r\\n'").reported("no `Host` header"),
    old_request_without_a_host_does_not_pass => sent("'GET /@ID HTTP/1.0\\r\\n\\r\\n'").reported("no `Host` header"),
    oldest_request_does_not_pass => sent("'GET /@ID\\r\\n\\r\\n'").reported("request line"),
    host_before_a_user_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test@other.test\\r\\n\\r\\n'")
        .reported("no host"),
    host_with_a_space_before_its_colon_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n\
        Host : other.test\\r\\n\\r\\n'").reported("malformed header field"),
    folded_host_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\n X: a\\r\\n other.test\\r\\n\\r\\n'")
        .reported("continued on the next line"),
    absolute_target_for_another_host_does_not_pass => sent("'GET http://other.test/@ID HTTP/1.1\\r\\n\
        Host: allowed.test\\r\\n\\r\\n'").reported("request target for another host"),
    bare_line_feeds_do_not_pass => sent("'GET /@ID HTTP/1.1\\nHost: allowed.test\\n\\n'").reported("bare LF"),
    host_hidden_behind_a_bare_line_feed_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nX: a\\nHost: other.test\\r\\n\
        Host: allowed.test\\r\\n\\r\\n'").reported("bare LF"),
    bare_carriage_return_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nX: a\\rHost: other.test\\r\\n\
        Host: allowed.test\\r\\n\\r\\n'").reported("CR"),
    null_byte_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\x00other.test\\r\\n\\r\\n'")
        .reported("control character"),

    second_request_for_another_host_does_not_pass => sent(&format!("'{FIRST}\\r\\n' '{SECOND}'")).reported("another host"),
    pipelined_request_for_another_host_does_not_pass => sent(&format!("'{FIRST}\\r\\n{SECOND}'")).reported("another host"),
    request_behind_a_body_for_another_host_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nContent-Length: 5\\r\\n\\r\\nhello{SECOND}'")).reported("another host"),
    request_behind_chunks_for_another_host_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n\
         5\\r\\nhello\\r\\n0\\r\\n\\r\\n{SECOND}'")).reported("another host"),
    length_and_chunks_together_do_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nContent-Length: 200\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n\
         0\\r\\n\\r\\n{SECOND}'")).reported("both `Content-Length` and `Transfer-Encoding`"),
    two_lengths_do_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nContent-Length: 200\\r\\nContent-Length: 0\\r\\n\\r\\n{SECOND}'"))
        .reported("two `Content-Length`"),
    signed_length_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nContent-Length: +0\\r\\n\\r\\n{SECOND}'"))
        .reported("not a plain number"),
    other_transfer_encodings_do_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nTransfer-Encoding: xchunked\\r\\n\\r\\n0\\r\\n\\r\\n{SECOND}'"))
        .reported("other than `chunked`"),
    chunk_with_a_bare_line_feed_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\n\\n{SECOND}'"))
        .reported("allowed.test"),
    chunk_with_an_odd_size_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0x0\\r\\n\\r\\n{SECOND}'"))
        .reported("malformed chunk"),
    chunk_extension_with_a_line_feed_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0;a\\n\\r\\n{SECOND}'"))
        .reported("allowed.test"),
    length_taken_away_by_connection_does_not_pass => sent(&format!(
        "'POST /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: close, content-length\\r\\nContent-Length: 0\\r\\n\\r\\n{SECOND}'"))
        .reported("takes away"),
    upgrade_to_http_2_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: Upgrade, HTTP2-Settings\\r\\n\
        Upgrade: h2c\\r\\nHTTP2-Settings: AAMAAABkAAQAAP__\\r\\n\\r\\n'").reported("HTTP/2 in the clear"),
    http_2_by_prior_knowledge_does_not_pass => sent("'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n@ID'").reported("HTTP/2"),
    upgrade_to_tls_does_not_pass => sent("'GET /@ID HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: Upgrade\\r\\n\
        Upgrade: TLS/1.0\\r\\n\\r\\n'").reported("other than WebSocket"),
    request_behind_a_refused_websocket_does_not_pass => sent(&format!(
        "'{FIRST}\\r\\n' 'GET /first HTTP/1.1\\r\\nHost: allowed.test\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\n\\r\\n{SECOND}'"))
        .reported("WebSocket"),
    connect_on_a_plain_connection_does_not_pass => sent("'CONNECT other.test:80 HTTP/1.1\\r\\nHost: allowed.test\\r\\nX: @ID\\r\\n\\r\\n'")
        .reported("`CONNECT`"),
    what_is_not_http_does_not_pass_on_80 => sent("'SSH-2.0-@ID\\r\\n'").reported("request line"),
    binary_does_not_pass_on_80 => sent("'\\x00\\x01\\x02\\x03@ID\\r\\n\\r\\n'").reported("allowed.test"),
    http_for_another_host_does_not_pass_on_another_port => under("allow: ['allowed.test:8080']",
        "PATIENCE=1 @NET say allowed.test 8080 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'").reported("another host"),
    http_behind_blank_lines_does_not_pass_on_another_port => under("allow: ['allowed.test:8080']",
        "PATIENCE=1 @NET say allowed.test 8080 '\\r\\n\\r\\n' 'GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .reported("allowed.test"),
    http_in_single_bytes_does_not_pass_on_another_port => under("allow: ['allowed.test:8080']",
        "PATIENCE=1 @NET say allowed.test 8080 G E T ' ' /@ID ' HTTP/1.1' '\\r\\nHost: other.test\\r\\n\\r\\n'")
        .reported("another host"),
    request_behind_a_method_with_an_underscore_does_not_pass => odd_method("_X"),
    request_behind_a_method_with_a_bang_does_not_pass => odd_method("!X"),
    request_behind_a_method_with_a_digit_does_not_pass => odd_method("1X"),
    request_behind_a_method_with_a_dollar_does_not_pass => odd_method("$"),
    request_behind_a_method_with_a_tilde_does_not_pass => odd_method("~GET"),
    request_behind_a_method_with_a_star_does_not_pass => odd_method("*"),
    request_behind_a_method_that_is_no_token_does_not_pass => odd_method("(GET"),
    request_with_a_broken_method_does_not_pass => odd_method("G\"ET"),
    request_behind_an_odd_blank_does_not_pass => odd_method("\\xa0GET"),
    request_with_a_null_byte_in_its_method_does_not_pass => odd_method("\\x00GET"),
    odd_method_in_single_bytes_does_not_pass => elsewhere("_ X ' ' / ' ' H T T P / 1 . 1 '\\r' '\\nHost: other.test\\r\\nX: @ID\\r\\n\\r\\n'")
        .reported("request line"),
    odd_request_for_another_host_does_not_pass => elsewhere("'!GET /@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n'")
        .reported("request line"),
    oldest_request_does_not_pass_on_another_port => elsewhere("'GET http://other.test/@ID\\r\\n\\r\\n'").reported("request line"),
    request_as_rtsp_does_not_pass => elsewhere("'GET /@ID RTSP/1.0\\r\\nHost: other.test\\r\\n\\r\\n'").reported("request line"),
    request_as_icecast_does_not_pass => elsewhere("'SOURCE /@ID ICE/1.0\\r\\nHost: other.test\\r\\n\\r\\n'").reported("request line"),
    request_behind_the_proxy_protocol_does_not_pass => elsewhere(&format!("'PROXY TCP4 203.0.113.1 203.0.113.2 1 2\\r\\n{SECOND}'"))
        .reported("PROXY protocol"),
    request_behind_the_later_proxy_protocol_does_not_pass => elsewhere(&format!(
        "'\\r\\n\\r\\n\\x00\\r\\nQUIT\\n\\x20\\x00\\x00\\x00{SECOND}'")).reported("PROXY protocol"),
    http_2_by_prior_knowledge_does_not_pass_on_another_port => elsewhere("'PRI * HTTP/2.0\\r\\n\\r\\nSM\\r\\n\\r\\n@ID'").reported("HTTP/2"),
    proxied_second_request_for_another_host_does_not_pass => lab(format!("LISTEN=1 PATIENCE=1 @NET proxy \
        'GET http://allowed.test/first HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n' \
        'GET http://other.test/@ID HTTP/1.1\\r\\nHost: other.test\\r\\n\\r\\n' '{SECOND}'")),
    proxied_body_does_not_become_a_request => lab(format!("LISTEN=1 PATIENCE=1 @NET proxy \
        'GET http://allowed.test/first HTTP/1.1\\r\\nHost: allowed.test\\r\\n\\r\\n{SECOND}'"))
        .bare(glee_tests::Bare::Nobody("the naive proxy takes it for a request of its own and fails")),
    proxied_request_with_both_lengths_does_not_pass => lab("PATIENCE=1 @NET proxy 'POST http://allowed.test/@ID HTTP/1.1\\r\\n\
        Host: allowed.test\\r\\nContent-Length: 5\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n\\r\\n'").reported("both"),
    request_for_another_host_through_connect_does_not_pass => lab(format!("@NET connect allowed.test:80 '{SECOND}'"))
        .reported("another host"),
    request_for_another_host_through_socks_does_not_pass => lab(format!("@NET socks name allowed.test 80 '{SECOND}'"))
        .reported("another host"),
}
