use super::*;
use crate::testing::resolved;

fn sentences(asked: &str, base: &str) -> Vec<String> {
    exceeds(&resolved(asked), &resolved(base))
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn what_is_asked_for_beyond_the_base_is_said_in_sentences() {
    let asked = "fs:\n  read: [., ~/.ssh]\n  write: [.]\nnetwork: true\nenv:\n  allow: [PATH, AWS_SECRET]\n  set: {A: b}\nmax_runtime_mins: 60\nlimits: {cpus: none, pids: 100, memory_mb: 9000}\nisolation: landlock\nimage: evil\nmodel_endpoint: https://evil.org\nkey_command: [evil, now]\nauth: mount\nunprotect: [.envrc]\n";
    assert_eq!(
        sentences(asked, "{}"),
        [
            "fs.write `.` (policy.yml:3)",
            "network: true (policy.yml:4)",
            "fs.read `~/.ssh` (policy.yml:2)",
            "env AWS_SECRET (policy.yml:6)",
            "env.set A (policy.yml:7)",
            "max_runtime_mins 60 (policy.yml:8; policy.yml: 10)",
            "limits.memory_mb 9000 (policy.yml:9; policy.yml: 4096)",
            "limits.cpus none (policy.yml:9; policy.yml: 2)",
            "isolation: landlock (policy.yml:10; policy.yml: namespaces)",
            "image: evil (policy.yml:11; policy.yml: null)",
            "model_endpoint: https://evil.org (policy.yml:12; policy.yml: null)",
            "key_command: evil now (policy.yml:13; policy.yml: null)",
            "auth: mount (policy.yml:14; policy.yml: broker)",
            "unprotect `.envrc` (policy.yml:15)",
        ]
    );
}

#[test]
fn only_what_a_built_in_profile_lists_of_the_home_for_reading_is_its_own_word() {
    let asked = resolved("extends: workspace\nfs: {read: [., ~/.ssh]}\n");
    let named = |excess: &Excess| excess.read_by_profile().map(str::to_owned);
    assert!(
        exceeds(&asked, &resolved("{}"))
            .iter()
            .all(|excess| named(excess).is_none())
    );
    let list = exceeds(&resolved("extends: workspace\nnetwork: true\n"), &resolved("{}"));
    let own: Vec<&Excess> = list.iter().filter(|excess| named(excess).is_some()).collect();
    assert!(
        own.iter().all(|excess| excess.clause.starts_with("fs.read `~/")),
        "{own:?}"
    );
    assert!(own.len() > 10, "{own:?}");
    let first: Vec<&str> = list.iter().take(2).map(|excess| excess.clause.as_str()).collect();
    assert_eq!(first, ["fs.write `.`", "network: true"]);
}

#[test]
fn a_narrower_policy_exceeds_nothing() {
    for text in [
        "{}",
        "fs: {read: [src], write: []}",
        "fs: {deny: ['**/.env']}",
        "max_runtime_mins: 5\nlimits: {pids: 4}",
        "env: {allow: []}",
    ] {
        assert_eq!(sentences(text, "{}"), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_deny_that_is_left_out_is_named() {
    assert_eq!(
        sentences("{}", "fs: {deny: [secrets]}"),
        ["without fs.deny `secrets` (policy.yml has it, policy.yml:1)"]
    );
    assert_eq!(
        sentences("fs: {deny: [.]}", "fs: {deny: [secrets, '**/.env']}"),
        Vec::<String>::new()
    );
    assert_eq!(
        sentences("network: {allow: [a.h, x]}", "network: {allow: ['*.h'], deny: [b.h]}"),
        [
            "network.allow `x` (policy.yml:1)",
            "without network.deny `b.h` (policy.yml has it, policy.yml:1)"
        ]
    );
}
