//! What this machine can enforce, found out by trying: one row per feature, and one for a whole sandbox.
//!
//! Each trial happens in a process of its own, which ends with it. Makes and removes a cgroup; changes nothing else.
//! INVARIANT: a verdict never comes from a version number.

pub mod apparmor;
mod cgroups;
mod kernel;
mod namespaces;
mod trial;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Serialize;

/// One feature of the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub feature: &'static str,
    pub ok: bool,
    /// What was found, or why not.
    pub found: String,
    pub needed_by: &'static str,
    /// Without it `restricted` cannot be enforced.
    pub required: bool,
    /// What to do, where it is not there.
    pub remedy: Option<String>,
}

/// A row whose verdict is still open.
#[derive(Debug, Clone, Copy)]
struct Draft {
    feature: &'static str,
    needed_by: &'static str,
    required: bool,
}

impl Draft {
    fn new(feature: &'static str, needed_by: &'static str, required: bool) -> Self {
        Self {
            feature,
            needed_by,
            required,
        }
    }

    fn there(self, found: impl Into<String>) -> Check {
        let Self {
            feature,
            needed_by,
            required,
        } = self;
        Check {
            feature,
            ok: true,
            found: found.into(),
            needed_by,
            required,
            remedy: None,
        }
    }

    fn missing(self, found: impl ToString, remedy: impl Into<String>) -> Check {
        let Self {
            feature,
            needed_by,
            required,
        } = self;
        Check {
            feature,
            ok: false,
            found: found.to_string(),
            needed_by,
            required,
            remedy: Some(remedy.into()),
        }
    }

    fn of<T>(self, result: std::io::Result<T>, found: impl Into<String>, remedy: &str) -> Check {
        match result {
            Ok(_) => self.there(found),
            Err(error) => self.failed(&error, plain(&error), remedy),
        }
    }

    /// The trial failed, or could not be made.
    fn failed(self, error: &std::io::Error, found: impl ToString, remedy: &str) -> Check {
        if trial::was_tried(error) {
            self.missing(found, remedy)
        } else {
            self.missing(error, "see `clone3`")
        }
    }
}

/// `Operation not permitted`, without the number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Everything found.
#[derive(Debug, Serialize)]
pub struct Diagnosis {
    /// Can `restricted` be enforced here?
    pub ok: bool,
    pub checks: Vec<Check>,
    /// Switches that decide whether user namespaces can be had. Absent ones are null.
    pub sysctl: BTreeMap<&'static str, Option<String>>,
}

/// The switches, by the kernel's names.
const SYSCTLS: [&str; 3] = [
    "kernel.unprivileged_userns_clone",
    "user.max_user_namespaces",
    "kernel.apparmor_restrict_unprivileged_userns",
];

/// Tries everything. `project` is the directory that a run here would use. The process must have one thread.
#[must_use]
pub fn diagnose(project: Option<&Path>) -> Diagnosis {
    let sysctl: BTreeMap<&'static str, Option<String>> = SYSCTLS.into_iter().map(|name| (name, read(name))).collect();
    let mut checks = vec![
        kernel::landlock(),
        kernel::seccomp(),
        kernel::openat2(),
        kernel::clone3(),
        kernel::pidfd(),
        kernel::close_range(),
    ];
    checks.extend(namespaces::all(&sysctl, project));
    checks.extend(cgroups::all());
    let whole = namespaces::whole(project);
    let ok = whole.ok && checks.iter().all(|check| check.ok || !check.required);
    checks.push(whole);
    Diagnosis { ok, checks, sysctl }
}

fn read(name: &str) -> Option<String> {
    let path = Path::new("/proc/sys").join(name.replace('.', "/"));
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}
