//! Removes containers of ours whose supervisor is dead: nobody holds the lock of their run's directory.

use std::collections::HashMap;

use bollard::Docker;
use bollard::query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder};
use glee_sandbox::sys::process;

use crate::body::{LABEL_OWNER, LABEL_RUN};
use crate::rundir::is_held;

/// What fails is left to the next run.
pub(crate) async fn reap(docker: &Docker) {
    let ours = format!("{LABEL_OWNER}={}", process::geteuid());
    let filters = HashMap::from([("label".to_owned(), vec![ours])]);
    let options = ListContainersOptionsBuilder::default()
        .all(true)
        .filters(&filters)
        .build();
    for container in docker.list_containers(Some(options)).await.unwrap_or_default() {
        let run = container.labels.as_ref().and_then(|labels| labels.get(LABEL_RUN));
        if let (Some(id), Some(run)) = (&container.id, run)
            && !is_held(run)
        {
            let options = RemoveContainerOptionsBuilder::default().force(true).v(true).build();
            let _ = docker.remove_container(id, Some(options)).await;
        }
    }
}
