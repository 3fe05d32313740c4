//! Where a path leads, link by link.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// As many as the kernel follows.
const LINKS: usize = 40;

/// A path with every link on its way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The links, each by a path that has none above it.
    pub(crate) links: Vec<PathBuf>,
    /// Where it ends, there or not. `None` if it goes in a circle.
    pub(crate) end: Option<PathBuf>,
}

enum Part {
    Up,
    Down(OsString),
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = Part> {
    path.components().filter_map(|part| match part {
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Down(name.to_owned())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}

/// Follows an absolute path. What is missing is taken as a directory to be.
pub(crate) fn follow(path: &Path) -> Way {
    let mut links = Vec::new();
    let mut here = PathBuf::from("/");
    let mut todo: VecDeque<Part> = parts(path).collect();
    while let Some(part) = todo.pop_front() {
        match part {
            Part::Up => drop(here.pop()),
            Part::Down(name) => {
                let next = here.join(name);
                let Ok(target) = fs::read_link(&next) else {
                    here = next;
                    continue;
                };
                links.push(next);
                if links.len() > LINKS {
                    return Way { links, end: None };
                }
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                for part in parts(&target).rev() {
                    todo.push_front(part);
                }
            }
        }
    }
    Way { links, end: Some(here) }
}
