//! Containers of ours, by their labels; and the removal of those whose supervisor is dead: nobody holds the lock of their run's
//! directory.

use std::collections::HashMap;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::models::ContainerSummary;
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
    let Ok(list) = labelled(docker, &[]).await else {
        return false;
    };
    let mut clean = true;
    for container in list {
        let run = container.labels.as_ref().and_then(|labels| labels.get(LABEL_RUN));
        if let (Some(id), Some(run)) = (&container.id, run)
            && !is_held(run)
        {
            let removed = remove(docker, id).await;
            clean &= removed.as_ref().err().is_none_or(is_gone);
        }
    }
    clean
}

/// The containers of one run.
pub(crate) async fn of_run(docker: &Docker, run_id: &str) -> Result<Vec<String>, Error> {
    let list = labelled(docker, &[format!("{LABEL_RUN}={run_id}")]).await?;
    Ok(list.into_iter().filter_map(|container| container.id).collect())
}

/// With the volumes that were made for it.
pub(crate) async fn remove(docker: &Docker, id: &str) -> Result<(), Error> {
    let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
    docker.remove_container(id, Some(options)).await
}

/// This user's, with these labels too.
async fn labelled(docker: &Docker, more: &[String]) -> Result<Vec<ContainerSummary>, Error> {
    let ours = format!("{LABEL_OWNER}={}", process::geteuid());
    let labels = [std::slice::from_ref(&ours), more].concat();
    let options = ListContainersOptionsBuilder::default()
        .all(true)
        .filters(&HashMap::from([("label".to_owned(), labels)]))
        .build();
    docker.list_containers(Some(options)).await
}
