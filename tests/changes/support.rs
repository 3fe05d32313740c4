//! A project, a run in it with a report, and the difference of two complete snapshots.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

use glee_tests::{Caller, Outcome, Policy, Run, World};
use serde_json::Value;

/// By the bytes of a path from the project: what happened, and what it is now (or was).
pub(crate) type Told = BTreeMap<Vec<u8>, (String, String)>;

/// What a complete look at one name sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Look {
    kind: &'static str,
    ino: u64,
    mode: u32,
    /// Of everything but a directory: size, both times, and a digest of the content.
    rest: Option<Rest>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rest {
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
    digest: u64,
}

pub(crate) type Tree = BTreeMap<Vec<u8>, Look>;

pub(crate) struct Place {
    pub(crate) world: World,
}

/// A run that is over.
pub(crate) struct Ran {
    pub(crate) outcome: Outcome,
    pub(crate) report: Value,
    pub(crate) told: Told,
    /// What really changed.
    pub(crate) true_changes: Told,
}

impl Place {
    pub(crate) fn of(caller: Caller) -> Self {
        Self {
            world: World::new(caller),
        }
    }

    /// Runs a script as the caller, without a sandbox: what it makes is there before.
    pub(crate) fn given(&self, script: &str) {
        let outcome = Run::bare(&self.world).script(script).go();
        assert!(outcome.left(), "the harness could not prepare: {}", outcome.describe());
    }

    /// Runs a script as the machine's administrator.
    pub(crate) fn administrator(&self, script: &str) {
        let script = self.world.fill(script);
        let done = std::process::Command::new("/bin/sh").args(["-c", &script]).status();
        assert!(done.is_ok_and(|status| status.success()), "{script}");
    }

    pub(crate) fn run(&self, script: &str) -> Ran {
        self.run_with(&[], script)
    }

    /// As `run_with`, for trees that this harness does not look through itself. Returns the report.
    pub(crate) fn run_deep(&self, flags: &[&str], script: &str) -> Value {
        std::thread::sleep(Duration::from_millis(60));
        let outcome = Run::sandboxed(&self.world, Policy::Named("workspace"))
            .flags(["--report", "@OUT/report.json"])
            .flags(flags)
            .limit(Duration::from_secs(300))
            .script(script)
            .go();
        assert!(outcome.left(), "{}", outcome.describe());
        let text = fs::read_to_string(self.world.path("@OUT/report.json")).expect("a report");
        serde_json::from_str(&text).expect("the report is JSON")
    }

    /// Runs a script while the administrator does something. Returns the report.
    pub(crate) fn run_meanwhile(&self, script: &str, administrator: &str) -> Value {
        let doing = self.world.fill(administrator);
        let mut doing = std::process::Command::new("/bin/sh")
            .args(["-c", &doing])
            .spawn()
            .expect("a shell");
        let report = self.run_deep(&[], script);
        assert!(doing.wait().is_ok_and(|status| status.success()), "{administrator}");
        report
    }

    /// Runs a script under `workspace`, with more flags.
    pub(crate) fn run_with(&self, flags: &[&str], script: &str) -> Ran {
        let run = Run::sandboxed(&self.world, Policy::Named("workspace"))
            .flags(["--report", "@OUT/report.json"])
            .flags(flags)
            .limit(Duration::from_secs(300))
            .script(script);
        // The clock that stamps inodes moves in ticks: what was made just now must not pass for changed.
        std::thread::sleep(Duration::from_millis(60));
        let before = tree(&self.world.project());
        let outcome = run.go();
        let after = tree(&self.world.project());
        let text = fs::read_to_string(self.world.path("@OUT/report.json"))
            .unwrap_or_else(|e| panic!("no report ({e}): {}", outcome.describe()));
        let report: Value = serde_json::from_str(&text).expect("the report is JSON");
        Ran {
            told: told(&report),
            true_changes: difference(&before, &after),
            outcome,
            report,
        }
    }
}

impl Ran {
    /// The report says exactly what the snapshots say, and is sure of it.
    #[track_caller]
    pub(crate) fn is_exact(&self) {
        assert_eq!(self.told, self.true_changes, "{}", self.outcome.describe());
        assert_eq!(self.report["changes"]["unsure"], serde_json::json!([]));
        let count = |word: &str| self.told.values().filter(|(change, _)| change == word).count();
        for word in ["created", "changed", "deleted"] {
            assert_eq!(self.report["changes"][word], count(word), "{word}");
        }
    }

