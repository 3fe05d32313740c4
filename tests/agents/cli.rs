//! What the tests know of each CLI: where it is, how it is called, how it tells its end.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Name, package and version of each CLI.
const VERSIONS: &str = include_str!("versions.txt");
/// Where `scripts/test` installs them: in nobody's home, and open to every caller.
const INSTALLED: &str = "/var/lib/glee-agents";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cli {
    Codex,
    Claude,
    Gemini,
}

impl Cli {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Codex => "codex",
            Self::Claude => "claude",
            Self::Gemini => "gemini",
        }
    }

    fn pinned(self) -> (&'static str, &'static str) {
        let lines = VERSIONS.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let found = lines.into_iter().find_map(|words| match words.as_slice() {
            [name, package, version] if *name == self.name() => Some((*package, *version)),
            _ => None,
        });
        found.unwrap_or_else(|| panic!("versions.txt has no line for {}", self.name()))
    }

    pub(crate) fn version(self) -> &'static str {
        self.pinned().1
    }

    /// The program that npm made, of the pinned version. Another or none fails the suite.
    pub(crate) fn program(self) -> PathBuf {
        let (package, version) = self.pinned();
        let modules = std::env::var_os("GLEE_AGENTS").map_or_else(|| PathBuf::from(INSTALLED), PathBuf::from);
        let modules = modules.join("node_modules");
        let manifest = modules.join(package).join("package.json");
        let found = fs::read_to_string(&manifest)
            .ok()
            .and_then(|text| serde_json::from_str::<Value>(&text).ok())
            .and_then(|json| json["version"].as_str().map(str::to_owned));
        assert_eq!(
            found.as_deref(),
            Some(version),
            "{} must be there in version {version}: `scripts/test` installs it",
            manifest.display()
        );
        modules.join(".bin").join(self.name())
    }

    /// The package with the native programs, which a local installation has beside the one that was asked for.
    pub(crate) fn platform_package(self, modules: &Path) -> Option<PathBuf> {
        let package = match self {
            Self::Codex => format!("@openai/codex-linux-{}", npm_arch()),
            Self::Claude => format!("@anthropic-ai/claude-code-linux-{}", npm_arch()),
            Self::Gemini => return None,
        };
        Some(modules.join(package))
    }

    /// One prompt, without a terminal, with events as output.
    pub(crate) fn command(self, program: &Path, prompt: &str) -> Vec<String> {
        let program = program.display().to_string();
        let words: &[&str] = match self {
            Self::Codex => &[&program, "exec", "--json", prompt],
            Self::Claude => &[&program, "-p", "--output-format", "stream-json", "--verbose", prompt],
            // Without a model it first asks another one which to take.
            Self::Gemini => &[&program, "-m", "gemini-2.5-pro", "-o", "stream-json", "-p", prompt],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }

    /// The variable of the supervisor's environment in which the user has their key.
    pub(crate) fn key_variable(self) -> &'static str {
        match self {
            Self::Codex => "OPENAI_API_KEY",
            Self::Claude => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }

    /// The header in which the vendor wants the key.
    pub(crate) fn credential(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Codex => ("authorization", format!("Bearer {key}")),
            Self::Claude => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }

    /// The tool that runs a shell command, as it is offered to the model.
    pub(crate) fn shell_tool(self) -> &'static str {
        match self {
            // JavaScript, which calls `exec_command`.
            Self::Codex => "exec",
            Self::Claude => "Bash",
            Self::Gemini => "run_shell_command",
        }
    }

    /// Its own words for a turn that came to a good end. An exit status of 0 proves nothing.
    pub(crate) fn succeeded(self, stdout: &str) -> bool {
        let events: Vec<Value> = stdout
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let last = |kind: &str| events.iter().rfind(|event| event["type"] == kind);
        match self {
            Self::Codex => events.last().is_some_and(|event| event["type"] == "turn.completed"),
            Self::Claude => last("result").is_some_and(|event| event["is_error"] == false),
            Self::Gemini => last("result").is_some_and(|event| event["status"] == "success"),
        }
    }
}

/// This machine as npm names it.
fn npm_arch() -> &'static str {
    match std::env::consts::ARCH {
        "aarch64" => "arm64",
        _ => "x64",
    }
}
