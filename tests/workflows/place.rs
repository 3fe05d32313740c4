//! A project to run workflows in, with the stub agent.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use glee_tests::{Caller, Outcome, Run, World, binary};
use serde_json::Value;

const LIMIT: Duration = Duration::from_secs(300);

/// What lets an agent leave a trace in the project.
pub(crate) const WORKSPACE: &str = "security:\n  subagent_permissions:\n    extends: workspace\n";

pub(crate) struct Place {
    pub(crate) world: World,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        let world = World::new(caller);
        world.dir("@PROJECT/.glee/workflows");
        world.dir("@PROJECT/.glee/agents");
        Self { world }
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Run<'_> {
        let words = arguments.iter().map(OsString::from);
        let argv = [OsString::from(binary())].into_iter().chain(words);
        Run::bare(&self.world)
            .raw_command(argv)
            .env(
                "XDG_CONFIG_HOME",
                &self.world.root().join("config").display().to_string(),
            )
            .limit(LIMIT)
    }

    pub(crate) fn go(&self, arguments: &[&str]) -> Outcome {
        self.call(arguments).go()
    }

    /// What a call prints as JSON, and its exit status.
    #[track_caller]
    pub(crate) fn told(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let done = self.go(&[arguments, &["--json"]].concat());
        let value = serde_json::from_slice(&done.stdout).unwrap_or_else(|e| panic!("{e}\n{}", done.describe()));
        (done.code(), value)
    }

    /// A workflow run to its end.
    #[track_caller]
    pub(crate) fn run(&self, name: &str, more: &[&str]) -> (Option<i32>, Value) {
        self.told(&[&["workflow", "run", name], more].concat())
    }

    /// A workflow of this name; the text is what follows its name and description.
    pub(crate) fn workflow(&self, name: &str, text: &str) -> PathBuf {
        let text = format!("name: {name}\ndescription: A trial\n{text}");
        self.world.file(&format!("@PROJECT/.glee/workflows/{name}.yml"), &text)
    }

    /// A stub agent that does this.
    pub(crate) fn agent(&self, name: &str, orders: &str) {
        let text = format!(
            "name: {name}\ndescription: d\nagent: stub\nprompt: |\n  {}\n",
            orders.replace('\n', "\n  ")
        );
        self.world.file(&format!("@PROJECT/.glee/agents/{name}.yml"), &text);
    }

    /// A configuration that the user trusts.
    #[track_caller]
    pub(crate) fn trusted(&self, config: &str) {
        self.world.file("@PROJECT/.glee/config.yml", config);
        let done = self.go(&["trust", "--config", "--yes"]);
        // What asks for nothing needs no trust.
        let is_fine = done.code() == Some(0) || says(&done, "nothing to trust");
        assert!(is_fine, "{}", done.describe());
    }

    /// The lines of a file that agents append to.
    pub(crate) fn lines(&self, file: &str) -> Vec<String> {
        let text = fs::read_to_string(self.world.project().join(file)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

/// Is it said, on whichever stream?
pub(crate) fn says(done: &Outcome, text: &str) -> bool {
    done.out().contains(text) || done.err().contains(text)
}

/// `path status` of every step.
pub(crate) fn steps(view: &Value) -> Vec<String> {
    let steps = view["steps"].as_array().expect("steps");
    let word = |step: &Value| {
        format!(
            "{} {}",
            step["path"].as_str().expect("a path"),
            step["state"].as_str().expect("a state")
        )
    };
    steps.iter().map(word).collect()
}

/// The result of one step.
pub(crate) fn result(view: &Value, index: usize) -> &Value {
    &view["steps"][index]["result"]
}
