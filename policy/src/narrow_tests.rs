use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::decide::Question;
use crate::env::{EnvFate, EnvPattern};
use crate::exceeds::exceeds;
use crate::names::tests::pattern;
use crate::origin::Origin;
use crate::resolved::{Auth, Deny, DenyTarget, EnvRules, FsAccess, HostPath, Isolation, Mode, Need, Runtime};
use crate::testing::resolved;

const PATHS: &[&str] = &[
    "/",
    "/p",
    "/p/a",
    "/p/a/b",
    "/p/.glee",
    "/p/.glee/s",
    "/p/.glee/s/t",
    "/p/a/.glee/x",
    "/q",
    "/q/a",
    "/pa",
    "/p/.env",
];
const VARIABLES: &[&str] = &["A_B", "A_B_C", "A_C", "PATH", "LD_PRELOAD", "X", "GIT_SSH", "GIT_DIR"];

fn host_path(text: &str) -> HostPath {
    HostPath::new(PathBuf::from(text)).unwrap()
}

fn grant() -> impl Strategy<Value = Grant> {
    let access = prop::sample::select(vec![FsAccess::Read, FsAccess::ReadWrite]);
    let need = prop::sample::select(vec![Need::Preferred, Need::Required]);
    (prop::sample::select(PATHS), access, need, any::<bool>()).prop_map(|(path, access, need, exists)| Grant {
        path: host_path(path),
        access,
        need,
        exists,
        written: path.into(),
        links: Vec::new(),
        origin: Origin::flag("--read"),
        why: None,
    })
}

fn deny() -> impl Strategy<Value = Deny> {
    let globs = prop::sample::select(vec!["**/.env", "*", "a/*", "**/a/**"]);
    (prop::sample::select(PATHS), prop::option::of(globs)).prop_map(|(path, glob)| Deny {
        target: match glob {
            None => DenyTarget::Literal(host_path(path)),
            Some(pattern) => DenyTarget::Glob {
                base: host_path(path),
                pattern: pattern.into(),
            },
        },
        written: path.into(),
        ways: BTreeSet::new(),
        origin: Origin::flag("--read"),
        why: None,
    })
}

fn network() -> impl Strategy<Value = Network> {
    let names = || prop::collection::btree_set(pattern().prop_map(|name| name.to_string()), 0..4);
    prop_oneof![
        1 => Just(Network::Off),
        1 => Just(Network::Host),
        4 => (names(), names()).prop_map(|(allow, deny)| Network::Names { allow, deny }),
    ]
}

fn env() -> impl Strategy<Value = EnvRules> {
    let patterns = prop::sample::select(vec!["A_*", "A_B", "A_B_*", "PATH", "LD_PRELOAD", "X", "GIT_*"]);
    let allow = prop::collection::btree_set(patterns.prop_map(|text| EnvPattern::parse(text).unwrap()), 0..4);
    let names = || prop::sample::select(VARIABLES).prop_map(str::to_owned);
    let values = prop::sample::select(vec!["1", "2"]).prop_map(str::to_owned);
    let set = prop::collection::btree_map(names(), values, 0..3);
    (
        allow,
        set,
        prop::bool::weighted(0.2),
        prop::collection::btree_set(names(), 0..2),
    )
        .prop_map(|(allow, set, inherit_all, withheld)| EnvRules {
            allow,
            set,
            inherit_all,
            withheld,
        })
}

fn limits() -> impl Strategy<Value = Limits> {
    prop::array::uniform7(prop::option::of(1..4u64)).prop_map(|[a, b, c, d, e, f, g]| Limits {
        memory_mb: a,
        pids: b,
        cpu_millis: c,
        open_files: d,
        file_size_mb: e,
        disk_mb: f,
        output_kb: g,
    })
}

