//! Images: by digest, never pulled, with programs of their own.

use std::fs;

use glee_tests::{Caller, Policy, Run, attack_tool};

use crate::made::{Made, script};
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

/// No container of Podman's own here has a network: nothing on this machine need be set up for one.
#[test]
fn the_slim_image_is_built_from_no_registry_and_runs_without_rights() {
    let at = Place::of(Caller::Root);
    let image = Made::of(&at, "slim");
    let said = image.run(&["--read-only"], &["--version"]);
    assert!(said.starts_with("glee-supervisor"), "{said}");
    image.tells_what_it_is("glee-supervisor");
    // The line of docs/backends.md: the native backend inside, with the fewest rights.
    let rights = image.fewest_rights();
    let rights: Vec<&str> = ["--read-only"]
        .into_iter()
        .chain(rights.iter().map(String::as_str))
        .collect();
    let said = image.run(&rights, &["run", "--", "glee-supervisor", "--version"]);
    assert!(said.starts_with("glee-supervisor"), "{said}");
}

/// What docker/ci-example.yml does, without the CI around it.
#[test]
fn the_example_job_runs_an_agent_under_its_policy() {
    let at = Place::of(Caller::Root);
    let policy = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker/policy-ci.yml");
    let report = at.world.root().join("report.json");
    for (flags, backend) in [("", "native"), ("--backend podman", "podman")] {
        let out = script("ci-job")
            .args([&policy, &report])
            .args(["--", "sh", "-c", "echo reviewed > review.txt; cat /etc/shadow"])
            .env("GLEE_FLAGS", flags)
            .current_dir(at.world.project())
            .output()
            .expect("docker/ci-job runs");
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        // The agent's own last word is that it could not read the file.
        assert_eq!(
            out.status.code(),
            Some(1),
            "{said}\n{}",
            String::from_utf8_lossy(&out.stderr)
        );
        assert!(said.contains(&format!("backend {backend}")), "{said}");
        assert!(at.world.project().join("review.txt").is_file());
    }
}
