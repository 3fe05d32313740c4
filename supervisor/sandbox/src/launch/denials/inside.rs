//! Would the sandbox let a call through? Asked of the sandbox's own root, held open, and of the plan's Landlock rules.
//!
//! For the report only. What is found here the command can find out itself, so it may take time before the call goes on.
//! INVARIANT (never out): every lookup starts at the sandbox's root and stays below it, wherever links lead.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use super::foreign::Foreign;
use super::gone::Gone;
use super::grounds::{bound, covered, held, lies_in, writable};
use super::row::Because;
use super::thing::Thing;
use super::tree::{Found, Place, Tree, has_dots, without_dots};
use super::want::{Look, Part, Want};
use crate::plan::SandboxPlan;
use crate::sys::landlock::{self, EXECUTE, READ_DIR, READ_FILE, TRUNCATE, WRITE_FILE};
use crate::sys::look::{self, Facts, Last};

const REMOVE_FILE: u64 = 1 << 5;
const MAKE_REG: u64 = 1 << 8;

const MAY_WRITE: u32 = libc::W_OK as u32;
const MAY_EXECUTE: u32 = libc::X_OK as u32;

/// What would become of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// Nothing of the sandbox stands in the way. `lasting`: and nothing inside can change that.
    Passes { lasting: bool },
    /// The sandbox refuses it. `path`: without links, as far as it exists inside.
    Refused {
        path: PathBuf,
        because: Because,
        lasting: bool,
    },
    /// Refused for want of the directories above, which the command can make; then it is none.
    Climbs { path: PathBuf, above: PathBuf },
}

const PASSES: Judgement = Judgement::Passes { lasting: false };

pub(super) struct Inside<'a> {
    tree: Tree,
    plan: &'a SandboxPlan,
    /// Trees in which the command can change names.
    writable: Vec<&'a Path>,
    /// Names that are there only so that nobody can make them.
    placeholders: BTreeSet<PathBuf>,
    covered: BTreeSet<&'a Path>,
    /// Tops of what is granted.
    bound: BTreeSet<&'a Path>,
    /// The right to shorten a file, if Landlock knows one here. Linux 6.2.
    shorten: u64,
    gone: RefCell<Gone>,
    foreign: Foreign<'a>,
}

impl<'a> Inside<'a> {
    pub(super) fn new(root: OwnedFd, plan: &'a SandboxPlan) -> Self {
        Self {
            tree: Tree::new(root),
            plan,
            writable: writable(plan),
            placeholders: held(plan),
            covered: covered(plan),
            bound: bound(plan),
            shorten: landlock::handled_fs(landlock::abi()) & TRUNCATE,
            gone: RefCell::default(),
            foreign: Foreign::new(&plan.identity),
        }
    }

    pub(super) fn judge(&self, path: &Path, want: Want, last: Last) -> Judgement {
        if want.is_about_the_name() {
            return self.judge_name(path, want);
        }
        if matches!(want, Want::Read | Want::List) && self.reads_plainly(path) {
            return Judgement::Passes {
                lasting: self.is_lasting(path, path),
            };
        }
        match self.find(path, last) {
            Place::Unclear => PASSES,
            Place::Found(found) => self.judge_found(path, found, want),
            Place::Missing { above, path: missing } => {
                let makes = matches!(want, Want::WriteOrMake | Want::ReadOrMake);
                let lasting = self.is_lasting(path, &above.path);
                if self.is_covered(&above) {
                    return refused(missing, Because::Covered, lasting);
                }
                if makes && missing.parent() == Some(above.path.as_path()) && self.has_directory(path) {
                    return match self.against_entry(&above, MAKE_REG) {
                        None => PASSES,
                        Some(because) => refused(missing, because, lasting),
                    };
                }
                refused(missing, Because::Absent, lasting)
            }
        }
    }

    /// Is only the last name of a path missing? What leads out of a missing name again (`..`) is told as far as it came.
    fn has_directory(&self, path: &Path) -> bool {
        !has_dots(path) || path.parent().is_some_and(|dir| !self.tree.lacks(dir))
    }

    /// What lies at a name.
    pub(super) fn thing(&self, path: &Path) -> Option<Thing> {
        let (handle, path) = self.tree.handle(path, Last::Itself).ok()?;
        (!self.placeholders.contains(&path)).then(|| Thing::of(handle.as_fd(), &path, &self.placeholders))
    }

    /// A handle on what would be executed, and its path without links.
    pub(super) fn program(&self, path: &Path) -> Option<(OwnedFd, PathBuf)> {
        self.tree.handle(path, Last::Follow).ok()
    }

