//! The process behind the endpoint of a task: serves the agent in the sandbox, and ends with the run that started it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use glee_engine::endpoint::MEMORY;
use glee_engine::project::Scene;
use glee_engine::store::TaskId;
use glee_mcp::entry;
use glee_sandbox::sys::limits::{self, Resource};
use glee_sandbox::sys::{event, fd, process};

use crate::subagent::SIGPIPE;

/// Standard input is the door. Returns the exit status.
pub(crate) fn serve(project: &OsStr, task: &OsStr, parent: &OsStr) -> i32 {
    let named = task.to_str().and_then(|task| task.parse::<TaskId>().ok());
    let parent = parent.to_str().and_then(|parent| parent.parse::<u32>().ok());
    let (Some(task), Some(parent)) = (named, parent) else {
        return 2;
    };
    i32::from(stand(Path::new(project), task, parent).is_err())
}

fn stand(project: &Path, task: TaskId, parent: u32) -> io::Result<()> {
    process::die_with_parent()?;
    if std::os::unix::process::parent_id() != parent {
        return Err(io::Error::other("the run that started it has ended"));
    }
    fd::close_range(3, fd::LAST)?;
    process::set_name(c"glee-endpoint")?;
    limits::soften(Resource::Data, MEMORY)?;
    limits::soften(Resource::Core, 0)?;
    event::reset_signals(&[SIGPIPE])?;
    let door = io::stdin().as_fd().try_clone_to_owned()?;
    let scene = Scene::find(Some(project)).map_err(io::Error::other)?;
    entry::inside(scene, task, door).map_err(io::Error::other)
}
