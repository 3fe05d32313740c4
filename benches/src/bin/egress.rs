//! What a relay costs: throughput and round trips over 1, 32 and 256 connections, direct, through ours, and through others.

use glee_benches::args::{Args, CHECK, Flag, JSON, ONLY, USER};
use glee_benches::error::conclude;
use glee_benches::machine::Machine;
use glee_benches::place::Place;
use glee_benches::rng::Rng;
use glee_benches::stats::{Ratio, Samples, ratio_of_medians};
use glee_benches::table::{aligned, row};
use glee_benches::user::{self, Turn};
use glee_benches::ways::{self, Way};
use glee_benches::{BenchError, wire};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

const ABOUT: &str =
    "egress: throughput and round trips over a relay: none, glee's, socat's, srt's where it is installed";
const CONNECTIONS: [usize; 3] = [1, 32, 256];
const BYTES: usize = 256 << 20;
const PINGS: usize = 512;
const OPENINGS: usize = 50;
const LEAST_THROUGHPUT: f64 = 0.8;
const MOST_ADDED: f64 = 0.3;
const ROUNDS: Flag = Flag {
    name: "--rounds",
    value: Some("N"),
    help: "rounds of each (default 10)",
};

/// What is asked of each way in each round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Download(usize),
    Ping(usize),
    Open,
}

impl Task {
    fn all() -> Vec<Task> {
        let mut tasks: Vec<Task> = CONNECTIONS.map(Task::Download).into();
        tasks.extend(CONNECTIONS.map(Task::Ping));
        tasks.push(Task::Open);
        tasks
    }

    fn order(self) -> String {
        match self {
            Task::Download(connections) => format!("download {connections} {BYTES}"),
            Task::Ping(connections) => format!("ping {connections} {PINGS}"),
            Task::Open => format!("open {OPENINGS}"),
        }
    }

    fn title(self) -> String {
        match self {
            Task::Download(connections) => format!("GiB/s over {connections}"),
            Task::Ping(connections) => format!("round trip, {connections} open"),
            Task::Open => "connect and round trip".to_string(),
        }
    }

    /// Times as they are; a download as its throughput.
    fn show(self, samples: &Samples) -> String {
        match self {
            Task::Download(_) => format!("{:.2}", gibibytes_per_second(samples)),
            Task::Ping(_) | Task::Open => format!("{:.3} ms", samples.median()),
        }
    }
}

fn gibibytes_per_second(samples: &Samples) -> f64 {
    BYTES as f64 / f64::from(1 << 30) / (samples.median() / 1000.0)
}

/// What one way took for one task.
struct Measured {
    task: Task,
    way: String,
    samples: Samples,
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    match (
        words.next().as_deref(),
        words.next().and_then(|to| to.parse::<SocketAddr>().ok()),
    ) {
        (Some(ways::CLIENT), Some(to)) => conclude(wire::obey(to).map_err(BenchError::io("serve", Path::new("stdin")))),
        (_, _) => conclude(measure()),
    }
}

fn measure() -> Result<(), BenchError> {
    let flags = [ROUNDS, USER, ONLY, CHECK, JSON];
    let Some(args) = Args::read(ABOUT, &flags, std::env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let rounds = args.count(ROUNDS, 10)?;
    let machine = Machine::read();
    let place = Place::new("egress")?;
    let server = wire::serve().map_err(BenchError::io("listen on", Path::new("127.0.0.1")))?;
    let (mut found, absent) = gather(&args, &place, server)?;
    let measured = interleave(&mut found, rounds)?;

    if args.has(JSON) {
        println!("{:#}", as_json(&machine, rounds, &measured, &absent));
    } else {
        print_table(&machine, rounds, &measured, &absent);
    }
    judge(&args, &measured)
}

/// The ways that work here, and why the others do not. Without ours there is nothing to compare.
fn gather(args: &Args, place: &Place, server: SocketAddr) -> Result<(Vec<Way>, Vec<String>), BenchError> {
    let (mut found, mut absent) = (Vec::new(), Vec::new());
    for (name, make) in ways::ALL {
        if !args.wants(name) {
            continue;
        }
        let ready = make(place, server).and_then(|mut way| way.ask("ping 1 1").map(|_| way));
        match ready {
            Ok(way) => found.push(way),
            Err(error) if name == "glee" || name == "direct" => return Err(error),
            Err(error) => absent.push(error.to_string()),
        }
    }
    Ok((found, absent))
}

/// Each round asks every way for every task, the ways in a new order for each task.
fn interleave(found: &mut [Way], rounds: usize) -> Result<Vec<Measured>, BenchError> {
    let mut rng = Rng::seeded(rounds as u64);
    let mut order: Vec<usize> = (0..found.len()).collect();
    let mut taken: Vec<(Task, usize, Vec<Duration>)> = Vec::new();
    for task in Task::all() {
        taken.extend((0..found.len()).map(|way| (task, way, Vec::new())));
    }
    // What a peer cannot do is not asked of it again, and has no number.
    let mut unable = Vec::new();
    for _ in 0..rounds {
        for task in Task::all() {
            rng.shuffle(&mut order);
            for index in &order {
                let Some(way) = found.get_mut(*index) else { continue };
                if unable.contains(&(task, *index)) {
                    continue;
                }
                let seconds = match way.ask(&task.order()) {
                    Err(_) if way.name == "srt" => {
                        unable.push((task, *index));
                        continue;
                    }
                    asked => asked?,
                };
                let kept = taken.iter_mut().find(|(other, way, _)| *other == task && way == index);
                if let Some((_, _, durations)) = kept {
                    durations.extend(seconds);
                }
            }
        }
    }
    let name = |index: usize| found.get(index).map(|way| way.name.to_string()).unwrap_or_default();
    taken.retain(|(task, way, _)| !unable.contains(&(*task, *way)));
    let measured = taken.into_iter().filter_map(|(task, way, durations)| {
        Some(Measured {
            task,
            way: name(way),
            samples: Samples::of(&durations)?,
        })
    });
    Ok(measured.collect())
}

fn find<'a>(measured: &'a [Measured], task: Task, way: &str) -> Option<&'a Samples> {
    let found = measured.iter().find(|one| one.task == task && one.way == way);
    found.map(|one| &one.samples)
}

