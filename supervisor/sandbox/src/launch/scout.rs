//! What root's run needs of the kernel that takes long and depends on no plan: begun while the supervisor still looks at paths.
//!
//! A network namespace takes as long as all the mounts. A user's belongs to the user namespace of the run and has to wait for
//! that; root's may belong to another that nobody inside is in, which is one power less there. With doors in it, init must be
//! able to open them. The other user namespace then serves to map the owner of the project.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::plan::{Namespace, SandboxPlan};
use crate::sys::errand::Holder;
use crate::sys::{net, process};

/// A process on its way. Dropping it waits for its end.
#[derive(Debug)]
pub struct Scout(Holder);

impl Scout {
    /// Sends it, if we are root. The process must have one thread.
    #[must_use]
    pub fn send() -> Option<Self> {
        let is_root = process::geteuid() == 0;
        is_root.then(|| Holder::with_network().ok()).flatten().map(Self)
    }

    /// The network namespace, if the plan can use one that was made ahead, and the process, for its user namespace.
    pub(super) fn report(self, plan: &SandboxPlan) -> (Option<OwnedFd>, Holder) {
        let fits = plan.namespaces.contains(&Namespace::Net) && plan.doors.list.is_empty();
        let network = fits.then(|| self.0.network().ok()).flatten();
        (network, self.0)
    }
}

/// Where the supervisor is while it makes its child: in the child's network namespace, and not longer.
pub(super) struct Abroad {
    home: OwnedFd,
}

impl Abroad {
    /// Enters the namespace. `None`: init makes its own.
    pub(super) fn go(network: &OwnedFd) -> Option<Self> {
        let home = net::own_namespace().ok()?;
        process::setns(network.as_fd()).ok()?;
        Some(Self { home })
    }

    pub(super) fn come_home(self) -> io::Result<()> {
        process::setns(self.home.as_fd())
    }
}
