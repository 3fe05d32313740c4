//! The flow of `trust`: what is shown is what is stored, for these files and as they were read.
//!
//! Drives the binary, because the place of the store comes from the environment, which a test must not change in itself.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use glee_tests::binary;
use serde_json::Value;

const WIDE: &str = "security:\n  subagent_permissions:\n    fs:\n      read: [\".\"]\n      write: [\".\"]\n";

/// A project and a configuration directory, thrown away afterwards.
#[derive(Debug)]
struct Scene {
    root: PathBuf,
}

impl Drop for Scene {
    fn drop(&mut self) {
        // What cannot be removed lies in the temporary directory, where the system removes it.
        let _ = fs::remove_dir_all(&self.root);
    }
}

impl Scene {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "glee-trust-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join("project/.glee/policies")).expect("make the project");
        Self {
            root: fs::canonicalize(root).expect("the directory is there"),
        }
    }

    fn project(&self) -> PathBuf {
        self.root.join("project")
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("a file lies in a directory")).expect("make the directory");
        fs::write(path, text).expect("write the file");
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.project())
            .env("XDG_CONFIG_HOME", self.root.join("config"))
            .env("HOME", &self.root);
        command.stdin(Stdio::null());
        command
    }

    fn call(&self, arguments: &[&str]) -> Output {
        self.command(binary())
            .args(arguments)
            .output()
            .expect("start the supervisor")
    }

    #[track_caller]
    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.call(arguments);
        let text = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
        text
    }

    /// How each file stands, by its path in the project.
    fn standing(&self, file: &str) -> String {
        let output = self.call(&["trust", "status", "--json"]);
        let list: Value = serde_json::from_slice(&output.stdout).expect("status is JSON");
        let path = self.project().join(file).display().to_string();
        let found = list
            .as_array()
            .expect("a list")
            .iter()
            .find(|entry| entry["file"] == path.as_str());
        found
            .map_or("absent", |entry| entry["standing"].as_str().expect("a word"))
            .to_owned()
    }

    fn store(&self) -> Value {
        match fs::read(self.root.join("config/glee/trust.json")) {
            Ok(bytes) => serde_json::from_slice(&bytes).expect("the store is JSON"),
            Err(_) => Value::Null,
        }
    }
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_trusted_and_the_way_is_told() {
    let scene = Scene::new();
    scene.file(".glee/config.yml", WIDE);
    let output = scene.call(&["trust"]);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(1), &b""[..]),
        "{told}"
    );
    assert!(told.contains("fs.write `.`") && told.contains("--yes"), "{told}");
    assert_eq!(
        (scene.store(), scene.standing(".glee/config.yml")),
        (Value::Null, "untrusted".to_owned())
    );
}

#[test]
fn yes_covers_the_configuration_and_the_project_profiles_it_extends() {
    let scene = Scene::new();
    scene.file(
        ".glee/config.yml",
        "security: {subagent_permissions: {extends: base}}\n",
    );
    scene.file(".glee/policies/base.yml", "fs: {write: [\".\"]}\n");
    let shown = scene.succeeds(&["trust", "--yes"]);
    assert!(
        shown.contains("config.yml") && shown.contains("base.yml") && shown.contains("fs.write `.`"),
        "{shown}"
    );
    assert_eq!(scene.store()["trusted"].as_object().map(serde_json::Map::len), Some(2));
    assert_eq!(scene.standing(".glee/config.yml"), "trusted");
    scene.file(".glee/policies/base.yml", "fs: {write: [\".\"]}\nnetwork: true\n");
    assert_eq!(scene.standing(".glee/config.yml"), "changed");
}

#[test]
fn a_profile_of_the_project_is_trusted_by_name_and_alone() {
    let scene = Scene::new();
    scene.file(".glee/config.yml", WIDE);
    scene.file(".glee/policies/wide.yml", "fs: {write: [\".\"]}\n");
    scene.succeeds(&["trust", "--policy", "wide", "--yes"]);
    let standings = [".glee/policies/wide.yml", ".glee/config.yml"].map(|file| scene.standing(file));
    assert_eq!(standings, ["trusted", "untrusted"]);
}

