//! A request's body on its way out: counted, and cut when it is too large.
//!
//! Keeps nothing: each piece goes on as it comes.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::Instant;

use super::report::Tally;

/// What the one who waits for the answer knows of the body.
#[derive(Debug)]
pub(super) struct Watch {
    tally: Rc<Tally>,
    moved: Cell<Instant>,
    over: Cell<bool>,
}

impl Watch {
    pub(super) fn new(tally: Rc<Tally>) -> Rc<Self> {
        Rc::new(Self {
            tally,
            moved: Cell::new(Instant::now()),
            over: Cell::new(false),
        })
    }

    /// When the last piece went.
    pub(super) fn moved(&self) -> Instant {
        self.moved.get()
    }

    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }
}

#[derive(Debug)]
pub(super) struct Upload {
    inner: Incoming,
    left: u64,
    watch: Rc<Watch>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum UploadProblem {
    #[error("the body is too large")]
    TooLarge,
    #[error("the client stopped: {0}")]
    Client(#[from] hyper::Error),
}

impl Upload {
    pub(super) fn new(inner: Incoming, limit: u64, watch: Rc<Watch>) -> Self {
        Self {
            inner,
            left: limit,
            watch,
        }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = UploadProblem;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        loop {
            let frame = match Pin::new(&mut self.inner).poll_frame(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(Err(e))) => return Poll::Ready(Some(Err(e.into()))),
                Poll::Ready(Some(Ok(frame))) => frame,
            };
            self.watch.moved.set(Instant::now());
            // Trailers are headers that nobody looked at: they stay here.
            let Ok(data) = frame.into_data() else { continue };
            let Some(left) = self.left.checked_sub(u64::try_from(data.len()).unwrap_or(u64::MAX)) else {
                self.watch.over.set(true);
                return Poll::Ready(Some(Err(UploadProblem::TooLarge)));
            };
            self.left = left;
            self.watch.tally.up(data.len());
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    /// Exact if the client said the length: then it is said on.
    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
