use super::super::response::tests::name;
use super::*;

fn servers(text: &str) -> Vec<String> {
    Conf::parse(text).servers.iter().map(ToString::to_string).collect()
}

fn listed(text: &str, host: &str) -> Vec<String> {
    in_hosts(text, &name(host), 16)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn up_to_three_name_servers_are_used_in_order() {
    let text = "# nameserver 192.0.2.9\n; x\nsearch evil.org\nnameserver 192.0.2.1\n  nameserver\t2001:db8::1 # two\n\
        nameserver nonsense\nnameserver\nnameservers 192.0.2.8\nnameserver 192.0.2.3\nnameserver 192.0.2.4\n";
    assert_eq!(servers(text), ["192.0.2.1:53", "[2001:db8::1]:53", "192.0.2.3:53"]);
}

#[test]
fn without_a_name_server_the_local_one_is_used() {
    assert_eq!(servers(""), ["127.0.0.1:53"]);
    assert_eq!(servers("nameserver fe80::1%no-such-interface\n"), ["127.0.0.1:53"]);
}

#[test]
fn a_link_local_server_keeps_its_interface() {
    assert_eq!(servers("nameserver fe80::1%7\n"), ["[fe80::1%7]:53"]);
    let lo = nix::net::if_::if_nametoindex("lo").unwrap();
    assert_eq!(servers("nameserver fe80::1%lo\n"), [format!("[fe80::1%{lo}]:53")]);
}

#[test]
fn options_are_taken_within_limits() {
    let limits = |text: &str| {
        let conf = Conf::parse(text);
        (conf.timeout.as_secs(), conf.attempts)
    };
    assert_eq!(limits(""), (2, 2));
    assert_eq!(limits("options timeout:1 rotate attempts:3\n"), (1, 3));
    assert_eq!(limits("options timeout:0 attempts:0"), (1, 1));
    assert_eq!(limits("options timeout:4000000000 attempts:99 ndots:5"), (5, 3));
    assert_eq!(limits("options timeout:x attempts: timeout"), (2, 2));
}

#[test]
fn a_hosts_file_names_addresses_in_any_case() {
    let text = "127.0.0.1 localhost\n192.0.2.1\tA.org b.org. # c.org\n::ffff:192.0.2.2 a.org\n\
        192.0.2.1 a.org\nnonsense a.org\nfe80::1%lo a.org\n2001:db8::1 a.org";
    assert_eq!(listed(text, "a.org"), ["192.0.2.1", "192.0.2.2", "2001:db8::1"]);
    assert_eq!(listed(text, "b.org"), ["192.0.2.1"]);
    assert_eq!(listed(text, "c.org"), [""; 0]);
    assert_eq!(listed(text, "localhost"), ["127.0.0.1"]);
}

#[test]
fn a_hosts_file_gives_at_most_sixteen_addresses() {
    let text: String = (0..40).map(|last| format!("192.0.2.{last} a.org\n")).collect();
    assert_eq!(listed(&text, "a.org").len(), 16);
}

#[test]
fn of_a_file_that_is_too_long_only_whole_lines_are_read() {
    let path = std::env::temp_dir().join(format!("glee-conf-{}", std::process::id()));
    std::fs::write(&path, "one\ntwo\nthree").unwrap();
    let read = |most| read_capped(&path, most).unwrap();
    assert_eq!(
        (read(10), read(100), read(2)),
        ("one\ntwo".to_owned(), "one\ntwo\nthree".to_owned(), String::new())
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(read_text(&path), "");
}
