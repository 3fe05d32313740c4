//! What it costs to know what the sandbox refuses: a build and single opens, with and without it.

use glee_benches::BenchError;
use glee_benches::args::{Args, CALM, CHECK, Flag, JSON, ONLY, USER};
use glee_benches::error::conclude;
use glee_benches::machine::Machine;
use glee_benches::place::{self, Place};
use glee_benches::stats::{Ratio, Samples, ratio_of_medians};
use glee_benches::subject::{Subject, interleave};
use glee_benches::table::{aligned, millis, row};
use glee_benches::user::{self, Turn};
use glee_benches::workload::{Work, write_c};
use serde_json::{Value, json};
use std::env;
use std::ffi::OsStr;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const ABOUT: &str = "denials: a cargo build, a make of C files and 20,000 opens under `run --policy workspace --report FILE`: \
    refused calls only (tier 0), with Landlock's records (tier 1, as root), with a look at each attempt (tier 2), and `--explain`";
/// Of a build: tier 0 cannot be turned off, so it is compared with no sandbox at all, without the start of either. Tier 1 and
/// tier 2 are turned on and off: compared are whole runs of the same sandbox.
const GOAL_CALLS: f64 = 1.02;
const GOAL_RECORDS: f64 = 1.02;
const GOAL_ALL: f64 = 1.05;
const OPENS: usize = 20_000;
/// The word that makes this program open files.
const OPEN: &str = "open";
const ROUNDS: Flag = Flag {
    name: "--rounds",
    value: Some("N"),
    help: "runs of each (default 15)",
};
const QUICK: Flag = Flag {
    name: "--quick",
    value: None,
    help: "fewer runs, smaller builds and no `--explain`: within two minutes, and less sure",
};

/// How much is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Full,
    Quick,
}

impl Size {
    fn of(args: &Args) -> Self {
        if args.has(QUICK) { Self::Quick } else { Self::Full }
    }

    fn rounds(self) -> usize {
        match self {
            Self::Full => 15,
            Self::Quick => 5,
        }
    }

    fn c_files(self) -> usize {
        match self {
            Self::Full => 100,
            Self::Quick => 12,
        }
    }
}

/// How much is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Bare,
    Calls,
    Records,
    All,
    Explain,
}

impl Way {
    /// Records can only be had by root.
    fn wanted(args: &Args) -> Vec<Way> {
        let mut ways = vec![Way::Bare, Way::Calls];
        if user::is_root() {
            ways.push(Way::Records);
        }
        ways.push(Way::All);
        if Size::of(args) == Size::Full {
            ways.push(Way::Explain);
        }
        ways
    }

    fn flags(self) -> Option<&'static [&'static str]> {
        match self {
            Way::Bare => None,
            Way::Calls => Some(&["--no-denials"]),
            Way::Records => Some(&["--no-denials", "--kernel-audit"]),
            Way::All => Some(&[]),
            Way::Explain => Some(&["--explain"]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare",
            Way::Calls => "tier 0",
            Way::Records => "tier 0+1",
            Way::All => "tier 2",
            Way::Explain => "explain",
        }
    }
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Nothing: what a start and an end take.
    Start,
    Cargo,
    Crate,
    Make,
    Opens,
}

impl Task {
    const ALL: [Task; 5] = [Task::Start, Task::Cargo, Task::Crate, Task::Make, Task::Opens];

