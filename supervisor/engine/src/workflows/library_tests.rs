#![allow(clippy::expect_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::testing::Scratch;
use crate::workflows::testing::Project;

fn told(library: &Library) -> Vec<(String, String)> {
    let state = |entry: &Entry| match &entry.found {
        Ok(_) => "sound".to_owned(),
        Err(broken) => library.render_broken(broken),
    };
    library
        .entries()
        .map(|entry| (entry.name.clone(), state(entry)))
        .collect()
}

#[test]
fn a_project_without_the_directory_has_none() {
    let scratch = Scratch::new();
    let library = Library::open(scratch.path()).expect("a library");
    assert_eq!(library.entries().count(), 0);
    assert!(matches!(
        library.entry("x"),
        Err(LibraryError::NoSuchWorkflow { nearest: None, .. })
    ));
}

#[test]
fn one_broken_file_hides_no_other_and_no_link_is_followed() {
    let project = Project::new(&[("good", "steps: [{agent: a}]\n"), ("bad", "stesp: []\n")]);
    let dir = project.path().join(".glee/workflows");
    fs::write(
        project.path().join("outside.yml"),
        "name: linked\ndescription: d\nsteps: [{agent: a}]\n",
    )
    .expect("a file");
    symlink(project.path().join("outside.yml"), dir.join("linked.yml")).expect("a link");
    fs::write(dir.join("Wrong Name.yml"), "x").expect("a file");
    fs::write(dir.join("large.yml"), " ".repeat(5 << 20)).expect("a file");
    fs::write(dir.join("notes.txt"), "not meant").expect("a file");
    fs::create_dir(dir.join("dir.yml")).expect("a directory");
    let found = told(&project.library());
    let names: Vec<&str> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["Wrong Name", "bad", "dir", "good", "large", "linked"]);
    let of = |name: &str| {
        found
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, text)| text.as_str())
            .unwrap_or_default()
    };
    assert_eq!(of("good"), "sound");
    assert!(
        of("bad")
            .contains("bad.yml:3:1: error: unknown key `stesp`\n3 | stesp: []\n  | ^\nhint: did you mean `steps`?"),
        "{}",
        of("bad")
    );
    assert!(of("linked").contains("links are not followed"), "{}", of("linked"));
    assert!(of("large").contains("at most 1048576 bytes"), "{}", of("large"));
    assert!(of("Wrong Name").contains("hint: rename it"), "{}", of("Wrong Name"));
    assert!(of("dir").contains("plain file"), "{}", of("dir"));
}

#[test]
fn a_directory_that_is_a_link_is_refused() {
    let project = Project::new(&[("good", "steps: [{agent: a}]\n")]);
    let dir = project.path().join(".glee/workflows");
    fs::rename(&dir, project.path().join("elsewhere")).expect("moved");
    symlink(project.path().join("elsewhere"), &dir).expect("a link");
    let error = Library::open(project.path()).expect_err("refused");
    assert!(
        error.help().contains("links are not followed"),
        "{error}: {}",
        error.help()
    );
}

#[test]
fn a_name_nearly_right_is_corrected() {
    let project = Project::new(&[("full-review", "steps: [{agent: a}]\n")]);
    let library = project.library();
    let error = library.entry("ful-review").expect_err("absent");
    assert_eq!(error.help(), "did you mean `full-review`?");
}

#[test]
fn what_is_not_written_yet_can_be_looked_at() {
    let project = Project::new(&[]);
    let text = "name: new\ndescription: d\nsteps: [{agent: a}]\n";
    let workflow = parse(&project.path().join(".glee/workflows/new.yml"), text.as_bytes()).expect("a workflow");
    let library = project.library().with(workflow, text.to_owned());
    let entry = library.entry("new").expect("there");
    assert_eq!(entry.standing, Some(Standing::Untrusted));
    assert!(entry.found.is_ok());
}

#[test]
fn a_list_without_end_is_cut() {
    let keys: String = (0..5000).map(|n| format!("k{n}: v\n")).collect();
    let project = Project::new(&[("w", &keys)]);
    let library = project.library();
    let text = library
        .entry("w")
        .expect("there")
        .found
        .as_ref()
        .map_err(|broken| library.render_broken(broken));
    let text = text.expect_err("faults");
    assert_eq!(text.matches(": error:").count(), 100);
    assert!(
        text.ends_with("and 4901 more\n"),
        "{}",
        &text.lines().last().unwrap_or_default()
    );
}