    /// The usual case, with one look: reading what is granted, by its own name.
    fn reads_plainly(&self, path: &Path) -> bool {
        let granted = !has_dots(path)
            && !self.lacks(path, READ_FILE | READ_DIR)
            && !self.covered.contains(path)
            && !self.placeholders.contains(path);
        let found = granted.then(|| self.tree.plainly(path));
        let Some(Ok(handle)) = found else {
            return false;
        };
        if !self.plan.identity.from_root && self.plan.glob_watches.is_empty() {
            return true;
        }
        let facts = look::facts(handle.as_fd());
        facts.is_ok_and(|facts| !self.is_mask(path, &facts) && !self.foreign.is(&facts, 4)) && !self.is_shut_off(path)
    }

    fn judge_found(&self, asked: &Path, found: Found, want: Want) -> Judgement {
        let is_dir = found.facts.mode & libc::S_IFMT == libc::S_IFDIR;
        let is_file = found.facts.mode & libc::S_IFMT == libc::S_IFREG;
        let is_link = found.facts.mode & libc::S_IFMT == libc::S_IFLNK;
        let changes = matches!(want, Want::Change(_));
        let lasting = self.is_lasting(asked, &found.path);
        let no = |path: PathBuf, because| refused(path, because, lasting);
        if self.placeholders.contains(&found.path) {
            // To whom it only reads, nothing is there.
            return if changes || matches!(want, Want::Write | Want::WriteOrMake | Want::ReadOrMake) {
                no(found.path, Because::ReadOnly)
            } else {
                PASSES
            };
        }
        if self.is_covered(&found) {
            // What a cover is can be asked, not what may be done with it.
            return if matches!(want, Want::Look(Look::There | Look::Directory | Look::Link)) {
                PASSES
            } else {
                no(found.path, Because::Covered)
            };
        }
        if want == Want::MakeIn {
            let against = is_dir.then(|| self.against_entry(&found, WRITE_FILE)).flatten();
            return match against {
                Some(because) => no(found.path, because),
                None => Judgement::Passes { lasting },
            };
        }
        let rights = match want {
            Want::Read | Want::ReadOrMake | Want::List if is_dir => READ_DIR,
            Want::Read | Want::ReadOrMake | Want::List => READ_FILE,
            Want::Write | Want::WriteOrMake => WRITE_FILE,
            Want::Execute => EXECUTE | READ_FILE,
            Want::Change(Part::Length) if is_file => self.shorten,
            Want::Look(Look::Named) if is_file => READ_FILE,
            Want::Change(_)
            | Want::Enter
            | Want::MakeIn
            | Want::Look(_)
            | Want::Connect
            | Want::Make
            | Want::MakeDir
            | Want::Replace(_)
            | Want::Remove(_) => 0,
        };
        let asks = if let Want::Look(Look::May(mode)) = want {
            mode.into()
        } else {
            0
        };
        if asks & MAY_WRITE != 0 && found.mount.read_only && (is_file || is_dir) {
            return no(found.path, Because::ReadOnly);
        }
        if asks & MAY_EXECUTE != 0 && found.mount.no_exec && is_file {
            return no(found.path, Because::NotGranted);
        }
        let writes = changes || matches!(want, Want::Write | Want::WriteOrMake);
        if writes && is_dir && !changes {
            return PASSES;
        }
        if writes && found.mount.read_only && (is_file || is_dir || (is_link && changes)) {
            return no(found.path, Because::ReadOnly);
        }
        if want == Want::Execute && is_file && found.mount.no_exec {
            return no(found.path, Because::NotGranted);
        }
        if self.lacks(&found.path, rights) {
            return no(found.path, Because::NotGranted);
        }
        let mode = match want {
            Want::Read | Want::ReadOrMake | Want::List => 4,
            Want::Write | Want::WriteOrMake => 2,
            Want::Execute => 1,
            Want::Enter if is_dir => 1,
            Want::Look(_) => asks,
            Want::Change(_)
            | Want::Enter
            | Want::MakeIn
            | Want::Connect
            | Want::Make
            | Want::MakeDir
            | Want::Replace(_)
            | Want::Remove(_) => 0,
        };
        let kept = if let Want::Change(part) = want {
            self.foreign.keeps(part, &found.facts)
        } else {
            self.foreign.is(&found.facts, mode)
        };
        if kept || self.is_shut_off(&found.path) {
            return no(found.path, Because::Owner);
        }
        Judgement::Passes { lasting }
    }

