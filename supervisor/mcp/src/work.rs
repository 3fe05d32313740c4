//! Tasks for a client: handed to the desk, approved of by the person behind the client, waited for with progress.
//!
//! The desk blocks; so every use of it is apart from the server's own thread. INVARIANT: a call that the client cancels, or
//! goes away from, ends the task that it waits for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use glee_engine::store::{TaskId, Which};
use glee_engine::tasks::{Answer, Asker, Desk, Outcome, Progress, Question, Refusal, Request, Ticket, Waited};
use glee_engine::text::{quoted, visible};
use rmcp::RoleServer;
use rmcp::model::{InputRequiredResult, InputResponses, ProgressNotificationParam};
use rmcp::service::RequestContext;
use tokio::sync::{mpsc, oneshot, watch};

use crate::answer::Failure;
use crate::ask::{self, Means, Reply};
use crate::server::Server;
use crate::tools::apart;

/// How often a client hears of a task, also when nothing is new: some give up on a call that is silent.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often the queue is seen to while nobody waits.
const ROUND: Duration = Duration::from_secs(1);

/// What handing in a task came to.
pub(crate) enum Submitted {
    Taken(Ticket),
    Refused(Box<Outcome>),
    /// The client is to ask its user and to come again.
    Ask(Box<InputRequiredResult>),
}

/// What a client said in a second try.
#[derive(Debug, Clone, Default)]
pub(crate) struct Said {
    pub(crate) handle: Option<String>,
    pub(crate) responses: Option<InputResponses>,
}

pub(crate) fn to_answer(reply: Reply) -> Answer {
    match reply {
        Reply::Yes => Answer::Yes,
        Reply::No => Answer::No,
        Reply::Nobody => Answer::Nobody,
    }
}

/// Hands the task in. `about` is the call as it came: what a yes counts for.
pub(crate) async fn submit(
    server: &Server,
    context: &RequestContext<RoleServer>,
    request: Request,
    about: String,
    said: Said,
) -> Result<Submitted, Failure> {
    let desk = server.desk().await?;
    let agent = request.agent.as_ref().map(ToString::to_string);
    // An agent in a sandbox would answer for itself.
    let means = match server.of_task() {
        Some(_) => Means::Not,
        None => Means::of(context),
    };
    let taken = match means {
        Means::Request => by_request(server, context, desk, request).await?,
        Means::Retry => match by_retry(server, desk, request, about, said).await? {
            Ok(taken) => taken,
            Err(ask) => return Ok(Submitted::Ask(ask)),
        },
        // Nobody at the client: the task waits for `approvals approve`.
        Means::Not => apart(move || desk.submit(request, Asker::Later)).await?,
    };
    Ok(match taken {
        Ok(ticket) => Submitted::Taken(ticket),
        Err(refusal) => Submitted::Refused(Box::new(refusal.outcome(agent))),
    })
}

/// The question goes to the client while the desk waits, and from the task that handles the call: over HTTP that is how it
/// finds its stream.
async fn by_request(
    server: &Server,
    context: &RequestContext<RoleServer>,
    desk: Arc<Desk>,
    request: Request,
) -> Result<Result<Ticket, Refusal>, Failure> {
    let (put, mut questions) = mpsc::channel::<(String, oneshot::Sender<Answer>)>(1);
    let submit = move || {
        let mut ask = |question: &Question| {
            let Some(message) = words(question) else {
                return Answer::Nobody;
            };
            let (reply, answer) = oneshot::channel();
            match put.blocking_send((message, reply)) {
                Ok(()) => answer.blocking_recv().unwrap_or(Answer::Nobody),
                Err(_) => Answer::Nobody,
            }
        };
        desk.submit(request, Asker::Now(&mut ask))
    };
    let mut submitting = std::pin::pin!(apart(submit));
    loop {
        tokio::select! {
            done = &mut submitting => return done,
            Some((message, reply)) = questions.recv() => {
                let answer = tokio::select! {
                    reply = ask::request(context, message) => to_answer(reply),
                    // Who no longer waits for the task does not want it.
                    () = over(server, context) => Answer::No,
                };
                // If the desk has given up waiting, there is nobody to tell.
                let _ = reply.send(answer);
            }
        }
    }
}

/// The question is noted and the task refused; the next try brings the answer to the same question.
async fn by_retry(
    server: &Server,
    desk: Arc<Desk>,
    request: Request,
    about: String,
    said: Said,
) -> Result<Result<Result<Ticket, Refusal>, Box<InputRequiredResult>>, Failure> {
    let put: Arc<Mutex<Option<InputRequiredResult>>> = Arc::default();
    let (note, asked_of) = (Arc::clone(&put), server.clone());
    let submit = move || {
        let mut ask = |question: &Question| {
            let Some(message) = words(question) else {
                return Answer::Nobody;
            };
            let about = format!("{about}\n{message}");
            let waiting = asked_of.waiting();
            match waiting.answered(&about, said.handle.as_deref(), said.responses.as_ref()) {
                Some(reply) => to_answer(reply),
                None => {
                    let result = waiting.put(&about, message);
                    *note.lock().unwrap_or_else(PoisonError::into_inner) = result;
                    Answer::No
                }
            }
        };
        desk.submit(request, Asker::Now(&mut ask))
    };
    let taken = apart(submit).await?;
    let asked = put.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(match asked {
        Some(ask) => Err(Box::new(ask)),
        None => Ok(taken),
    })
}

