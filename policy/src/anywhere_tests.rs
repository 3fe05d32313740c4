use super::*;
use crate::testing::{FakeHost, resolved};
use crate::widen::{Flags, widen};
use crate::within::within;
use crate::{ResolvedPolicy, parse};

fn targets(policy: &ResolvedPolicy) -> Vec<String> {
    let target = |deny: &Deny| match &deny.target {
        DenyTarget::Literal(path) => path.as_path().display().to_string(),
        DenyTarget::Glob { base, pattern } => format!("{} | {pattern}", base.as_path().display()),
    };
    policy.deny.iter().map(target).collect()
}

fn with_read(policy: &mut ResolvedPolicy, path: &str) -> Result<(), String> {
    let mut flags = Flags::none("/workshop/project".into());
    flags.read = vec![path.into()];
    widen(policy, &flags, &FakeHost::new()).map_err(|error| error.to_string())
}

#[test]
fn a_pattern_without_a_place_counts_in_every_tree_that_a_person_grants() {
    let mut policy = resolved("fs: {read: [., sub, /ext, /ext/in, ~/w], write: [/out], deny: ['**/.env', '*.pem']}");
    assert_eq!(
        targets(&policy),
        [
            "/ext | **/.env",
            "/home/ann/w | **/.env",
            "/out | **/.env",
            "/workshop/project | **/.env",
            "/workshop/project | *.pem",
        ]
    );
    assert_eq!(with_read(&mut policy, "/flag"), Ok(()));
    assert!(targets(&policy).contains(&"/flag | **/.env".to_owned()));
    assert!(!targets(&policy).contains(&"/flag | *.pem".to_owned()));
}

#[test]
fn a_file_that_is_granted_by_its_name_is_hidden_by_it() {
    let mut policy = resolved("fs: {read: [/ext/.env, /ext/readme], deny: ['**/.env']}");
    assert_eq!(
        targets(&policy),
        ["/ext/.env", "/ext/readme | **/.env", "/workshop/project | **/.env"]
    );
    assert_eq!(
        with_read(&mut policy, "/other/.env").unwrap_err(),
        "`--read /other/.env` is denied by `fs.deny **/.env` (policy.yml:1)"
    );
    assert_eq!(with_read(&mut policy, "/other/.env.example"), Ok(()));
}

#[test]
fn large_trees_that_nobody_asked_for_are_left_alone() {
    let policy = resolved("extends: workspace\nfs: {read: [/, /usr/share/x, /proc/sys], deny: ['**/.env']}");
    let spread: Vec<String> = targets(&policy)
        .into_iter()
        .filter(|t| t.ends_with("**/.env"))
        .collect();
    assert_eq!(spread, ["/workshop/project | **/.env"]);
}

#[test]
fn a_person_who_grants_a_tree_of_a_profile_means_it() {
    let policy = resolved("extends: workspace\nfs: {read: [., ~/.cargo], deny: ['**/.env']}");
    let spread: Vec<String> = targets(&policy)
        .into_iter()
        .filter(|t| t.ends_with("**/.env"))
        .collect();
    assert_eq!(spread, ["/home/ann/.cargo | **/.env", "/workshop/project | **/.env"]);
}

#[test]
fn a_pattern_at_the_project_alone_does_not_take_the_place_of_one_without() {
    let both = "fs: {deny: ['/workshop/project/**/.env', '**/.env']}";
    let mut policy = resolved(both);
    assert_eq!(with_read(&mut policy, "/flag"), Ok(()));
    assert_eq!(targets(&policy), ["/flag | **/.env", "/workshop/project | **/.env"]);
}

#[test]
fn a_part_for_a_run_hides_in_what_the_run_was_given() {
    let mut run = resolved("{}");
    assert_eq!(with_read(&mut run, "/flag"), Ok(()));
    let part = parse(&crate::testing::file(), "fs: {deny: ['**/.env']}").unwrap();
    let (policy, beyond) = within(&part, &run, &crate::layer::NoLibrary, &FakeHost::new()).unwrap();
    assert_eq!(beyond, vec![]);
    assert_eq!(targets(&policy), ["/flag | **/.env", "/workshop/project | **/.env"]);
}
