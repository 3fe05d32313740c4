#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;
use crate::testing::Scratch;

const TEXT: &str = "name: a\ndescription: d\nprompt: p\n";

fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

#[test]
fn a_project_without_a_directory_has_no_agents() {
    let place = Scratch::new();
    let agents = Agents::open(place.path()).unwrap();
    assert!(agents.list().unwrap().is_empty());
    assert!(matches!(agents.get("a"), Err(StoreError::NoSuchAgent { .. })));
}

#[test]
fn what_is_written_is_read_again_and_nothing_else_is_left() {
    let place = Scratch::new();
    let mut agents = Agents::open(place.path()).unwrap();
    agents.write(&name("a"), TEXT, Writing::New).unwrap();
    assert_eq!(agents.get("a").unwrap().description, "d");
    assert!(matches!(
        agents.write(&name("a"), TEXT, Writing::New),
        Err(StoreError::Taken { .. })
    ));
    agents
        .write(&name("a"), &TEXT.replace("prompt: p", "prompt: q"), Writing::Replace)
        .unwrap();
    assert_eq!(agents.get("a").unwrap().prompt.written(), "q");
    let left: Vec<_> = fs::read_dir(place.path().join(DIR))
        .unwrap()
        .map(|e| e.unwrap().file_name())
        .collect();
    assert_eq!(left, ["a.yml"]);
}

#[test]
fn what_would_not_be_understood_is_not_written() {
    let place = Scratch::new();
    let mut agents = Agents::open(place.path()).unwrap();
    for (called, text) in [("b", TEXT), ("a", "name: a\n")] {
        assert!(matches!(
            agents.write(&name(called), text, Writing::New),
            Err(StoreError::Definition { .. })
        ));
    }
    assert!(!place.path().join(".glee").exists());
}

#[test]
fn a_link_is_neither_read_nor_written_through() {
    let place = Scratch::new();
    let dir = place.path().join(DIR);
    fs::create_dir_all(&dir).unwrap();
    let outside = place.path().join("outside.yml");
    fs::write(&outside, TEXT).unwrap();
    symlink(&outside, dir.join("a.yml")).unwrap();
    let mut agents = Agents::open(place.path()).unwrap();
    assert!(matches!(agents.get("a"), Err(StoreError::Io { .. })));
    // A replacement takes the link's place and leaves its target alone.
    agents
        .write(&name("a"), &TEXT.replace("d\n", "e\n"), Writing::Replace)
        .unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), TEXT);
    fs::remove_dir_all(place.path().join(".glee")).unwrap();
    let elsewhere = Scratch::new();
    fs::create_dir_all(elsewhere.path().join("agents")).unwrap();
    symlink(elsewhere.path(), place.path().join(".glee")).unwrap();
    assert!(matches!(Agents::open(place.path()), Err(StoreError::Io { .. })));
    let mut orphan = Agents {
        project: place.path().to_owned(),
        folder: None,
    };
    assert!(matches!(
        orphan.write(&name("a"), TEXT, Writing::New),
        Err(StoreError::Io { .. })
    ));
    assert_eq!(fs::read_dir(elsewhere.path().join("agents")).unwrap().count(), 0);
}

#[test]
fn every_file_is_listed_sound_or_not() {
    let place = Scratch::new();
    let dir = place.path().join(DIR);
    fs::create_dir_all(dir.join("dir.yml")).unwrap();
    fs::write(dir.join("a.yml"), TEXT).unwrap();
    fs::write(dir.join("broken.yml"), "name: broken\nx: 1\n").unwrap();
    fs::write(dir.join("Wrong.yml"), TEXT).unwrap();
    fs::write(dir.join("b.yaml"), TEXT).unwrap();
    fs::write(dir.join("notes.txt"), "x").unwrap();
    fs::write(dir.join(".hidden.yml"), "x").unwrap();
    fs::write(dir.join("big.yml"), vec![b'#'; MOST + 1]).unwrap();
    let listed: Vec<(String, bool)> = Agents::open(place.path())
        .unwrap()
        .list()
        .unwrap()
        .into_iter()
        .map(|listed| (listed.name, listed.definition.is_ok()))
        .collect();
    let expected = [
        ("Wrong", false),
        ("a", true),
        ("b.yaml", false),
        ("big", false),
        ("broken", false),
        ("dir", false),
    ];
    assert_eq!(listed, expected.map(|(name, sound)| (name.to_owned(), sound)));
    let near = Agents::open(place.path()).unwrap().get("brokn").unwrap_err();
    assert_eq!(near.help().as_deref(), Some("did you mean `broken`?"));
}
