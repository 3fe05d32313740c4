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
use glee_benches::workload::Work;
use serde_json::{Value, json};
use std::env;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const ABOUT: &str = "denials: a cargo build, a make of C files and 20,000 opens under `run --policy workspace`, \
    with `--no-denials`, as it is, and with `--explain`";
/// Of a build: of refused system calls alone against no sandbox at all, and of everything against those alone.
const GOAL_CALLS: f64 = 1.02;
const GOAL_ALL: f64 = 1.05;
const OPENS: usize = 20_000;
const C_FILES: usize = 100;
/// The word that makes this program open files.
const OPEN: &str = "open";
const ROUNDS: Flag = Flag {
    name: "--rounds",
    value: Some("N"),
    help: "runs of each (default 15)",
};

/// How much is looked at.
#[derive(Debug, Clone, Copy)]
enum Way {
    Bare,
    Calls,
    All,
    Explain,
}

impl Way {
    const ALL: [Way; 4] = [Way::Bare, Way::Calls, Way::All, Way::Explain];

    fn flags(self) -> Option<&'static [&'static str]> {
        match self {
            Way::Bare => None,
            Way::Calls => Some(&["--no-denials"]),
            Way::All => Some(&[]),
            Way::Explain => Some(&["--explain"]),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Way::Bare => "bare",
            Way::Calls => "--no-denials",
            Way::All => "default",
            Way::Explain => "--explain",
        }
    }
}

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Cargo,
    Make,
    Opens,
}

impl Task {
    const ALL: [Task; 3] = [Task::Cargo, Task::Make, Task::Opens];

    fn name(self) -> &'static str {
        match self {
            Task::Cargo => "cargo",
            Task::Make => "make",
            Task::Opens => "opens",
        }
    }

    fn describe(self) -> String {
        match self {
            Task::Cargo => Work::CargoBuild.describe(0),
            Task::Make => format!("make, {C_FILES} C files"),
            Task::Opens => format!("{OPENS} opens"),
        }
    }

    fn is_build(self) -> bool {
        match self {
            Task::Cargo | Task::Make => true,
            Task::Opens => false,
        }
    }

    fn prepare(self, dir: &Path) -> Result<(), BenchError> {
        match self {
            Task::Cargo => Work::CargoBuild.prepare(dir, 0),
            Task::Make => write_c(dir),
            Task::Opens => write(&dir.join("file"), "x"),
        }
    }

    fn command(self) -> Result<Vec<PathBuf>, BenchError> {
        let words = |words: &[&str]| words.iter().map(PathBuf::from).collect();
        Ok(match self {
            Task::Cargo => words(Work::CargoBuild.command()),
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
            Task::Make => Some(dir.join("out")),
            Task::Opens => None,
        }
    }
}

