//! Removes containers of ours whose supervisor is dead: nobody holds the lock of their run's directory.

use std::collections::HashMap;
use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder};
use glee_sandbox::sys::process;

use crate::body::{LABEL_OWNER, LABEL_RUN};
use crate::carry::is_gone;
use crate::rundir::is_held;

/// An engine that is just cleaning up after a container may refuse to remove it.
const ROUNDS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(200);

/// What fails more than once is left to the next run.
pub(crate) async fn reap(docker: &Docker) {
    for round in 0..ROUNDS {
        if round > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        if remove_dead(docker).await {
            return;
        }
    }
}

/// True if nothing is left.
async fn remove_dead(docker: &Docker) -> bool {
    let ours = format!("{LABEL_OWNER}={}", process::geteuid());
    let filters = HashMap::from([("label".to_owned(), vec![ours])]);
    let options = ListContainersOptionsBuilder::default()
        .all(true)
        .filters(&filters)
        .build();
    let Ok(list) = docker.list_containers(Some(options)).await else {
        return false;
    };
    let mut clean = true;
    for container in list {
        let run = container.labels.as_ref().and_then(|labels| labels.get(LABEL_RUN));
        if let (Some(id), Some(run)) = (&container.id, run)
            && !is_held(run)
        {
            let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
            let removed = docker.remove_container(id, Some(options)).await;
            clean &= removed.as_ref().err().is_none_or(is_gone);
        }
    }
    clean
}
