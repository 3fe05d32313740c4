//! Projects for the tests of workflows.
#![allow(clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs;
use std::sync::Arc;

use super::check::{Crew, Limits, Plan, check};
use super::library::Library;
use super::name::WorkflowName;
use crate::testing::Scratch;

pub(crate) const LIMITS: Limits = Limits {
    max_depth: 5,
    max_steps: 100,
    generated_steps: 10,
};

/// A project with these workflows, and agents `a`, `b` and `c` that take anything.
pub(crate) struct Project {
    scratch: Scratch,
}

impl Project {
    pub(crate) fn new(workflows: &[(&str, &str)]) -> Self {
        let project = Self {
            scratch: Scratch::new(),
        };
        for agent in ["a", "b", "c"] {
            project.agent(agent, "");
        }
        fs::create_dir_all(project.path().join(".glee/workflows")).expect("a directory");
        for (name, text) in workflows {
            project.workflow(name, text);
        }
        project
    }

    pub(crate) fn path(&self) -> &std::path::Path {
        self.scratch.path()
    }

    pub(crate) fn agent(&self, name: &str, rest: &str) {
        let dir = self.path().join(".glee/agents");
        fs::create_dir_all(&dir).expect("a directory");
        let text = format!("name: {name}\ndescription: d\nprompt: p\n{rest}");
        fs::write(dir.join(format!("{name}.yml")), text).expect("a file");
    }

    /// The name and the description are added: `text` begins with line 3.
    pub(crate) fn workflow(&self, name: &str, text: &str) {
        let text = format!("name: {name}\ndescription: About {name}\n{text}");
        fs::write(self.path().join(format!(".glee/workflows/{name}.yml")), text).expect("a file");
    }

    pub(crate) fn library(&self) -> Library {
        Library::open(self.path()).expect("a library")
    }

    /// What is wrong, as `FILE:LINE:COLUMN: MESSAGE`.
    pub(crate) fn problems(&self, root: &str, limits: Limits) -> Vec<String> {
        let problems = self.checked(root, limits).err().unwrap_or_default();
        let prefix = format!("{}/.glee/workflows/", self.path().display());
        let one = |problem: &super::Problem| {
            let file = problem
                .at
                .source
                .to_string()
                .replacen(&prefix, "", 1)
                .replace(".yml", "");
            format!("{file}:{}:{}: {}", problem.at.line, problem.at.column, problem.what)
        };
        problems.iter().map(one).collect()
    }

    pub(crate) fn checked(&self, root: &str, limits: Limits) -> Result<Arc<Plan>, Vec<super::Problem>> {
        let crew = Crew::open(self.path()).expect("agents");
        let root = WorkflowName::new(root).expect("a name");
        check(&root, &self.library(), &crew, limits)
    }

    pub(crate) fn plan(&self, root: &str) -> Arc<Plan> {
        self.checked(root, LIMITS)
            .unwrap_or_else(|problems| panic!("{problems:?}"))
    }
}
