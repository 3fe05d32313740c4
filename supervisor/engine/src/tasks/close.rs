//! What is left to do when a task ends without its worker: its session learns of it, and what it has asked for ends too.

use super::brief::Brief;
use super::intake::label;
use super::refusal::Refusal;
use crate::clock::Moment;
use crate::project::Scene;
use crate::sessions::{Role, Said, Sessions, Status, Turn};
use crate::store::{Cancel, Millis, State, Store, Task, TaskId};

/// Ends the task if it has not started, asks its worker if it has, and does the same to all below it.
pub(super) fn cancel(id: &TaskId, store: &mut Store, scene: &Scene) -> Result<Cancel, Refusal> {
    let done = store.cancel(id, Millis::now())?;
    match done {
        Cancel::Cancelled => over(id, store, scene)?,
        Cancel::Asked | Cancel::Over(_) => children(id, store, scene)?,
    }
    Ok(done)
}

/// Tasks that ended without a word of their agents.
pub(super) fn all(ids: &[TaskId], store: &mut Store, scene: &Scene) -> Result<(), Refusal> {
    ids.iter().try_for_each(|id| over(id, store, scene))
}

/// A task that ended without a word of its agent.
pub(super) fn over(id: &TaskId, store: &mut Store, scene: &Scene) -> Result<(), Refusal> {
    let task = store.get(id)?;
    // A session that cannot be written is no reason for the rest to stay.
    let _ = tell(&task, scene);
    children(id, store, scene)
}

/// What it has asked for and not waited for goes with it.
pub(super) fn children(id: &TaskId, store: &mut Store, scene: &Scene) -> Result<(), Refusal> {
    for child in store.children(id)? {
        cancel(&child, store, scene)?;
    }
    Ok(())
}

fn tell(task: &Task, scene: &Scene) -> Result<(), Refusal> {
    let status = match task.state {
        State::Cancelled => Status::Cancelled,
        State::Timeout => Status::Timeout,
        State::Failed => Status::Error,
        State::Waiting | State::Queued | State::Claimed | State::Running | State::Done => return Ok(()),
    };
    let (Some(id), Some(sessions)) = (&task.session, Sessions::find(&scene.project)?) else {
        return Ok(());
    };
    let said = Brief::read(&task.request).map(|brief| Said {
        role: Role::User,
        content: brief.request.prompt,
        run: label(task.id.as_str()),
    });
    let turn = Turn {
        said: said.into_iter().collect(),
        status,
        conversation: None,
    };
    sessions.append(id, turn, Moment::now())?;
    Ok(())
}
