//! A place to run an agent in, and what is asserted of a run.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use glee_tests::{Caller, Outcome, Policy, Run, World};
use serde_json::Value;

use crate::api::{Api, Request, Turn};
use crate::bare;
use crate::cli::Cli;

/// What every test key begins with. Alone it opens nothing, so an agent may look for it.
pub(crate) const KEY_PREFIX: &str = "sk-glee-test-";

/// Makes each `fn claim(at) { … }` six tests: for every CLI, as root and as an ordinary user.
macro_rules! claims {
    ($(fn $claim:ident($at:ident) $body:block)*) => {
        $(fn $claim($at: &$crate::support::Place) $body)*
        $crate::support::claims!(@cli codex Codex $($claim)*);
        $crate::support::claims!(@cli claude Claude $($claim)*);
        $crate::support::claims!(@cli gemini Gemini $($claim)*);
    };
    (@cli $module:ident $cli:ident $($claim:ident)*) => {
        mod $module {
            mod as_root {
                $(#[test]
                fn $claim() {
                    super::super::$claim(&$crate::support::Place::of($crate::cli::Cli::$cli, glee_tests::Caller::Root));
                })*
            }
            mod as_user {
                $(#[test]
                fn $claim() {
                    super::super::$claim(&$crate::support::Place::of($crate::cli::Cli::$cli, glee_tests::Caller::User));
                })*
            }
        }
    };
}
pub(crate) use claims;

/// A world of one caller's, a repository as its project, a key, and a CLI.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) world: World,
    pub(crate) cli: Cli,
    pub(crate) key: String,
}

/// An agent that has come to its end.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) api: Api,
    /// Null without the supervisor.
    pub(crate) report: Value,
}

impl Place {
    pub(crate) fn of(cli: Cli, caller: Caller) -> Self {
        let world = World::new(caller);
        world.git_init();
        Self {
            world,
            cli,
            key: format!("{KEY_PREFIX}{}", random()),
        }
    }

    /// What is said to the agent: with it, all its processes carry the world's mark.
    fn prompt(&self) -> String {
        format!("do what the script says {}", self.world.nonce())
    }

    fn command(&self, program: &Path) -> Vec<String> {
        self.cli.command(program, &self.prompt())
    }

    fn report_path(&self) -> PathBuf {
        self.world.root().join("report.json")
    }

    /// Under this profile, with this server as the model; not yet started.
    pub(crate) fn sandboxed(&self, profile: &str, api: &Api) -> Run<'_> {
        let policy = format!("extends: {profile}\nmodel_endpoint: {}\n", api.url());
        let report = self.report_path().display().to_string();
        Run::sandboxed(&self.world, Policy::Yaml(policy))
            .flags(["--report", &report])
            .env(self.cli.key_variable(), &self.key)
            .command(self.command(&self.cli.program()))
            .limit(Duration::from_secs(120))
    }

    /// The agent with these turns of its model, in the sandbox.
    pub(crate) fn run(&self, profile: &str, turns: Vec<Turn>) -> Ran {
        let api = Api::serve(self.cli, turns);
        let outcome = self.sandboxed(profile, &api).go();
        self.ran(outcome, api)
    }

    /// The agent with these turns of its model, without a sandbox.
    pub(crate) fn bare(&self, turns: Vec<Turn>) -> Ran {
        let api = Api::serve(self.cli, turns);
        let run = bare::run(self, &api).command(self.command(&self.cli.program()));
        Ran {
            outcome: run.limit(Duration::from_secs(120)).go(),
            api,
            report: Value::Null,
        }
    }

    pub(crate) fn ran(&self, outcome: Outcome, api: Api) -> Ran {
        let report = fs::read_to_string(self.report_path())
            .unwrap_or_else(|e| panic!("no report was written: {e}\n{}", outcome.describe()));
        let report = serde_json::from_str(&report).unwrap_or_else(|e| panic!("the report is not JSON: {e}\n{report}"));
        Ran { outcome, api, report }
    }

    /// A shell command as the model's first turn, a last word as its second.
    pub(crate) fn shell(&self, script: &str) -> Vec<Turn> {
        // The mark is in the arguments of the shell, should it outlive the run.
        let script = format!("{script}\n: {}", self.world.nonce());
        vec![Turn::Shell(self.world.fill(&script)), Turn::text("that was all")]
    }

    /// Nothing of the world is left running.
    #[track_caller]
    pub(crate) fn is_quiet(&self, ran: &Ran) {
        assert_eq!(self.world.remains(), None, "{}", ran.outcome.describe());
    }

    /// The key arrived where the vendor wants it, and is nowhere else: not in what was sent, printed, reported or left.
    #[track_caller]
    pub(crate) fn key_stayed_outside(&self, ran: &Ran) {
        let (header, value) = self.cli.credential(&self.key);
        let asked = ran.api.asked();
        assert!(
            !asked.is_empty(),
            "the model was never asked\n{}",
            ran.outcome.describe()
        );
        for request in &asked {
            assert_eq!(
                request.header(header),
                Some(value.as_str()),
                "{} {}",
                request.method,
                request.path
            );
        }
        for request in ran.api.requests() {
            let others = request.headers.iter().filter(|(name, _)| name != header);
            let leaked = others.map(|(_, value)| value).chain([&request.path, &request.body]);
            assert!(
                !leaked.into_iter().any(|text| text.contains(&self.key)),
                "the key is in {request:?}"
            );
        }
        let (out, err) = (ran.outcome.out(), ran.outcome.err());
        assert!(
            !out.contains(&self.key) && !err.contains(&self.key),
            "{}",
            ran.outcome.describe()
        );
        let holding = files_with(self.world.root(), self.key.as_bytes());
        assert_eq!(holding, [] as [PathBuf; 0], "the key is in these files");
    }
}

impl Ran {
    /// The CLI itself says that it reached its goal.
    #[track_caller]
    pub(crate) fn succeeded(&self, at: &Place) {
        assert!(!self.outcome.hung, "{}", self.outcome.describe());
        let ended = (self.outcome.code(), at.cli.succeeded(&self.outcome.out()));
        assert_eq!(ended, (Some(0), true), "{}\n{:#}", self.outcome.describe(), self.report);
    }

    /// Everything that the agent told its model, which is how an agent gives away what it found.
    pub(crate) fn told(&self) -> String {
        let bodies: Vec<String> = self
            .api
            .requests()
            .into_iter()
            .map(|request: Request| request.body)
            .collect();
        bodies.join("\n")
    }

    /// The counts of the broker.
    #[track_caller]
    pub(crate) fn usage(&self) -> &Value {
        let usage = &self.report["model"]["usage"];
        assert!(usage.is_object(), "the report has no counts: {:#}", self.report);
        usage
    }
}

/// Every regular file below that holds these bytes.
fn files_with(top: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![top.to_path_buf()];
    while let Some(path) = left.pop() {
        let Ok(meta) = fs::symlink_metadata(&path) else {
            continue;
        };
        if meta.is_dir() {
            left.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|e| e.path()));
        } else if meta.is_file() && fs::read(&path).is_ok_and(|content| holds(&content, bytes)) {
            found.push(path);
        }
    }
    found
}

fn holds(content: &[u8], bytes: &[u8]) -> bool {
    content.windows(bytes.len()).any(|window| window == bytes)
}

/// 128 bits as hexadecimal digits.
fn random() -> String {
    let mut bytes = [0; 16];
    File::open("/dev/urandom")
        .and_then(|mut file| file.read_exact(&mut bytes))
        .expect("read /dev/urandom");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
