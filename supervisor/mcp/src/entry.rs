//! From a command line to a server that runs: the runtime, the transport, the end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use glee_engine::project::Scene;
use glee_engine::store::TaskId;
use rmcp::service::{ServerInitializeError, ServiceExt};
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::server::Server;
use crate::transport::http::{self, Guard, ListenError};
use crate::transport::lines::Lines;
use crate::transport::token::{Token, TokenError};

/// How long calls that were cut off have for their last words.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Behind a sandbox's door memory is counted, stacks and all.
const MOST_THREADS: usize = 128;
const STACK: usize = 1 << 20;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("cannot start the server: {0}")]
    Runtime(io::Error),
    #[error("the server came to its end: {0}")]
    Ended(String),
    #[error(transparent)]
    Listen(#[from] ListenError),
    #[error(transparent)]
    Token(#[from] TokenError),
}

impl ServeError {
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Runtime(_) | Self::Ended(_) => None,
            Self::Listen(error) => Some(error.help()),
            Self::Token(error) => Some(error.help()),
        }
    }
}

fn runtime() -> Result<Runtime, ServeError> {
    Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Runtime)
}

/// Waits for a signal by which others ask us to end.
async fn asked_to_end() {
    let listen = |kind| signal(kind).ok();
    let (Some(mut term), Some(mut int), Some(mut hup)) = (
        listen(SignalKind::terminate()),
        listen(SignalKind::interrupt()),
        listen(SignalKind::hangup()),
    ) else {
        // Then a signal ends the process as it does any other.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        _ = hup.recv() => {}
    }
}

/// Serves the client at the other end of the standard streams, until it closes them.
pub fn stdio(scene: Scene) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let server = Server::new(scene);
        let served = tokio::select! {
            served = conversation(server.clone()) => served,
            () = asked_to_end() => Ok(()),
        };
        server.close(LAST_WORDS).await;
        served
    });
    runtime.shutdown_timeout(LAST_WORDS);
    served
}

async fn conversation(server: Server) -> Result<(), ServeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    match server.serve(Lines::new(input, output)).await {
        Ok(running) => {
            let ended = running.waiting().await;
            ended.map(drop).map_err(|error| ServeError::Ended(error.to_string()))
        }
        // It went away before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(ServeError::Ended(error.to_string())),
    }
}

/// Serves whoever has the token, until it is asked to end. `ready` is told the address and where the token lies.
pub fn http(scene: Scene, address: SocketAddr, ready: impl FnOnce(SocketAddr, PathBuf)) -> Result<(), ServeError> {
    let (token, file) = Token::of_user()?;
    let server = Server::new(scene);
    let runtime = runtime()?;
    let served = runtime.block_on(async {
        let (listener, address) = http::listen(address).await?;
        ready(address, file);
        let ours = server.clone();
        tokio::select! {
            never = http::serve((listener, address), Guard::Token(token), move || ours.clone(), |_| {}) => match never {},
            () = asked_to_end() => {}
        }
        server.close(LAST_WORDS).await;
        Ok(())
    });
    runtime.shutdown_timeout(LAST_WORDS);
    served
}

/// Serves the agent that works on this task, at the door of its sandbox, until the process ends.
pub fn inside(scene: Scene, task: TaskId, door: OwnedFd) -> Result<(), ServeError> {
    let server = Server::inside(scene, task);
    let runtime = Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_THREADS)
        .thread_stack_size(STACK)
        .build()
        .map_err(ServeError::Runtime)?;
    runtime.block_on(async {
        let door = std::net::TcpListener::from(door);
        door.set_nonblocking(true).map_err(ServeError::Runtime)?;
        let address = door.local_addr().map_err(ServeError::Runtime)?;
        let door = tokio::net::TcpListener::from_std(door).map_err(ServeError::Runtime)?;
        match http::serve((door, address), Guard::Namespace, move || server.clone(), |_| {}).await {}
    })
}
