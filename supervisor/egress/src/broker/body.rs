//! Takes in a request's whole body, and lets it be judged before a byte of it goes on.
//!
//! INVARIANT: what goes on is the bytes that were judged. INVARIANT (bounded): one body by `Limits::body`, all that are held
//! at once by `Limits::bodies`.

use std::cell::Cell;
use std::rc::Rc;

use http_body_util::BodyExt;
use hyper::HeaderMap;
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::timeout;

use super::answer::Refusal;
use super::api::Carries;
use super::config::Limits;
use super::headers;
use super::judge::judge;

/// All that is held now, of every request.
#[derive(Debug, Default)]
pub(super) struct Store(Cell<u64>);

/// A part of the store, given back on drop.
#[derive(Debug)]
struct Share {
    store: Rc<Store>,
    bytes: u64,
}

impl Share {
    fn of(store: &Rc<Store>) -> Self {
        Self {
            store: Rc::clone(store),
            bytes: 0,
        }
    }

    fn grow_to(&mut self, bytes: u64, limits: &Limits) -> Result<(), Refusal> {
        if bytes > limits.body {
            return Err(Refusal::TooLarge(limits.body));
        }
        let others = self.store.0.get().saturating_sub(self.bytes);
        let bytes = bytes.max(self.bytes);
        if others.saturating_add(bytes) > limits.bodies {
            return Err(Refusal::TooMuchAtOnce(limits.bodies));
        }
        self.store.0.set(others + bytes);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.store.0.set(self.store.0.get().saturating_sub(self.bytes));
    }
}

/// A body that may go on.
#[derive(Debug)]
pub(super) struct Judged {
    bytes: Bytes,
    _share: Share,
}

impl Judged {
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next piece, of at most so many bytes.
    pub(super) fn piece(&mut self, most: usize) -> Bytes {
        self.bytes.split_to(most.min(self.bytes.len()))
    }
}

pub(super) async fn take(
    body: Incoming,
    headers: &HeaderMap,
    carries: Carries,
    limits: &Limits,
    store: &Rc<Store>,
) -> Result<Judged, Refusal> {
    if let Carries::Prompt(_) = carries {
        is_plain_json(headers)?;
    }
    let judged = collect(body, limits, Share::of(store)).await?;
    match carries {
        Carries::Prompt(shape) => judge(shape, &judged.bytes)?,
        Carries::Nothing if judged.bytes.is_empty() => {}
        Carries::Nothing => return Err(Refusal::Body),
    }
    Ok(judged)
}

async fn collect(mut body: Incoming, limits: &Limits, mut share: Share) -> Result<Judged, Refusal> {
    let told = body.size_hint().lower();
    share.grow_to(told, limits)?;
    let mut bytes = Vec::with_capacity(usize::try_from(told).unwrap_or_default());
    loop {
        let frame = match timeout(limits.idle, body.frame()).await {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(_))) | Err(_) => return Err(Refusal::BrokenOff),
        };
        // Trailers are headers that nobody looked at: they stay here.
        let Ok(data) = frame.into_data() else { continue };
        let length = bytes.len().saturating_add(data.len());
        share.grow_to(u64::try_from(length).unwrap_or(u64::MAX), limits)?;
        bytes.extend_from_slice(&data);
    }
    Ok(Judged {
        bytes: Bytes::from(bytes),
        _share: share,
    })
}

/// JSON in UTF-8, and said to be nothing else: what is not read here must not be read there.
fn is_plain_json(headers: &HeaderMap) -> Result<(), Refusal> {
    if let Some(encoding) = headers::encoding(headers) {
        return Err(Refusal::Encoded(encoding));
    }
    let mut kinds = headers.get_all(CONTENT_TYPE).iter();
    match (kinds.next(), kinds.next()) {
        (Some(kind), None) if says_json(kind) => Ok(()),
        (Some(_) | None, _) => Err(Refusal::NotJson),
    }
}

fn says_json(kind: &HeaderValue) -> bool {
    let Ok(kind) = kind.to_str() else { return false };
    let kind: String = kind.split_ascii_whitespace().collect();
    [
        "application/json",
        "application/json;",
        "application/json;charset=utf-8",
    ]
    .iter()
    .any(|known| kind.eq_ignore_ascii_case(known))
}

#[cfg(test)]
#[path = "body_tests.rs"]
mod tests;
