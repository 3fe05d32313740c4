//! Images: by digest, never pulled, with programs of their own.

use std::fs;

use glee_tests::{Caller, Policy, Run, attack_tool};

use crate::support::Place;

fn with_image(at: &Place, image: &str, command: &[&str]) -> glee_tests::Outcome {
    let policy = Policy::Yaml(format!(
        "extends: restricted\nimage: \"{image}\"\nlimits: {{cpus: none}}\n"
    ));
    let run = Run::sandboxed(&at.world, policy).flags(["--backend", "podman"]);
    run.command(command.iter().copied()).go()
}

#[test]
fn an_image_by_tag_is_refused() {
    let at = Place::of(Caller::Root);
    let seen = with_image(&at, "debian:12", &["true"]);
    assert_eq!(seen.code(), Some(125), "{}", seen.describe());
    assert!(
        seen.err().contains("debian:12") && seen.err().contains("digest"),
        "{}",
        seen.err()
    );
}

#[test]
fn an_image_that_is_not_here_is_not_pulled() {
    let at = Place::of(Caller::Root);
    let image = format!("localhost/nothing@sha256:{}", "0".repeat(64));
    let seen = with_image(&at, &image, &["true"]);
    assert_eq!(seen.code(), Some(125), "{}", seen.describe());
    assert!(seen.err().contains("none is pulled"), "{}", seen.err());
}

/// One static program, found by its bare name inside, where the host has none of that name.
#[test]
fn an_image_brings_its_own_programs() {
    let at = Place::of(Caller::Root);
    let root = at.world.root().join("image");
    fs::create_dir_all(root.join("usr/bin")).expect("make the image");
    for dir in ["proc", "dev", "sys", "etc", "tmp", "run", "var"] {
        fs::create_dir_all(root.join(dir)).expect("make the image");
    }
    fs::copy(attack_tool(), root.join("usr/bin/only-in-the-image")).expect("copy the tool");
    let tar = at.world.root().join("image.tar");
    let packed = std::process::Command::new("tar")
        .arg("-C")
        .arg(&root)
        .arg("-cf")
        .arg(&tar)
        .arg(".")
        .status();
    assert!(packed.expect("tar runs").success());
    let id = at.podman(&[
        "import",
        "--quiet",
        &tar.display().to_string(),
        "localhost/glee-test-image",
    ]);
    let id = id.lines().last().unwrap_or_default().to_owned();
    let seen = with_image(&at, &id, &["only-in-the-image", "mark", "seen", at.world.nonce()]);
    at.podman(&["rmi", "--force", &id]);
    assert_eq!(seen.code(), Some(0), "{}", seen.describe());
    assert!(seen.out().contains("seen:"), "{}", seen.describe());
}