    /// The same in a repository, where objects are only counted.
    #[track_caller]
    pub(crate) fn is_exact_but_for_objects(&self) {
        let object = |path: &[u8]| {
            path.starts_with(b".git/objects/") && path != b".git/objects/info" && path != b".git/objects/pack"
        };
        let others: Told = self
            .true_changes
            .clone()
            .into_iter()
            .filter(|(path, _)| !object(path))
            .collect();
        assert_eq!(self.told, others, "{}", self.outcome.describe());
    }

    #[track_caller]
    pub(crate) fn left(self) -> Self {
        assert!(self.outcome.left(), "{}", self.outcome.describe());
        self
    }

    /// Exactly these, as `change kind path`.
    #[track_caller]
    pub(crate) fn says(&self, expected: &[&str]) {
        let mut said: Vec<String> = self
            .told
            .iter()
            .map(|(path, (change, kind))| format!("{change} {kind} {}", String::from_utf8_lossy(path)))
            .collect();
        let mut expected: Vec<String> = expected.iter().map(|row| (*row).to_owned()).collect();
        said.sort();
        expected.sort();
        assert_eq!(said, expected, "{}", self.outcome.describe());
    }

    /// Why the host would run this.
    #[track_caller]
    pub(crate) fn reason(&self, path: &str) -> Option<&str> {
        let rows = self.report["changed_files"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["path"] == path);
        row.unwrap_or_else(|| panic!("`{path}` is not in the report: {rows:?}"))["executes"].as_str()
    }
}

fn told(report: &Value) -> Told {
    let rows = report["changed_files"].as_array().expect("changed_files is a list");
    let text = |row: &Value, key: &str| {
        row[key]
            .as_str()
            .unwrap_or_else(|| panic!("no {key}: {row}"))
            .to_owned()
    };
    let told: Told = rows
        .iter()
        .map(|row| {
            let path = match row["path_hex"].as_str() {
                Some(hex) => bytes(hex),
                None => text(row, "path").into_bytes(),
            };
            (path, (text(row, "change"), text(row, "kind")))
        })
        .collect();
    assert_eq!(told.len(), rows.len(), "a name is told twice: {rows:?}");
    told
}

fn bytes(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
    (0..hex.len()).step_by(2).map(byte).collect()
}

/// Everything below a directory, and the directory itself as `.`.
pub(crate) fn tree(top: &Path) -> Tree {
    let mut found = Tree::from([(b".".to_vec(), look(top))]);
    let mut todo = vec![top.to_owned()];
    while let Some(dir) = todo.pop() {
        for entry in fs::read_dir(&dir).expect("list a directory").flatten() {
            let path = entry.path();
            if entry.file_type().expect("a kind").is_dir() {
                todo.push(path.clone());
            }
            let name = path.strip_prefix(top).expect("below the top").as_os_str().as_bytes();
            found.insert(name.to_vec(), look(&path));
        }
    }
    found
}

fn look(path: &Path) -> Look {
    let meta = fs::symlink_metadata(path).expect("look at a name");
    let kind = meta.file_type();
    let (kind, content) = if kind.is_dir() {
        ("dir", Vec::new())
    } else if kind.is_symlink() {
        let target = fs::read_link(path).expect("read a link");
        ("symlink", target.as_os_str().as_bytes().to_vec())
    } else if kind.is_file() {
        ("file", fs::read(path).expect("read a file"))
    } else if kind.is_fifo() {
        ("fifo", Vec::new())
    } else if kind.is_socket() {
        ("socket", Vec::new())
    } else {
        ("device", Vec::new())
    };
    let mut digest = DefaultHasher::new();
    content.hash(&mut digest);
    Look {
        kind,
        ino: meta.ino(),
        mode: meta.mode() & 0o7777,
        rest: (kind != "dir").then(|| Rest {
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
            digest: digest.finish(),
        }),
    }
}

pub(crate) fn difference(before: &Tree, after: &Tree) -> Told {
    let row = |change: &str, look: &Look| (change.to_owned(), look.kind.to_owned());
    let now = after.iter().filter_map(|(path, look)| match before.get(path) {
        None => Some((path.clone(), row("created", look))),
        Some(was) if was != look => Some((path.clone(), row("changed", look))),
        Some(_) => None,
    });
    let gone = before.iter().filter(|(path, _)| !after.contains_key(*path));
    now.chain(gone.map(|(path, look)| (path.clone(), row("deleted", look))))
        .collect()
}
