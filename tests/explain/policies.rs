//! Random policies over that terrain.

use glee_tests::Caller;

use crate::chance::Chance;

/// A policy whose parts can be taken away again.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    pub(crate) base: &'static str,
    pub(crate) read: Option<Vec<String>>,
    pub(crate) write: Option<Vec<String>>,
    pub(crate) deny: Vec<String>,
    pub(crate) unprotect: Vec<String>,
    network: &'static str,
    env: Vec<&'static str>,
    set: Vec<&'static str>,
    landlock: bool,
}

const READ: &[&str] = &[
    ".",
    "src",
    "src/lib",
    "a/b/c",
    "readme",
    "link_in",
    "link_abs",
    "bin",
    "missing/dir",
    "~/.cargo",
    "~/.ssh/id",
    "~/other",
    "~/.config",
    "~/link_out",
    "~/link_project",
    "@OUT",
    "@OUT/data",
    "@OUT/data/file",
    "@OUT/tree/a",
    "@OUT/link_tree",
    "@OUT/prog",
    "/etc",
    "/etc/shells",
    "/var/cache",
    "/",
];

const WRITE: &[&str] = &[
    ".",
    ".",
    "src",
    "a",
    "a/b/c",
    "deep/1",
    "readme",
    "~/other",
    "~/.config/app",
    "@OUT",
    "@OUT/data",
    "@OUT/tree",
    "@OUT/tree/a/b",
    ".glee/agent_sessions/",
    "missing/dir",
];

const DENY: &[&str] = &[
    "**/.env",
    "**/*.key",
    "**/lib",
    "src/.env",
    "a/b/secret.key",
    "a/b",
    "a/*/c",
    "deep/1/2",
    "deep/new",
    "src/nothing/there",
    "~/.ssh",
    "~/.cargo/credentials*",
    "~/other/**",
    "@OUT/data",
    "@OUT/**/leaf",
    "/etc/hosts",
    "/usr/share/doc",
    "/proc/meminfo",
    "link_env",
];

const UNPROTECT: &[&str] = &[".envrc", ".git/hooks", ".vscode", ".glee", ".claude"];

const ENV: &[&str] = &["PATH", "HOME", "LANG", "USER", "LC_*", "FOO", "BAR_*", "NEVER_SET"];
const SET: &[&str] = &["CI: '1'", "FOO: mine", "EMPTY: ''"];

impl Draft {
    pub(crate) fn random(chance: &mut Chance, caller: Caller) -> Self {
        let lines = |items: Vec<&str>| items.into_iter().map(str::to_owned).collect::<Vec<String>>();
        let landlock = caller == Caller::User && chance.is(1, 8);
        let mut draft = Self {
            base: if chance.is(1, 2) { "restricted" } else { "workspace" },
            read: chance.is(3, 4).then(|| lines(chance.some(READ, 5))),
            write: chance.is(1, 2).then(|| lines(chance.some(WRITE, 3))),
            deny: if chance.is(2, 3) && !landlock {
                lines(chance.some(DENY, 3))
            } else {
                Vec::new()
            },
            unprotect: lines(chance.some(UNPROTECT, 1)),
            network: chance.one(&["false", "false", "true", "{allow: [\"allowed.test\"]}"]),
            env: chance.some(ENV, 5),
            set: chance.some(SET, 2),
            landlock,
        };
        if landlock {
            draft.network = "false";
        }
        draft
    }

    pub(crate) fn yaml(&self) -> String {
        let list = |items: &[String]| {
            items
                .iter()
                .map(|item| format!("\"{item}\""))
                .collect::<Vec<_>>()
                .join(", ")
        };
        let mut text = format!("extends: {}\nfs:\n  deny: [{}]\n", self.base, list(&self.deny));
        if let Some(read) = &self.read {
            text.push_str(&format!("  read: [{}]\n", list(read)));
        }
        if let Some(write) = &self.write {
            text.push_str(&format!("  write: [{}]\n", list(write)));
        }
        text.push_str(&format!(
            "unprotect: [{}]\nnetwork: {}\n",
            list(&self.unprotect),
            self.network
        ));
        text.push_str(&format!(
            "env:\n  allow: [{}]\n  set: {{{}}}\n",
            self.env.join(", "),
            self.set.join(", ")
        ));
        if self.landlock {
            text.push_str("isolation: landlock\n");
        }
        text
    }
}
