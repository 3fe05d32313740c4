//! How much slower real work gets inside the sandbox, its start included.

use glee_benches::BenchError;
use glee_benches::args::{Args, CALM, CHECK, Flag, JSON, ONLY, USER};
use glee_benches::error::conclude;
use glee_benches::machine::Machine;
use glee_benches::peers;
use glee_benches::place::{self, Place};
use glee_benches::stats::{Ratio, Samples, ratio_of_medians};
use glee_benches::subject::{Subject, interleave};
use glee_benches::table::{aligned, millis, row};
use glee_benches::user::{self, Turn};
use glee_benches::workload::Work;
use serde_json::{Value, json};
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const ABOUT: &str = "workload: git status, cargo builds and a node script, bare, under `run --policy workspace`, under `bwrap`, and under Landlock and seccomp alone";
const GOAL: f64 = 1.03;
const ROUNDS: Flag = Flag {
    name: "--rounds",
    value: Some("N"),
    help: "runs of each (default 31)",
};
const GIT_FILES: Flag = Flag {
    name: "--git-files",
    value: Some("N"),
    help: "size of the git tree (default 100000)",
};
const NODE_FILES: Flag = Flag {
    name: "--node-files",
    value: Some("N"),
    help: "files that node reads (default 20000)",
};
const SANDBOX: Flag = Flag {
    name: "--sandbox",
    value: Some("NAME"),
    help: "glee (default), cow (on a copy of the project) or none, to see the noise",
};

struct Measured {
    what: String,
    bare: Samples,
    boxed: Samples,
    start: Samples,
    ratio: Ratio,
    /// What it takes under `bwrap` with nearly the same mounts, if that is installed.
    bwrap: Option<Ratio>,
    /// What it takes under Landlock and a system call filter alone, without any start, if there is a C compiler.
    floor: Option<Ratio>,
}

impl Measured {
    /// The ratio of the work alone: what remains is the price of every system call and every page, not of the start.
    fn start_apart(&self) -> f64 {
        (self.boxed.median() - self.start.median()) / self.bare.median()
    }
}

fn main() -> ExitCode {
    conclude(measure())
}