#[test]
fn what_narrows_needs_no_trust_and_what_is_not_there_cannot_be_trusted() {
    let scene = Scene::new();
    assert_eq!(scene.call(&["trust", "--yes"]).status.code(), Some(1));
    scene.file(
        ".glee/config.yml",
        "security: {subagent_permissions: {max_runtime_mins: 1}}\n",
    );
    scene.succeeds(&["trust"]);
    assert_eq!(
        (scene.store(), scene.standing(".glee/config.yml")),
        (Value::Null, "not needed".to_owned())
    );
    for name in ["restricted", "nosuch", "../../config"] {
        assert_eq!(
            scene.call(&["trust", "--yes", "--policy", name]).status.code(),
            Some(1),
            "{name}"
        );
    }
}

#[test]
fn a_path_is_shown_with_the_place_it_leads_to() {
    let scene = Scene::new();
    let secret = scene.root.join("secrets");
    fs::create_dir(&secret).expect("make the directory");
    scene.file(
        ".glee/config.yml",
        "security: {subagent_permissions: {fs: {read: [\".\", ~/secrets]}}}\n",
    );
    let told = String::from_utf8_lossy(&scene.call(&["trust"]).stderr).into_owned();
    assert!(
        told.contains(&format!("fs.read `~/secrets` → {}", secret.display())),
        "{told}"
    );
}

#[test]
fn untrust_forgets_this_project_and_not_one_inside_it() {
    let scene = Scene::new();
    scene.file(".glee/config.yml", WIDE);
    scene.file("inner/.glee/config.yml", WIDE);
    scene.succeeds(&["trust", "--yes"]);
    scene.succeeds(&["--project", "inner", "trust", "--yes"]);
    scene.succeeds(&["untrust"]);
    let left: Vec<String> = scene.store()["trusted"]
        .as_object()
        .expect("a map")
        .keys()
        .cloned()
        .collect();
    assert_eq!(
        left,
        [scene.project().join("inner/.glee/config.yml").display().to_string()]
    );
}

/// A person's own profile that builds on the project's: it counts once the project's part is trusted, and the way is told.
#[test]
fn a_profile_of_the_users_that_extends_one_of_the_project_counts_once_that_is_trusted() {
    let scene = Scene::new();
    scene.file(".glee/policies/team.yml", "fs: {write: [\".\"]}\n");
    let dir = scene.root.join("config/glee/policies");
    fs::create_dir_all(&dir).expect("make the directory");
    fs::write(dir.join("mine.yml"), "extends: team\n").expect("write the profile");
    let run = || scene.call(&["run", "--policy", "mine", "--", "touch", "made"]);
    let told = String::from_utf8_lossy(&run().stderr).into_owned();
    assert!(!scene.project().join("made").exists(), "{told}");
    assert!(
        told.contains("policies/team.yml") && told.contains("trust --policy team"),
        "{told}"
    );
    scene.succeeds(&["trust", "--policy", "team", "--yes"]);
    let output = run();
    assert_eq!(
        (output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()),
        (Some(0), "")
    );
    assert!(scene.project().join("made").exists());
    scene.file(".glee/policies/team.yml", "fs: {write: [\".\"]}\n# changed\n");
    let told = String::from_utf8_lossy(&run().stderr).into_owned();
    assert!(told.contains("changed since it was trusted"), "{told}");
}

/// The file changes between the question and the answer: the answer is about what was shown.
#[test]
fn a_yes_on_a_terminal_covers_what_was_shown_and_nothing_later() {
    let scene = Scene::new();
    scene.file(".glee/config.yml", WIDE);
    let mut command = scene.command(Path::new("script"));
    command.args(["-qec", &format!("{} trust", binary().display()), "/dev/null"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` is not installed: this test needs the package `bsdutils`");
    let (mut typing, mut screen) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    let mut shown = Vec::new();
    let mut byte = [0];
    while !String::from_utf8_lossy(&shown).contains("[y/N]") {
        assert_ne!(
            screen.read(&mut byte).expect("read the screen"),
            0,
            "{}",
            String::from_utf8_lossy(&shown)
        );
        shown.push(byte[0]);
    }
    scene.file(".glee/config.yml", &format!("{WIDE}    network: true\n"));
    typing.write_all(b"y\n").expect("type");
    screen.read_to_end(&mut shown).expect("read the screen");
    assert_eq!(
        child.wait().expect("wait").code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&shown)
    );
    assert_eq!(scene.standing(".glee/config.yml"), "changed");
    scene.file(".glee/config.yml", WIDE);
    assert_eq!(scene.standing(".glee/config.yml"), "trusted");
}
