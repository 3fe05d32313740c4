//! Messages as lines, for standard streams and sockets: one JSON-RPC message each.
//!
//! A line that is too long is dropped as it comes and answered; a client that does not read is not read from either.
//! INVARIANT (whole lines): nothing that can be cancelled writes to the stream.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, ErrorData, GetMeta, JsonRpcMessage,
    ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Notify;

use super::MOST_MESSAGE;

/// Requests that wait for their answer.
const MOST_OPEN: usize = 256;
/// What those requests hold together, in bytes.
const MOST_OPEN_BYTES: usize = 32 << 20;
/// What may wait for a client to read it before the client is read from again, in bytes.
const MOST_UNREAD: usize = 4 << 20;

/// A transport of lines.
#[derive(Debug)]
pub struct Lines<R, W> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that was too long is still coming.
    skipping: bool,
    /// The client has introduced itself. What is no request before that is passed over: there is nothing it could be about.
    begun: bool,
    out: Arc<Out<W>>,
    open: Arc<Mutex<Open>>,
}

/// The requests that have no answer yet, with the bytes each came in.
#[derive(Debug, Default)]
struct Open {
    requests: HashMap<RequestId, usize>,
    bytes: usize,
}

/// What is to be written, and how much of it waits.
#[derive(Debug)]
struct Out<W> {
    writer: tokio::sync::Mutex<Option<W>>,
    waiting: Mutex<usize>,
    less: Notify,
}

enum Next {
    Line,
    TooLong,
    End,
}

/// Why a request is not taken up.
enum Refused {
    Busy,
    SameId,
}

impl Open {
    fn admit(&mut self, id: &RequestId, bytes: usize) -> Result<(), Refused> {
        if self.requests.contains_key(id) {
            return Err(Refused::SameId);
        }
        let total = self.bytes.saturating_add(bytes);
        if self.requests.len() >= MOST_OPEN || (total > MOST_OPEN_BYTES && !self.requests.is_empty()) {
            return Err(Refused::Busy);
        }
        self.requests.insert(id.clone(), bytes);
        self.bytes = total;
        Ok(())
    }

    fn done(&mut self, id: &RequestId) {
        if let Some(bytes) = self.requests.remove(id) {
            self.bytes = self.bytes.saturating_sub(bytes);
        }
    }
}

impl<W: AsyncWrite + Send + Unpin> Out<W> {
    fn add(&self, bytes: usize) {
        *locked(&self.waiting) += bytes;
    }

    fn written(&self, bytes: usize) {
        let mut waiting = locked(&self.waiting);
        *waiting = waiting.saturating_sub(bytes);
        self.less.notify_waiters();
    }

    /// Waits until the client has read enough of what was written for it.
    async fn until_read(&self) {
        loop {
            let less = self.less.notified();
            if *locked(&self.waiting) <= MOST_UNREAD {
                return;
            }
            less.await;
        }
    }

