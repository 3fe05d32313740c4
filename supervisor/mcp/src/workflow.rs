//! A workflow for a client: driven apart from the server's own thread, with progress, questions and cancellation.
//!
//! INVARIANT: a call that the client cancels, or goes away from, ends the run that it waits for.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use glee_engine::tasks::{Answer, Desk, Question};
use glee_engine::workflows::run::price::Money;
use glee_engine::workflows::run::tree::Tree;
use glee_engine::workflows::run::{self, Event, GoOn, Onlooker, Ready, RunView, Whom};
use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::{mpsc, oneshot, watch};

use crate::answer::Failure;
use crate::ask::{self, Means, Reply};
use crate::server::Server;
use crate::tools::apart;
use crate::work::{HEARTBEAT, over, to_answer, words};

/// The client as one who looks on.
struct Client {
    whom: Whom,
    tell: watch::Sender<String>,
    put: mpsc::Sender<(String, oneshot::Sender<Reply>)>,
    left: Arc<AtomicBool>,
    over: usize,
}

impl Client {
    /// Puts a question to the person behind the client, and waits.
    fn ask(&self, message: String) -> Reply {
        let (reply, answer) = oneshot::channel();
        match self.put.blocking_send((message, reply)) {
            Ok(()) => answer.blocking_recv().unwrap_or(Reply::Nobody),
            Err(_) => Reply::Nobody,
        }
    }
}

impl Onlooker for Client {
    fn tell(&mut self, tree: &Tree, event: Event<'_>) {
        let path = |node| tree.spot(node).map(|spot| spot.path.clone()).unwrap_or_default();
        let text = match event {
            Event::Begun { node } => format!("{}: running", path(node)),
            Event::Progress { .. } => return,
            Event::Ended { node, result, .. } => {
                self.over += 1;
                let (over, all) = (self.over, tree.spots.len());
                format!("{}: {} [{over}/{all}]", path(node), result.status.word())
            }
        };
        // Nobody there to hear it is no reason to stop.
        let _ = self.tell.send(text);
    }

    fn has_left(&mut self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    fn whom(&self) -> Whom {
        self.whom
    }

    fn approve(&mut self, question: &Question) -> Answer {
        words(question).map_or(Answer::Nobody, |message| to_answer(self.ask(message)))
    }

    fn go_on(&mut self, spent: Money, allowed: Money) -> GoOn {
        if self.whom != Whom::Now {
            return GoOn::Abort;
        }
        match self.ask(format!("The workflow has cost {spent}, and may cost {allowed}. Go on?")) {
            Reply::Yes => GoOn::Continue,
            Reply::No | Reply::Nobody => GoOn::Abort,
        }
    }
}

/// Runs a workflow to its end, and tells the client meanwhile what happens.
pub(crate) async fn drive(
    server: &Server,
    context: &RequestContext<RoleServer>,
    desk: Arc<Desk>,
    ready: Ready,
) -> Result<RunView, Failure> {
    let _here = server.stay();
    let (tell, mut told) = watch::channel("queued".to_owned());
    let (put, mut questions) = mpsc::channel(1);
    let left = Arc::new(AtomicBool::new(false));
    let mut client = Client {
        // A client that is asked by a second try cannot be asked in the middle of a call.
        whom: match Means::of(context) {
            Means::Request => Whom::Now,
            Means::Retry | Means::Not => Whom::Later,
        },
        tell,
        put,
        left: Arc::clone(&left),
        over: 0,
    };
    let mut driving = std::pin::pin!(apart(move || run::run(&desk, ready, &mut client)));
    let mut beat = tokio::time::interval(HEARTBEAT);
    let mut count = 0.0;
    loop {
        tokio::select! {
            done = &mut driving => return Ok(done??),
            () = over(server, context) => {
                left.store(true, Ordering::Relaxed);
                drop(questions);
                // The agents are ended first.
                driving.await??;
                return Err(Failure::told("the call was cancelled"));
            }
            Some((message, reply)) = questions.recv() => {
                let answer = tokio::select! {
                    reply = ask::request(context, message) => reply,
                    // Who no longer waits for the run does not want it.
                    () = over(server, context) => Reply::No,
                };
                // If the driver has given up waiting, there is nobody to tell.
                let _ = reply.send(answer);
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
                done = &mut driving => return Ok(done??),
                _ = sent => {}
            }
        }
    }
}
