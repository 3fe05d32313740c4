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
    /// Every name that was looked at, the links and the end among them.
    pub(crate) steps: Vec<PathBuf>,
    /// Directories that a link leaves by `..`.
    pub(crate) turns: Vec<PathBuf>,
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
    let (mut links, mut steps, mut turns) = (Vec::new(), Vec::new(), Vec::new());
    let mut here = PathBuf::from("/");
    let mut todo: VecDeque<Part> = parts(path).collect();
    while let Some(part) = todo.pop_front() {
        match part {
            Part::Up => {
                turns.push(here.clone());
                here.pop();
            }
            Part::Down(name) => {
                let next = here.join(name);
                steps.push(next.clone());
                let Ok(target) = fs::read_link(&next) else {
                    here = next;
                    continue;
                };
                links.push(next);
                if links.len() > LINKS {
                    let end = None;
                    return Way {
                        links,
                        steps,
                        turns,
                        end,
                    };
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
    // What is turned round in from where a link lies is that link's own directory, which its name says already.
    let is_above = |dir: &PathBuf| !links.iter().any(|link| link.starts_with(dir));
    turns.retain(is_above);
    Way {
        links,
        steps,
        turns,
        end: Some(here),
    }
}
