//! What the host would run later because a file is there: by its name, its directory, its mode or where it leads.
//!
//! Pure: reads no file. The tables are in docs/changed-files.md too, and a test compares the two.
//! INVARIANT: a name counts wherever it lies in the tree, and in any case of letters, since some filesystems know none.

use std::borrow::Cow;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use glee_sandbox::launch::{Change, Found, Judge, Verdict};
use glee_sandbox::sys::dir::FileKind;

mod tables;

use crate::shapes::Shapes;
use tables::{GIT_READS, GIT_REMOTES, GIT_RUNS, GIT_TOLD, NAMES};

type Reasons = Shapes<&'static str>;

/// What a word ends in that means everything below a directory.
const BELOW: &str = "/**";

static FILES: LazyLock<Reasons> = LazyLock::new(|| Shapes::new(words().filter(|(word, _)| !word.ends_with(BELOW))));
static DIRS: LazyLock<Reasons> = LazyLock::new(|| Shapes::new(dirs()));
/// The directories, and those on the way to them.
static WAYS: LazyLock<Reasons> = LazyLock::new(|| {
    let ways = dirs().flat_map(|(dir, reason)| {
        let ends = dir.match_indices('/').map(|(at, _)| at).chain([dir.len()]);
        ends.filter_map(move |end| Some((dir.get(..end)?, reason)))
    });
    Shapes::new(ways)
});

fn words() -> impl Iterator<Item = (&'static str, &'static str)> {
    let split = |(reason, words): &(&'static str, &'static str)| {
        let reason = *reason;
        words.split_ascii_whitespace().map(move |word| (word, reason))
    };
    NAMES.iter().flat_map(split)
}

fn dirs() -> impl Iterator<Item = (&'static str, &'static str)> {
    words().filter_map(|(word, reason)| Some((word.strip_suffix(BELOW)?, reason)))
}

const EXECUTABLE: &str = "it is executable";
/// In a git directory: what lies below is called as somebody called a branch.
const GIT_BRANCHES: &[&str] = &["refs", "logs"];
const LEAVES: &str = "the link leads out of the project";
const LEADS: &str = "the link leads to something that this list names";

/// Judges the changes of a run in one project.
#[derive(Debug)]
pub struct Later<'a> {
    pub project: &'a Path,
    pub git: Option<&'a Shown>,
}

/// The repository's own directory while a worktree lies over the project that it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub at: PathBuf,
    pub is: PathBuf,
}

impl Later<'_> {
    /// A path as it is when nothing lies over the project.
    pub(crate) fn real<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        match self.git.and_then(|git| Some((git, path.strip_prefix(&git.at).ok()?))) {
            Some((git, inside)) if inside.as_os_str().is_empty() => Cow::Owned(git.is.clone()),
            Some((git, inside)) => Cow::Owned(git.is.join(inside)),
            None => Cow::Borrowed(path),
        }
    }
}

impl Judge for Later<'_> {
    fn judge(&self, found: &Found<'_>) -> Verdict {
        let path = self.real(found.path);
        let found = &Found { path: &path, ..*found };
        if is_git_object(found) {
            return Verdict::Counted;
        }
        let runs = found.change != Change::Deleted;
        match self.reason(found).filter(|_| runs) {
            Some(reason) => Verdict::Executes(reason),
            None => Verdict::Plain,
        }
    }
}

impl Later<'_> {
    /// Does git read it, or run it, or take it for the way to another repository? `inside` is from the project.
    pub(crate) fn is_of_git(inside: &Path, kind: FileKind) -> bool {
        let named = inside.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git"));
        by_git(inside).is_some() || (named && kind != FileKind::Dir)
    }

    /// What a file tells git if its directory is a repository without a checkout, of any name.
    pub(crate) fn told_if_bare(path: &Path) -> Option<&'static str> {
        let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
        GIT_READS.contains(&name.as_str()).then_some(GIT_TOLD)
    }

    /// A link in a git directory, or one that leads there: git, or whoever writes to it, would write elsewhere than it seems. Not so
    /// the name of a branch, which git reads by its text.
    pub(crate) fn is_link_in_git(link: &Path, target: &Path) -> bool {
        let names_git = |path: &Path| path.components().filter_map(text).any(|part| part == ".git");
        let parts = names(link);
        let is_ref = parts.iter().any(|part| part == "refs") || link.ends_with("HEAD");
        let plain = target.components().all(|part| matches!(part, Component::Normal(_)));
        let is_branch = is_ref && plain && target.starts_with("refs");
        (names_git(link) || names_git(&end_of(link, target))) && !is_branch
    }

    fn reason(&self, found: &Found<'_>) -> Option<&'static str> {
        // What lies above the project has names of its own.
        let inside = found.path.strip_prefix(self.project).unwrap_or(found.path);
        match found.kind {
            FileKind::File => by_name(inside)
                .or_else(|| by_git(inside))
                .or_else(|| by_dir(inside))
                .or_else(|| (found.mode & 0o111 != 0).then_some(EXECUTABLE)),
            FileKind::Symlink => by_name(inside)
                .or_else(|| by_git(inside))
                .or_else(|| by_dir(inside))
                .or_else(|| by_link(inside))
                .or_else(|| self.leaves(found).then_some(LEAVES))
                .or_else(|| self.leads(found).then_some(LEADS)),
            FileKind::Dir | FileKind::Fifo | FileKind::Socket | FileKind::CharDevice | FileKind::BlockDevice => None,
        }
    }

    /// Does a link that stays in the project lead to something that counts?
    fn leads(&self, found: &Found<'_>) -> bool {
        let Some(target) = found.target else { return true };
        let end = end_of(found.path, target);
        let inside = end.strip_prefix(self.project).unwrap_or(&end);
        let by_any = by_name(inside).or_else(|| by_git(inside)).or_else(|| by_dir(inside));
        by_any.or_else(|| by_link(inside)).is_some()
    }

    /// Does a link lead out of the project, or somewhere that its text alone does not tell?
    fn leaves(&self, found: &Found<'_>) -> bool {
        let (Some(target), Some(dir)) = (found.target, found.path.parent()) else {
            return true;
        };
        let mut depth = match dir.strip_prefix(self.project) {
            Ok(inside) if target.is_relative() => inside.components().count(),
            Ok(_) | Err(_) if target.is_absolute() => {
                let plain = target.components().all(|part| part != Component::ParentDir);
                return !(plain && target.starts_with(self.project));
            }
            // A tree beside the project: what it links to is beside the project as well.
            Ok(_) | Err(_) => return true,
        };
        let mut named = false;
        for part in target.components() {
            match part {
                // Above a name, which may be a link itself.
                Component::ParentDir if named || depth == 0 => return true,
                Component::ParentDir => depth -= 1,
                Component::Normal(_) => named = true,
                Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
            }
        }
        false
    }
}

