//! Asking the person behind a client: by a request of ours, or by a result that asks for input and a second try.
//!
//! Which of the two is the protocol's era; whether at all, the client says. INVARIANT: a yes counts for the one question
//! that was put, once. Nothing that a client sends by itself is a yes.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use glee_engine::hex::hex;
use glee_engine::library::digest;
use glee_engine::random;
use rmcp::RoleServer;
use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::Value;

/// How long a person may think.
const PATIENCE: Duration = Duration::from_secs(10 * 60);
/// The longest question. Whatever is longer is not asked here at all: a person must see all of what a yes is for.
const MOST_ASKED: usize = 16 << 10;
/// Questions that wait for a second try.
const MOST_WAITING: usize = 256;
/// The one question of a result that asks.
const KEY: &str = "approval";
const APPROVE: &str = "approve";

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    Yes,
    No,
    /// There was nobody after all.
    Nobody,
}

/// How a client can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Means {
    /// By a request, while the call waits.
    Request,
    /// By a result, after which the client calls again.
    Retry,
    Not,
}

impl Means {
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let form = context.client_capabilities().and_then(|can| can.elicitation);
        // A client that names no way means the form, the only one there was at first.
        let can = form.is_some_and(|can| can.form.is_some() || can.url.is_none());
        match (can, is_stateless(context)) {
            (false, _) => Self::Not,
            (true, true) => Self::Retry,
            (true, false) => Self::Request,
        }
    }
}

/// Is it a request of the newer protocol, which stands for itself?
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Can a person be shown all of it?
pub(crate) fn fits(message: &str) -> bool {
    message.len() <= MOST_ASKED
}

/// Questions that were put by a result and may come back answered.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    questions: Mutex<VecDeque<Question>>,
}

#[derive(Debug)]
struct Question {
    handle: String,
    /// Of the call and of what was asked about it.
    digest: String,
    until: Instant,
}

impl Waiting {
    fn questions(&self) -> MutexGuard<'_, VecDeque<Question>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result that puts a question. Who comes back with its handle can answer it.
    pub(crate) fn put(&self, about: &str, message: String) -> Option<InputRequiredResult> {
        let handle = hex(&random::bytes::<16>().ok()?);
        let request = InputRequest::Elicitation(ElicitRequest::new(form(message)?));
        let mut questions = self.questions();
        let now = Instant::now();
        questions.retain(|question| question.until > now);
        if questions.len() >= MOST_WAITING {
            questions.pop_front();
        }
        questions.push_back(Question {
            handle: handle.clone(),
            digest: digest(about.as_bytes()),
            until: now + PATIENCE,
        });
        let requests = BTreeMap::from([(KEY.to_owned(), request)]);
        Some(InputRequiredResult::new(Some(requests), Some(handle)))
    }

    /// What a second try says to this question; `None` if it does not answer it. The handle is used up.
    pub(crate) fn answered(
        &self,
        about: &str,
        handle: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> Option<Reply> {
        let mut questions = self.questions();
        let at = questions
            .iter()
            .position(|question| Some(question.handle.as_str()) == handle)?;
        let question = questions.remove(at)?;
        if question.until <= Instant::now() || question.digest != digest(about.as_bytes()) {
            return None;
        }
        let response = responses?.get(KEY)?;
        let result: ElicitResult = serde_json::from_value(response.clone()).ok()?;
        Some(reply(&result))
    }
}

/// Puts the question by a request, and waits.
pub(crate) async fn request(context: &RequestContext<RoleServer>, message: String) -> Reply {
    let Some(form) = form(message) else {
        return Reply::Nobody;
    };
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let Ok(handle) = context.peer.send_request_with_option(request, options).await else {
        return Reply::Nobody;
    };
    match handle.await_response().await {
        Ok(ClientResult::ElicitResult(result)) => reply(&result),
        Ok(_) | Err(_) => Reply::Nobody,
    }
}

fn reply(result: &ElicitResult) -> Reply {
    let approved = result.content.as_ref().and_then(|content| content.get(APPROVE)) == Some(&Value::Bool(true));
    match result.action {
        ElicitationAction::Accept if approved => Reply::Yes,
        ElicitationAction::Accept | ElicitationAction::Decline => Reply::No,
        // Clients without a person in front of them cancel; so would a person who closes the window.
        ElicitationAction::Cancel => Reply::Nobody,
        _ => Reply::Nobody,
    }
}

/// One box to tick.
fn form(message: String) -> Option<ElicitRequestParams> {
    let schema: ElicitationSchema = serde_json::from_value(serde_json::json!({
        "type": "object",
        "properties": { APPROVE: { "type": "boolean", "title": "Approve", "default": false } },
        "required": [APPROVE],
    }))
    .ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: schema,
    })
}

#[cfg(test)]
#[path = "ask_tests.rs"]
mod tests;