/// Ours by socat's: above one is faster.
fn throughput(measured: &[Measured], connections: usize) -> Option<Ratio> {
    let task = Task::Download(connections);
    Some(ratio_of_medians(
        find(measured, task, "socat")?,
        find(measured, task, "glee")?,
    ))
}

/// Milliseconds more than direct, at the median.
fn added(measured: &[Measured], task: Task, way: &str) -> Option<f64> {
    Some(find(measured, task, way)?.median() - find(measured, task, "direct")?.median())
}

fn print_table(machine: &Machine, rounds: usize, measured: &[Measured], absent: &[String]) {
    println!("{rounds} interleaved rounds; {}\n", machine.line());
    let mut names: Vec<&str> = Vec::new();
    for one in measured {
        if !names.contains(&one.way.as_str()) {
            names.push(&one.way);
        }
    }
    let mut rows = vec![row(["medians"].iter().chain(&names))];
    for task in Task::all() {
        let cells = names
            .iter()
            .map(|name| find(measured, task, name).map_or("failed".to_string(), |s| task.show(s)));
        rows.push([task.title()].into_iter().chain(cells).collect());
    }
    print!("{}", aligned(&rows));
    for why in absent {
        println!("not measured: {why}");
    }
    println!();
    for connections in CONNECTIONS {
        if let Some(ratio) = throughput(measured, connections) {
            let verdict = if ratio.value >= LEAST_THROUGHPUT {
                "met"
            } else {
                "missed"
            };
            println!(
                "goal: glee at least {LEAST_THROUGHPUT} × socat's throughput over {connections}: {verdict} ({:.2}, 95 % {:.2}–{:.2})",
                ratio.value, ratio.low, ratio.high
            );
        }
    }
    for connections in CONNECTIONS {
        let task = Task::Ping(connections);
        if let Some(more) = added(measured, task, "glee") {
            let verdict = if more <= MOST_ADDED { "met" } else { "missed" };
            let socat =
                added(measured, task, "socat").map_or(String::new(), |other| format!("; socat adds {other:.3} ms"));
            println!(
                "goal: glee adds at most {MOST_ADDED} ms to a round trip, {connections} open: {verdict} ({more:.3} ms{socat})"
            );
        }
    }
}

fn as_json(machine: &Machine, rounds: usize, measured: &[Measured], absent: &[String]) -> Value {
    let rows: Vec<Value> = measured
        .iter()
        .map(|one| {
            let s = &one.samples;
            json!({"task": one.task.title(), "way": one.way, "p10_ms": s.p10(), "median_ms": s.median(), "p90_ms": s.p90()})
        })
        .collect();
    json!({"machine": machine.json(), "rounds": rounds, "measured": rows, "not_measured": absent})
}

fn judge(args: &Args, measured: &[Measured]) -> Result<(), BenchError> {
    if !args.has(CHECK) {
        return Ok(());
    }
    for connections in CONNECTIONS {
        let ratio = throughput(measured, connections).map_or(0.0, |ratio| ratio.value);
        if ratio < LEAST_THROUGHPUT {
            return Err(BenchError::Missed {
                goal: format!("{ratio:.2} × socat's throughput over {connections}, at least {LEAST_THROUGHPUT} wanted"),
            });
        }
        let more = added(measured, Task::Ping(connections), "glee").unwrap_or(f64::INFINITY);
        if more > MOST_ADDED {
            return Err(BenchError::Missed {
                goal: format!("{more:.3} ms added with {connections} open, at most {MOST_ADDED} wanted"),
            });
        }
    }
    Ok(())
}
