//! A model API that says what the test wants, and remembers what it was asked.
//!
//! Threads and plain HTTP on a loopback port of the host. Each vendor's file knows how a turn looks on the wire.

mod claude;
mod codex;
mod gemini;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::cli::Cli;

/// What the model does when it is asked.
#[derive(Debug, Clone)]
pub(crate) enum Turn {
    Text(String),
    /// A call of the shell tool.
    Shell(String),
    /// A call of this tool with these arguments.
    Call(&'static str, Value),
    /// An HTTP status with an error of the vendor's.
    Error(u16),
    /// Half of a text, then nothing but a closed connection.
    Cut,
    /// Nothing, for longer than any test lasts.
    Hang,
}

impl Turn {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: String,
    /// With its query.
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(n, _)| n == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// How a vendor's API speaks.
struct Dialect {
    /// Does this path, without its query, ask the model for a turn?
    is_turn: fn(&str) -> bool,
    /// The events of a streamed answer to this request, the nth of this server.
    events: fn(&Turn, usize, &Request) -> Vec<String>,
    /// The answer in one piece, for a request that does not ask for a stream.
    whole: fn(&Turn, usize) -> Value,
    streams: fn(&Request) -> bool,
    error: fn(u16) -> Value,
    /// Anything else that the CLI may ask.
    other: fn(&str) -> Option<Value>,
}

fn dialect(cli: Cli) -> &'static Dialect {
    match cli {
        Cli::Codex => &codex::DIALECT,
        Cli::Claude => &claude::DIALECT,
        Cli::Gemini => &gemini::DIALECT,
    }
}

/// A server whose threads end with the test process.
#[derive(Debug, Clone)]
pub(crate) struct Api {
    port: u16,
    cli: Cli,
    turns: Arc<[Turn]>,
    seen: Arc<Mutex<Vec<Request>>>,
}

impl Api {
    /// The turns are played in their order, the last one again and again.
    pub(crate) fn serve(cli: Cli, turns: Vec<Turn>) -> Self {
        assert!(!turns.is_empty(), "a model has something to say");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("listen on a loopback port");
        let this = Self {
            port: listener.local_addr().expect("the port").port(),
            cli,
            turns: turns.into(),
            seen: Arc::default(),
        };
        let serving = this.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                // A client that goes away is its own affair.
                thread::spawn(move || drop(serving.answer(stream)));
            }
        });
        this
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.lock().expect("no server thread panics").clone()
    }

    /// Those that asked the model for a turn.
    pub(crate) fn asked(&self) -> Vec<Request> {
        let mut requests = self.requests();
        requests.retain(|request| self.is_turn(request));
        requests
    }

    fn is_turn(&self, request: &Request) -> bool {
        request.method == "POST" && (dialect(self.cli).is_turn)(bare(&request.path))
    }

    fn answer(&self, stream: TcpStream) -> std::io::Result<()> {
        let Some(request) = read(&stream)? else { return Ok(()) };
        let is_turn = self.is_turn(&request);
        let number = {
            let mut seen = self.seen.lock().expect("no server thread panics");
            let number = seen.iter().filter(|earlier| self.is_turn(earlier)).count();
            seen.push(request.clone());
            number
        };
        let dialect = dialect(self.cli);
        if !is_turn {
            return match (request.method.as_str(), (dialect.other)(bare(&request.path))) {
                ("HEAD", _) => whole(&stream, 200, ""),
                (_, Some(value)) => whole(&stream, 200, &value.to_string()),
                (_, None) => whole(&stream, 404, &(dialect.error)(404).to_string()),
            };
        }
        let turn = &self.turns[number.min(self.turns.len() - 1)];
        match turn {
            Turn::Error(status) => whole(&stream, *status, &(dialect.error)(*status).to_string()),
            Turn::Hang => {
                thread::sleep(Duration::from_secs(600));
                Ok(())
            }
            Turn::Text(_) | Turn::Shell(_) | Turn::Call(..) if (dialect.streams)(&request) => {
                streamed(&stream, &(dialect.events)(turn, number, &request))?;
                (&stream).write_all(b"0\r\n\r\n")
            }
            Turn::Text(_) | Turn::Shell(_) | Turn::Call(..) => {
                whole(&stream, 200, &(dialect.whole)(turn, number).to_string())
            }
            Turn::Cut => {
                let events = (dialect.events)(&Turn::text("half of what there is to say"), number, &request);
                streamed(&stream, &events[..events.len() / 2])?;
                stream.shutdown(Shutdown::Both)
            }
        }
    }
}

fn bare(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

fn read(stream: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = Request {
        method,
        path,
        headers,
        body: String::new(),
    };
    let body = match request.header("content-length").and_then(|length| length.parse().ok()) {
        Some(length) => {
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            body
        }
        None if request.header("transfer-encoding").is_some() => chunks(&mut reader)?,
        None => Vec::new(),
    };
    request.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(request))
}

fn chunks(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let length = usize::from_str_radix(line.trim(), 16).unwrap_or(0);
        let mut chunk = vec![0; length + 2];
        reader.read_exact(&mut chunk)?;
        if length == 0 {
            return Ok(body);
        }
        body.extend_from_slice(&chunk[..length]);
    }
}

fn whole(mut stream: &TcpStream, status: u16, body: &str) -> std::io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status} Said\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes())
}

fn streamed(mut stream: &TcpStream, events: &[String]) -> std::io::Result<()> {
    stream.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n",
    )?;
    for event in events {
        stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes())?;
        stream.flush()?;
    }
    Ok(())
}

/// One event of a stream.
fn event(data: &Value) -> String {
    match data["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}
