//! What the host would run later because a file is there: by its name, its directory, its mode or where it leads.
//!
//! Pure: reads no file. The tables are in docs/changed-files.md too, and a test compares the two.
//! INVARIANT: a name counts wherever it lies in the tree, and in any case of letters, since some filesystems know none.

use std::path::{Component, Path};

use glee_sandbox::launch::{Change, Found, Judge, Verdict};
use glee_sandbox::sys::dir::FileKind;

mod tables;

use tables::{DIRS, GIT_READS, GIT_RUNS, GIT_TOLD, NAMES, PATTERNS};

const EXECUTABLE: &str = "it is executable";
const LEAVES: &str = "the link leads out of the project";

/// Judges the changes of a run in one project.
#[derive(Debug)]
pub struct Later<'a> {
    pub project: &'a Path,
}

impl Judge for Later<'_> {
    fn judge(&self, found: &Found<'_>) -> Verdict {
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
                .or_else(|| self.leaves(found).then_some(LEAVES)),
            FileKind::Dir | FileKind::Fifo | FileKind::Socket | FileKind::CharDevice | FileKind::BlockDevice => None,
        }
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

fn text(part: Component<'_>) -> Option<String> {
    match part {
        Component::Normal(name) => Some(name.to_string_lossy().to_ascii_lowercase()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
    }
}

fn by_name(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    let listed = NAMES.iter().find(|(names, _)| names.contains(&name.as_str()));
    let pattern = || {
        PATTERNS.iter().find(|((begin, end), _)| {
            name.len() > begin.len() + end.len() && name.starts_with(begin) && name.ends_with(end)
        })
    };
    listed
        .map(|(_, reason)| *reason)
        .or_else(|| pattern().map(|(_, reason)| *reason))
}

/// What git reads or runs in its own directory, a submodule's or a worktree's part of it included.
fn by_git(path: &Path) -> Option<&'static str> {
    let parts: Vec<String> = path.components().filter_map(text).collect();
    let within = parts
        .iter()
        .position(|part| part == ".git")
        .and_then(|at| parts.get(at + 1..))?;
    let (name, dirs) = within.split_last()?;
    if dirs.iter().any(|dir| dir == "hooks") || name == "hooks" {
        return Some(GIT_RUNS);
    }
    GIT_READS.contains(&name.as_str()).then_some(GIT_TOLD)
}

/// Something in a directory of which everything counts.
fn by_dir(path: &Path) -> Option<&'static str> {
    let parts: Vec<String> = path.parent()?.components().filter_map(text).collect();
    let holds = |dir: &[&str]| parts.windows(dir.len()).any(|window| window == dir);
    DIRS.iter().find(|(dir, _)| holds(dir)).map(|(_, reason)| *reason)
}

/// A link in the place of such a directory, or of one on the way to it.
fn by_link(path: &Path) -> Option<&'static str> {
    let parts: Vec<String> = path.components().filter_map(text).collect();
    let ends = |dir: &[&str]| (1..=dir.len()).any(|count| dir.get(..count).is_some_and(|way| ends_with(&parts, way)));
    DIRS.iter().find(|(dir, _)| ends(dir)).map(|(_, reason)| *reason)
}

fn ends_with(parts: &[String], way: &[&str]) -> bool {
    parts.len() >= way.len()
        && parts
            .iter()
            .rev()
            .zip(way.iter().rev())
            .all(|(part, name)| part == name)
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