struct Measured {
    task: Task,
    samples: Vec<Samples>,
    /// `--no-denials` against bare, the start of the sandbox included.
    calls: Ratio,
    /// As it is against `--no-denials`.
    all: Ratio,
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
    let flags = [ROUNDS, CALM, USER, ONLY, CHECK, JSON];
    let Some(args) = Args::read(ABOUT, &flags, env::args().skip(1))? else {
        return Ok(());
    };
    if user::switch(&args)? == Turn::Done {
        return Ok(());
    }
    let machine = Machine::read();
    let rounds = args.count(ROUNDS, 15)?;
    let mut measured = Vec::new();
    for task in Task::ALL.into_iter().filter(|task| args.wants(task.name())) {
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
    for way in Way::ALL {
        let dir = place.dir(way.name().trim_start_matches('-'))?;
        task.prepare(&dir)?;
        let subject = subject(task, way, &dir)?;
        subject.check()?;
        subjects.push(subject);
    }
    let samples = interleave(&subjects, rounds, args.pace())?;
    let [bare, calls, all, _] = samples.as_slice() else {
        return Err(BenchError::Failed {
            subject: task.name().to_owned(),
            how: "no samples".to_owned(),
        });
    };
    Ok(Measured {
        task,
        calls: ratio_of_medians(calls, bare),
        all: ratio_of_medians(all, calls),
        samples,
    })
}

fn subject(task: Task, way: Way, dir: &Path) -> Result<Subject, BenchError> {
    let command = task.command()?;
    let home = env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let name = format!("{}, {}", task.name(), way.name());
    let subject = match (way.flags(), command.split_first()) {
        (Some(flags), _) => Subject::new(&name, place::supervisor()?, dir, &home)
            .args(["run", "--policy", "workspace"])
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

/// Sources of a usual size, with the headers that C programs have.
fn write_c(dir: &Path) -> Result<(), BenchError> {
    let mut body = String::from("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n");
    for number in 0..60 {
        body.push_str(&format!(
            "static int f{number}(const char *s, int n) {{ char b[64]; for (int i = 0; i < n; i++) \
             {{ snprintf(b, sizeof b, \"%d %s\", i, s); n += (int)strlen(b) % {}; }} return n; }}\n\
             int (*use{number}_FILE)(const char *, int) = f{number};\n",
            number + 2
        ));
    }
    for number in 0..C_FILES {
        let text = body.replace("FILE", &number.to_string());
        write(&dir.join(format!("part{number}.c")), &text)?;
    }
    let makefile =
        "all: $(patsubst %.c,$(OUT)/%.o,$(wildcard *.c))\n$(OUT)/%.o: %.c\n\t@mkdir -p $(OUT)\n\tcc -O2 -c -o $@ $<\n";
    write(&dir.join("Makefile"), makefile)
}

fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    fs::write(path, text).map_err(BenchError::io("write", path))
}

fn print_table(machine: &Machine, rounds: usize, measured: &[Measured]) {
    println!("whole runs, {rounds} interleaved runs each; {}\n", machine.line());
    let mut rows = vec![row([
        "",
        "bare",
        "--no-denials",
        "default",
        "--explain",
        "calls × bare",
        "default × calls",
        "95 %",
    ])];
    for one in measured {
        let mut cells = vec![one.task.describe()];
        cells.extend(one.samples.iter().map(|samples| millis(samples.median())));
        cells.push(format!("{:.3}", one.calls.value));
        cells.push(format!("{:.3}", one.all.value));
        cells.push(format!("{:.3}–{:.3}", one.all.low, one.all.high));
        rows.push(cells);
    }
    print!("{}", aligned(&rows));
    if let Some(opens) = measured.iter().find(|one| one.task == Task::Opens)
        && let [_, calls, all, _] = opens.samples.as_slice()
    {
        let each = (all.median() - calls.median()) * 1000.0 / OPENS as f64;
        println!("\none open costs {each:.1} µs more");
    }
    for one in measured.iter().filter(|one| one.task.is_build()) {
        let verdict = |value: f64, goal: f64| if value <= goal { "met" } else { "missed" };
        println!(
            "{}: refused calls alone at most {GOAL_CALLS:.2} × bare (the sandbox included): {}; everything at most {GOAL_ALL:.2} ×: {}",
            one.task.describe(),
            verdict(one.calls.value, GOAL_CALLS),
            verdict(one.all.value, GOAL_ALL)
        );
    }
}

fn as_json(machine: &Machine, rounds: usize, measured: &[Measured]) -> Value {
    let ratio = |ratio: &Ratio| json!({"value": ratio.value, "low": ratio.low, "high": ratio.high});
    let one = |one: &Measured| {
        let medians: Value = Way::ALL
            .iter()
            .zip(&one.samples)
            .map(|(way, samples)| (way.name().to_owned(), json!(samples.median())))
            .collect::<serde_json::Map<_, _>>()
            .into();
        json!({
            "what": one.task.describe(),
            "median_ms": medians,
            "calls_to_bare": ratio(&one.calls),
            "default_to_calls": ratio(&one.all),
        })
    };
    let tasks: Vec<Value> = measured.iter().map(one).collect();
    json!({"machine": machine.json(), "rounds": rounds, "tasks": tasks})
}

fn judge(args: &Args, measured: &[Measured]) -> Result<(), BenchError> {
    let slow = measured
        .iter()
        .find(|one| one.task.is_build() && one.all.value > GOAL_ALL);
    match slow {
        Some(one) if args.has(CHECK) => Err(BenchError::Missed {
            goal: format!(
                "{} took {:.3} × as long, at most {GOAL_ALL:.2} wanted",
                one.task.describe(),
                one.all.value
            ),
        }),
        Some(_) | None => Ok(()),
    }
}
