//! A request's body on its way out: sent piece by piece, and counted.

use std::cell::Cell;
use std::convert::Infallible;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::time::Instant;

use super::body::Judged;
use super::report::Tally;

/// Small enough that a slow line is seen to move.
const PIECE: usize = 64 << 10;

/// What the one who waits for the answer knows of the body.
#[derive(Debug)]
pub(super) struct Watch {
    tally: Rc<Tally>,
    moved: Cell<Instant>,
}

impl Watch {
    pub(super) fn new(tally: Rc<Tally>) -> Rc<Self> {
        Rc::new(Self {
            tally,
            moved: Cell::new(Instant::now()),
        })
    }

    /// When the last piece went.
    pub(super) fn moved(&self) -> Instant {
        self.moved.get()
    }
}

#[derive(Debug)]
pub(super) struct Upload {
    body: Judged,
    watch: Rc<Watch>,
}

impl Upload {
    pub(super) fn new(body: Judged, watch: Rc<Watch>) -> Self {
        Self { body, watch }
    }
}

impl Body for Upload {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        if self.is_end_stream() {
            return Poll::Ready(None);
        }
        let piece = self.body.piece(PIECE);
        self.watch.moved.set(Instant::now());
        self.watch.tally.up(piece.len());
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.left() == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.body.left()).unwrap_or(u64::MAX))
    }
}
