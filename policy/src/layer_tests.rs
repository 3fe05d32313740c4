use std::collections::BTreeMap;

use super::*;
use crate::testing::{FakeHost, file};
use crate::{ResolvedPolicy, resolve};

struct Shelf(BTreeMap<&'static str, String>);

impl Shelf {
    fn new(profiles: &[(&'static str, &str)]) -> Self {
        Self(
            profiles
                .iter()
                .map(|(name, text)| (*name, (*text).to_owned()))
                .collect(),
        )
    }
}

impl Library for Shelf {
    fn profile(&self, name: &str) -> Option<(Source, String)> {
        self.0
            .get(name)
            .map(|text| (Source::File(format!("{name}.yml").into()), text.clone()))
    }
    fn names(&self) -> Vec<String> {
        self.0.keys().map(|name| (*name).to_owned()).collect()
    }
}

fn with(shelf: &Shelf, text: &str) -> Result<ResolvedPolicy, PolicyError> {
    resolve(&parse(&file(), text)?, shelf, &FakeHost::new())
}

#[test]
fn a_file_without_a_base_is_built_on_restricted() {
    let shelf = Shelf::new(&[]);
    let mine = with(&shelf, "network: true").unwrap();
    let base = with(&shelf, "extends: restricted").unwrap();
    assert_eq!(mine.grants, base.grants);
    assert_eq!(mine.origins["network"].to_string(), "policy.yml:1");
    assert_eq!(
        mine.origins["limits.pids"].to_string(),
        base.origins["limits.pids"].to_string()
    );
    assert!(with(&shelf, "mode: inherit").unwrap().env.inherit_all);
}

#[test]
fn a_present_list_replaces_and_an_absent_one_is_taken_from_the_base() {
    let shelf = Shelf::new(&[(
        "base",
        "fs: {read: [/a, /b], write: [/w]}\nenv: {allow: [A], set: {X: '1', Y: '1'}}",
    )]);
    let policy = with(&shelf, "extends: base\nfs: {read: []}\nenv: {set: {Y: '2'}}").unwrap();
    assert_eq!(
        policy.grants.iter().map(|g| g.written.as_str()).collect::<Vec<_>>(),
        ["/w"]
    );
    assert_eq!(policy.env.allow.len(), 1);
    assert_eq!(
        policy.env.set,
        BTreeMap::from([("X".into(), "1".into()), ("Y".into(), "2".into())])
    );
    assert_eq!(
        with(&shelf, "extends: base\nenv: {allow: []}").unwrap().env.allow.len(),
        0
    );
}

#[test]
fn no_file_can_drop_what_its_base_denies() {
    let shelf = Shelf::new(&[("base", "fs: {deny: [/a]}\nnetwork: {allow: [h], deny: [x]}")]);
    let policy = with(
        &shelf,
        "extends: base\nfs: {deny: []}\nnetwork: {allow: [\"*.h\"], deny: [y]}",
    )
    .unwrap();
    assert_eq!(policy.deny.len(), 1);
    let deny = ["x", "y"].map(str::to_owned).into();
    assert_eq!(
        policy.network,
        crate::resolved::Network::Names {
            allow: ["*.h".to_owned()].into(),
            deny
        }
    );
    let error = with(&shelf, "extends: base\nnetwork: true").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`network: true` would drop the `network.deny` of base.yml:2"
    );
}

#[test]
fn a_circle_and_a_long_chain_are_errors() {
    let shelf = Shelf::new(&[("a", "extends: b"), ("b", "extends: a")]);
    let error = with(&shelf, "extends: a").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`extends` goes in a circle: policy.yml → a.yml → b.yml → a.yml"
    );
    assert_eq!(error.origin().to_string(), "b.yml:1");
    let names: Vec<&'static str> = vec!["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9"];
    let mut shelf = Shelf::new(&[("p9", "{}")]);
    names.windows(2).for_each(|pair| {
        shelf.0.insert(pair[0], format!("extends: {}", pair[1]));
    });
    assert!(matches!(
        with(&shelf, "extends: p0"),
        Err(PolicyError::ExtendsTooDeep { .. })
    ));
    assert!(with(&shelf, "extends: p4").is_ok());
}

#[test]
fn an_unknown_profile_has_a_hint() {
    let shelf = Shelf::new(&[("mine", "{}")]);
    let error = with(&shelf, "extends: mien").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.help().as_str()),
        ("there is no profile `mien`", "did you mean `mine`?")
    );
    assert_eq!(
        with(&shelf, "extends: workspce").unwrap_err().help(),
        "did you mean `workspace`?"
    );
}

#[test]
fn a_file_cannot_take_the_name_of_a_built_in_profile() {
    let shelf = Shelf::new(&[("restricted", "network: true\nfs: {read: [/]}")]);
    for text in ["{}", "extends: restricted", "extends: workspace"] {
        assert_eq!(
            with(&shelf, text).unwrap().network,
            crate::resolved::Network::Off,
            "{text}"
        );
    }
}

#[test]
fn an_error_in_a_base_names_the_base() {
    let shelf = Shelf::new(&[("base", "{}\n# ok\n"), ("bad", "fs:\n  red: []\n")]);
    assert_eq!(
        with(&shelf, "extends: bad").unwrap_err().origin().to_string(),
        "bad.yml:2"
    );
    assert!(with(&shelf, "extends: base").is_ok());
}
