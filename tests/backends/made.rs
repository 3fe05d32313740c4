//! The images that docker/build makes: what they say of themselves, and how they are started.

use std::path::Path;
use std::process::Command;

use glee_tests::binary;
use serde_json::Value;

use crate::support::Place;

/// The repository's own scripts, from the directory above this one.
pub(crate) fn script(name: &str) -> Command {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docker").join(name);
    let mut command = Command::new(path);
    command.env("GLEE_BIN", binary());
    command
}

/// An image that was just made.
pub(crate) struct Made<'p> {
    at: &'p Place,
    pub(crate) name: String,
}

impl<'p> Made<'p> {
    pub(crate) fn of(at: &'p Place, which: &str) -> Self {
        let out = script("build").arg(which).output().expect("docker/build runs");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let name = format!("localhost/glee-supervisor:{which}");
        Self { at, name }
    }

    /// What `podman run` with these options prints; no rights but those are given.
    #[track_caller]
    pub(crate) fn run(&self, options: &[&str], command: &[&str]) -> String {
        let runtime = if Path::new("/usr/sbin/runc").exists() {
            "/usr/sbin/runc"
        } else {
            "crun"
        };
        let first = [
            "--runtime",
            runtime,
            "run",
            "--rm",
            "--pull",
            "never",
            "--cap-drop",
            "all",
        ];
        let limits = ["--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096"];
        let network = if options.contains(&"--network") {
            &[][..]
        } else {
            &["--network", "none"]
        };
        let words = [&first[..], &limits, network, options, &[self.name.as_str()], command].concat();
        let out = self.at.podman_ends(&words);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        assert!(
            out.status.success(),
            "{words:?}: {said}{}",
            String::from_utf8_lossy(&out.stderr)
        );
        said
    }

    /// The options of docs/backends.md with which the native backend works inside.
    pub(crate) fn fewest_rights(&self) -> Vec<String> {
        let profile = self.at.world.root().join("seccomp-native.json");
        let made = script("build").arg("seccomp").arg(&profile).status();
        assert!(made.expect("docker/build runs").success());
        let options = [
            "--user",
            "10001:10001",
            "--security-opt",
            "no-new-privileges",
            "--security-opt",
        ];
        let mut options: Vec<String> = options.map(str::to_owned).to_vec();
        options.extend(["unmask=ALL".to_owned(), "--security-opt".to_owned()]);
        options.push(format!("seccomp={}", profile.display()));
        options
    }

    /// A user without rights, labels, and a list of what is inside, which is returned.
    #[track_caller]
    pub(crate) fn tells_what_it_is(&self, title: &str) -> Value {
        let inspected = self.at.podman(&["image", "inspect", &self.name]);
        let about: Value = serde_json::from_str(&inspected).expect("JSON");
        let about = &about[0];
        assert_eq!(about["User"], "10001:10001");
        let label = |name: &str| about["Labels"][name].as_str().unwrap_or_default().to_owned();
        let version = Command::new(binary())
            .arg("--version")
            .output()
            .expect("it runs")
            .stdout;
        let version = String::from_utf8_lossy(&version).trim().to_owned();
        assert_eq!(label("org.opencontainers.image.title"), title);
        assert_eq!(label("org.opencontainers.image.licenses"), "MIT OR Apache-2.0");
        assert!(!label("org.opencontainers.image.description").is_empty());
        assert_eq!(
            format!("glee-supervisor {}", label("org.opencontainers.image.version")),
            version
        );
        assert_eq!(label("glee.sbom"), "/usr/share/glee/sbom.spdx.json");
        let sbom = self.sbom();
        let ours = &sbom["packages"][0];
        let sum = Command::new("sha256sum")
            .arg(binary())
            .output()
            .expect("sha256sum")
            .stdout;
        let sum = String::from_utf8_lossy(&sum)
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned();
        assert_eq!(
            (&ours["name"], &ours["checksums"][0]["checksumValue"]),
            (&Value::from("glee-supervisor"), &Value::from(sum))
        );
        sbom
    }

    /// Taken out of the image, which need not have a program to print it. Names in it are well formed and said once.
    fn sbom(&self) -> Value {
        let id = self
            .at
            .podman(&["create", "--pull", "never", "--network", "none", &self.name]);
        let to = self.at.world.root().join("sbom.json");
        let from = format!("{id}:/usr/share/glee/sbom.spdx.json");
        let copied = self.at.podman_ends(&["cp", &from, &to.display().to_string()]);
        self.at.podman(&["rm", "--force", &id]);
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let sbom: Value = serde_json::from_slice(&std::fs::read(&to).expect("the list")).expect("JSON");
        assert_eq!(sbom["spdxVersion"], "SPDX-2.3");
        let packages = sbom["packages"].as_array().expect("a list");
        let ids: Vec<&str> = packages
            .iter()
            .filter_map(|package| package["SPDXID"].as_str())
            .collect();
        let well_formed = |id: &&str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.');
        assert!(ids.len() == packages.len() && ids.iter().all(well_formed), "{ids:?}");
        let once: std::collections::BTreeSet<&&str> = ids.iter().collect();
        assert_eq!(once.len(), ids.len(), "a name is said twice");
        assert!(
            packages.iter().any(|package| package["name"] == "bollard"),
            "crates are listed"
        );
        sbom
    }
}
