//! Calls of tools that write or start something, where the configuration wants a person's word before each.

use serde_json::Value;

use super::ask::PATIENCE;
use super::desk::Desk;
use super::refusal::Refusal;
use crate::audit::{Answer as Said, record};
use crate::settings::Key;
use crate::settings::store as configuration;
use crate::store::{Asked, Call, Millis, TaskId, Verdict};

/// What has waited since before that waits no more.
fn since(now: Millis) -> Millis {
    let patience = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX);
    Millis(now.0.saturating_sub(patience))
}

impl Desk {
    /// Does the configuration want a person's word before a tool writes or starts something?
    pub fn asks_for_tools(&self) -> Result<bool, Refusal> {
        Ok(configuration::load(self.scene())?.settings.is_on(Key::ApproveTools))
    }

    /// Puts a call in the queue of approvals, or takes out what was said about it.
    pub fn ask_for_call(&self, tool: &str, arguments: &Value) -> Result<Asked, Refusal> {
        let now = Millis::now();
        Ok(self.store().ask(self.caller(), tool, arguments, since(now), now)?)
    }

    /// The calls that wait for somebody's word, the oldest first.
    pub fn calls(&self) -> Result<Vec<Call>, Refusal> {
        Ok(self.store().calls(since(Millis::now()))?)
    }

    /// Decides on a call; false if it is none.
    pub(super) fn decide_call(&self, id: &TaskId, verdict: Verdict) -> Result<bool, Refusal> {
        let decided = self.store().decide(id, verdict, since(Millis::now()))?;
        if let Some(call) = &decided {
            let about = format!("{} {}", call.tool, call.arguments);
            self.enter_call(verdict, Some(id), &about);
        }
        Ok(decided.is_some())
    }

    /// Enters in the audit log what a person said about a call when the client asked.
    pub fn answered_call(&self, verdict: Verdict, about: &str) {
        self.enter_call(verdict, None, about);
    }

    fn enter_call(&self, verdict: Verdict, id: Option<&TaskId>, about: &str) {
        let said = match verdict {
            Verdict::Approved => Said::Approved,
            Verdict::Denied => Said::Denied,
        };
        // As for tasks: a log that cannot be written stops nothing here.
        let _ = record::answered(&self.scene().project, said, id.map(TaskId::as_str), "", about);
    }
}
