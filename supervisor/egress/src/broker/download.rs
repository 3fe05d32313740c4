//! An answer's body on its way into the sandbox: each piece as it comes, without the key, its cost read as it passes.
//!
//! Also drives the connection to the API, which ends with it. An answer that breaks off breaks off for the client too:
//! it never looks complete.

use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming};
use tokio::time::{Instant, Sleep, sleep};

use super::answer::causes;
use super::redact::Redactor;
use super::report::Tally;
use super::upstream::Line;
use super::usage::Scanner;

pub(super) struct Download {
    inner: Incoming,
    line: Line,
    redactor: Option<Redactor>,
    scanner: Scanner,
    tally: Rc<Tally>,
    idle: Duration,
    silence: Pin<Box<Sleep>>,
    state: State,
}

#[derive(Debug)]
enum State {
    Flowing,
    /// What came before the break is on its way to the client.
    Breaking(DownloadProblem),
    Ended,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum DownloadProblem {
    #[error("the answer broke off: {}", causes(.0))]
    Broken(#[from] hyper::Error),
    #[error("the answer stopped for {0} s")]
    Silent(u64),
}

impl Download {
    pub(super) fn new(
        (inner, line): (Incoming, Line),
        redactor: Option<Redactor>,
        scanner: Scanner,
        tally: Rc<Tally>,
        idle: Duration,
    ) -> Self {
        Self {
            inner,
            line,
            redactor,
            scanner,
            tally,
            idle,
            silence: Box::pin(sleep(idle)),
            state: State::Flowing,
        }
    }

    /// Waits one turn, in which the server writes out what it has; an error would make it drop that.
    fn broken(
        &mut self,
        problem: DownloadProblem,
        cx: &Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, DownloadProblem>>> {
        self.tally.broken(problem.to_string());
        self.state = State::Breaking(problem);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn ended(&mut self) -> Poll<Option<Result<Frame<Bytes>, DownloadProblem>>> {
        self.state = State::Ended;
        let held = self.redactor.as_mut().map(Redactor::end).unwrap_or_default();
        if held.is_empty() {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(Bytes::copy_from_slice(held)))))
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = DownloadProblem;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match std::mem::replace(&mut self.state, State::Ended) {
            State::Flowing => self.state = State::Flowing,
            State::Breaking(problem) => return Poll::Ready(Some(Err(problem))),
            State::Ended => return Poll::Ready(None),
        }
        loop {
            self.line.drive(cx);
            let frame = match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(e))) => return self.broken(e.into(), cx),
                Poll::Ready(None) => return self.ended(),
                Poll::Pending if self.silence.as_mut().poll(cx).is_ready() => {
                    let seconds = self.idle.as_secs();
                    return self.broken(DownloadProblem::Silent(seconds), cx);
                }
                Poll::Pending => return Poll::Pending,
            };
            let deadline = Instant::now() + self.idle;
            self.silence.as_mut().reset(deadline);
            // Trailers are headers that nobody looked at: they stay here.
            let Ok(data) = frame.into_data() else { continue };
            self.tally.down(data.len());
            self.scanner.read(&data);
            let data = match &mut self.redactor {
                Some(redactor) => Bytes::from(redactor.pass(&data)),
                None => data,
            };
            if !data.is_empty() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        self.tally.tokens(self.scanner.tokens());
        self.tally.hidden(self.redactor.as_ref().map_or(0, Redactor::found));
    }
}
