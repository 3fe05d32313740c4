use std::os::unix::ffi::OsStringExt;

use super::*;
use crate::testing::{FakeHost, resolved};

fn flags() -> Flags {
    Flags::none("/workshop/project/sub".into())
}

fn widened(text: &str, flags: &Flags) -> Result<ResolvedPolicy, PolicyError> {
    let mut policy = resolved(text);
    widen(&mut policy, flags, &FakeHost::new()).map(|()| policy)
}

#[test]
fn paths_are_added_relative_to_where_the_person_is() {
    let asked = Flags {
        read: vec!["x".into(), "~/y".into()],
        write: vec!["../out".into(), "/w".into()],
        ..flags()
    };
    let policy = widened("fs: {read: [], write: []}", &asked).unwrap();
    let grants: Vec<_> = policy
        .grants
        .iter()
        .map(|g| {
            (
                g.path.as_path().to_str().unwrap(),
                g.access.word(),
                g.origin.to_string(),
            )
        })
        .collect();
    assert_eq!(
        grants,
        [
            ("/home/ann/y", "read", "--read".to_owned()),
            ("/w", "write", "--write".to_owned()),
            ("/workshop/project/out", "write", "--write".to_owned()),
            ("/workshop/project/sub/x", "read", "--read".to_owned()),
        ]
    );
}

#[test]
fn names_variables_and_time_are_added() {
    let asked = Flags {
        net: vec!["Example.org:443".into()],
        env: vec!["TOKEN".into(), "CI=a=b".into(), "LC_*".into(), "E=".into()],
        timeout: Some(Duration::from_secs(3600)),
        ..flags()
    };
    let policy = widened("env: {set: {TOKEN: fake}}", &asked).unwrap();
    assert_eq!(
        policy.network,
        Network::Names {
            allow: ["example.org:443".to_owned()].into(),
            deny: Default::default()
        }
    );
    assert_eq!(policy.env.fate(b"TOKEN"), crate::env::EnvFate::Passes);
    assert_eq!(policy.env.fate(b"CI"), crate::env::EnvFate::Set("a=b"));
    assert_eq!(policy.env.fate(b"E"), crate::env::EnvFate::Set(""));
    assert_eq!(policy.max_runtime, Some(Duration::from_secs(3600)));
    assert_eq!(policy.origins["env.allow.TOKEN"], Origin::flag("--env"));
    let host = widened("network: true", &asked).unwrap();
    assert_eq!(host.network, Network::Host);
}

#[test]
fn injection_names_and_nonsense_are_refused_and_nothing_changes() {
    for (text, words) in [
        (
            "LD_PRELOAD=x",
            "`--env`: `LD_PRELOAD` makes programs load or run code, and never passes",
        ),
        (
            "BASH_ENV",
            "`--env`: `BASH_ENV` makes programs load or run code, and never passes",
        ),
        (
            "LD_*",
            "`--env`: `LD_*` makes programs load or run code, and never passes",
        ),
        (
            "SSH_AUTH_SOCK",
            "`--env`: `SSH_AUTH_SOCK` leads to the SSH agent, which signs with the caller's keys, and never passes",
        ),
        ("=x", "`--env`: `` is not a name of an environment variable"),
        ("LC_*=x", "`--env`: `LC_*` has a `*` where none may stand"),
        ("*", "`--env`: `*` has a `*` where none may stand"),
    ] {
        let mut policy = resolved("{}");
        let before = policy.clone();
        let asked = Flags {
            env: vec!["OK".into(), text.into()],
            timeout: Some(Duration::from_secs(1)),
            ..flags()
        };
        assert_eq!(
            widen(&mut policy, &asked, &FakeHost::new()).unwrap_err().to_string(),
            words
        );
        assert_eq!(policy, before);
    }
    let not_text = Flags {
        env: vec![OsString::from_vec(b"A=\xff".to_vec())],
        ..flags()
    };
    assert!(matches!(widened("{}", &not_text), Err(PolicyError::BadEnvValue { .. })));
    let bad_net = Flags {
        net: vec!["http://x".into()],
        ..flags()
    };
    assert!(matches!(widened("{}", &bad_net), Err(PolicyError::BadName { .. })));
    let empty = Flags {
        read: vec!["".into()],
        ..flags()
    };
    assert!(matches!(widened("{}", &empty), Err(PolicyError::BadPath { .. })));
}

#[test]
fn a_flag_that_a_deny_makes_void_is_an_error() {
    let text = "fs:\n  deny: ['**/.env']\nnetwork:\n  allow: [a]\n  deny: ['*.bad']\n";
    let read = Flags {
        read: vec![".env".into()],
        ..flags()
    };
    assert_eq!(
        widened(text, &read).unwrap_err().to_string(),
        "`--read .env` is denied by `fs.deny **/.env` (policy.yml:2)"
    );
    let net = Flags {
        net: vec!["x.bad:1".into()],
        ..flags()
    };
    assert_eq!(
        widened(text, &net).unwrap_err().to_string(),
        "`--net x.bad:1` is denied by `network.deny *.bad` (policy.yml:5)"
    );
}

#[test]
fn a_path_that_is_granted_by_name_below_another_grant_stays_named_if_both_name_it() {
    let asked = Flags {
        read: vec!["/so".into(), "/so/sock".into()],
        ..flags()
    };
    let policy = widened("{}", &asked).unwrap();
    let sock = std::path::Path::new("/so/sock");
    assert!(policy.names(sock) && !policy.grants.iter().any(|grant| grant.path.as_path() == sock));
    let tree = widened(
        "{}",
        &Flags {
            read: vec!["/so".into()],
            ..flags()
        },
    )
    .unwrap();
    assert!(!crate::narrow(&policy, &tree).names(sock));
    assert!(crate::narrow(&policy, &policy).names(sock));
}
