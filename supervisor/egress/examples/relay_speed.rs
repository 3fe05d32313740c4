//! Measures the relay: throughput of one connection, and the round trip of one byte.
//!
//! `relay_speed` measures our relay; `relay_speed PORT` measures what listens on that port of loopback and leads to
//! port 7000, such as `socat TCP-LISTEN:7001,fork,reuseaddr TCP:127.0.0.1:7000`; `relay_speed 7000` measures none.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use glee_egress::bound::Bound;
use glee_egress::gate::Gate;
use glee_egress::host::Host;
use glee_egress::limits::Limits;
use glee_egress::record::Counts;
use glee_egress::relay::{Start, relay};
use glee_egress::window::{Pool, Window};

const SERVER_PORT: u16 = 7000;
const OUR_PORT: u16 = 7002;
const BYTES: u64 = 4 << 30;
const BLOCK: usize = 256 * 1024;
const ROUNDS: usize = 20_000;

fn main() -> io::Result<()> {
    let through = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let server = TcpListener::bind((Ipv4Addr::LOCALHOST, SERVER_PORT))?;
    thread::spawn(move || {
        server
            .incoming()
            .flatten()
            .for_each(|stream| drop(thread::spawn(|| play(stream))))
    });
    if through.is_none() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, OUR_PORT))?;
        thread::spawn(move || run_relay(listener));
    }
    let port = through.unwrap_or(OUR_PORT);
    let start = Instant::now();
    let got = download(port)?;
    let seconds = start.elapsed().as_secs_f64();
    println!("port {port}: {:.2} GiB/s", gibibytes(got) / seconds);
    println!("port {port}: {:?} median round trip", round_trip(port)?);
    Ok(())
}

fn gibibytes(bytes: u64) -> f64 {
    let mebibytes = u32::try_from(bytes >> 20).unwrap_or(u32::MAX);
    f64::from(mebibytes) / 1024.0
}

/// Sends everything after a `d` and a zero, echoes everything after anything else.
fn play(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; BLOCK];
    let mut word = [0; 2];
    stream.read_exact(&mut word)?;
    if word == *b"d\0" {
        for _ in 0..BYTES / u64::try_from(BLOCK).unwrap_or(1) {
            stream.write_all(&buffer)?;
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

fn download(port: u16) -> io::Result<u64> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    // The zero tells the relay at once that this is no request line.
    stream.write_all(b"d\0")?;
    let mut buffer = vec![0; BLOCK];
    let mut total = 0;
    loop {
        match stream.read(&mut buffer)? {
            0 => return Ok(total),
            count => total += u64::try_from(count).unwrap_or_default(),
        }
    }
}

fn round_trip(port: u16) -> io::Result<Duration> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    stream.set_nodelay(true)?;
    stream.write_all(b"e\0")?;
    let mut byte = [0];
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        stream.write_all(&[1])?;
        stream.read_exact(&mut byte)?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok(times.get(ROUNDS / 2).copied().unwrap_or_default())
}

fn run_relay(listener: TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let pool = Pool::new();
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (mut client, _) = listener.accept().await?;
            let mut server = tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, SERVER_PORT)).await?;
            let start = Start {
                gate: Gate::new(Bound {
                    host: Host::Addr(Ipv4Addr::LOCALHOST.into()),
                    port: SERVER_PORT,
                }),
                window: Window::new(&pool),
                passed: 0,
            };
            let down = Window::new(&pool);
            let counts = Counts::default();
            relay(&mut client, &mut server, start, down, &counts, &Limits::STANDARD).await;
        }
    })
}