fn measure() -> Result<(), BenchError> {
    let flags = [ROUNDS, GIT_FILES, NODE_FILES, SANDBOX, CALM, USER, ONLY, CHECK, JSON];
    let Some(args) = Args::read(ABOUT, &flags, env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let machine = Machine::read();
    let rounds = args.count(ROUNDS, 31)?;
    let (mut measured, mut absent) = (Vec::new(), Vec::new());
    for work in Work::ALL.into_iter().filter(|work| args.wants(work.name())) {
        match compare(work, &args, rounds) {
            Ok(one) => measured.push(one),
            Err(BenchError::NotFound { program }) => absent.push(program),
            Err(error) => return Err(error),
        }
    }
    if args.has(JSON) {
        println!("{:#}", as_json(&machine, rounds, &measured, &absent));
    } else {
        print_table(&machine, rounds, &measured, &absent);
    }
    judge(&args, &measured)
}

fn compare(work: Work, args: &Args, rounds: usize) -> Result<Measured, BenchError> {
    let files = match work {
        Work::GitStatus => args.count(GIT_FILES, 100_000)?,
        Work::NodeRead => args.count(NODE_FILES, 20_000)?,
        Work::CargoBuild | Work::CrateBuild => 0,
    };
    let place = Place::new(&format!("workload-{}", work.name()))?;
    let command = work.command();
    let [bare_dir, boxed_dir, bwrap_dir, floor_dir] = ["bare", "boxed", "bwrap", "floor"].map(|name| place.dir(name));
    let (bare_dir, boxed_dir, bwrap_dir, floor_dir) = (bare_dir?, boxed_dir?, bwrap_dir?, floor_dir?);
    for dir in [&bare_dir, &boxed_dir, &bwrap_dir, &floor_dir] {
        work.prepare(dir, files)?;
    }
    let bare = with_fresh(bare(command, &bare_dir)?, work, &bare_dir);
    let boxed = with_fresh(boxed(args, command, &boxed_dir)?, work, &boxed_dir);
    let start = self::boxed(args, &["true"], &boxed_dir)?;
    let mut subjects = vec![bare, boxed, start];
    let [bwrap, floor] = [
        (peers::bwrap_workspace(&bwrap_dir, &home(), command), &bwrap_dir),
        (peers::floor(&place, &floor_dir, &home(), command), &floor_dir),
    ]
    .map(|(subject, dir)| {
        let subject = with_fresh(subject.ok()?, work, dir);
        subject.check().is_ok().then(|| {
            subjects.push(subject);
            subjects.len() - 1
        })
    });
    for subject in &subjects {
        // Once to see that it works, once more so that both sides begin with warm caches.
        subject.check()?;
        subject.check()?;
    }
    let samples = interleave(&subjects, rounds, args.pace())?;
    let [bare, boxed, start, ..] = samples.as_slice() else {
        return Err(BenchError::Failed {
            subject: work.name().to_string(),
            how: "no samples".to_string(),
        });
    };
    let against_bare = |at: Option<usize>| Some(ratio_of_medians(samples.get(at?)?, bare));
    Ok(Measured {
        what: work.describe(files),
        ratio: ratio_of_medians(boxed, bare),
        bwrap: against_bare(bwrap),
        floor: against_bare(floor),
        bare: bare.clone(),
        boxed: boxed.clone(),
        start: start.clone(),
    })
}

fn with_fresh(subject: Subject, work: Work, dir: &Path) -> Subject {
    match work.fresh(dir) {
        Some(path) => subject.fresh(path),
        None => subject,
    }
}

fn bare(command: &[&str], dir: &Path) -> Result<Subject, BenchError> {
    let (name, rest) = command
        .split_first()
        .ok_or_else(|| BenchError::NotFound { program: String::new() })?;
    Ok(Subject::new(&format!("{name}, bare"), place::program(name)?, dir, &home()).args(rest))
}

fn boxed(args: &Args, command: &[&str], dir: &Path) -> Result<Subject, BenchError> {
    match args.value(SANDBOX) {
        None | Some("glee") => sandboxed("shared", command, dir),
        // What each run leaves goes with the measurement, not to the user's state.
        Some("cow") => Ok(sandboxed("cow", command, dir)?.env("XDG_STATE_HOME", &dir.with_file_name("state"))),
        Some("none") => bare(command, dir),
        Some(other) => Err(BenchError::Usage(format!(
            "`--sandbox {other}` is neither glee nor cow nor none"
        ))),
    }
}

fn sandboxed(workspace: &str, command: &[&str], dir: &Path) -> Result<Subject, BenchError> {
    let name = format!("{}, sandboxed", command.first().unwrap_or(&""));
    Ok(Subject::new(&name, place::supervisor()?, dir, &home())
        .args(["run", "--policy", "workspace", "--workspace", workspace, "--"])
        .args(command))
}

/// The real home: toolchains live there.
fn home() -> PathBuf {
    env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

fn print_table(machine: &Machine, rounds: usize, measured: &[Measured], absent: &[String]) {
    println!(
        "whole runs, start of the sandbox included, {rounds} interleaved runs each; {}\n",
        machine.line()
    );
    let mut rows = vec![row([
        "",
        "bare",
        "sandboxed",
        "of it start",
        "× bare",
        "95 %",
        "start apart",
        "bwrap × bare",
        "floor × bare",
    ])];
    let of = |ratio: Option<Ratio>| ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{:.3}", ratio.value));
    for one in measured {
        rows.push(row([
            one.what.clone(),
            millis(one.bare.median()),
            millis(one.boxed.median()),
            millis(one.start.median()),
            format!("{:.3}", one.ratio.value),
            format!("{:.3}–{:.3}", one.ratio.low, one.ratio.high),
            format!("{:.3}", one.start_apart()),
            of(one.bwrap),
            of(one.floor),
        ]));
    }
    print!("{}", aligned(&rows));
    println!("floor: Landlock and a filter that allows everything, in the same kernel, and nothing else");
    for program in absent {
        println!("not measured: cannot find `{program}` in PATH");
    }
    let worst = measured.iter().map(|one| one.ratio.value).fold(0.0, f64::max);
    let verdict = if worst <= GOAL { "met" } else { "missed" };
    println!("\ngoal: at most {GOAL:.2} × bare: {verdict} (worst {worst:.3})");
}

fn as_json(machine: &Machine, rounds: usize, measured: &[Measured], absent: &[String]) -> Value {
    let work = |one: &Measured| {
        json!({
            "what": one.what,
            "bare_ms": one.bare.median(),
            "sandboxed_ms": one.boxed.median(),
            "start_ms": one.start.median(),
            "ratio": {"value": one.ratio.value, "low": one.ratio.low, "high": one.ratio.high},
            "ratio_start_apart": one.start_apart(),
            "bwrap_ratio": one.bwrap.map(|ratio| ratio.value),
            "floor_ratio": one.floor.map(|ratio| ratio.value),
        })
    };
    let works: Vec<Value> = measured.iter().map(work).collect();
    json!({"machine": machine.json(), "rounds": rounds, "work": works, "not_found": absent})
}

fn judge(args: &Args, measured: &[Measured]) -> Result<(), BenchError> {
    let slow = measured.iter().find(|one| one.ratio.value > GOAL);
    match slow {
        Some(one) if args.has(CHECK) => Err(BenchError::Missed {
            goal: format!(
                "{} took {:.3} × bare, at most {GOAL:.2} wanted",
                one.what, one.ratio.value
            ),
        }),
        Some(_) | None => Ok(()),
    }
}
