//! Connections, in a small internet of the test's own.

use glee_tests::{Caller, Policy, Run, World};
use serde_json::{Value, json};

use crate::ask::explain;
use crate::chance::{Chance, rounds, seed};

const PROBE: &str = include_str!("probe_net.py");
const COMMAND: [&str; 5] = ["/usr/bin/python3", "-I", "-S", "-c", PROBE];

/// Names that lead to public addresses, and addresses of every sort. The first of them are in the rules.
const HOSTS: &[&str] = &[
    "allowed.test",
    "other.test",
    "sub.allowed.test",
    "denied.allowed.test",
    "203.0.113.10",
    "203.0.113.20",
    "203.0.113.1",
    "10.0.0.5",
    "192.168.7.7",
    "169.254.169.254",
    "100.64.0.7",
    "2001:db8:1::10",
    "fd00:7::7",
    "localhost",
    "127.0.0.1",
    "127.0.0.2",
    "0.0.0.0",
    "::1",
];
const PORTS: &[u16] = &[80, 443, 8080, 7777];

const ALLOW: &[&str] = &[
    "allowed.test",
    "*.allowed.test",
    "other.test:8080",
    "203.0.113.0/24",
    "203.0.113.10:7777",
    "203.0.113.1:80",
    "10.0.0.0/8",
    "10.0.0.5:8080",
    "192.168.7.7",
    "169.254.0.0/16",
    "169.254.169.254:80",
    "0.0.0.0/0",
    "::/0",
    "[2001:db8:1::10]:443",
    "fd00:7::7",
    "127.0.0.1:8080",
    "127.0.0.2:7777",
    "[::1]:7777",
    "127.0.0.0/8:80",
];
const DENY: &[&str] = &[
    "denied.allowed.test",
    "203.0.113.20",
    "10.0.0.0/8",
    "allowed.test:8080",
    "*.allowed.test:443",
];

/// Names that lead to an address which may be denied.
const LEADS: &[(&str, &str)] = &[("other.test", "203.0.113.20")];

pub(crate) fn prove(caller: Caller) {
    let (seed, count) = (seed(), rounds(4, 16));
    let world = World::new(caller);
    world.join_lab();
    let (mut asked, mut wrong) = (0, Vec::new());
    for round in 0..count {
        let mut chance = Chance::new(seed, round);
        let quote = |items: Vec<&str>| {
            items
                .into_iter()
                .map(|item| format!("\"{item}\""))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut chosen = Vec::new();
        let network = match chance.below(8) {
            0 => "false".to_owned(),
            1 => "true".to_owned(),
            _ => {
                let allow = quote(chance.some(ALLOW, 6));
                chosen = chance.some(DENY, 2);
                format!("{{allow: [{allow}], deny: [{}]}}", quote(chosen.clone()))
            }
        };
        let yaml = format!("extends: workspace\nnetwork: {network}\n");
        let policy = world.file("@OUT/../policy.yml", &yaml);
        let targets: Vec<(&str, u16)> = (0..12)
            .map(|_| (chance.one(HOSTS), PORTS[chance.below(PORTS.len())]))
            .collect();
        let flags: Vec<String> = targets
            .iter()
            .flat_map(|(host, port)| {
                let host = if host.contains(':') {
                    format!("[{host}]")
                } else {
                    (*host).to_owned()
                };
                ["--net".to_owned(), format!("{host}:{port}")]
            })
            .collect();
        let said = explain(&world, &policy, &flags, &COMMAND).expect("the policy can be used");
        let questions: Vec<Value> = targets.iter().map(|(host, port)| json!([host, port])).collect();
        let outcome = Run::sandboxed(&world, Policy::Yaml(yaml.clone()))
            .flags(["--no-denials"])
            .raw_command(COMMAND.map(Into::into))
            .stdin(Value::from(questions).to_string())
            .go();
        let seen: Vec<String> =
            serde_json::from_str(&outcome.out()).unwrap_or_else(|e| panic!("{e}: {}", outcome.describe()));
        assert_eq!(seen.len(), targets.len());
        asked += seen.len();
        for ((target, answer), happened) in targets.iter().zip(&said).zip(&seen) {
            // No name is looked up to answer: that its address may be denied is said beside.
            let of_address = LEADS.iter().any(|(name, address)| {
                target.0 == *name && chosen.contains(address) && answer.all.to_string().contains("that is not denied")
            });
            if happened
                != if answer.allowed && !of_address {
                    "reached"
                } else {
                    "refused"
                }
            {
                wrong.push(format!(
                    "round {round}: {target:?}: {happened}, but said {}\n{yaml}",
                    answer.all
                ));
            }
        }
    }
    println!(
        "as {}: {asked} connections, {} disagreements (seed {seed})",
        caller.name(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong.join("\n"));
}

/// What a hint says of loopback can be followed; a name of it leads where the address does.
pub(crate) fn prove_loopback(caller: Caller) {
    let world = World::new(caller);
    let ask = |network: &str, target: &str| {
        let policy = world.file(
            "@OUT/../policy.yml",
            &format!("extends: workspace\nnetwork: {network}\n"),
        );
        let flags = ["--net".to_owned(), target.to_owned()];
        explain(&world, &policy, &flags, &["/bin/true"]).map(|mut said| said.remove(0))
    };
    for target in [
        "localhost:38001",
        "127.0.0.1:38001",
        "0.0.0.0:38001",
        "127.0.0.2:38001",
        "[::1]:38001",
    ] {
        for before in ["false", "{allow: [\"allowed.test\"]}", "{allow: [\"127.0.0.9:38001\"]}"] {
            let said = ask(before, target).expect("the policy can be used");
            let hint = said.hint.as_deref().and_then(|hint| hint.strip_prefix("network: "));
            let hint = hint.unwrap_or_else(|| panic!("{target} under {before}: {}", said.all));
            let after = ask(hint, target).unwrap_or_else(|| panic!("{target}: `{hint}` is refused"));
            assert!(!said.allowed && after.allowed, "{target}, `{hint}`: {}", after.all);
        }
    }
}
