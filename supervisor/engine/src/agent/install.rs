//! The installation of an agent CLI, found from the file that the caller's PATH led to.
//!
//! A single binary needs nothing or little beside it. A package of npm's needs its own directory, and of its neighbours those that
//! it depends on: npm puts them inside for a global installation and beside it for a local one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

const PACKAGES: &str = "node_modules";
/// Packages followed, and bytes of a package's description that are read.
const MOST: usize = 1024;
const LARGEST: u64 = 1 << 20;

/// The directories that the program is made of, besides the file itself.
#[must_use]
pub fn directories(program: &Path) -> Vec<PathBuf> {
    let Some(package) = package_of(program) else {
        return standalone(program);
    };
    let mut found = BTreeSet::new();
    let mut todo = vec![package];
    while let Some(dir) = todo.pop() {
        if found.len() == MOST {
            break;
        }
        if !found.insert(dir.clone()) {
            continue;
        }
        todo.extend(
            dependencies(&dir)
                .iter()
                .filter_map(|name| locate(&dir, name))
                .filter(|dep| !found.contains(dep)),
        );
    }
    // What lies in another one is there already.
    let all: Vec<PathBuf> = found.into_iter().collect();
    let within = |dir: &PathBuf| all.iter().any(|other| other != dir && dir.starts_with(other));
    all.iter().filter(|dir| !within(dir)).cloned().collect()
}

/// What a program that no package manager installed keeps beside it: codex runs tools through a second program.
fn standalone(program: &Path) -> Vec<PathBuf> {
    let beside = |name: &str| program.parent().map(|dir| dir.join(name)).filter(|path| path.is_file());
    let root = program.parent().and_then(Path::parent);
    match root.filter(|root| root.join("codex-package.json").is_file()) {
        Some(root) => vec![root.to_owned()],
        None => beside("codex-code-mode-host").into_iter().collect(),
    }
}

/// The package that a file belongs to: `…/node_modules/NAME` or `…/node_modules/@SCOPE/NAME`.
fn package_of(file: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = file.components().collect();
    let at = parts.iter().rposition(|part| part.as_os_str() == PACKAGES)?;
    let scoped = parts.get(at + 1)?.as_os_str().as_encoded_bytes().starts_with(b"@");
    let length = at + if scoped { 3 } else { 2 };
    // The file itself is no package.
    (parts.len() > length).then(|| parts.iter().take(length).collect())
}

#[derive(Deserialize)]
struct Description {
    #[serde(default)]
    dependencies: serde_json::Map<String, serde_json::Value>,
    #[serde(default, rename = "optionalDependencies")]
    optional: serde_json::Map<String, serde_json::Value>,
}

fn dependencies(package: &Path) -> Vec<String> {
    let mut text = String::new();
    let read =
        fs::File::open(package.join("package.json")).and_then(|file| file.take(LARGEST).read_to_string(&mut text));
    let Ok(description) = read
        .map_err(|_| ())
        .and_then(|_| serde_json::from_str::<Description>(&text).map_err(|_| ()))
    else {
        return Vec::new();
    };
    let names = description.dependencies.into_iter().chain(description.optional);
    names.map(|(name, _)| name).filter(|name| is_name(name)).collect()
}

/// `NAME` or `@SCOPE/NAME`: it becomes part of a path.
fn is_name(name: &str) -> bool {
    let plain = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.~".contains(&b))
    };
    match name.strip_prefix('@').map(|rest| rest.split_once('/')) {
        Some(Some((scope, name))) => plain(scope) && plain(name),
        Some(None) => false,
        None => plain(name),
    }
}

/// Where Node would find it: inside, then beside, then further up.
fn locate(from: &Path, name: &str) -> Option<PathBuf> {
    from.ancestors()
        .filter(|dir| dir.file_name() != Some(PACKAGES.as_ref()))
        .map(|dir| dir.join(PACKAGES).join(name))
        // A link could lead anywhere.
        .find(|dir| fs::canonicalize(dir).is_ok_and(|real| real == *dir))
}

#[cfg(test)]
#[path = "install_tests.rs"]
mod tests;
