use super::*;
use crate::decide::Question;
use crate::layer::{NoLibrary, flatten};
use crate::resolved::{FsAccess, Limits, Mode, Need, Network, ResolvedPolicy};
use crate::testing::FakeHost;
use crate::{examples, exceeds, narrow, parse, resolve};

fn profile(name: &str) -> crate::Policy {
    let text = text(name).unwrap();
    parse(&source(name), text).unwrap_or_else(|error| panic!("{}", error.render(Some(text))))
}

fn on(host: &FakeHost, name: &str) -> ResolvedPolicy {
    let text = text(name).unwrap();
    resolve(&profile(name), &NoLibrary, host).unwrap_or_else(|error| panic!("{}", error.render(Some(text))))
}

#[test]
fn the_examples_of_every_profile_hold() {
    let host = FakeHost::new();
    for name in names() {
        let policy = profile(name);
        assert!(policy.examples.len() >= 5, "{name} proves too little");
        assert_eq!(examples::check(&policy, &on(&host, name), &host), vec![], "{name}");
    }
}

#[test]
fn every_grant_and_every_profile_says_why() {
    for name in names() {
        let policy = profile(name);
        assert!(policy.why.is_some(), "{name}");
        for rule in policy
            .read
            .iter()
            .flatten()
            .chain(policy.write.iter().flatten())
            .chain(&policy.deny)
        {
            assert!(rule.why.is_some(), "{name}: {}", rule.written);
        }
        for clause in policy.env_allow.iter().flatten() {
            assert!(clause.why.is_some(), "{name}: {}", clause.value);
        }
    }
}

#[test]
fn restricted_is_what_the_contract_says() {
    let policy = on(&FakeHost::new(), "restricted");
    let grants: Vec<_> = policy
        .grants
        .iter()
        .map(|g| (g.path.as_path().to_str().unwrap(), g.access, g.need))
        .collect();
    assert_eq!(
        grants,
        [
            ("/workshop/project", FsAccess::Read, Need::Required),
            (
                "/workshop/project/.glee/agent_sessions",
                FsAccess::ReadWrite,
                Need::Preferred
            ),
            (
                "/workshop/project/.glee/stream_logs",
                FsAccess::ReadWrite,
                Need::Preferred
            ),
        ]
    );
    assert_eq!(policy.deny, vec![]);
    assert_eq!(policy.network, Network::Off);
    assert_eq!(
        policy.env.allow.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["HOME", "LANG", "PATH"]
    );
    assert_eq!(policy.max_runtime.unwrap().as_secs(), 600);
    let limits = Limits {
        memory_mb: Some(4096),
        pids: Some(512),
        cpu_millis: Some(2000),
        open_files: Some(4096),
        file_size_mb: Some(1024),
        disk_mb: Some(2048),
        output_kb: Some(100),
    };
    assert_eq!(policy.limits, limits);
    assert_eq!(
        policy.origins["max_runtime_mins"].to_string().split(':').next(),
        Some("built-in restricted.yml")
    );
}

#[test]
fn workspace_is_restricted_with_the_project_writable_and_toolchains() {
    let (workspace, restricted) = (on(&FakeHost::new(), "workspace"), on(&FakeHost::new(), "restricted"));
    assert_eq!(
        exceeds(&restricted, &workspace)
            .iter()
            .filter(|e| !e.clause.starts_with("without"))
            .count(),
        0
    );
    assert_eq!(
        (workspace.network, workspace.limits, workspace.max_runtime),
        (Network::Off, restricted.limits, restricted.max_runtime)
    );
    let writable: Vec<_> = workspace
        .grants
        .iter()
        .filter(|g| g.access == FsAccess::ReadWrite)
        .map(|g| g.written.as_str())
        .collect();
    assert_eq!(writable, [".", ".glee/agent_sessions/", ".glee/stream_logs/"]);
}

#[test]
fn inherit_gives_everything_but_no_injection_and_not_without_a_deadline() {
    let policy = on(&FakeHost::new(), "inherit");
    assert_eq!(policy.mode, Mode::Inherit);
    assert_eq!(policy.network, Network::Host);
    assert!(policy.env.inherit_all);
    assert_eq!(policy.max_runtime.unwrap().as_secs(), 600);
    assert_eq!(policy.limits, Limits::unbounded());
    for name in names() {
        let other = on(&FakeHost::new(), name);
        assert_eq!(narrow(&policy, &other).meaning(), other.meaning(), "{name}");
    }
}

#[test]
fn without_a_home_every_profile_still_resolves() {
    let host = FakeHost::new().homeless();
    for name in names() {
        let policy = on(&host, name);
        assert!(
            policy
                .decide(&Question::Path {
                    path: &host.project,
                    access: FsAccess::Read
                })
                .allowed,
            "{name}"
        );
    }
    assert!(
        on(&host, "workspace")
            .left_out
            .iter()
            .any(|left| left.written == "~/.cargo")
    );
}

#[test]
fn a_profile_without_its_examples_is_otherwise_the_same() {
    for name in names() {
        let short = parse(&source(name), rules(name).unwrap()).unwrap();
        assert_eq!(
            short,
            crate::Policy {
                examples: vec![],
                ..profile(name)
            }
        );
    }
}

#[test]
fn the_roots_say_every_key_themselves() {
    for name in [RESTRICTED, INHERIT] {
        assert_eq!(flatten(&profile(name), &NoLibrary).unwrap(), profile(name));
    }
}

#[test]
fn what_was_read_at_build_time_is_what_the_text_says() {
    for name in names() {
        let source = source(name);
        let text = crate::yaml::read(&source, rules(name).unwrap()).unwrap();
        let tokens = tokens(name).unwrap_or_else(|| panic!("{name} is not plain enough to be read at build time"));
        assert_eq!(crate::yaml::assemble(&source, tokens).unwrap(), text, "{name}");
    }
}
