//! Both ends of a measured connection: a server that sends or echoes, and a client that is told what to do on stdin.
//!
//! The client runs wherever the measurement puts it: outside, in a sandbox, behind a relay. It keeps running, so that
//! subjects can take turns. What it measures: seconds for a download, or a list of seconds, one per round trip.

use std::env;
use std::io::{self, BufRead, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

const BLOCK: usize = 256 * 1024;
/// The zero tells a relay at once that this is no request line.
const SEND: [u8; 2] = *b"s\0";
const ECHO: [u8; 2] = *b"e\0";
/// A connection that is silent for so long has failed.
const PATIENCE: Duration = Duration::from_secs(10);
/// What makes the client ask a proxy instead of connecting: its `host:port`, a blank, and its basic authorization.
pub const PROXY: &str = "GLEE_BENCH_PROXY";

/// Serves on loopback until the process ends.
pub fn serve() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || play(stream));
        }
    });
    Ok(address)
}

/// Sends as many bytes as it is asked for, or echoes.
fn play(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut word = [0; 2];
    stream.read_exact(&mut word)?;
    let mut buffer = vec![0; BLOCK];
    if word == SEND {
        let mut size = [0; 8];
        stream.read_exact(&mut size)?;
        let mut left = u64::from_be_bytes(size);
        while left > 0 {
            let count = buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            stream.write_all(buffer.get(..count).unwrap_or_default())?;
            left -= count as u64;
        }
        return Ok(());
    }
    loop {
        let count = stream.read(&mut buffer)?;
        match buffer.get(..count) {
            Some([]) | None => return Ok(()),
            Some(bytes) => stream.write_all(bytes)?,
        }
    }
}

/// Reads `download CONNECTIONS BYTES`, `ping CONNECTIONS ROUNDS` and `open ROUNDS` from stdin, a line each, and answers
/// with a line of seconds.
pub fn obey(to: SocketAddr) -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse::<usize>().ok()).unwrap_or(1);
        let answer = match words.first() {
            Some(&"download") => download(to, number(1), number(2)).map(|seconds| vec![seconds]),
            Some(&"ping") => ping(to, number(1), number(2)),
            Some(&"open") => open(to, number(1)),
            Some(_) | None => Err(io::ErrorKind::InvalidInput.into()),
        };
        let words: Vec<String> = match answer {
            Ok(seconds) => seconds.iter().map(|s| format!("{s:.9}")).collect(),
            Err(error) => vec![format!("error: {error}")],
        };
        println!("{}", words.join(" "));
    }
    Ok(())
}

fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let stream = match env::var(PROXY) {
        Ok(proxy) => through(&proxy, to)?,
        Err(_) => TcpStream::connect(to)?,
    };
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn through(proxy: &str, to: SocketAddr) -> io::Result<TcpStream> {
    let (proxy, authorization) = proxy.split_once(' ').unwrap_or((proxy, ""));
    let mut stream = TcpStream::connect(proxy)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let target = format!("localhost:{}", to.port());
    let request =
        format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\nProxy-Authorization: Basic {authorization}\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    match head.split(|byte| *byte == b' ').nth(1) {
        Some(b"200") => Ok(stream),
        Some(_) | None => Err(io::Error::other(String::from_utf8_lossy(&head).into_owned())),
    }
}

/// So many bytes in all, over connections that stand already: from the first request to the last byte.
fn download(to: SocketAddr, connections: usize, bytes: usize) -> io::Result<f64> {
    let share = (bytes / connections) as u64;
    let ready = Barrier::new(connections);
    let one = || {
        let stream = connect(to);
        ready.wait();
        let begun = Instant::now();
        receive(stream?, share)?;
        Ok((begun, Instant::now()))
    };
    let spans = thread::scope(|scope| {
        let receivers: Vec<_> = (0..connections).map(|_| scope.spawn(one)).collect();
        let join = |receiver: thread::ScopedJoinHandle<'_, io::Result<_>>| receiver.join();
        let spans = receivers.into_iter().map(join);
        spans
            .map(|span| span.map_err(|_| io::Error::other("a receiver panicked"))?)
            .collect::<io::Result<Vec<_>>>()
    })?;
    let begun = spans.iter().map(|(begun, _)| *begun).min();
    let ended = spans.iter().map(|(_, ended)| *ended).max();
    match (begun, ended) {
        (Some(begun), Some(ended)) => Ok((ended - begun).as_secs_f64()),
        (_, _) => Err(io::ErrorKind::InvalidInput.into()),
    }
}

fn receive(mut stream: TcpStream, bytes: u64) -> io::Result<()> {
    stream.write_all(&SEND)?;
    stream.write_all(&bytes.to_be_bytes())?;
    let mut buffer = vec![0; BLOCK];
    let mut left = bytes;
    while left > 0 {
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => left = left.saturating_sub(count as u64),
        }
    }
    Ok(())
}

/// A byte there and back, on each of the open connections in turn.
fn ping(to: SocketAddr, connections: usize, rounds: usize) -> io::Result<Vec<f64>> {
    let mut streams = (0..connections).map(|_| connect(to)).collect::<io::Result<Vec<_>>>()?;
    for stream in &mut streams {
        stream.write_all(&ECHO)?;
        bounce(stream)?;
    }
    let mut seconds = Vec::with_capacity(rounds);
    while seconds.len() < rounds {
        for stream in &mut streams {
            let before = Instant::now();
            bounce(stream)?;
            seconds.push(before.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}

/// A new connection, a byte there and back.
fn open(to: SocketAddr, rounds: usize) -> io::Result<Vec<f64>> {
    let one = |_| {
        let before = Instant::now();
        let mut stream = connect(to)?;
        stream.write_all(&ECHO)?;
        bounce(&mut stream)?;
        Ok(before.elapsed().as_secs_f64())
    };
    (0..rounds).map(one).collect()
}

fn bounce(stream: &mut TcpStream) -> io::Result<()> {
    stream.write_all(&[1])?;
    stream.read_exact(&mut [0])
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
