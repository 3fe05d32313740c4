//! Remotes that are directories: to push to one runs the hooks that lie there.
//!
//! For a remote `p` git tries `p/.git`, `p`, `p.git/.git` and `p.git`, in this order. What is there is protected like any other
//! repository; what is not is looked at again when the run has ended. INVARIANT (bounded): those that the first look found
//! are asked, and `PLACES` places kept.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::git;
use super::gitconfig::{self, Named};
use super::links;
use super::scan::Found;
use crate::plan::{Remote, RemoteWas};

/// Linked worktrees of one repository.
const WORKTREES: usize = 256;
const PLACES: usize = 4096;
/// What git appends, in its order.
const ENDS: [&str; 4] = ["/.git", "", ".git/.git", ".git"];

/// The places in `trees` that remotes name. The repositories there are added to what was `seen`.
pub(super) fn find(
    trees: &[PathBuf],
    here: &[PathBuf],
    own: &Named,
    home: Option<&Path>,
    seen: &mut Found,
) -> Vec<Remote> {
    if trees.is_empty() {
        return Vec::new();
    }
    let above = trees.iter().flat_map(|tree| git::around(tree));
    let works = trees.iter().chain(here).map(PathBuf::as_path).chain(above);
    let works: BTreeSet<&Path> = works.chain(seen.repositories.iter().map(PathBuf::as_path)).collect();
    let of_works = works.into_iter().filter_map(|work| {
        let dir = git::git_dir_of(work)?;
        Some((git::common_dir_of(&dir).unwrap_or(dir), Some(work.to_owned())))
    });
    let bare = trees
        .iter()
        .flat_map(|tree| tree.ancestors())
        .filter(|dir| git::looks_like_git(dir));
    let bare = bare.chain(seen.bare.iter().map(PathBuf::as_path));
    let all: BTreeSet<(PathBuf, Option<PathBuf>)> = of_works.chain(bare.map(|dir| (dir.to_owned(), None))).collect();
    let own = &Said::default().read(own.files.iter().cloned(), home);
    let mut places = BTreeSet::new();
    for (dir, work) in all {
        places.append(&mut named(&dir, work.as_deref(), (own, home)));
        for module in git::modules(&dir) {
            places.append(&mut named(&module, None, (own, home)));
        }
    }
    let mut found = Vec::new();
    for at in places.iter().flat_map(|place| ENDS.map(|end| append(place, end))) {
        let way = links::follow(&at);
        let in_trees = |place: &PathBuf| trees.iter().any(|tree| place.starts_with(tree));
        if found.len() >= PLACES || !way.links.iter().chain(&way.end).chain([&at]).any(in_trees) {
            continue;
        }
        let is_bare = git::looks_like_git(&at);
        let leads = || git::pointer_at(&at);
        let was = match way.end.as_deref() {
            Some(end) if end.ends_with(".git") && (is_bare || at.is_file()) => {
                end.parent()
                    .into_iter()
                    .for_each(|work| add(&mut seen.repositories, work));
                RemoteWas::There
            }
            Some(end) if is_bare => {
                add(&mut seen.bare, end);
                RemoteWas::There
            }
            Some(_) if let Some(to) = leads().filter(|to| git::looks_like_git(to)) => {
                add(&mut seen.bare, &to);
                RemoteWas::Pointer
            }
            Some(_) | None => RemoteWas::Missing,
        };
        found.push(Remote { at, end: way.end, was });
    }
    found
}

fn add(to: &mut Vec<PathBuf>, dir: &Path) {
    if !to.iter().any(|known| known == dir) {
        to.push(dir.to_owned());
    }
}

fn append(to: &Path, end: &str) -> PathBuf {
    let mut text = to.as_os_str().to_owned();
    text.push(end);
    text.into()
}

/// What configuration says of remotes.
#[derive(Debug, Default, Clone)]
struct Said {
    addresses: BTreeSet<Vec<u8>>,
    /// How they begin, and what takes the place of that.
    instead: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Said {
    fn read(mut self, files: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Self {
        gitconfig::each(files, home, |_, _, setting| {
            match (setting.section.as_str(), setting.key.as_str()) {
                // What is no remote's name is an address.
                ("remote", "url" | "pushurl" | "pushdefault") | ("branch", "remote" | "pushremote") => {
                    self.addresses.insert(setting.value.clone());
                }
                ("url", "insteadof" | "pushinsteadof") => {
                    let base = setting.subsection.clone().unwrap_or_default();
                    self.instead.push((setting.value.clone(), base));
                }
                _ => {}
            }
        });
        self
    }

    fn addresses(self) -> BTreeSet<Vec<u8>> {
        let replaced = |address: &Vec<u8>| {
            let fitting = |(prefix, base): &(Vec<u8>, Vec<u8>)| {
                let rest = address.strip_prefix(prefix.as_slice())?;
                Some([base, rest].concat())
            };
            self.instead.iter().filter_map(fitting).collect::<Vec<_>>()
        };
        let mut all: BTreeSet<Vec<u8>> = self.addresses.iter().flat_map(replaced).collect();
        all.extend(self.addresses.iter().cloned());
        all
    }
}

/// The directories that one repository's configuration names, from each of its working trees.
fn named(dir: &Path, work: Option<&Path>, (own, home): (&Said, Option<&Path>)) -> BTreeSet<PathBuf> {
    let entries = git::worktrees(dir, WORKTREES);
    let of_entries = entries.iter().map(|(entry, _)| entry.join("config.worktree"));
    let files = ["config", "config.worktree"].map(|name| dir.join(name));
    let addresses = own.clone().read(files.into_iter().chain(of_entries), home).addresses();
    let paths: Vec<PathBuf> = addresses.iter().filter_map(|address| local(address, home)).collect();
    if paths.is_empty() {
        return BTreeSet::new();
    }
    let beside = dir.parent().filter(|_| dir.ends_with(".git")).map(Path::to_owned);
    let works = entries.into_iter().filter_map(|(_, work)| work);
    let works = works
        .chain(git::work_of(dir).or(beside))
        .chain(work.map(Path::to_owned));
    let works: BTreeSet<PathBuf> = works.chain([dir.to_owned()]).collect();
    let from_each = |path: &PathBuf| works.iter().map(|work| plain(&work.join(path))).collect::<Vec<_>>();
    paths.iter().flat_map(from_each).collect()
}

/// Without slashes at its end, and with `.` left out.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}

/// The directory that an address names, perhaps relative to the working tree. `None` for another machine, or the repository itself.
pub(crate) fn local(url: &[u8], home: Option<&Path>) -> Option<PathBuf> {
    if let Some(path) = url.strip_prefix(b"file:") {
        return Some(PathBuf::from(OsString::from_vec(decoded(path))));
    }
    let colon = url.iter().position(|byte| *byte == b':');
    let slash = url.iter().position(|byte| *byte == b'/');
    let is_far = colon.is_some_and(|colon| slash.is_none_or(|slash| colon < slash));
    if is_far || url.is_empty() || url == b"." {
        return None;
    }
    match (url.strip_prefix(b"~/"), home) {
        (Some(rest), Some(home)) => Some(home.join(OsStr::from_bytes(rest))),
        _ => Some(PathBuf::from(OsStr::from_bytes(url))),
    }
}

/// `%2f` and its kin.
fn decoded(text: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut rest = text;
    let mut plain = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        let coded = match after {
            [high, low, ..] if *first == b'%' => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match coded {
            Some((high, low)) => {
                plain.push(high << 4 | low);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
#[path = "remotes_tests.rs"]
mod tests;
