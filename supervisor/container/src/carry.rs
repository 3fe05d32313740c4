//! The carrier: speaks to the engine in a process of its own, from before the container to after its removal.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use bollard::query_parameters::{CreateContainerOptionsBuilder, CreateImageOptionsBuilder, StartContainerOptions};
use bollard::{ClientVersion, Docker, body_full};
use bytes::Bytes;
use futures_util::TryStreamExt;
use glee_sandbox::launch::vessel::Line;
use glee_sandbox::plan::SandboxPlan;
use glee_sandbox::sys::process::{self, Pid};

use crate::below::{self, View};
use crate::body::{LABEL_OWNER, LABEL_RUN, body};
use crate::facts::Engine;
use crate::image;
use crate::orphans;
use crate::plan::{ContainerPlan, Image, Users};
use crate::rundir::{self, RunDir};
use crate::service::Service;

/// The repositories of the images that we make begin with this.
const REPOSITORY: &str = "localhost/glee-skeleton";

/// Seconds for one request.
const PATIENCE: u64 = 60;

/// What every Podman since 3.0 speaks.
const PODMAN: ClientVersion = ClientVersion {
    major_version: 1,
    minor_version: 40,
};

/// Newer than any that we need; the engine answers with its own.
const NEWEST: ClientVersion = ClientVersion {
    major_version: 1,
    minor_version: 53,
};

pub(crate) struct Errand<'a> {
    pub(crate) plan: &'a ContainerPlan,
    pub(crate) sandbox: &'a SandboxPlan,
    pub(crate) dir: &'a RunDir,
    pub(crate) engine: Engine,
    pub(crate) run_id: &'a str,
}

impl Errand<'_> {
    /// From nothing to a removed container.
    pub(crate) fn run(&self, line: &Line) {
        let lock = match self.dir.lock() {
            Ok(lock) => lock,
            Err(error) => return line.fail(&format!("cannot lock the run's directory: {error}")),
        };
        if let Err(why) = self.carry(line) {
            line.fail(&why);
        }
        self.dir.remove();
        drop(lock);
    }

    fn carry(&self, line: &Line) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let service = Service::find(self.engine, self.plan.runtime, self.dir.path())?;
        let docker = runtime.block_on(connect(&service, self.engine))?;
        let image = runtime.block_on(self.image(&docker))?;
        if !line.wait() {
            return Ok(());
        }
        let listener = service.listener().map_err(|error| error.to_string())?;
        let created = self
            .dir
            .stage_trees(self.sandbox, listener)
            .map_err(|error| error.to_string())
            .and_then(|()| self.whole(listener))
            .and_then(|whole| runtime.block_on(self.create(&docker, &image, &whole)));
        let id = created.as_ref().ok().cloned();
        let started = created.and_then(|id| runtime.block_on(start(&docker, &id)));
        if started.is_ok() {
            runtime.block_on(orphans::reap(&docker));
            rundir::sweep();
            line.wait_for_end();
        }
        let removed = runtime.block_on(self.remove(&docker, id.as_deref()));
        self.dir.detach_trees(listener);
        if removed.is_err() {
            // An idle service has ended by itself: another one for the rest.
            drop(service);
            let service = Service::find(self.engine, self.plan.runtime, self.dir.path())?;
            let docker = runtime.block_on(connect(&service, self.engine))?;
            runtime.block_on(self.remove(&docker, id.as_deref()))?;
        }
        started
    }

    /// The binds that bring what is mounted below them.
    fn whole(&self, listener: Pid) -> Result<BTreeSet<PathBuf>, String> {
        match self.plan.users {
            Users::Host => Ok(BTreeSet::new()),
            Users::KeepId => below::whole(&self.plan.mounts, &View::of(listener), &below::is_closed),
        }
    }

    fn name(&self) -> String {
        format!("glee-{}", self.run_id)
    }

    /// The image's name for the engine. Nothing is ever pulled.
    async fn image(&self, docker: &Docker) -> Result<String, String> {
        match &self.plan.image {
            Image::Pinned(name) => match docker.inspect_image(name).await {
                Ok(found) => image::chosen(name, &found),
                Err(error) => Err(format!(
                    "the image `{name}` is not here, and none is pulled: {}",
                    words(&error)
                )),
            },
            Image::Skeleton { links } => {
                let archive = image::archive(links);
                // In the repository's name: Podman's API has no tags for what it imports.
                let repository = format!("{REPOSITORY}-{}", image::digest(&archive));
                let name = format!("{repository}:latest");
                if docker.inspect_image(&name).await.is_ok() {
                    return Ok(name);
                }
                let options = CreateImageOptionsBuilder::default()
                    .from_src("-")
                    .repo(&repository)
                    .tag("latest")
                    .build();
                let made = docker.create_image(Some(options), Some(body_full(Bytes::from(archive))), None);
                made.try_collect::<Vec<_>>()
                    .await
                    .map_err(|error| format!("cannot make the image: {}", words(&error)))?;
                Ok(name)
            }
        }
    }

    /// The container's own id.
    async fn create(&self, docker: &Docker, image: &str, whole: &BTreeSet<PathBuf>) -> Result<String, String> {
        let labels = HashMap::from([
            (LABEL_RUN.to_owned(), self.run_id.to_owned()),
            (LABEL_OWNER.to_owned(), process::geteuid().to_string()),
        ]);
        let body = body(self.plan, self.dir, self.engine, image, labels, whole);
        let options = CreateContainerOptionsBuilder::default().name(&self.name()).build();
        docker
            .create_container(Some(options), body)
            .await
            .map(|made| made.id)
            .map_err(|error| words(&error))
    }

    /// By its id. Without one the engine may have made it all the same; somebody else's of the same name has not our label.
    async fn remove(&self, docker: &Docker, id: Option<&str>) -> Result<(), String> {
        let ids = match id {
            Some(id) => vec![id.to_owned()],
            None => orphans::of_run(docker, self.run_id).await.map_err(|e| words(&e))?,
        };
        for id in ids {
            match orphans::remove(docker, &id).await {
                Ok(()) => {}
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(words(&error)),
            }
        }
        Ok(())
    }
}

async fn start(docker: &Docker, id: &str) -> Result<(), String> {
    docker
        .start_container(id, None::<StartContainerOptions>)
        .await
        .map_err(|error| words(&error))
}

async fn connect(service: &Service, engine: Engine) -> Result<Docker, String> {
    let path = service.socket.to_string_lossy();
    let connect = |version| Docker::connect_with_unix(&path, PATIENCE, version).map_err(|error| words(&error));
    match engine {
        // Asked for its version, Podman asks its helpers for theirs: longer than the whole run takes.
        Engine::Podman => connect(&PODMAN),
        Engine::Docker => connect(&NEWEST)?
            .negotiate_version()
            .await
            .map_err(|error| words(&error)),
    }
}

pub(crate) fn is_gone(error: &bollard::errors::Error) -> bool {
    matches!(
        error,
        bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }
    )
}

/// The engine's own words, without the client's.
fn words(error: &bollard::errors::Error) -> String {
    if let bollard::errors::Error::DockerResponseServerError { message, .. } = error {
        message.clone()
    } else {
        error.to_string()
    }
}