prop_compose! {
    fn words()(
        mode in prop::sample::select(vec![Mode::Restricted, Mode::Restricted, Mode::Inherit]),
        isolation in prop::sample::select(vec![Isolation::Namespaces, Isolation::Landlock]),
        backend in prop::sample::select(vec![Backend::Auto, Backend::Native, Backend::Podman, Backend::Docker]),
        model_access in prop::sample::select(vec![ModelAccess::Auto, ModelAccess::Auto, ModelAccess::None]),
        auth in prop::sample::select(vec![Auth::Broker, Auth::Mount]),
        runtime in prop::sample::select(vec![Runtime::Default, Runtime::Runsc]),
        image in prop::option::of(prop::sample::select(vec!["i".to_owned(), "j".to_owned()])),
        key_command in prop::option::of(prop::sample::select(vec![vec!["i".to_owned()], vec!["j".to_owned()]])),
        endpoint in prop::option::of(prop::sample::select(vec!["https://a".to_owned(), "https://b".to_owned()])),
        unprotected in prop::collection::btree_set(prop::sample::select(vec![".glee".to_owned(), ".envrc".to_owned()]), 0..2),
        seconds in prop::option::of(1..5u64),
    ) -> ResolvedPolicy {
        ResolvedPolicy {
            mode, isolation, backend, model_access, auth, image, runtime, key_command, unprotected,
            model_endpoint: endpoint,
            max_runtime: seconds.map(Duration::from_secs),
            ..ResolvedPolicy::nothing("p")
        }
    }
}

fn policy() -> impl Strategy<Value = ResolvedPolicy> {
    let grants = prop::collection::vec(grant(), 0..6);
    (
        words(),
        grants,
        prop::collection::vec(deny(), 0..3),
        network(),
        env(),
        limits(),
    )
        .prop_map(|(words, grants, deny, network, env, limits)| {
            let grants = normalise(grants, words.reach());
            ResolvedPolicy {
                grants,
                deny: normalise_denies(deny),
                network,
                env,
                limits,
                origins: BTreeMap::new(),
                ..words
            }
        })
}

fn questions() -> Vec<Question<'static>> {
    const BELOW: &[&str] = &[
        "/p/x",
        "/p/a/x",
        "/p/a/b/c/.env",
        "/p/.glee/s/x",
        "/p/.glee/y",
        "/p/a/.glee/x/y",
        "/q/x",
        "/z",
        "/p/../q",
    ];
    const HOSTS: &[&str] = &[
        "a", "b.a", "c.b.a", "d.c.b.a", "x", "y.x", "10.0.0.1", "10.1.0.1", "10.0.9.1", "8.8.8.8", "::1", "::2",
    ];
    let mut out = Vec::new();
    for path in PATHS.iter().chain(BELOW) {
        for access in [FsAccess::Read, FsAccess::ReadWrite] {
            out.push(Question::Path {
                path: Path::new(path),
                access,
            });
        }
    }
    out.extend(
        VARIABLES
            .iter()
            .chain(&["A_", "A_B_", "A_Z", "Y"])
            .map(|name| Question::Env(name)),
    );
    for host in HOSTS {
        out.extend([22, 80, 443].map(|port| Question::Net { host, port }));
    }
    out
}

