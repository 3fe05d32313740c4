//! The ways from a client to a server on this machine's loopback: none between, our relay, and those of others.
//!
//! Each is one relay process between client and server, so the hops are the same; only `direct` has none.

use crate::BenchError;
use crate::place::{self, Place};
use crate::wire;
use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The word that makes the measurement a client.
pub const CLIENT: &str = "client";
/// Connections of the last task are closed on both sides of a relay after this long.
const SETTLE: Duration = Duration::from_millis(100);

/// A client that waits for orders, and the relay that it goes through.
#[derive(Debug)]
pub struct Way {
    pub name: &'static str,
    client: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
    relay: Option<Child>,
}

type Maker = fn(&Place, SocketAddr) -> Result<Way, BenchError>;

pub const ALL: [(&str, Maker); 4] = [("direct", direct), ("glee", glee), ("socat", socat), ("srt", srt)];

impl Way {
    fn start(name: &'static str, mut command: Command, relay: Option<Child>) -> Result<Self, BenchError> {
        let program = PathBuf::from(command.get_program());
        let command = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut client = command.spawn().map_err(BenchError::io("run", &program))?;
        match (client.stdin.take(), client.stdout.take()) {
            (Some(orders), Some(answers)) => Ok(Way {
                name,
                client,
                orders,
                answers: BufReader::new(answers),
                relay,
            }),
            (_, _) => Err(failed(name, "it has no stdin or stdout")),
        }
    }

    /// Gives an order and reads what it took.
    pub fn ask(&mut self, order: &str) -> Result<Vec<Duration>, BenchError> {
        let sent = writeln!(self.orders, "{order}").and_then(|()| self.orders.flush());
        let mut line = String::new();
        let read = sent.and_then(|()| self.answers.read_line(&mut line));
        read.map_err(|error| failed(self.name, &error.to_string()))?;
        sleep(SETTLE);
        let seconds = line
            .split_whitespace()
            .map(|word| word.parse().map(Duration::from_secs_f64));
        match seconds.collect::<Result<Vec<_>, _>>() {
            Ok(seconds) if !seconds.is_empty() => Ok(seconds),
            Ok(_) | Err(_) => Err(failed(self.name, &format!("`{order}` gave `{}`", line.trim()))),
        }
    }
}

impl Drop for Way {
    fn drop(&mut self) {
        for child in [Some(&mut self.client), self.relay.as_mut()].into_iter().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn failed(name: &str, how: &str) -> BenchError {
    BenchError::Failed {
        subject: name.to_string(),
        how: how.to_string(),
    }
}

fn own_program() -> Result<PathBuf, BenchError> {
    env::current_exe().map_err(BenchError::io("find", Path::new("/proc/self/exe")))
}

fn direct(_: &Place, server: SocketAddr) -> Result<Way, BenchError> {
    let mut command = Command::new(own_program()?);
    command.arg(CLIENT).arg(server.to_string());
    Way::start("direct", command, None)
}

/// The client in the sandbox connects to the address that the policy names, and meets the relay there.
fn glee(place: &Place, server: SocketAddr) -> Result<Way, BenchError> {
    let me = own_program()?;
    let policy = place.root().join("policy.yml");
    let text = format!("extends: restricted\nnetwork: {{allow: ['{server}']}}\nmax_runtime_mins: 60\n");
    fs::write(&policy, text).map_err(BenchError::io("write", &policy))?;
    let mut command = Command::new(place::supervisor()?);
    command
        .arg("run")
        .arg("--policy")
        .arg(&policy)
        .arg("--read")
        .arg(&me)
        .arg("--");
    command
        .arg(&me)
        .arg(CLIENT)
        .arg(server.to_string())
        .current_dir(place.project());
    Way::start("glee", command, None)
}

/// A process per connection, with a buffer as large as ours.
fn socat(_: &Place, server: SocketAddr) -> Result<Way, BenchError> {
    let program = place::program("socat")?;
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let at = free.map_err(BenchError::io("find a port on", Path::new("127.0.0.1")))?;
    let mut relay = Command::new(&program);
    relay
        .args(["-b", "65536"])
        .arg(format!(
            "TCP-LISTEN:{},bind=127.0.0.1,fork,reuseaddr,nodelay,backlog=512",
            at.port()
        ))
        .arg(format!("TCP:{server},nodelay"))
        .stdin(Stdio::null());
    let relay = relay.spawn().map_err(BenchError::io("run", &program))?;
    let begun = Instant::now();
    while TcpStream::connect(at).is_err() && begun.elapsed() < Duration::from_secs(5) {
        sleep(Duration::from_millis(20));
    }
    let mut command = Command::new(own_program()?);
    command.arg(CLIENT).arg(at.to_string());
    Way::start("socat", command, Some(relay))
}

/// Through its HTTP proxy, the only way out that it has; two more processes of `socat` carry the bytes to the proxy.
fn srt(place: &Place, server: SocketAddr) -> Result<Way, BenchError> {
    let program = place::program("srt")?;
    let settings = place.root().join("srt.json");
    let text = serde_json::json!({
        "network": {"allowedDomains": ["localhost"], "deniedDomains": []},
        "filesystem": {"denyRead": [], "allowWrite": [], "denyWrite": []},
    });
    fs::write(&settings, text.to_string()).map_err(BenchError::io("write", &settings))?;
    let script = format!(
        // It gives the command a name and a password for its proxy, which may not listen yet.
        "sleep 1; auth=$(printf %s:%s \"$CLOUDSDK_PROXY_USERNAME\" \"$CLOUDSDK_PROXY_PASSWORD\" | base64 -w0)
         {}=\"localhost:$CLOUDSDK_PROXY_PORT $auth\" exec '{}' {CLIENT} {server}",
        wire::PROXY,
        own_program()?.display()
    );
    let mut command = Command::new(program);
    command
        .arg("--settings")
        .arg(&settings)
        .args(["-c", &script])
        .current_dir(place.project());
    Way::start("srt", command, None)
}