    fn find(&self, path: &Path, last: Last) -> Place {
        let known = self.gone.borrow().find(path);
        if let Some(place) = known {
            return place;
        }
        let place = self.tree.find(path, last);
        // A link at the end may lead to another directory that is not there.
        if let Place::Missing { above, path: missing } = &place
            && missing.parent() != Some(above.path.as_path())
            && self.is_lasting(path, &above.path)
            && path.parent().is_some_and(|dir| self.tree.lacks(dir))
        {
            self.gone.borrow_mut().note(path, above, missing);
        }
        place
    }

    /// Making, replacing or removing a name: its directory decides.
    fn judge_name(&self, path: &Path, want: Want) -> Judgement {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return PASSES;
        };
        let above = match self.find(parent, Last::Follow) {
            Place::Unclear => return PASSES,
            Place::Missing { above, path: missing } => {
                let because = match self.against_entry(&above, MAKE_REG) {
                    // What is missing above it, it can make as well.
                    None if want == Want::MakeDir => {
                        return Judgement::Climbs {
                            path: missing.join(name),
                            above: above.path,
                        };
                    }
                    Some(Because::Covered) => Because::Covered,
                    Some(_) | None => Because::Absent,
                };
                let lasting = self.is_lasting(path, &above.path);
                return refused(missing.join(name), because, lasting);
            }
            Place::Found(found) => found,
        };
        let full = above.path.join(name);
        let lasting = self.is_lasting(path, &above.path);
        let there = self.tree.open(&full, Last::Itself).ok();
        if self.placeholders.contains(&full) {
            return refused(full, Because::ReadOnly, lasting);
        }
        match (want, &there) {
            // As without a sandbox: it exists already, or does not.
            (Want::Make | Want::MakeDir, Some(_)) => return Judgement::Passes { lasting },
            (Want::Remove(_), None) => return refused(full, Because::Absent, lasting),
            (Want::Remove(_) | Want::Replace(_), Some(found)) if found.facts.is_mount => {
                return refused(full, Because::Pinned, lasting);
            }
            _ => {}
        }
        let right = if matches!(want, Want::Remove(_)) {
            REMOVE_FILE
        } else {
            MAKE_REG
        };
        let sticks = || there.is_some_and(|old| self.foreign.sticks(&above.facts, &old.facts));
        match self.against_entry(&above, right) {
            Some(because) => refused(full, because, lasting),
            None if sticks() => refused(full, Because::Owner, lasting),
            None => Judgement::Passes { lasting },
        }
    }

    /// What keeps a name from being made or removed in a directory.
    fn against_entry(&self, dir: &Found, right: u64) -> Option<Because> {
        if self.is_covered(dir) {
            Some(Because::Covered)
        } else if dir.mount.read_only {
            Some(Because::ReadOnly)
        } else if self.lacks(&dir.path, right) {
            Some(Because::NotGranted)
        } else if self.foreign.is(&dir.facts, 3) || self.is_shut_off(&dir.path) {
            Some(Because::Owner)
        } else {
            None
        }
    }

    fn is_covered(&self, found: &Found) -> bool {
        // A name that a pattern covers was covered when it appeared.
        self.is_mask(&found.path, &found.facts) || self.covered.contains(found.path.as_path())
    }

    /// Nobody can open it: something of ours that covers what lies below. What is granted and closed is not ours.
    fn is_mask(&self, path: &Path, facts: &Facts) -> bool {
        facts.is_mount && facts.mode & 0o7777 == 0 && !self.bound.contains(path)
    }

    fn lacks(&self, path: &Path, rights: u64) -> bool {
        let Some(landlock) = &self.plan.landlock else {
            return false;
        };
        let given = landlock
            .rules
            .iter()
            .filter(|(at, _)| lies_in(path, at))
            .fold(0, |given, (_, rights)| given | rights);
        rights & !given != 0
    }

    fn is_shut_off(&self, path: &Path) -> bool {
        let look = |dir: &Path| look::facts(self.tree.plainly(dir).ok()?.as_fd()).ok();
        self.foreign.is_shut_off(path, look)
    }

    /// Can nothing inside make this path lead elsewhere?
    fn is_lasting(&self, asked: &Path, found: &Path) -> bool {
        let fixed = |path: &Path| !self.writable.iter().any(|tree| lies_in(path, tree));
        fixed(asked) && fixed(found) && (!has_dots(asked) || fixed(&without_dots(asked)))
    }
}

fn refused(path: PathBuf, because: Because, lasting: bool) -> Judgement {
    Judgement::Refused { path, because, lasting }
}
