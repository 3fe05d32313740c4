//! The image for CI, as docs/backends.md and docker/ci-example.yml use it: built from distribution packages, and a real agent in it
//! on a checkout, under the example's policy.
//!
//! Takes minutes: `scripts/test-backend podman --all` runs it.

use std::fs;
use std::os::unix::fs::chown;
use std::path::Path;

use glee_tests::Caller;
use serde_json::Value;

use crate::api::{Api, Turn};
use crate::cli::Cli;
use crate::made::Made;
use crate::support::Place;

const KEY: &str = "sk-glee-test-0123456789abcdef";

/// A checkout as CI has it: the example's files, owned by the image's user.
fn checkout(at: &Place, api: &Api) {
    let docker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker");
    let project = at.world.project();
    fs::create_dir_all(project.join("docker")).expect("make the checkout");
    fs::copy(docker.join("ci-job"), project.join("docker/ci-job")).expect("copy the job");
    let policy = fs::read_to_string(docker.join("policy-ci.yml")).expect("the policy");
    at.world.file(
        "@PROJECT/docker/policy-ci.yml",
        &format!("{policy}model_endpoint: {}\n", api.url()),
    );
    at.world
        .file("@PROJECT/Makefile", "test:\n\tgcc -o hello hello.c && ./hello\n");
    at.world.file(
        "@PROJECT/hello.c",
        "#include <stdio.h>\nint main(void) { puts(\"compiled inside\"); }\n",
    );
    at.world.git_init();
    let owner = Some(10001);
    let mut todo = vec![project];
    while let Some(path) = todo.pop() {
        chown(&path, owner, owner).expect("give the checkout away");
        if path.is_dir() {
            todo.extend(fs::read_dir(&path).expect("list").flatten().map(|entry| entry.path()));
        }
    }
}

#[test]
fn the_image_for_ci_runs_its_tools_and_the_example_job_under_the_native_backend() {
    let at = Place::of(Caller::Root);
    let image = Made::of(&at, "ci");
    let sbom = image.tells_what_it_is("glee-supervisor CI").to_string();
    let wanted = [
        "git",
        "nodejs",
        "python3",
        "gcc",
        "@openai/codex",
        "@anthropic-ai/claude-code",
        "@google/gemini-cli",
    ];
    for name in wanted {
        assert!(
            sbom.contains(&format!("\"name\":\"{name}\"")),
            "{name} is not in the list"
        );
    }
    let script = "echo reviewed > review.txt; cat /etc/shadow || echo no";
    let api = Api::serve(
        Cli::Codex,
        vec![Turn::Shell(script.to_owned()), Turn::text("all is well")],
    );
    checkout(&at, &api);

    let volume = format!("{}:/work", at.world.project().display());
    let rights = image.fewest_rights();
    let mut options: Vec<&str> = rights.iter().map(String::as_str).collect();
    options.extend(["--volume", &volume]);
    let said = image.run(&options, &["run", "--policy", "workspace", "--", "make", "test"]);
    assert!(said.ends_with("compiled inside\n"), "{said}");
    for tool in ["git", "node", "python3", "gcc", "codex", "claude"] {
        let said = image.run(&options, &["run", "--policy", "workspace", "--", tool, "--version"]);
        assert!(!said.trim().is_empty(), "{tool} says nothing");
    }

    // The model is a server of this test's, so the container has this machine's network.
    let key = format!("OPENAI_API_KEY={KEY}");
    options.extend(["--network", "host", "--env", &key, "--entrypoint", "docker/ci-job"]);
    let agent = ["codex", "exec", "--json", "Review this pull request."];
    let said = image.run(
        &options,
        &[&["docker/policy-ci.yml", "report.json", "--"], &agent[..]].concat(),
    );
    assert!(said.contains("backend native") && said.contains("exited in"), "{said}");
    assert_eq!(
        fs::read_to_string(at.world.project().join("review.txt")).expect("the agent's file"),
        "reviewed\n"
    );
    let asked = api.asked();
    assert!(asked.len() >= 2, "{asked:?}");
    assert_eq!(asked[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert!(!said.contains(KEY) && asked.iter().all(|request| !request.body.contains(KEY)));
    let report = fs::read_to_string(at.world.project().join("report.json")).expect("the report");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!(
        (&report["receipt"]["verdict"], &report["exit_code"]),
        (&"passed".into(), &0.into())
    );
}
