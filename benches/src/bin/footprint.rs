//! What an idle sandbox weighs, and whether many of them start at once and vanish without a trace.

use glee_benches::args::{Args, Flag, JSON, ONLY, USER};
use glee_benches::error::conclude;
use glee_benches::footprint::{Fleet, Traces, Weight, await_clean};
use glee_benches::machine::Machine;
use glee_benches::place::{self, Place};
use glee_benches::subject::Subject;
use glee_benches::table::{aligned, kib, row};
use glee_benches::user::{self, Turn};
use glee_benches::{BenchError, peers};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

const ABOUT: &str = "footprint: memory of one idle sandbox, then many at once, killed by pid, and what they leave";
const PATIENCE: Duration = Duration::from_secs(120);
const GRACE: Duration = Duration::from_secs(20);
const SANDBOXES: Flag = Flag {
    name: "--sandboxes",
    value: Some("N"),
    help: "how many at once (default 500)",
};

struct Measured {
    name: &'static str,
    one: Weight,
    many: Weight,
    alive: usize,
    start: Duration,
    end: Duration,
}

fn main() -> ExitCode {
    conclude(measure())
}

fn measure() -> Result<(), BenchError> {
    let flags = [SANDBOXES, USER, ONLY, JSON];
    let Some(args) = Args::read(ABOUT, &flags, std::env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let count = args.count(SANDBOXES, 500)?;
    let machine = Machine::read();
    let place = Place::new("footprint")?;
    // Long, and like no other sleep on this machine.
    let length = format!("86400.{}", std::process::id());
    let command = ["sleep", length.as_str()];

    let mut measured = Vec::new();
    if args.wants("glee") {
        let subject = peers::glee(&place, &command)?;
        peers::glee(&place, &["true"])?.check()?;
        measured.push(weigh("glee", &place, &subject, place::supervisor()?, &command, count)?);
    }
    if args.wants("bwrap")
        && let Ok(program) = place::program("bwrap")
    {
        let subject = peers::bwrap(&place, &command)?;
        measured.push(weigh("bwrap", &place, &subject, program, &command, count)?);
    }
    if args.has(JSON) {
        println!("{:#}", as_json(&machine, count, &measured));
    } else {
        print_table(&machine, count, &measured);
    }
    Ok(())
}

fn weigh(
    name: &'static str,
    place: &Place,
    subject: &Subject,
    program: PathBuf,
    command: &[&str],
    count: usize,
) -> Result<Measured, BenchError> {
    let project = place.project();
    let shared = ["/tmp", "/var/tmp", "/dev/shm", "/run"].map(Path::new);
    let dirs: Vec<&Path> = shared.into_iter().chain([project.as_path()]).collect();
    let before = Traces::read(&dirs);

    let (fleet, _) = Fleet::start(subject, program.clone(), command, 1, PATIENCE)?;
    let one = fleet.weigh();
    fleet.kill(GRACE)?;

    let (fleet, start) = Fleet::start(subject, program, command, count, PATIENCE)?;
    let (many, alive) = (fleet.weigh(), fleet.commands_running());
    let end = fleet.kill(GRACE)?;
    await_clean(&before, &dirs, GRACE)?;
    Ok(Measured {
        name,
        one,
        many,
        alive,
        start,
        end,
    })
}

fn print_table(machine: &Machine, count: usize, measured: &[Measured]) {
    println!(
        "idle sandboxes around `sleep`, the command itself not counted; {}\n",
        machine.line()
    );
    let mut rows = vec![row(["", "processes", "PSS", "private", "RSS", "all up in", "gone in"])];
    for one in measured {
        rows.push(weight_row(format!("{}, one", one.name), &one.one));
        let mut many = weight_row(format!("{}, {} of {count} alive", one.name, one.alive), &one.many);
        many.push(format!("{:.2} s", one.start.as_secs_f64()));
        many.push(format!("{:.2} s", one.end.as_secs_f64()));
        rows.push(many);
        if let Some(each) = one.many.memory.pss.checked_div(one.alive as u64) {
            rows.push(row([format!("{}, each of them", one.name), String::new(), kib(each)]));
        }
    }
    print!("{}", aligned(&rows));
    let hidden: usize = measured.iter().map(|one| one.one.hidden + one.many.hidden).sum();
    if hidden > 0 {
        println!("memory of {hidden} processes could not be read: they are not counted; run as root");
    }
    println!("\nnothing left behind: no process, mount, control group or file");
}

fn weight_row(name: String, weight: &Weight) -> Vec<String> {
    let memory = weight.memory;
    row([
        name,
        weight.processes.to_string(),
        kib(memory.pss),
        kib(memory.private),
        kib(memory.rss),
    ])
}

fn as_json(machine: &Machine, count: usize, measured: &[Measured]) -> Value {
    let mut subjects = Map::new();
    for one in measured {
        let value = json!({
            "one": weight_json(&one.one),
            "many": weight_json(&one.many),
            "alive": one.alive,
            "all_up_ms": one.start.as_millis() as u64,
            "gone_ms": one.end.as_millis() as u64,
        });
        subjects.insert(one.name.to_string(), value);
    }
    json!({"machine": machine.json(), "sandboxes": count, "subjects": subjects})
}

fn weight_json(weight: &Weight) -> Value {
    let memory = weight.memory;
    json!({
        "processes": weight.processes,
        "hidden": weight.hidden,
        "pss_kib": memory.pss,
        "private_kib": memory.private,
        "rss_kib": memory.rss,
    })
}