    /// Writes one line that was counted with `add`.
    async fn write(&self, line: Vec<u8>) -> io::Result<()> {
        let mut writer = self.writer.lock().await;
        let done = match writer.as_mut() {
            Some(writer) => match writer.write_all(&line).await {
                Ok(()) => writer.flush().await,
                Err(error) => Err(error),
            },
            None => Err(io::Error::from(io::ErrorKind::NotConnected)),
        };
        drop(writer);
        self.written(line.len());
        done
    }
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub fn new(reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: Vec::new(),
            skipping: false,
            begun: false,
            out: Arc::new(Out {
                writer: tokio::sync::Mutex::new(Some(writer)),
                waiting: Mutex::new(0),
                less: Notify::new(),
            }),
            open: Arc::default(),
        }
    }

    /// Reads up to the end of a line. Cancelled, it goes on next time where it stopped.
    async fn next(&mut self) -> Next {
        loop {
            let available = match self.reader.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                Ok(_) | Err(_) => return Next::End,
            };
            let end = available.iter().position(|&byte| byte == b'\n');
            let taken = end.map_or(available.len(), |at| at + 1);
            let fits = self.line.len().saturating_add(taken) <= MOST_MESSAGE;
            let was_skipping = self.skipping;
            if fits && !was_skipping {
                self.line.extend(available.iter().take(taken));
            } else {
                self.line = Vec::new();
                self.skipping = end.is_none();
            }
            self.reader.consume(taken);
            match (was_skipping, fits, end) {
                (true, _, _) | (false, true, None) => {}
                (false, true, Some(_)) => return Next::Line,
                (false, false, _) => return Next::TooLong,
            }
        }
    }

    /// Says what is wrong, apart from the reading: that may be cancelled, a line may not.
    fn complain(&self, error: ErrorData, id: Option<RequestId>) {
        let Some(line) = line_of(&ServerJsonRpcMessage::error(error, id)) else {
            return;
        };
        let out = Arc::clone(&self.out);
        out.add(line.len());
        tokio::spawn(async move { drop(out.write(line).await) });
    }

    /// The message in the line; `None` if it was answered here or means nothing.
    fn message(&mut self) -> Option<ClientJsonRpcMessage> {
        let bytes = std::mem::take(&mut self.line);
        let text = bytes.trim_ascii();
        if text.is_empty() {
            return None;
        }
        let message = match serde_json::from_slice::<ClientJsonRpcMessage>(text) {
            Ok(message) => message,
            Err(_) => {
                if let Some((error, id)) = mistake(text) {
                    self.complain(error, id);
                }
                return None;
            }
        };
        match &message {
            JsonRpcMessage::Request(request) => {
                self.begun |= introduces(&request.request);
                let admitted = locked(&self.open).admit(&request.id, bytes.len());
                let (code, why) = match admitted {
                    Ok(()) => return Some(message),
                    Err(Refused::Busy) => (BUSY, TOO_MANY),
                    Err(Refused::SameId) => (
                        ErrorCode::INVALID_REQUEST,
                        "a request with this id waits for its answer already",
                    ),
                };
                let id = request.id.clone();
                self.complain(ErrorData::new(code, why, None), Some(id));
                None
            }
            JsonRpcMessage::Notification(notification) => {
                // A cancelled request gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    locked(&self.open).done(id);
                }
                self.begun.then_some(message)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => self.begun.then_some(message),
        }
    }
}

/// Does the library take this request for the beginning of a conversation, in the one era or the other?
fn introduces(request: &ClientRequest) -> bool {
    if matches!(
        request,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_)
    ) {
        return false;
    }
    let meta = request.get_meta();
    let is_whole = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
    let is_known = |version| ProtocolVersion::KNOWN_VERSIONS.contains(&version);
    matches!(request, ClientRequest::InitializeRequest(_))
        || (is_whole && meta.protocol_version().is_some_and(is_known))
}

/// JSON-RPC leaves these numbers to the server.
pub(crate) const BUSY: ErrorCode = ErrorCode(-32000);
pub(crate) const TOO_MANY: &str = "too many requests wait for their answer: ask again later";

/// What to say about a text that is no message; nothing about a notification that nobody knows.
fn mistake(text: &[u8]) -> Option<(ErrorData, Option<RequestId>)> {
    let Ok(value) = serde_json::from_slice::<Value>(text) else {
        let error = ErrorData::parse_error("this is not JSON, or nested too deeply", None);
        return Some((error, None));
    };
    if value.get("id").is_none() && value.get("method").is_some_and(Value::is_string) {
        return None;
    }
    let id = value
        .get("id")
        .and_then(|id| serde_json::from_value::<RequestId>(id.clone()).ok());
    let error = ErrorData::invalid_request("this is not a message of the protocol; batches are not taken", None);
    Some((error, id))
}

fn line_of(message: &ServerJsonRpcMessage) -> Option<Vec<u8>> {
    let mut line = serde_json::to_vec(message).ok()?;
    line.push(b'\n');
    Some(line)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        if let Some(id) = answered {
            locked(&self.open).done(id);
        }
        let line = line_of(&message);
        let out = Arc::clone(&self.out);
        out.add(line.as_ref().map_or(0, Vec::len));
        async move {
            match line {
                Some(line) => out.write(line).await,
                None => Err(io::Error::from(io::ErrorKind::InvalidData)),
            }
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.out.until_read().await;
            match self.next().await {
                Next::Line => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                Next::TooLong => {
                    let why =
                        format!("a message has at most {MOST_MESSAGE} bytes: put long texts in a file of the project");
                    self.complain(ErrorData::invalid_request(why, None), None);
                }
                Next::End => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        drop(self.out.writer.lock().await.take());
        Ok(())
    }
}

#[cfg(test)]
#[path = "lines_tests.rs"]
mod tests;
