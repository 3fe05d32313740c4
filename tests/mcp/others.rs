//! Programs of others that test or use MCP servers, of pinned versions.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

/// Name, package and version of each.
const VERSIONS: &str = include_str!("versions.txt");
/// Where `scripts/test` installs them.
const INSTALLED: &str = "/var/lib/glee-mcp";

fn modules() -> PathBuf {
    let top = std::env::var_os("GLEE_MCP_TOOLS").map_or_else(|| PathBuf::from(INSTALLED), PathBuf::from);
    top.join("node_modules")
}

/// Where it is installed, in the pinned version. Another or none fails the suite.
fn package(name: &str) -> PathBuf {
    let line = VERSIONS.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let version = line.into_iter().find_map(|words| match words.as_slice() {
        [known, _, version] if *known == name => Some(*version),
        _ => None,
    });
    let version = version.unwrap_or_else(|| panic!("versions.txt has no line for {name}"));
    let dir = modules().join(name);
    let found = fs::read_to_string(dir.join("package.json"))
        .ok()
        .and_then(|text| serde_json::from_str::<Value>(&text).ok())
        .and_then(|json| json["version"].as_str().map(str::to_owned));
    assert_eq!(
        found.as_deref(),
        Some(version),
        "{} must be there: `scripts/test` installs it",
        dir.display()
    );
    dir
}

/// A program of a package, run by the pinned Node with these arguments. Returns whether it succeeded, and what it said.
pub(crate) fn node(name: &str, script: &str, arguments: &[&str], home: &std::path::Path) -> (bool, String, String) {
    let node = package("node").join("bin/node");
    let output = Command::new("timeout")
        .arg(Duration::from_secs(240).as_secs().to_string())
        .arg(node)
        .arg(package(name).join(script))
        .args(arguments)
        .env_clear()
        .env("PATH", crate::support::PATH)
        .env("HOME", home)
        .env("NO_COLOR", "1")
        .current_dir(home)
        .stdin(Stdio::null())
        .output()
        .expect("start node");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}
