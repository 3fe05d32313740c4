//! Golden files: the plan of every built-in profile, for an ordinary user and for root, on a machine that is made up.
//!
//! Pure: nothing of the machine at hand goes in. `GLEE_BLESS=1 cargo test -p glee-tests --test golden` writes the files;
//! the difference is part of the review.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod containers;
mod machine;
mod trust;

use std::fs;
use std::path::{Path, PathBuf};

use glee_engine::plan_view::PlanView;
use glee_sandbox::plan::Workspace;
use machine::{Machine, Who};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("golden")
        .join(format!("{name}.txt"))
}

fn blessing() -> bool {
    std::env::var_os("GLEE_BLESS").is_some_and(|value| value == "1")
}

/// The text equals the golden file, or becomes it.
#[track_caller]
fn compare(name: &str, text: &str) {
    let file = golden(name);
    if blessing() {
        fs::write(&file, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
        return;
    }
    let expected = fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}; GLEE_BLESS=1 writes it", file.display()));
    if expected == text {
        return;
    }
    let lines = expected.lines().zip(text.lines()).enumerate();
    let first = lines.into_iter().find(|(_, (old, new))| old != new);
    let (line, (old, new)) = first.unwrap_or((expected.lines().count().min(text.lines().count()), ("(end)", "(end)")));
    panic!(
        "{} differs from line {} on:\n- {old}\n+ {new}\nGLEE_BLESS=1 writes the new plan; review the difference\n\n{text}",
        file.display(),
        line + 1
    );
}

#[track_caller]
fn plan_is_golden(profile: &str, who: Who) {
    let machine = Machine::of(who);
    let plan = machine.plan(profile);
    assert_eq!(plan, machine.plan(profile), "the same inputs give another plan");
    compare(
        &format!("{profile}-{}", who.name()),
        &PlanView::new(profile, &plan).to_string(),
    );
}

macro_rules! claims {
    ($($name:ident => $profile:literal, $who:ident;)+) => {$(
        #[test]
        fn $name() {
            plan_is_golden($profile, Who::$who);
        }
    )+};
}

claims! {
    the_plan_of_restricted_for_a_user => "restricted", User;
    the_plan_of_restricted_for_root => "restricted", Root;
    the_plan_of_workspace_for_a_user => "workspace", User;
    the_plan_of_workspace_for_root => "workspace", Root;
    the_plan_of_inherit_for_a_user => "inherit", User;
    the_plan_of_inherit_for_root => "inherit", Root;
}

/// A copy widens what the project's path may be used for, and nothing else; the plan says what lies there.
#[test]
fn the_plan_of_a_copy() {
    for who in [Who::User, Who::Root] {
        let machine = Machine::of(who);
        for workspace in [Workspace::Cow, Workspace::Worktree] {
            let plan = machine.plan_on("restricted", workspace);
            let name = format!("restricted-{}-{}", workspace.name(), who.name());
            compare(&name, &PlanView::new("restricted", &plan).to_string());
        }
    }
}

#[test]
fn every_built_in_profile_has_its_golden_files() {
    if blessing() {
        return;
    }
    for profile in glee_policy::builtin::names() {
        for who in [Who::User, Who::Root] {
            let file = golden(&format!("{profile}-{}", who.name()));
            assert!(file.is_file(), "{} is missing", file.display());
        }
    }
}

/// The whole of a value goes into the text: a plan that differs in a limit or a right does not print the same.
#[test]
fn plans_of_different_profiles_print_differently() {
    let machine = Machine::of(Who::User);
    let print = |profile: &str| PlanView::new("same", &machine.plan(profile)).to_string();
    assert_ne!(print("restricted"), print("workspace"));
    assert_ne!(print("restricted"), print("inherit"));
}

#[test]
fn values_of_variables_are_not_printed() {
    for who in [Who::User, Who::Root] {
        let view = PlanView::new("inherit", &Machine::of(who).plan("inherit"));
        let json = serde_json::to_string(&view).expect("a plan is JSON");
        assert!(json.contains("\"PATH\"") && !json.contains("/secret-value"), "{json}");
        assert!(!view.to_string().contains("/secret-value"));
    }
}