/// What the person is shown. The texts are a stranger's, and made harmless. `None`: it is too long to be shown here, and waits
/// in the queue of approvals, where it can be read.
pub(crate) fn words(question: &Question) -> Option<String> {
    let who = match &question.agent {
        Some(agent) => format!("the agent `{}` ({})", visible(agent), visible(&question.cli)),
        None => visible(&question.cli),
    };
    let session = question.session_id.as_ref();
    let session = session.map(|id| format!("\nIt goes on with the session {id}."));
    let clauses: Vec<String> = question
        .clauses
        .iter()
        .map(|clause| format!("  {}", visible(clause)))
        .collect();
    let inputs = question.inputs.iter();
    let inputs: String = inputs
        .map(|(name, value)| format!("Input {}:\n{}", visible(name), quoted(value, "  ")))
        .collect();
    let message = format!(
        "Start {who} for: {}{}\nPolicy `{}`, at most {} s:\n{}\n{inputs}Prompt:\n{}",
        visible(&question.description),
        session.unwrap_or_default(),
        visible(&question.policy),
        question.timeout_ms / 1000,
        clauses.join("\n"),
        quoted(&question.prompt, "  ").trim_end(),
    );
    Some(message).filter(|message| ask::fits(message))
}

/// Whose task it is that is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiter {
    /// The call that asked for the task: ended, it ends the task.
    Asker,
    /// Somebody who looks in.
    Other,
}

/// Waits for the end of a task, or until this time, and tells the client meanwhile what happens.
pub(crate) async fn wait(
    server: &Server,
    context: &RequestContext<RoleServer>,
    id: TaskId,
    until: Option<Instant>,
    waiter: Waiter,
) -> Result<Waited, Failure> {
    let desk = server.desk().await?;
    let _here = server.stay();
    let (tell, mut told) = watch::channel("queued".to_owned());
    let (gone, left) = watch::channel(());
    let waiting = {
        let (desk, id) = (Arc::clone(&desk), id.clone());
        move || look(&desk, &id, until, &tell, &left)
    };
    let mut waiting = std::pin::pin!(apart(waiting));
    let mut beat = tokio::time::interval(HEARTBEAT);
    let mut count = 0.0;
    loop {
        tokio::select! {
            done = &mut waiting => return Ok(done??),
            () = over(server, context) => {
                drop(gone);
                if waiter == Waiter::Asker {
                    let (desk, id) = (Arc::clone(&desk), id.clone());
                    apart(move || desk.cancel(&id)).await??;
                }
                return Err(Failure::told("the call was cancelled"));
            }
            Ok(()) = told.changed() => {}
            _ = beat.tick() => {}
        }
        if let Some(token) = context.meta.get_progress_token() {
            count += 1.0;
            let text = told.borrow_and_update().clone();
            let progress = ProgressNotificationParam::new(token, count).with_message(text);
            // A client that does not read holds up only this call.
            let sent = context.peer.notify_progress(progress);
            tokio::select! {
                done = &mut waiting => return Ok(done??),
                _ = sent => {}
            }
        }
    }
}

/// Waits until the client wants no answer any more, or the server can give none.
pub(crate) async fn over(server: &Server, context: &RequestContext<RoleServer>) {
    tokio::select! {
        () = context.ct.cancelled() => {}
        () = server.closing() => {}
    }
}

/// Waits, but for no client that has gone.
fn look(
    desk: &Desk,
    id: &TaskId,
    until: Option<Instant>,
    tell: &watch::Sender<String>,
    left: &watch::Receiver<()>,
) -> Result<Waited, Refusal> {
    let mut told = |progress: Progress| {
        // Nobody there to hear it is no reason to stop.
        let _ = tell.send(match progress {
            Progress::State(state) => state.as_str().to_owned(),
            Progress::Doing(text) => visible(&text),
        });
    };
    desk.wait(id, until, &|| left.has_changed().is_ok(), &mut told)
}

/// Sees to the queue while tasks wait in it and nobody waits for them.
pub(crate) fn tend(server: &Server) {
    let Some(turn) = server.tender() else { return };
    let server = server.clone();
    tokio::spawn(async move {
        let _turn = turn;
        loop {
            tokio::time::sleep(ROUND).await;
            let Ok(desk) = server.desk().await else { return };
            let round = move || -> Result<bool, Refusal> {
                desk.dispatch()?;
                Ok(!desk.list(Which::Open, 1)?.is_empty())
            };
            match apart(round).await {
                Ok(Ok(true)) => {}
                Ok(Ok(false) | Err(_)) | Err(_) => return,
            }
        }
    });
}
