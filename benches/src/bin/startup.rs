//! How long it takes to start `true`: bare, under glee-supervisor, and under its peers.

use glee_benches::args::{Args, CALM, CHECK, Flag, JSON, ONLY, USER};
use glee_benches::error::conclude;
use glee_benches::machine::{Machine, Pace};
use glee_benches::place::Place;
use glee_benches::stats::{Ratio, Samples, ratio_of_medians};
use glee_benches::subject::{Subject, interleave};
use glee_benches::table::{aligned, millis, row};
use glee_benches::user::{self, Turn};
use glee_benches::{BenchError, peers};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

const ABOUT: &str = "startup: the time from spawn to exit of `true`, interleaved, bare and in each sandbox found";
const GOAL: f64 = 1.0;
const COMMAND: [&str; 1] = ["true"];
const STARTS: Flag = Flag {
    name: "--starts",
    value: Some("N"),
    help: "starts of each (default 200)",
};

/// Makes the subject, if the program is installed.
type Maker = fn(&Place, &[&str]) -> Result<Subject, BenchError>;

const SUBJECTS: [(&str, Maker); 7] = [
    ("bare", peers::bare),
    ("glee", peers::glee),
    ("bwrap", peers::bwrap),
    ("firejail", peers::firejail),
    ("podman", peers::podman),
    ("codex", peers::codex),
    ("srt", peers::srt),
];

struct Measured {
    name: String,
    samples: Samples,
    to_bwrap: Option<Ratio>,
}

fn main() -> ExitCode {
    conclude(measure())
}

fn measure() -> Result<(), BenchError> {
    let flags = [STARTS, CALM, USER, ONLY, CHECK, JSON];
    let Some(args) = Args::read(ABOUT, &flags, std::env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let starts = args.count(STARTS, 200)?;
    let machine = Machine::read();
    let place = Place::new("startup")?;
    let (subjects, absent) = gather(&args, &place)?;
    let samples = interleave(&subjects, starts, args.pace())?;
    let measured = compare(&subjects, &samples);

    if args.has(JSON) {
        println!("{:#}", as_json(&machine, starts, &measured, &absent));
    } else {
        print_table(&machine, starts, args.pace(), &measured, &absent);
    }
    judge(&args, &measured)
}

/// The subjects that work here, and why the others do not. Without ours there is nothing to compare.
fn gather(args: &Args, place: &Place) -> Result<(Vec<Subject>, Vec<String>), BenchError> {
    let (mut subjects, mut absent) = (Vec::new(), Vec::new());
    for (name, make) in SUBJECTS {
        if !args.wants(name) {
            continue;
        }
        let ready = make(place, &COMMAND).and_then(|subject| subject.check().map(|()| subject));
        match ready {
            Ok(subject) => subjects.push(subject),
            Err(error) if name == "glee" || name == "bare" => return Err(error),
            Err(error) => absent.push(error.to_string()),
        }
    }
    Ok((subjects, absent))
}

fn compare(subjects: &[Subject], samples: &[Samples]) -> Vec<Measured> {
    let paired = || subjects.iter().zip(samples);
    let bwrap = paired().find(|(subject, _)| subject.name == "bwrap");
    paired()
        .map(|(subject, own)| Measured {
            name: subject.name.clone(),
            samples: own.clone(),
            to_bwrap: bwrap.map(|(_, theirs)| ratio_of_medians(own, theirs)),
        })
        .collect()
}

fn print_table(machine: &Machine, starts: usize, pace: Pace, measured: &[Measured], absent: &[String]) {
    println!(
        "start and end of `true`, {starts} interleaved starts each{}; {}\n",
        pace.describe(),
        machine.line()
    );
    let mut rows = vec![row(["", "p10", "median", "p90", "× bwrap", "95 %"])];
    for one in measured {
        let s = &one.samples;
        let mut cells = row([one.name.clone(), millis(s.p10()), millis(s.median()), millis(s.p90())]);
        if let Some(ratio) = one.to_bwrap {
            cells.push(format!("{:.2}", ratio.value));
            if one.name != "bwrap" {
                cells.push(format!("{:.2}–{:.2}", ratio.low, ratio.high));
            }
        }
        rows.push(cells);
    }
    print!("{}", aligned(&rows));
    for why in absent {
        println!("not measured: {why}");
    }
    if let Some(ratio) = goal_ratio(measured) {
        let verdict = if ratio.value <= GOAL { "met" } else { "missed" };
        println!("\ngoal: glee at most {GOAL:.2} × bwrap: {verdict} ({:.2})", ratio.value);
    }
}

fn as_json(machine: &Machine, starts: usize, measured: &[Measured], absent: &[String]) -> Value {
    let mut subjects = Map::new();
    for one in measured {
        let s = &one.samples;
        let ratio = one
            .to_bwrap
            .map(|r| json!({"value": r.value, "low": r.low, "high": r.high}));
        let value = json!({"p10_ms": s.p10(), "median_ms": s.median(), "p90_ms": s.p90(), "to_bwrap": ratio});
        subjects.insert(one.name.clone(), value);
    }
    json!({"machine": machine.json(), "starts": starts, "subjects": subjects, "not_measured": absent})
}

fn goal_ratio(measured: &[Measured]) -> Option<Ratio> {
    measured.iter().find(|one| one.name == "glee")?.to_bwrap
}

fn judge(args: &Args, measured: &[Measured]) -> Result<(), BenchError> {
    if !args.has(CHECK) {
        return Ok(());
    }
    match goal_ratio(measured) {
        Some(ratio) if ratio.value <= GOAL => Ok(()),
        Some(ratio) => Err(BenchError::Missed {
            goal: format!("glee took {:.2} × bwrap, at most {GOAL:.2} wanted", ratio.value),
        }),
        None => Err(BenchError::Missed {
            goal: "glee and bwrap were not both measured".to_string(),
        }),
    }
}
