use proptest::prelude::*;

use super::*;
use crate::testing::resolved;

proptest! {
    #[test]
    fn the_grants_of_a_meaning_are_where_the_access_rises(
        paths in prop::collection::vec(("(/(a|b|ab|[.]glee)){1,4}", prop::bool::ANY), 0..12)
    ) {
        let list = |write: bool| {
            let chosen = paths.iter().filter(|(_, w)| *w == write).map(|(path, _)| format!("'{path}'"));
            chosen.collect::<Vec<_>>().join(", ")
        };
        let mut policy = resolved(&format!("fs: {{read: [{}], write: [{}]}}", list(false), list(true)));
        policy.grants.reverse();
        let reach = policy.reach();
        let access = |path: &Path, reaches: &dyn Fn(&Path) -> bool| {
            let above = policy.grants.iter().filter(|grant| reaches(grant.path.as_path()));
            above.filter_map(|grant| reach.access(grant, path)).max()
        };
        let rises = policy.grants.iter().filter_map(|grant| {
            let path = grant.path.as_path();
            let there = access(path, &|_| true)?;
            (access(path, &|above| above != path) < Some(there)).then(|| (spelled(path), there.word()))
        });
        prop_assert_eq!(grants(&policy), rises.collect::<BTreeMap<_, _>>());
    }
}

#[test]
fn places_spelling_and_redundancy_do_not_change_the_meaning() {
    let a = resolved("fs: {read: [., src, ./src/../src/], write: []}\nenv: {allow: ['LC_*', LC_ALL, LD_PRELOAD]}");
    let b = resolved(
        "# a comment\n\nfs:\n  write: []\n  read:\n    - {path: /workshop/project, why: all, need: preferred}\nenv: {allow: ['LC_*']}",
    );
    assert_eq!(a.meaning(), b.meaning());
    assert_eq!(a.sha256(), b.sha256());
}

#[test]
fn every_part_changes_the_hash() {
    let texts = [
        "{}",
        "fs: {read: []}",
        "fs: {write: [.]}",
        "fs: {deny: [x]}",
        "fs: {deny: ['*.x']}",
        "network: true",
        "network: {allow: [h]}",
        "network: {allow: [h], deny: [i]}",
        "env: {allow: []}",
        "env: {set: {A: b}}",
        "max_runtime_mins: 11",
        "max_runtime_mins: none",
        "limits: {pids: 4}",
        "limits: {pids: none}",
        "isolation: landlock",
        "backend: native",
        "image: i",
        "runtime: runsc",
        "model_access: none",
        "model_endpoint: https://h",
        "auth: mount",
        "unprotect: [.envrc]",
        "mode: inherit",
    ];
    let hashes: BTreeSet<String> = texts.iter().map(|text| resolved(text).sha256()).collect();
    assert_eq!(hashes.len(), texts.len());
}

#[test]
fn two_paths_never_have_one_spelling() {
    let odd = |bytes: &[u8]| spelled(Path::new(std::ffi::OsStr::from_bytes(bytes)));
    assert_eq!(odd(b"/a\xff"), "/a\\xff");
    assert_eq!(odd(b"/a\\xff"), "/a\\\\xff");
}
