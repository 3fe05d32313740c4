//! What root's run needs of the kernel that takes long and depends on no plan: begun while the supervisor still looks at paths.
//!
//! A network namespace takes as long as all the mounts. A user's belongs to the user namespace of the run and has to wait for
//! that; root's own belongs to nobody inside, not even its settings in `/proc/sys`. With doors in it, init must be able to open
//! them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::plan::{Namespace, SandboxPlan};
use crate::sys::errand::NetworkMaker;
use crate::sys::{net, process};

/// On its way. Dropping it waits for its end.
#[derive(Debug)]
pub struct Scout {
    network: NetworkMaker,
}

impl Scout {
    /// Sends it, if we are root. The process must have one thread.
    #[must_use]
    pub fn send() -> Option<Self> {
        // What cannot be had ahead is made later, or is said to be missing then.
        let network = (process::geteuid() == 0).then(NetworkMaker::start)?.ok()?;
        Some(Self { network })
    }

    /// The network namespace, if the plan can use one that was made ahead.
    pub(super) fn report(self, plan: &SandboxPlan) -> Option<OwnedFd> {
        let fits = plan.namespaces.contains(&Namespace::Net) && plan.doors.list.is_empty();
        self.network.finish().ok().filter(|_| fits)
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
        // One bound among several, and not every kernel has it: docs/threat-model.md.
        let _ = net::Settings::open().and_then(|settings| settings.keep_no_copies());
        Some(Self { home })
    }

    pub(super) fn come_home(self) -> io::Result<()> {
        process::setns(self.home.as_fd())
    }
}
