//! How a connection is ended so that its peer learns the truth: with last words that arrive, or with a reset.
//!
//! Touches the socket it is given.

use std::io;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::limits::Limits;

/// Makes the stream end in a reset, so that its peer does not take what it got for all there was.
pub(crate) fn reset_on_drop(stream: &TcpStream) {
    let _ = stream.set_zero_linger();
}

/// Says the last words and closes, so that the words arrive: a close with bytes unread would be a reset.
pub(crate) async fn farewell(mut client: TcpStream, words: &[u8], limits: &Limits) {
    /// What is read and thrown away, at most, to let the client come to its end.
    const MOST_READ: usize = 256 * 1024;
    let speak = async {
        client.write_all(words).await?;
        client.shutdown().await?;
        let mut scratch = [0; 4096];
        let mut read = 0;
        while read < MOST_READ {
            client.readable().await?;
            match client.try_read(&mut scratch) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        io::Result::Ok(())
    };
    // Whether they arrived is the client's own affair.
    let _ = timeout(limits.grace, speak).await;
}
