//! Connections that lead nowhere because of the sandbox, by the name that was meant.

use glee_tests::{Caller, Listener, Policy};
use serde_json::{Value, json};

use crate::support::{denials, prepared, reported, row, world};

const CONNECT: &str = "import socket, sys\n\
    try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)\n\
    except OSError: pass";

/// Kind, host, hint and program of each row.
fn rows(report: &Value) -> Vec<[&str; 4]> {
    let all = denials(report).iter();
    all.map(|row| ["kind", "host", "hint", "program"].map(|key| row[key].as_str().unwrap_or_default()))
        .collect()
}

fn asked(caller: Caller, policy: &str, host: &str, port: &str) -> Value {
    let world = world(caller);
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-I", "-c", CONNECT, host, port]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    report
}

/// An allowed host at another port: nothing listens there, and the companion never hears of it.
pub(crate) fn other_ports(caller: Caller) {
    for (allow, host, port, hint) in [
        ("other.example", "other.example", "8443", "other.example:8443"),
        ("other.example:8443", "other.example", "443", "other.example"),
        ("*.other.example", "a.other.example", "8443", "a.other.example:8443"),
        ("192.0.2.1", "192.0.2.1", "8080", "192.0.2.1:8080"),
    ] {
        let policy = format!("extends: workspace\nnetwork: {{allow: [\"{allow}\"]}}\n");
        let report = asked(caller, &policy, host, port);
        let (host, hint) = (format!("{host}:{port}"), format!("network: {{allow: [\"{hint}\"]}}"));
        assert_eq!(
            rows(&report),
            [["network", &host, &hint, "python3"]],
            "{allow}: {report:#}"
        );
    }
}

/// Refused by the companion, which knows the rules and not where they were written.
pub(crate) fn places(caller: Caller) {
    let policy = "extends: workspace\nnetwork:\n  allow: [\"*.other.example\"]\n  deny: [\"bad.other.example\"]\n";
    for (host, clause, line) in [
        ("another.example", "network.allow does not name it (", 3),
        ("bad.other.example", "network.deny `bad.other.example` (", 4),
    ] {
        let report = asked(caller, policy, host, "443");
        let found = row(&report, "network", host);
        let rule = found["rule"].as_str().unwrap_or_default();
        let place = format!("policy.yml:{line})");
        assert!(rule.starts_with(clause) && rule.ends_with(&place), "{found}");
    }
}

/// A connection can be tried there.
pub(crate) fn port_zero(caller: Caller) {
    for policy in [
        "extends: workspace\n",
        "extends: workspace\nnetwork: {allow: [other.example]}\n",
    ] {
        let report = asked(caller, policy, "192.0.2.1", "0");
        let hint = "port 0 cannot be allowed";
        assert_eq!(
            rows(&report),
            [["network", "192.0.2.1:0", hint, "python3"]],
            "{report:#}"
        );
    }
}

/// A server of the command's own at such an address is no refusal.
pub(crate) fn own_servers(caller: Caller) {
    let world = world(caller);
    let policy = "extends: workspace\nnetwork: {allow: [\"other.example\"]}\n";
    let serve = "import socket\ns = socket.socket(); s.bind(('0.0.0.0', 8443)); s.listen()\n\
                 socket.create_connection(('other.example', 8443), 3)\n\
                 socket.create_connection(('127.0.0.1', 8443), 3)";
    let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-I", "-c", serve]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(
        (outcome.code(), &report["denials"]),
        (Some(0), &json!([])),
        "{}",
        outcome.describe()
    );
}

/// Where nothing leads out, who looks up a name is told of by the name.
pub(crate) fn names(caller: Caller) {
    let report = asked(caller, "extends: workspace\n", "api.example.com", "443");
    let allowed = "network: {allow: [\"api.example.com\"]}";
    assert_eq!(
        rows(&report),
        [["network", "api.example.com", allowed, "python3"]],
        "{report:#}"
    );
    assert_eq!(
        (&report["egress"], &report["layers"]["network"]),
        (&json!([]), &json!("loopback only"))
    );
    // A name that the C library would not ask for, and no policy can write.
    let world = world(caller);
    let ask = "import socket\nq = bytes([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 2]) + b'-x' + bytes([0, 0, 1, 0, 1])\n\
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(q, ('127.0.0.53', 53))";
    let run = prepared(&world, Policy::Named("workspace"), &[]).command(["python3", "-I", "-c", ask]);
    let (_, report) = reported(&world, run);
    let hint = &row(&report, "network", "-x")["hint"];
    assert_eq!(hint, "no policy can name this host", "{report:#}");
    // With names allowed, the resolver of the run refuses it; no port is known either.
    let report = asked(
        caller,
        "extends: workspace\nnetwork: {allow: [\"a.example\"]}\n",
        "api.example.com",
        "443",
    );
    assert_eq!(rows(&report)[0][1..3], ["api.example.com", allowed], "{report:#}");
    assert_eq!(report["egress"][0]["port"], 0, "{report:#}");
}

