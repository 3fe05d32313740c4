//! Masks: something empty that nobody can open, over what must not be seen.
//!
//! INVARIANT: what is to be hidden is hidden when this returns, itself or with a directory above it; or nothing starts.

use std::os::fd::AsFd;
use std::path::Path;

use super::{Build, Failure, fail};
use crate::plan::Kind;
use crate::sys::mount::{self, NODEV, NOEXEC, NOSUID, RDONLY};
use crate::sys::path;

impl Build<'_> {
    /// Covers a name. What lies in a directory that the run's user cannot enter is hidden with that directory instead: its owner
    /// could open it later.
    pub(super) fn or_hide_above(&self, at: &Path, cover: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        if self.shut.borrow().iter().any(|dir| at.starts_with(dir)) {
            // Another name had the directory hidden: this one is not to be found any more.
            return Ok(());
        }
        let is_closed = |failure: &Failure| failure.error.raw_os_error() == Some(libc::EACCES);
        let mut covered = cover();
        for above in at.ancestors().skip(1).take_while(|above| !above.as_os_str().is_empty()) {
            if !covered.as_ref().is_err_and(is_closed) {
                break;
            }
            covered = self.hide(above, Kind::Dir);
            if covered.is_ok() {
                self.shut.borrow_mut().push(above.to_owned());
            }
        }
        covered
    }

    pub(super) fn hide(&self, at: &Path, kind: Kind) -> Result<(), Failure> {
        let (number, mask) = match kind {
            Kind::Dir => (0, "masks/dir"),
            Kind::File => (1, "masks/file"),
        };
        let mut masks = self.masks.borrow_mut();
        if let Some(Some(mounted)) = masks.get(number) {
            // With the attributes of what it is a copy of.
            let tree = fail(|| "open_tree".into(), mount::open_tree_clone(mounted.as_fd()))?;
            return self.attach(&tree, at);
        }
        let source = fail(|| mask.into(), path::open_beneath(self.space.as_fd(), Path::new(mask)))?;
        let tree = fail(|| "open_tree".into(), mount::open_tree_clone(source.as_fd()))?;
        fail(
            || "mount_setattr".into(),
            mount::set_attr(tree.as_fd(), RDONLY | NOSUID | NODEV | NOEXEC),
        )?;
        self.attach(&tree, at)?;
        if let Some(slot) = masks.get_mut(number) {
            *slot = Some(tree);
        }
        Ok(())
    }
}
