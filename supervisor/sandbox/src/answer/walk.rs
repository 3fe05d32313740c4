//! Follows a path from the new root on, link by link, as the kernel does.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use super::view::{Layer, Lock, Node, Spot, View};

/// As many as the kernel follows.
const LINKS: usize = 40;

#[derive(Debug)]
pub(super) struct Walked {
    /// Where the path leads.
    pub(super) at: PathBuf,
    pub(super) links: Vec<PathBuf>,
    pub(super) end: End,
}

#[derive(Debug)]
pub(super) enum End {
    /// At something, or where it could be made.
    Reached(Spot),
    /// A directory on the way is missing. `from` is the deepest that is there.
    Missing {
        from: PathBuf,
        spot: Spot,
    },
    /// What lies on the way cannot be entered, or is not there to come back from.
    Stopped {
        by: PathBuf,
        spot: Spot,
    },
    Circle,
}

enum Part {
    /// A slash or `.` at the end: what is there must be a directory.
    Here,
    Up,
    Down(OsString),
}

fn parts(path: &Path) -> impl DoubleEndedIterator<Item = Part> {
    let bytes = path.as_os_str().as_bytes();
    let here = bytes.ends_with(b"/") || bytes.ends_with(b"/.");
    let names = path.components().filter_map(|part| match part {
        Component::ParentDir => Some(Part::Up),
        Component::Normal(name) => Some(Part::Down(name.to_owned())),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    names.chain(here.then_some(Part::Here))
}

/// What is left of the way, taken as it is written.
fn onwards(here: &Path, todo: &VecDeque<Part>) -> PathBuf {
    let mut path = here.to_owned();
    for part in todo {
        match part {
            Part::Here => {}
            Part::Up => drop(path.pop()),
            Part::Down(name) => path.push(name),
        }
    }
    path
}

pub(super) fn walk(view: &View<'_>, path: &Path) -> Walked {
    let mut links = Vec::new();
    let mut here = PathBuf::from("/");
    let mut todo: VecDeque<Part> = parts(path).collect();
    while let Some(part) = todo.pop_front() {
        let name = match part {
            Part::Here => continue,
            Part::Up => {
                here.pop();
                continue;
            }
            Part::Down(name) => name,
        };
        let next = here.join(name);
        let spot = view.spot(&next);
        match spot.node {
            Node::Dir => here = next,
            Node::Link(target) => {
                links.push(next);
                if links.len() > LINKS {
                    let at = path.to_owned();
                    return Walked {
                        at,
                        links,
                        end: End::Circle,
                    };
                }
                if target.is_absolute() {
                    here = PathBuf::from("/");
                }
                for part in parts(&target).rev() {
                    todo.push_front(part);
                }
            }
            Node::Absent => {
                let (at, from) = (onwards(&next, &todo), here);
                let held = matches!(spot.lock, Lock::Held(_)) && spot.layer == Layer::Host;
                let back = todo.iter().any(|part| matches!(part, Part::Up));
                let end = if held || back {
                    End::Stopped { by: next, spot }
                } else if todo.iter().all(|part| matches!(part, Part::Here)) {
                    End::Reached(spot)
                } else {
                    End::Missing { from, spot }
                };
                return Walked { at, links, end };
            }
            Node::File | Node::Device | Node::Socket | Node::Pipe | Node::Guarded | Node::Masked | Node::RunTime => {
                let at = onwards(&next, &todo);
                let end = if todo.is_empty() {
                    End::Reached(spot)
                } else {
                    End::Stopped { by: next, spot }
                };
                return Walked { at, links, end };
            }
        }
    }
    let spot = view.spot(&here);
    Walked {
        at: here,
        links,
        end: End::Reached(spot),
    }
}
