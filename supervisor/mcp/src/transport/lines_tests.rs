use std::time::Duration;

use rmcp::model::{EmptyResult, ServerResult};
use serde_json::json;
use tokio::io::{AsyncReadExt, DuplexStream, duplex, split};

use super::*;

type Ours = Lines<tokio::io::ReadHalf<DuplexStream>, tokio::io::WriteHalf<DuplexStream>>;

/// A transport, and the client's end.
fn pair(room: usize) -> (Ours, DuplexStream) {
    let (ours, theirs) = duplex(room);
    let (reader, writer) = split(ours);
    (Lines::new(reader, writer), theirs)
}

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        tokio::time::timeout(Duration::from_secs(20), test)
            .await
            .expect("it ends")
    });
}

fn ping(id: u64) -> String {
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))
}

fn id_of(message: Option<ClientJsonRpcMessage>) -> Option<RequestId> {
    match message? {
        JsonRpcMessage::Request(request) => Some(request.id),
        JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) | JsonRpcMessage::Notification(_) => None,
    }
}

async fn line(from: &mut DuplexStream) -> Value {
    let mut text = Vec::new();
    loop {
        match from.read_u8().await.expect("a byte") {
            b'\n' => return serde_json::from_slice(&text).expect("JSON"),
            byte => text.push(byte),
        }
    }
}

#[test]
fn a_line_that_is_too_long_is_answered_and_the_next_one_is_read() {
    run(async {
        let (mut ours, mut theirs) = pair(1 << 16);
        let sent = tokio::spawn(async move {
            for _ in 0..(MOST_MESSAGE >> 16) + 1 {
                theirs.write_all(&vec![b'x'; 1 << 16]).await.expect("send");
            }
            theirs
                .write_all(format!("\n{}", ping(7)).as_bytes())
                .await
                .expect("send");
            let answer = line(&mut theirs).await;
            assert_eq!(answer["error"]["code"], -32600, "{answer}");
            theirs
        });
        assert_eq!(id_of(ours.receive().await), Some(RequestId::Number(7)));
        assert!(ours.line.capacity() <= MOST_MESSAGE * 2);
        drop(sent.await.expect("it was sent"));
        assert!(ours.receive().await.is_none(), "the end");
    });
}

#[test]
fn a_reading_that_is_cancelled_goes_on_where_it_stopped() {
    run(async {
        let (mut ours, mut theirs) = pair(1 << 16);
        let text = ping(1);
        for byte in text.as_bytes() {
            theirs.write_all(&[*byte]).await.expect("send");
            if *byte != b'\n' {
                let early = tokio::time::timeout(Duration::from_millis(1), ours.receive()).await;
                assert!(early.is_err(), "half of a line is no message");
            }
        }
        assert_eq!(id_of(ours.receive().await), Some(RequestId::Number(1)));
    });
}

#[test]
fn an_id_is_free_again_once_it_is_answered() {
    run(async {
        let (mut ours, mut theirs) = pair(1 << 16);
        theirs
            .write_all(format!("{0}{0}", ping(1)).as_bytes())
            .await
            .expect("send");
        assert_eq!(id_of(ours.receive().await), Some(RequestId::Number(1)));
        let none = tokio::time::timeout(Duration::from_millis(20), ours.receive()).await;
        assert!(none.is_err(), "the same id twice");
        assert_eq!(line(&mut theirs).await["error"]["code"], -32600);
        let answer = ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), RequestId::Number(1));
        ours.send(answer).await.expect("it is read");
        theirs.write_all(ping(1).as_bytes()).await.expect("send");
        assert_eq!(id_of(ours.receive().await), Some(RequestId::Number(1)));
    });
}

#[test]
fn what_waits_to_be_answered_is_bounded_in_number_and_size() {
    let mut open = Open::default();
    let number = |n: usize| RequestId::Number(i64::try_from(n).expect("a number"));
    for n in 0..MOST_OPEN {
        assert!(open.admit(&number(n), 1).is_ok());
    }
    assert!(matches!(open.admit(&number(MOST_OPEN), 1), Err(Refused::Busy)));
    open.done(&number(0));
    assert!(open.admit(&number(MOST_OPEN), 1).is_ok());
    let mut open = Open::default();
    assert!(open.admit(&number(0), MOST_OPEN_BYTES).is_ok());
    assert!(matches!(open.admit(&number(1), 1), Err(Refused::Busy)));
    open.done(&number(0));
    open.done(&number(0));
    assert_eq!(open.bytes, 0);
}
