//! The warden while the command runs, and while the supervisor is suspended.

use std::os::fd::AsFd;

use super::Supervisor;
use crate::control::Order;
use crate::launch::warden::{Post, Seen, Warden};
use crate::sys::event;

impl Supervisor<'_> {
    /// Lets it have its turn. If it cannot keep up, names are open that must not be: the run ends.
    pub(super) fn look_after_warden(&mut self, changed: bool, left: bool) {
        if self.unguarded {
            return;
        }
        if let Some(warden) = &mut self.child.warden
            && (changed || warden.patience().is_some())
        {
            warden.turn();
        }
        if left || self.child.warden.as_ref().is_some_and(Warden::is_beaten) {
            self.unguarded = true;
            self.kill();
        }
    }

    /// The command was stopped: so are we, as a shell expects, until someone continues us. The rest of its tree may run on,
    /// and does not go unwatched: without somebody who stays awake, nobody sleeps.
    pub(super) fn suspend(&mut self) {
        if let Some(relay) = &mut self.relay {
            relay.turn(false);
            relay.detach();
        }
        if let Some(warden) = self.child.warden.take() {
            match Post::start(warden, self.child.pidfd.as_fd()) {
                Ok(post) => self.post = Some(post),
                Err(warden) => self.child.warden = Some(*warden),
            }
        }
        if self.child.warden.is_none() {
            // A failure to stop means going on, which is right too.
            let _ = event::stop_self();
        }
        if let Some(relay) = &mut self.relay {
            relay.resize();
            relay.attach();
        }
        self.order(Order::Signal(libc::SIGCONT));
    }

    /// Ends the watch, whoever kept it.
    pub(super) fn relieve(&mut self) -> Seen {
        let here = self.child.warden.take().map(Warden::finish);
        here.or_else(|| self.post.take().map(Post::finish)).unwrap_or_default()
    }
}