/// Datagrams whose address stands in a header.
pub(crate) fn datagrams(caller: Caller) {
    let world = world(caller);
    let send = "import socket\ns = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
                try: s.sendmsg([b'x'], [], 0, ('192.0.2.9', 9))\nexcept OSError: pass\n\
                a, b = socket.socketpair(socket.AF_UNIX); a.sendmsg([b'x']); b.recv(1)";
    let run = prepared(&world, Policy::Named("restricted"), &[]).command(["python3", "-I", "-c", send]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(
        rows(&report),
        [["network", "192.0.2.9:9", ONLY_TCP, "python3"]],
        "{report:#}"
    );
}

const ONLY_TCP: &str = "no policy key allows datagrams: use TCP";

/// No clause lets a datagram out, and whoever allows the address for TCP is told again.
pub(crate) fn only_tcp(caller: Caller) {
    let send = "import socket\ndef attempt(call, *args):\n try: call(*args)\n except OSError: pass\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); attempt(s.sendto, b'x', ('192.0.2.9', 9))\n\
        c = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); c.bind(('127.0.0.1', 0))\n\
        attempt(c.sendto, b'x', ('127.0.0.1', c.getsockname()[1])); attempt(c.connect, ('192.0.2.8', 8))";
    let ask = |policy: &str, more: &str| {
        let world = world(caller);
        let script = format!("{send}\n{more}");
        let run = prepared(&world, Policy::Yaml(policy.into()), &[]).command(["python3", "-I", "-c", &script]);
        let (outcome, report) = reported(&world, run);
        assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
        report
    };
    let [sent, connected] = ["192.0.2.9:9", "192.0.2.8:8"].map(|to| ["network", to, ONLY_TCP, "python3"]);
    let stream = "attempt(socket.create_connection, ('192.0.2.9', 9), 1)";
    let by_tcp = [
        "network",
        "192.0.2.9:9",
        "network: {allow: [\"192.0.2.9:9\"]}",
        "python3",
    ];
    let report = ask("extends: workspace\n", stream);
    assert_eq!(rows(&report), [sent, connected, by_tcp], "{report:#}");
    let report = ask("extends: workspace\nnetwork: {allow: [\"192.0.2.9:9\"]}\n", "");
    assert_eq!(rows(&report), [sent, connected], "{report:#}");
    let rule = denials(&report)[0]["rule"].as_str().unwrap_or_default();
    assert!(rule.ends_with(", but only TCP leads out"), "{rule}");
}

/// A name that is known explains the connection to the resolver that it was asked on, and nothing else.
pub(crate) fn beside_names(caller: Caller) {
    let world = world(caller);
    let script = "import socket\ndef attempt(call, *args):\n try: call(*args)\n except OSError: pass\n\
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
        attempt(s.sendto, b'x', ('192.0.2.53', 53))\n\
        attempt(socket.create_connection, ('192.0.2.54', 53), 1)\n\
        attempt(socket.getaddrinfo, 'one.example', 80); attempt(socket.getaddrinfo, 'two.example', 80)\n\
        q = bytes(5) + b'\\x01' + bytes(6) + b'\\x05three\\x07example\\0\\0\\x01\\0\\x01'\n\
        attempt(s.sendto, q, ('192.0.2.55', 53)); attempt(s.sendto, q, ('127.0.0.53', 53))";
    let run = prepared(&world, Policy::Named("workspace"), &[]).command(["python3", "-I", "-c", script]);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let mut hosts: Vec<&str> = rows(&report).iter().map(|row| row[1]).collect();
    hosts.sort_unstable();
    let all = [
        "192.0.2.53:53",
        "192.0.2.54:53",
        "192.0.2.55:53",
        "one.example",
        "three.example",
        "two.example",
    ];
    assert_eq!(hosts, all, "{report:#}");
}

/// Inside, the sandbox's own loopback is asked, where nobody listens.
pub(crate) fn host_servers(caller: Caller) {
    let (four, six) = (Listener::tcp(), Listener::tcp6());
    let world = world(caller);
    let script = "import socket, sys\ndef attempt(*to):\n try: socket.create_connection(to, 3)\n except OSError: pass\n\
        four, six = map(int, sys.argv[1:])\nattempt('127.0.0.1', four); attempt('::1', six)\n\
        free = socket.socket(); free.bind(('127.0.0.1', 0)); free.listen(); attempt(*free.getsockname())\n\
        own = socket.socket(); own.listen(); attempt('127.0.0.1', own.getsockname()[1])\n\
        gone = socket.socket(); gone.listen(); port = gone.getsockname()[1]; gone.close(); attempt('127.0.0.1', port)\n\
        same = socket.socket(); same.bind(('127.0.0.1', four)); same.listen(); attempt('127.0.0.1', four)";
    let ports = [four.port().to_string(), six.port().to_string()];
    let command = ["python3", "-I", "-c", script, &ports[0], &ports[1]];
    let run = prepared(&world, Policy::Named("workspace"), &[]).command(command);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    let hosts = [format!("127.0.0.1:{}", ports[0]), format!("[::1]:{}", ports[1])];
    let hints = hosts.each_ref().map(|host| format!("network: {{allow: [\"{host}\"]}}"));
    let expected = [0, 1].map(|n: usize| ["network", &hosts[n], &hints[n], "python3"]);
    assert_eq!(rows(&report), expected, "{report:#}");
    // With what the hints say, each is reached.
    let policy = format!(
        "extends: workspace\nnetwork: {{allow: [\"{}\", \"{}\"]}}\n",
        hosts[0], hosts[1]
    );
    let reach = "import socket, sys\nsocket.create_connection(('127.0.0.1', int(sys.argv[1])), 3)\n\
                 socket.create_connection(('::1', int(sys.argv[2])), 3)";
    let command = ["python3", "-I", "-c", reach, &ports[0], &ports[1]];
    let run = prepared(&world, Policy::Yaml(policy), &[]).command(command);
    let (outcome, report) = reported(&world, run);
    assert_eq!(outcome.code(), Some(0), "{}", outcome.describe());
    assert_eq!(report["denials"], json!([]));
}