fn within<T: Ord>(tight: Option<T>, loose: Option<T>) -> bool {
    match (tight, loose) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(tight), Some(loose)) => tight <= loose,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn narrowing_is_commutative(a in policy(), b in policy()) {
        prop_assert_eq!(narrow(&a, &b).meaning(), narrow(&b, &a).meaning());
    }

    #[test]
    fn narrowing_is_associative(a in policy(), b in policy(), c in policy()) {
        prop_assert_eq!(narrow(&narrow(&a, &b), &c).meaning(), narrow(&a, &narrow(&b, &c)).meaning());
    }

    #[test]
    fn narrowing_is_idempotent(a in policy(), b in policy()) {
        prop_assert_eq!(narrow(&a, &a).meaning(), a.meaning());
        let both = narrow(&a, &b);
        prop_assert_eq!(narrow(&both, &b).meaning(), both.meaning());
    }

    #[test]
    fn narrowing_is_exactly_what_both_allow(a in policy(), b in policy()) {
        let both = narrow(&a, &b);
        for question in questions() {
            let (in_a, in_b) = (a.decide(&question).allowed, b.decide(&question).allowed);
            let allowed = both.decide(&question).allowed;
            match question {
                // Both allow a variable and disagree on its value: then it is not there.
                Question::Env(name) if in_a && in_b && !allowed => {
                    prop_assert_ne!(a.env.fate(name.as_bytes()), b.env.fate(name.as_bytes()));
                }
                Question::Path { .. } | Question::Env(_) | Question::Net { .. } => prop_assert_eq!(allowed, in_a && in_b, "{:?}", question),
            }
        }
        for name in VARIABLES {
            let fate = both.env.fate(name.as_bytes());
            if fate != EnvFate::Withheld {
                prop_assert_eq!(&fate, &a.env.fate(name.as_bytes()));
                prop_assert_eq!(&fate, &b.env.fate(name.as_bytes()));
            }
        }
    }

    #[test]
    fn narrowing_is_never_wider_in_its_bounds_and_words(a in policy(), b in policy()) {
        let both = narrow(&a, &b);
        for side in [&a, &b] {
            prop_assert!(both.mode <= side.mode && both.isolation <= side.isolation && both.auth <= side.auth);
            prop_assert!(both.model_access <= side.model_access);
            prop_assert!(both.model_access == ModelAccess::None || both.model_endpoint == side.model_endpoint);
            prop_assert!(both.image.is_none() || both.image == side.image);
            prop_assert!(both.key_command.is_none() || both.key_command == side.key_command);
            prop_assert!(side.mode == Mode::Inherit || both.unprotected.is_subset(&side.unprotected));
            prop_assert!(within(both.max_runtime, side.max_runtime));
            for ((_, tight), (_, loose)) in both.limits.named().into_iter().zip(side.limits.named()) {
                prop_assert!(within(tight, loose));
            }
            prop_assert!(exceeds(&both, side).is_empty(), "{:?}", exceeds(&both, side));
        }
    }

    #[test]
    fn nothing_exceeds_exactly_if_narrowing_changes_nothing(asked in policy(), base in policy()) {
        let unchanged = narrow(&asked, &base).meaning() == asked.meaning();
        prop_assert_eq!(exceeds(&asked, &base).is_empty(), unchanged, "{:?}", exceeds(&asked, &base));
    }

    #[test]
    fn a_list_in_its_shortest_form_answers_the_same(grants in prop::collection::vec(grant(), 0..8)) {
        let long = ResolvedPolicy { grants: grants.clone(), ..ResolvedPolicy::nothing("p") };
        let short = ResolvedPolicy { grants: normalise(grants, long.reach()), ..ResolvedPolicy::nothing("p") };
        for question in questions() {
            prop_assert_eq!(long.decide(&question).allowed, short.decide(&question).allowed, "{:?}", question);
        }
        prop_assert_eq!(normalise(short.grants.clone(), short.reach()), short.grants);
    }
}

#[test]
fn a_strangers_word_only_narrows_restricted() {
    let restricted = resolved("{}");
    let asked = resolved(
        "fs: {read: [/, src], write: [/], deny: ['**/.env']}\nnetwork: true\nmax_runtime_mins: 5\nmodel_endpoint: https://evil.org",
    );
    let both = narrow(&asked, &restricted);
    let grants: Vec<_> = both
        .grants
        .iter()
        .map(|g| (g.path.as_path().to_str().unwrap(), g.access.word()))
        .collect();
    assert_eq!(grants[0], ("/workshop/project", "read"));
    assert_eq!(both.network, Network::Off);
    assert_eq!(both.deny.len(), 1);
    assert_eq!(both.max_runtime, Some(Duration::from_secs(300)));
    assert_eq!(
        (both.model_access, both.model_endpoint.as_deref()),
        (ModelAccess::None, None)
    );
    assert_eq!(both.origins["max_runtime_mins"].line, 3);
}

#[test]
fn narrowing_keeps_what_lies_below() {
    let both = narrow(
        &resolved("fs: {read: [.], write: []}"),
        &resolved("fs: {read: [src], write: [out]}"),
    );
    let grants: Vec<_> = both
        .grants
        .iter()
        .map(|g| (g.written.as_str(), g.access.word()))
        .collect();
    assert_eq!(grants, [("out", "read"), ("src", "read")]);
}
