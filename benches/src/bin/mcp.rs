//! What `glee_task` costs beyond the run of the agent: one call after the other, and 64 at once.
//!
//! The agent is the stub, which says a word. Its run is measured by the supervisor itself (`duration_ms`), from the moment the
//! task starts to its end in the sandbox; the rest of the time a caller waits is the server's, the queue's and the worker's.

use glee_benches::BenchError;
use glee_benches::args::{Args, CHECK, Flag, JSON};
use glee_benches::error::conclude;
use glee_benches::machine::Machine;
use glee_benches::place::{self, Place};
use glee_benches::stats::Samples;
use glee_benches::table::{aligned, millis, row};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const ABOUT: &str = "mcp: `glee_task` with the stub agent over standard streams, one at a time and 64 at once";
/// At the median, one at a time.
const GOAL: f64 = 0.010;
const MANY: usize = 64;
const ROUNDS: Flag = Flag {
    name: "--rounds",
    value: Some("N"),
    help: "calls one at a time (default 100)",
};

/// The other end of a server's standard streams.
struct Client {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

fn failed(how: impl ToString) -> BenchError {
    BenchError::Failed {
        subject: "glee-supervisor mcp".into(),
        how: how.to_string(),
    }
}

impl Client {
    fn start(place: &Place) -> Result<Self, BenchError> {
        let mut child = Command::new(place::supervisor()?)
            .arg("mcp")
            .current_dir(place.project())
            .env("HOME", place.home())
            .env("XDG_STATE_HOME", place.root().join("state"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("no pipes"));
        };
        let lines = BufReader::new(output).lines();
        let mut client = Self { child, input, lines };
        let who = json!({ "name": "bench", "version": "1" });
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": who });
        client.send(&json!({ "jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params }))?;
        client.next()?;
        Ok(client)
    }

    fn send(&mut self, message: &Value) -> Result<(), BenchError> {
        writeln!(self.input, "{message}").map_err(failed)
    }

    fn next(&mut self) -> Result<Value, BenchError> {
        let line = self.lines.next().ok_or_else(|| failed("it ended"))?.map_err(failed)?;
        serde_json::from_str(&line).map_err(failed)
    }

    fn begin(&mut self, id: usize) -> Result<(), BenchError> {
        let task = json!({ "description": "a word", "prompt": "stub: say word", "agent_cli": "stub" });
        let params = json!({ "name": "glee_task", "arguments": task });
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }))
    }

    /// The id of a call that has come to its end, and how long the agent ran.
    fn end(&mut self) -> Result<(usize, Duration), BenchError> {
        let answer = self.next()?;
        let done = |key: &str| answer.pointer(&format!("/result/structuredContent/{key}"));
        let ran = done("duration_ms").and_then(Value::as_u64);
        let (Some(id), Some(ran)) = (answer.get("id").and_then(Value::as_u64), ran) else {
            return Err(failed(&answer));
        };
        if done("status").and_then(Value::as_str) != Some("completed") {
            return Err(failed(&answer));
        }
        Ok((usize::try_from(id).unwrap_or_default(), Duration::from_millis(ran)))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Measured {
    name: &'static str,
    whole: Samples,
    overhead: Samples,
}

fn samples(name: &'static str, calls: &[(Duration, Duration)]) -> Result<Measured, BenchError> {
    let whole: Vec<Duration> = calls.iter().map(|(whole, _)| *whole).collect();
    let overhead: Vec<Duration> = calls.iter().map(|(whole, ran)| whole.saturating_sub(*ran)).collect();
    let of = |durations: &[Duration]| Samples::of(durations).ok_or_else(|| failed("nothing was measured"));
    Ok(Measured {
        name,
        whole: of(&whole)?,
        overhead: of(&overhead)?,
    })
}

fn one_at_a_time(client: &mut Client, rounds: usize) -> Result<Measured, BenchError> {
    let mut calls = Vec::new();
    for id in 0..rounds {
        let start = Instant::now();
        client.begin(id)?;
        let (_, ran) = client.end()?;
        calls.push((start.elapsed(), ran));
    }
    samples("1 at a time", &calls)
}

fn many_at_once(client: &mut Client) -> Result<Measured, BenchError> {
    let mut starts = BTreeMap::new();
    for id in 0..MANY {
        starts.insert(id, Instant::now());
        client.begin(id)?;
    }
    let mut calls = Vec::new();
    for _ in 0..MANY {
        let (id, ran) = client.end()?;
        let start = starts.remove(&id).ok_or_else(|| failed("an answer to nothing"))?;
        calls.push((start.elapsed(), ran));
    }
    samples("64 at once", &calls)
}

fn main() -> ExitCode {
    conclude(measure())
}

fn measure() -> Result<(), BenchError> {
    let Some(args) = Args::read(ABOUT, &[ROUNDS, CHECK, JSON], env::args().skip(1))? else {
        return Ok(());
    };
    let rounds = args.count(ROUNDS, 100)?;
    let place = Place::new("mcp")?;
    place.dir("project/.glee")?;
    let config = place.project().join(".glee/config.yml");
    let limits = "subagents:\n  max_concurrent: 64\n  rate_limit_per_min: 100000\n";
    std::fs::write(&config, limits).map_err(BenchError::io("write", &config))?;
    let mut client = Client::start(&place)?;
    one_at_a_time(&mut client, 5)?;
    let measured = [one_at_a_time(&mut client, rounds)?, many_at_once(&mut client)?];
    let machine = Machine::read();
    if args.has(JSON) {
        let rows: Vec<Value> = measured
            .iter()
            .map(|one| json!({ "name": one.name, "whole": one.whole.median(), "overhead": one.overhead.median(), "overhead_p90": one.overhead.p90() }))
            .collect();
        println!("{:#}", json!({ "machine": machine.json(), "measured": rows }));
    } else {
        println!("{}", machine.line());
        let mut rows = vec![row(["", "whole call", "beyond the run", "p90"])];
        for one in &measured {
            let cells = [
                millis(one.whole.median()),
                millis(one.overhead.median()),
                millis(one.overhead.p90()),
            ];
            rows.push(row([one.name.to_owned()].into_iter().chain(cells)));
        }
        print!("{}", aligned(&rows));
    }
    let [single, _] = &measured;
    if args.has(CHECK) && single.overhead.median() > GOAL {
        let goal = format!("{} ms beyond the run at the median", GOAL * 1000.0);
        return Err(BenchError::Missed { goal });
    }
    Ok(())
}