    fn name(self) -> &'static str {
        match self {
            Task::Start => "start",
            Task::Cargo => "cargo",
            Task::Crate => "crate",
            Task::Make => "make",
            Task::Opens => "opens",
        }
    }

    fn describe(self, size: Size) -> String {
        match self {
            Task::Start => "true".to_owned(),
            Task::Cargo => Work::CargoBuild.describe(0),
            Task::Crate => Work::CrateBuild.describe(0),
            Task::Make => format!("make, {} C files", size.c_files()),
            Task::Opens => format!("{OPENS} opens"),
        }
    }

    fn is_build(self) -> bool {
        match self {
            Task::Cargo | Task::Crate | Task::Make => true,
            Task::Start | Task::Opens => false,
        }
    }

    fn prepare(self, dir: &Path, size: Size) -> Result<(), BenchError> {
        match self {
            Task::Start => Ok(()),
            Task::Cargo => Work::CargoBuild.prepare(dir, 0),
            Task::Crate => Work::CrateBuild.prepare(dir, 0),
            Task::Make => write_c(dir, size.c_files()),
            Task::Opens => {
                let file = dir.join("file");
                fs::write(&file, "x").map_err(BenchError::io("write", &file))
            }
        }
    }

    fn command(self) -> Result<Vec<PathBuf>, BenchError> {
        let words = |words: &[&str]| words.iter().map(PathBuf::from).collect();
        Ok(match self {
            Task::Start => words(&["true"]),
            Task::Cargo => words(Work::CargoBuild.command()),
            Task::Crate => words(Work::CrateBuild.command()),
            Task::Make => words(&["make", "-s", "-j2", "OUT=out"]),
            Task::Opens => {
                let own = env::current_exe().map_err(BenchError::io("find", Path::new("this program")))?;
                vec![own, OPEN.into(), "file".into()]
            }
        })
    }

    fn fresh(self, dir: &Path) -> Option<PathBuf> {
        match self {
            Task::Cargo => Work::CargoBuild.fresh(dir),
            Task::Crate => Work::CrateBuild.fresh(dir),
            Task::Make => Some(dir.join("out")),
            Task::Start | Task::Opens => None,
        }
    }
}

struct Measured {
    task: Task,
    size: Size,
    samples: Vec<(Way, Samples)>,
}

impl Measured {
    fn of(&self, way: Way) -> Option<&Samples> {
        self.samples
            .iter()
            .find(|(known, _)| *known == way)
            .map(|(_, samples)| samples)
    }

    fn ratio(&self, way: Way, base: Way) -> Option<Ratio> {
        Some(ratio_of_medians(self.of(way)?, self.of(base)?))
    }

    /// Without what a start takes.
    fn ratio_beyond(&self, start: &Measured, way: Way, base: Way) -> Option<Ratio> {
        let beyond = |way| Some(self.of(way)?.less(start.of(way)?.median()));
        Some(ratio_of_medians(&beyond(way)?, &beyond(base)?))
    }

    /// Of a build: what is compared, and how much it may cost.
    fn goals(&self, start: Option<&Measured>) -> Vec<Goal> {
        if !self.task.is_build() {
            return Vec::new();
        }
        let goal = |way: Way, base: Way, at_most, is: Option<Ratio>, how| {
            let what = format!(
                "{}: {} × {}{how}",
                self.task.describe(self.size),
                way.name(),
                base.name()
            );
            is.map(|is| Goal { what, is, at_most })
        };
        let beyond = start.and_then(|start| self.ratio_beyond(start, Way::Calls, Way::Bare));
        let (records, all) = (self.ratio(Way::Records, Way::Calls), self.ratio(Way::All, Way::Calls));
        let goals = [
            goal(Way::Calls, Way::Bare, GOAL_CALLS, beyond, ", without the start"),
            goal(Way::Records, Way::Calls, GOAL_RECORDS, records, ""),
            goal(Way::All, Way::Calls, GOAL_ALL, all, ""),
        ];
        goals.into_iter().flatten().collect()
    }
}

struct Goal {
    what: String,
    is: Ratio,
    at_most: f64,
}

/// Of everything that was measured.
fn goals(measured: &[Measured]) -> Vec<Goal> {
    let start = measured.iter().find(|one| one.task == Task::Start);
    measured.iter().flat_map(|one| one.goals(start)).collect()
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().collect();
    if let [_, word, path] = words.as_slice()
        && word == OPEN
    {
        for _ in 0..OPENS {
            let _ = black_box(fs::File::open(path));
        }
        return ExitCode::SUCCESS;
    }
    conclude(measure())
}

