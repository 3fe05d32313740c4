use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::testing::{FakeHost, file, resolved, resolved_on};

fn paths(policy: &ResolvedPolicy) -> Vec<&str> {
    policy
        .grants
        .iter()
        .map(|grant| grant.path.as_path().to_str().unwrap())
        .collect()
}

#[test]
fn paths_count_from_the_project_the_home_and_the_root() {
    let policy = resolved("fs: {read: [src/, ../up, '~', ~/x/../y, /a//b/./c/, a/../../../../../etc], write: []}");
    assert_eq!(
        paths(&policy),
        ["/a/b/c", "/etc", "/home/ann", "/workshop/project/src", "/workshop/up"]
    );
}

#[test]
fn symlinks_are_followed_and_remembered() {
    let host = FakeHost::new().link("/opt/data", "../srv/real");
    let policy = resolved_on(&host, "fs: {read: [/opt/data/x], write: []}").unwrap();
    assert_eq!(paths(&policy), ["/srv/real/x"]);
    assert_eq!(policy.grants[0].written, "/opt/data/x");
    assert_eq!(policy.grants[0].links.len(), 1);
}

#[test]
fn a_link_in_the_project_does_not_choose_what_is_granted() {
    let host = FakeHost::new().link("/workshop/project/data", "../real");
    for written in ["data/x", "/workshop/project/data"] {
        let error = resolved_on(&host, &format!("fs: {{read: [{written}], write: []}}")).unwrap_err();
        let expected =
            format!("`fs.read`: the path `{written}` leads out of the project through a symbolic link in it");
        assert_eq!(error.to_string(), expected);
    }
    let preferred = "fs: {read: [], write: [{path: data, need: preferred}]}";
    assert_eq!(resolved_on(&host, preferred).unwrap().grants, vec![]);
}

#[test]
fn a_missing_path_is_kept_and_marked() {
    let policy = resolved_on(&FakeHost::new().without("/workshop/project/out"), "fs: {write: [out]}").unwrap();
    let out = policy.grants.iter().find(|grant| grant.written == "out").unwrap();
    assert!(!out.exists);
    assert_eq!(out.need, Need::Required);
}

#[test]
fn without_a_home_a_required_path_refuses_and_a_preferred_one_is_named() {
    let host = FakeHost::new().homeless();
    let error = resolved_on(&host, "fs:\n  read: [~/x]\n").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`fs.read`: `~/x` needs a home directory, and HOME is not set to an absolute path"
    );
    assert_eq!(error.origin().line, 2);
    assert!(resolved_on(&host, "fs: {deny: ['~/*.key']}").is_err());
    let policy = resolved_on(&host, "fs: {read: [{path: '~', need: preferred}], write: []}").unwrap();
    assert_eq!(policy.grants, vec![]);
    assert_eq!(policy.left_out[0].written, "~");
    let relative = FakeHost {
        home: Some("rel".into()),
        ..FakeHost::new()
    };
    assert!(resolved_on(&relative, "fs: {read: [~/x]}").is_err());
}

#[test]
fn a_project_and_a_home_need_not_be_utf8() {
    let odd = PathBuf::from(OsStr::from_bytes(b"/w/\xff \n'"));
    let host = FakeHost {
        project: odd.clone(),
        home: Some(odd.join("h")),
        ..FakeHost::new()
    };
    let policy = resolved_on(&host, "fs: {read: [., ~/x], write: [], deny: ['*.pem', s]}").unwrap();
    assert_eq!(policy.grants[0].path.as_path(), odd);
    assert_eq!(policy.deny[0].target, DenyTarget::Literal(HostPath(odd.join("s"))));
    assert_eq!(
        policy.deny[1].target,
        DenyTarget::Glob {
            base: HostPath(odd),
            pattern: "*.pem".into()
        }
    );
    assert_eq!(policy.sha256().len(), 64);
}

#[test]
fn a_deny_is_a_path_or_a_base_and_a_pattern() {
    let host = FakeHost::new().link("/workshop/project/keys", "/srv/keys");
    let text = r"fs: {deny: [keys, 'keys/**/*.pem', '**/.env/', '~/{a,b}', 'a\*b', '*.key', '/x/[ab]/c']}";
    let policy = resolved_on(&host, text).unwrap();
    let targets: Vec<String> = policy
        .deny
        .iter()
        .map(|deny| match &deny.target {
            DenyTarget::Literal(path) => path.as_path().display().to_string(),
            DenyTarget::Glob { base, pattern } => format!("{} | {pattern}", base.as_path().display()),
        })
        .collect();
    assert_eq!(
        targets,
        [
            "/srv/keys",
            "/workshop/project/a*b",
            "/home/ann | {a,b}",
            "/workshop/project | **/.env",
            "/workshop/project | *.key",
            "/x | [ab]/c",
        ]
    );
}

#[test]
fn inherit_does_not_pretend_to_enforce() {
    for (text, clause, at) in [
        ("mode: inherit\nfs: {deny: [/a]}", "fs.deny", (2, 13)),
        ("mode: inherit\nfs: {write: [.]}", "fs", (2, 13)),
        ("mode: inherit\nfs: {read: [.]}", "fs.read", (2, 12)),
        ("extends: inherit\nfs: {read: []}", "fs.read", (2, 12)),
        ("mode: inherit\nfs:\n  read: [.]\n  write: []", "fs", (4, 10)),
        ("mode: inherit\nnetwork: false", "network", (2, 10)),
        ("mode: inherit\nisolation: landlock", "isolation", (2, 12)),
        ("extends: inherit\nisolation: namespaces", "isolation", (2, 12)),
        ("extends: restricted\nmode: inherit", "fs", (2, 7)),
    ] {
        let error = resolved_on(&FakeHost::new(), text).unwrap_err();
        let PolicyError::InheritCannotEnforce {
            at: found,
            clause: named,
        } = &error
        else {
            panic!("{text}: {error:?}");
        };
        assert_eq!((*named, &found.source), (clause, &file()), "{text}");
        assert_eq!((found.line, found.column), at, "{text}");
    }
    assert_eq!(resolved("mode: inherit\nfs: {read: [/, .]}").mode, Mode::Inherit);
    let policy = resolved("mode: inherit\nenv: {allow: [PATH]}\nmax_runtime_mins: none");
    assert_eq!((policy.env.inherit_all, policy.max_runtime), (false, None));
}

#[test]
fn no_name_allowed_is_no_network() {
    assert_eq!(resolved("network: {allow: [], deny: [x]}").network, Network::Off);
    assert_eq!(resolved("network: {deny: [x]}").network, Network::Off);
}

#[test]
fn every_clause_knows_where_it_was_written() {
    let policy = resolved(
        "env:\n  allow: [{name: A, why: because}]\n  set: {B: x}\nnetwork:\n  allow: [H.org]\nunprotect: [.envrc]\n",
    );
    let lines = |key: &str| policy.origins[key].to_string();
    assert_eq!(lines("env.allow.A"), "policy.yml:2");
    assert_eq!(lines("env.set.B"), "policy.yml:3");
    assert_eq!(lines("network.allow.h.org"), "policy.yml:5");
    assert_eq!(lines("unprotect..envrc"), "policy.yml:6");
    assert_eq!(policy.whys["env.allow.A"], "because");
}
