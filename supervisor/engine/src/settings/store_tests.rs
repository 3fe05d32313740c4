#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::testing::Scratch;

fn scene(place: &Scratch) -> Scene {
    Scene::find(Some(place.path())).unwrap()
}

#[test]
fn setting_makes_the_file_and_keeps_what_is_in_it() {
    let place = Scratch::new();
    let scene = scene(&place);
    let done = set(&scene, "subagents.max_concurrent", "3").unwrap();
    assert!(done.changed && !done.withheld && !done.trust_lost);
    let file = place.path().join(CONFIG);
    fs::write(&file, "# ours\nsubagents: {max_concurrent: 3} # few\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    set(&scene, "subagents.max_concurrent", "4").unwrap();
    assert_eq!(
        fs::read_to_string(&file).unwrap(),
        "# ours\nsubagents: {max_concurrent: 4} # few\n"
    );
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
    assert!(!set(&scene, "subagents.max_concurrent", "4").unwrap().changed);
    assert_eq!(fs::read_dir(place.path().join(".glee")).unwrap().count(), 1);
}

#[test]
fn what_would_not_be_understood_is_not_written() {
    let place = Scratch::new();
    let scene = scene(&place);
    set(&scene, "sessions.max_history", "3").unwrap();
    let before = fs::read(place.path().join(CONFIG)).unwrap();
    for (path, value) in [
        ("sessions.max_history", "many"),
        ("sessions.max_history", "0"),
        ("sessions.max_histori", "3"),
        ("sessions", "{}"),
        ("security.subagent_permissions.network", "perhaps"),
        ("security.subagent_permissions.netwrk", "false"),
        ("security.subagent_permissions", "{}"),
        ("security.subagent_permissions.", "1"),
        ("security.subagent_permissions.a b", "1"),
    ] {
        assert!(set(&scene, path, value).is_err(), "{path} {value}");
    }
    assert_eq!(fs::read(place.path().join(CONFIG)).unwrap(), before);
    let near = set(&scene, "max_history", "3").unwrap_err();
    assert_eq!(near.help().as_deref(), Some("did you mean `sessions.max_history`?"));
}

#[test]
fn a_value_above_its_default_does_not_count_without_trust() {
    let place = Scratch::new();
    let scene = scene(&place);
    assert!(set(&scene, "subagents.max_concurrent", "500").unwrap().withheld);
    let entry = get(&scene, "subagents.max_concurrent").unwrap();
    assert_eq!((entry.value.as_str(), entry.withheld.as_deref()), ("10", Some("500")));
    assert_eq!(load(&scene).unwrap().settings.number(Key::MaxConcurrent), Some(10));
}

#[test]
fn a_value_of_the_policy_is_read_as_it_is_written() {
    let place = Scratch::new();
    let scene = scene(&place);
    let path = "security.subagent_permissions.fs.read";
    assert!(matches!(get(&scene, path), Err(ConfigError::NotSet(_))));
    set(&scene, path, "[src, \"do cs\"]").unwrap();
    assert_eq!(get(&scene, path).unwrap().value, "[\"src\", \"do cs\"]");
}

#[test]
fn a_link_is_not_written_through() {
    let place = Scratch::new();
    let outside = place.path().join("outside");
    fs::write(&outside, "").unwrap();
    fs::create_dir(place.path().join(".glee")).unwrap();
    symlink(&outside, place.path().join(CONFIG)).unwrap();
    assert!(matches!(
        set(&scene(&place), "sessions.max_history", "3"),
        Err(ConfigError::Io { .. })
    ));
    assert_eq!(fs::read_to_string(&outside).unwrap(), "");
}