/// Where a link leads by its text alone.
fn end_of(link: &Path, target: &Path) -> PathBuf {
    let mut end = link.parent().map(Path::to_owned).unwrap_or_default();
    for part in target.components() {
        match part {
            Component::ParentDir => drop(end.pop()),
            Component::Normal(name) => end.push(name),
            Component::RootDir => end = PathBuf::from("/"),
            Component::CurDir | Component::Prefix(_) => {}
        }
    }
    end
}

fn text(part: Component<'_>) -> Option<String> {
    match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    }
}

/// Does a name count wherever it lies: a file, what is in a directory of which everything counts, or that directory itself?
pub(crate) fn is_named(path: &Path) -> bool {
    let by_any = by_name(path).or_else(|| by_git(path)).or_else(|| by_dir(path));
    by_any.or_else(|| DIRS.of(&names(path))).is_some()
}

fn names(path: &Path) -> Vec<String> {
    path.components().filter_map(text).collect()
}

fn by_name(path: &Path) -> Option<&'static str> {
    FILES.of(&names(path))
}

/// What git reads or runs in its own directory, a submodule's or a worktree's part of it included.
fn by_git(path: &Path) -> Option<&'static str> {
    let parts = names(path);
    let within = parts
        .iter()
        .position(|part| part == ".git")
        .and_then(|at| parts.get(at + 1..))?;
    let (name, dirs) = within.split_last()?;
    if dirs.iter().any(|dir| dir == "hooks") || name == "hooks" {
        return Some(GIT_RUNS);
    }
    // A branch may have any name.
    let own = dirs
        .iter()
        .chain([name])
        .take_while(|dir| !GIT_BRANCHES.contains(&dir.as_str()));
    let mut remotes = own.filter(|dir| GIT_REMOTES.contains(&dir.as_str()));
    (GIT_READS.contains(&name.as_str()) || remotes.next().is_some()).then_some(GIT_TOLD)
}

/// Something in a directory of which everything counts.
fn by_dir(path: &Path) -> Option<&'static str> {
    let above = names(path.parent()?);
    (1..=above.len()).find_map(|count| DIRS.of(above.get(..count)?))
}

/// A link in the place of such a directory, or of one on the way to it.
fn by_link(path: &Path) -> Option<&'static str> {
    WAYS.of(&names(path))
}

/// A file in git's store of objects, named as git names them: there are thousands, and each is the digest of itself.
fn is_git_object(found: &Found<'_>) -> bool {
    let names: Vec<&[u8]> = found
        .path
        .components()
        .map(|part| part.as_os_str().as_encoded_bytes())
        .collect();
    let Some(git) = names.iter().rposition(|name| *name == b".git") else {
        return false;
    };
    let Some(objects) = names
        .iter()
        .rposition(|name| *name == b"objects")
        .filter(|at| *at > git)
    else {
        return false;
    };
    let hex = |name: &[u8]| name.iter().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    let plain = found.kind == FileKind::File && found.mode & 0o111 == 0;
    match names.get(objects + 1..).unwrap_or_default() {
        [two] => found.kind == FileKind::Dir && two.len() == 2 && hex(two),
        [two, rest] if two.len() == 2 && hex(two) => {
            plain && (hex(rest) && matches!(rest.len(), 38 | 62) || rest.starts_with(b"tmp_obj_"))
        }
        [b"pack", name] => {
            let ends = [".pack", ".idx", ".rev", ".bitmap", ".mtimes", ".keep"];
            plain && (name.starts_with(b"tmp_") || ends.iter().any(|end| name.ends_with(end.as_bytes())))
        }
        _ => false,
    }
}

#[cfg(test)]
#[path = "later_tests.rs"]
mod tests;
