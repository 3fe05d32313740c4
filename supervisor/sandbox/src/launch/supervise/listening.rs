//! Whose calls the filter asks about, and who answers: the supervisor those of the canaries, the listener those of the command.

use std::os::fd::OwnedFd;
use std::time::Duration;

use super::Supervisor;
use super::ending::tell;
use crate::launch::denials::{self, Denials};
use crate::launch::outcome::LaunchError;
use crate::launch::warden::Lost;
use crate::receipt::{Answer, Receipt};

/// A file that was opened in the sandbox's Landlock domain, and keeps that alive although nobody is left in it: the kernel says its
/// last word about a domain when that goes, and it must not go before somebody is ready to hear it.
pub(in crate::launch) struct Domain {
    _file: OwnedFd,
}

impl Domain {
    pub(super) fn new(file: OwnedFd) -> Self {
        Self { _file: file }
    }
}

/// More words than init ever says after one another.
const MOST_WORDS: usize = 64;

/// Did the filter ask about a call of the command?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::launch) enum Asked {
    Nothing,
    Something,
}

/// What is left of a run besides its outcome.
pub(in crate::launch) struct Rest {
    pub(in crate::launch) domain: Option<Domain>,
    pub(in crate::launch) asked: Asked,
    pub(in crate::launch) lost: Lost,
}

impl Supervisor<'_> {
    pub(super) fn rest(&mut self) -> (Option<Domain>, Asked) {
        // No call that the filter asks about goes on before there is a listener.
        let asked = match self.denials {
            None => Asked::Nothing,
            Some(_) => Asked::Something,
        };
        (self.domain.take(), asked)
    }

    /// Answers a call of a canary. One of the command is for the listener, which is started for it if there is none yet.
    pub(super) fn answer(&mut self) -> Result<(), LaunchError> {
        let lost = |error| LaunchError::step("supervise", error);
        // A receipt that is under way was sent before any call of the command.
        while self.receipt.is_none() && self.hear().map_err(lost)? {}
        if self.receipt.is_some() {
            if self.questions.is_some() && self.denials.is_none() {
                self.denials = denials::start(self.plan, self.table)?;
            }
            return self.hand_over().map_err(lost);
        }
        if let (Some(questions), Some(spec)) = (&self.questions, &self.plan.seccomp)
            && denials::answer_canary(questions, spec, self.table).map_err(lost)?
        {
            self.notified += 1;
        }
        Ok(())
    }

    /// Gives the listener, if there is one, what it listens on.
    pub(super) fn hand_over(&mut self) -> std::io::Result<()> {
        match (&mut self.denials, self.questions.take()) {
            (Some(denials), Some(questions)) => denials.hand_over(questions),
            (_, questions) => {
                self.questions = questions;
                Ok(())
            }
        }
    }

    /// We cannot go on: the sandbox ends, and if the command had been started by then, this is how its run ended.
    pub(super) fn break_off(&mut self, error: LaunchError) -> Result<(), LaunchError> {
        self.child.end();
        // What was said before the end is still in the socket, and tells whether anything ran.
        for _ in 0..MOST_WORDS {
            if matches!(self.hear(), Ok(false)) {
                break;
            }
        }
        if self.receipt.is_none() {
            return Err(error);
        }
        if let LaunchError::Step { step, error, .. } = &error {
            tell(format_args!("the run was ended: `{step}` failed: {error}"));
        } else {
            tell(format_args!("the run was ended: {error}"));
        }
        self.unheard = true;
        Ok(())
    }

    /// Without somebody to answer, the command would wait for ever: the run ends.
    pub(super) fn look_after_listener(&mut self, ended: bool) {
        let stuck = self.denials.as_mut().is_some_and(Denials::is_stuck);
        if !self.unheard && (stuck || ended) {
            self.unheard = true;
            self.kill();
        }
    }

    pub(super) fn file_receipt(&mut self, answers: &[Answer], duration: Duration) {
        let receipt = Receipt::new(self.plan, answers, duration, self.notified);
        if receipt.surprises().next().is_some() {
            self.failure = Some(LaunchError::Canary {
                receipt: receipt.clone(),
            });
        }
        self.receipt = Some(receipt);
    }
}