fn measure() -> Result<(), BenchError> {
    let flags = [ROUNDS, QUICK, CALM, USER, ONLY, CHECK, JSON];
    let Some(args) = Args::read(ABOUT, &flags, env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let machine = Machine::read();
    let rounds = args.count(ROUNDS, Size::of(&args).rounds())?;
    let mut measured = Vec::new();
    for task in Task::ALL
        .into_iter()
        .filter(|task| *task == Task::Start || args.wants(task.name()))
    {
        measured.push(compare(task, &args, rounds)?);
    }
    if args.has(JSON) {
        println!("{:#}", as_json(&machine, rounds, &measured));
    } else {
        print_table(&machine, rounds, &measured);
    }
    judge(&args, &measured)
}

fn compare(task: Task, args: &Args, rounds: usize) -> Result<Measured, BenchError> {
    let place = Place::new(&format!("denials-{}", task.name()))?;
    let mut subjects = Vec::new();
    let (ways, size) = (Way::wanted(args), Size::of(args));
    for way in &ways {
        let dir = place.dir(&way.name().replace([' ', '+'], "-"))?;
        task.prepare(&dir, size)?;
        let report = place.root().join(format!("{}.json", way.name()));
        let subject = subject(task, *way, &dir, &report)?;
        subject.check()?;
        subjects.push(subject);
    }
    let samples = interleave(&subjects, rounds, args.pace())?;
    Ok(Measured {
        task,
        size,
        samples: ways.into_iter().zip(samples).collect(),
    })
}

fn subject(task: Task, way: Way, dir: &Path, report: &Path) -> Result<Subject, BenchError> {
    let command = task.command()?;
    let home = env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let name = format!("{}, {}", task.name(), way.name());
    let subject = match (way.flags(), command.split_first()) {
        (Some(flags), _) => Subject::new(&name, place::supervisor()?, dir, &home)
            .args(["run", "--policy", "workspace"])
            // Without a reader nothing would be looked at.
            .args([OsStr::new("--report"), report.as_os_str()])
            .args(flags)
            .args(["--"])
            .args(&command),
        (None, Some((program, rest))) => {
            let program = place::program(&program.to_string_lossy())?;
            Subject::new(&name, program, dir, &home).args(rest)
        }
        (None, None) => return Err(BenchError::NotFound { program: name }),
    };
    Ok(match task.fresh(dir) {
        Some(path) => subject.fresh(path),
        None => subject,
    })
}

fn print_table(machine: &Machine, rounds: usize, measured: &[Measured]) {
    println!("whole runs, {rounds} interleaved runs each; {}\n", machine.line());
    let ways: Vec<Way> = measured
        .first()
        .map(|one| one.samples.iter().map(|(way, _)| *way).collect())
        .unwrap_or_default();
    let mut head = vec![String::new()];
    head.extend(ways.iter().map(|way| way.name().to_owned()));
    let mut rows = vec![head];
    for one in measured {
        let mut cells = vec![one.task.describe(one.size)];
        cells.extend(one.samples.iter().map(|(_, samples)| millis(samples.median())));
        rows.push(cells);
    }
    print!("{}", aligned(&rows));
    if let Some(opens) = measured.iter().find(|one| one.task == Task::Opens)
        && let (Some(calls), Some(all)) = (opens.of(Way::Calls), opens.of(Way::All))
    {
        let each = (all.median() - calls.median()) * 1000.0 / OPENS as f64;
        println!("\none open costs {each:.1} µs more in tier 2");
    }
    let mut rows = vec![row(["goal", "is", "95 %", "at most", ""])];
    for Goal { what, is, at_most } in goals(measured) {
        rows.push(vec![
            what,
            format!("{:.3}", is.value),
            format!("{:.3}–{:.3}", is.low, is.high),
            format!("{at_most:.2}"),
            if is.value <= at_most { "met" } else { "missed" }.to_owned(),
        ]);
    }
    if rows.len() > 1 {
        print!("\n{}", aligned(&rows));
    }
}

fn as_json(machine: &Machine, rounds: usize, measured: &[Measured]) -> Value {
    let one = |one: &Measured| {
        let medians = one
            .samples
            .iter()
            .map(|(way, samples)| (way.name().to_owned(), json!(samples.median())));
        json!({
            "what": one.task.describe(one.size),
            "median_ms": medians.collect::<serde_json::Map<_, _>>(),
        })
    };
    let tasks: Vec<Value> = measured.iter().map(one).collect();
    let goal = |goal: Goal| {
        let Goal { what, is, at_most } = goal;
        json!({"what": what, "value": is.value, "low": is.low, "high": is.high, "at_most": at_most})
    };
    let goals: Vec<Value> = goals(measured).into_iter().map(goal).collect();
    json!({"machine": machine.json(), "rounds": rounds, "tasks": tasks, "goals": goals})
}

fn judge(args: &Args, measured: &[Measured]) -> Result<(), BenchError> {
    let missed = goals(measured).into_iter().find(|goal| goal.is.value > goal.at_most);
    match missed {
        Some(Goal { what, is, at_most }) if args.has(CHECK) => Err(BenchError::Missed {
            goal: format!("{what} took {:.3}, at most {at_most:.2} wanted", is.value),
        }),
        Some(_) | None => Ok(()),
    }
}
