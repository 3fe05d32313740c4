//! One agent at work: a `run` of our own program as a child process, its prompt written, its output read.
//!
//! Starts a process and threads. INVARIANT (bounded): what the agent prints is held in pieces of fixed size only, and waits in
//! its pipe while we are busy.

use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use glee_sandbox::sys::{fd, process};

use super::events::{Lines, Listener};
use super::output::HeadTail;
use crate::definitions::Cli;

/// What one read takes, and how many wait for us.
const PIECE: usize = 64 << 10;
const PIECES: usize = 4;

/// gemini does not wait for a full pipe when it exits: what does not fit is lost.
const PIPE: libc::c_int = 1 << 20;

/// How much of standard error is kept for an error's text.
const COMPLAINT: usize = 4 << 10;

/// How often the caller's wish to stop is looked for.
const TICK: Duration = Duration::from_millis(50);

/// After the request to stop: then it is repeated, at which the run ends its whole tree.
const SECOND: Duration = Duration::from_secs(2);

/// And then the supervisor of the run is killed, and its tree with it.
const GRACE: Duration = Duration::from_secs(15);

#[derive(Debug)]
pub struct Job {
    /// Our own program.
    pub program: PathBuf,
    /// `run …`, up to and with the agent's own arguments.
    pub arguments: Vec<OsString>,
    /// Added to our own.
    pub environment: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    pub cli: Cli,
    pub prompt: Vec<u8>,
    /// Bytes of the answer that are kept.
    pub output_limit: usize,
}

/// What is heard while it works.
#[derive(Debug, Clone, Copy)]
pub enum Sound<'a> {
    /// A line of standard output, an event of the CLI's usually.
    Out(&'a [u8]),
    Err(&'a [u8]),
    /// What it is doing now, in words.
    Deed(&'a str),
}

/// How it ended.
#[derive(Debug)]
pub struct Worked {
    pub status: ExitStatus,
    pub heard: Listener,
    /// The beginning and the end of standard error.
    pub complaint: String,
    /// The caller wished it to stop.
    pub stopped: bool,
}

enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

/// Works on it until it ends, or until `stop` is set.
pub fn work(job: Job, stop: &AtomicBool, hear: &mut dyn FnMut(Sound<'_>)) -> io::Result<Worked> {
    let (out, out_end) = io::pipe()?;
    let (err, err_end) = io::pipe()?;
    // A smaller pipe is no reason to fail.
    let _ = fd::grow_pipe(out.as_fd(), PIPE);
    let mut child = Command::new(&job.program)
        .arg0("glee-supervisor")
        .args(&job.arguments)
        .envs(job.environment)
        .current_dir(&job.cwd)
        .stdin(Stdio::piped())
        .stdout(out_end)
        .stderr(err_end)
        .spawn()?;
    let stdin = child.stdin.take();
    let prompt = job.prompt;
    let writer = thread::spawn(move || {
        // An agent that does not read its prompt is judged by what it does.
        let _ = stdin.map(|mut stdin| stdin.write_all(&prompt));
    });
    let (pieces, arriving) = mpsc::sync_channel(PIECES);
    let readers = [read(out, pieces.clone(), Piece::Out), read(err, pieces, Piece::Err)];
    let mut ears = Ears {
        heard: Listener::new(job.cli, job.output_limit),
        complaint: HeadTail::new(COMPLAINT),
        out: Lines::default(),
        err: Lines::default(),
    };
    let stopped = listen(&arriving, &child, stop, &mut ears, hear);
    ears.end(hear);
    let status = child.wait()?;
    for thread in readers.into_iter().chain([writer]) {
        // A thread that panicked has nothing more to say than one that ended.
        let _ = thread.join();
    }
    Ok(Worked {
        status,
        heard: ears.heard,
        complaint: ears.complaint.text(),
        stopped,
    })
}

/// Until both streams have ended. True if it was asked to stop.
fn listen(
    arriving: &Receiver<Piece>,
    child: &Child,
    stop: &AtomicBool,
    ears: &mut Ears,
    hear: &mut dyn FnMut(Sound<'_>),
) -> bool {
    let mut asked: Option<Instant> = None;
    // What is still to come, and when.
    let mut next = [(SECOND, libc::SIGTERM), (GRACE, libc::SIGKILL)].into_iter().peekable();
    loop {
        match arriving.recv_timeout(TICK) {
            Ok(piece) => ears.take(&piece, hear),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return asked.is_some(),
        }
        match asked {
            None if stop.load(Ordering::Relaxed) => {
                asked = Some(Instant::now());
                signal(child, libc::SIGTERM);
            }
            Some(when) => {
                if let Some((_, number)) = next.next_if(|(after, _)| when.elapsed() > *after) {
                    signal(child, number);
                }
            }
            None => {}
        }
    }
}

fn signal(child: &Child, signal: libc::c_int) {
    // It is not collected yet, so the pid is its own; it may have ended.
    let _ = i32::try_from(child.id()).map(|pid| process::kill(pid, signal));
}

fn read(mut from: PipeReader, to: SyncSender<Piece>, kind: fn(Vec<u8>) -> Piece) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        loop {
            let mut buffer = vec![0; PIECE];
            match from.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => buffer.truncate(count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            }
            if to.send(kind(buffer)).is_err() {
                return;
            }
        }
    })
}

struct Ears {
    heard: Listener,
    complaint: HeadTail,
    out: Lines,
    err: Lines,
}

impl Ears {
    fn take(&mut self, piece: &Piece, hear: &mut dyn FnMut(Sound<'_>)) {
        match piece {
            Piece::Out(bytes) => {
                let heard = &mut self.heard;
                self.out.take(bytes, |line| understand(heard, line, hear));
            }
            Piece::Err(bytes) => {
                self.complaint.write(bytes);
                self.err.take(bytes, |line| hear(Sound::Err(line)));
            }
        }
    }

    fn end(&mut self, hear: &mut dyn FnMut(Sound<'_>)) {
        let heard = &mut self.heard;
        self.out.end(|line| understand(heard, line, hear));
        self.err.end(|line| hear(Sound::Err(line)));
    }
}

fn understand(heard: &mut Listener, line: &[u8], hear: &mut dyn FnMut(Sound<'_>)) {
    hear(Sound::Out(line));
    if let Some(deed) = heard.hear(line) {
        hear(Sound::Deed(&deed));
    }
}

#[cfg(test)]
#[path = "process_tests.rs"]
mod tests;
