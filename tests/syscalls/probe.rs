//! Has calls made, bare or inside, and reads the answers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;

use glee_tests::{Caller, Policy, Run, World};
use serde_json::Value;

use crate::programs::compiled;

/// Six arguments in the prober's words.
pub(crate) type Arguments = [String; 6];

/// Fewer than six are filled up with zeros.
pub(crate) fn arguments(words: &[&str]) -> Arguments {
    std::array::from_fn(|n| words.get(n).map_or_else(|| "0".to_owned(), |word| (*word).to_owned()))
}

/// How a call is made: see `prober.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Call,
    Spawn,
    Vfork,
    Interrupt,
    Sigreturn,
    Int80,
}

#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// Without blanks, and unique among those that are made together.
    pub(crate) tag: String,
    pub(crate) how: How,
    pub(crate) number: u64,
    pub(crate) arguments: Arguments,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Ok,
    Errno(i32),
    Signal(i32),
    Exit(i32),
    Hung,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ok => write!(f, "ok"),
            Self::Errno(number) => write!(f, "{}", std::io::Error::from_raw_os_error(*number)),
            Self::Signal(number) => write!(f, "killed by signal {number}"),
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Hung => write!(f, "hung"),
        }
    }
}

pub(crate) type Answers = BTreeMap<String, Answer>;

/// What came of calls made inside, and how often each name is in the report as denied.
#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) answers: Answers,
    pub(crate) reported: BTreeMap<String, u64>,
}

/// As an ordinary user without the sandbox.
pub(crate) fn bare(calls: &[Call]) -> Answers {
    let world = World::new(Caller::User);
    answers(calls, Run::bare(&world))
}

pub(crate) fn inside(calls: &[Call], caller: Caller, policy: Policy) -> Inside {
    let world = World::new(caller);
    let report = world.root().join("report.json");
    let flags = ["--report", &report.display().to_string(), "--no-denials"];
    let answers = answers(calls, Run::sandboxed(&world, policy).flags(flags));
    let text = fs::read_to_string(&report).expect("read the report");
    let report: Value = serde_json::from_str(&text).expect("the report is JSON");
    let mut reported = BTreeMap::new();
    for denial in report
        .get("denials")
        .and_then(Value::as_array)
        .expect("the report has denials")
    {
        let name = denial
            .get("syscall")
            .and_then(Value::as_str)
            .expect("a denial names its call");
        let count = denial
            .get("count")
            .and_then(Value::as_u64)
            .expect("a denial has a count");
        *reported.entry(name.to_owned()).or_insert(0) += count;
    }
    Inside { answers, reported }
}

fn answers(calls: &[Call], run: Run<'_>) -> Answers {
    let lines: Vec<String> = calls
        .iter()
        .map(|call| {
            let how = format!("{:?}", call.how).to_lowercase();
            format!("{} {how} {} {}\n", call.tag, call.number, call.arguments.join(" "))
        })
        .collect();
    let prober = compiled("syscalls/programs/prober.c").display().to_string();
    let outcome = run.command([prober]).stdin(lines.concat()).go();
    let text = outcome.out();
    assert!(
        outcome.code() == Some(0) && text.ends_with("end\n"),
        "the prober failed: {}",
        outcome.describe()
    );
    assert_eq!(outcome.err(), "", "the prober or the supervisor complained");
    let answers: Answers = text.lines().filter(|line| *line != "end").map(answer).collect();
    let made: Vec<&str> = calls
        .iter()
        .map(|call| call.tag.as_str())
        .filter(|tag| !answers.contains_key(*tag))
        .collect();
    assert!(made.is_empty(), "no answer to {made:?}");
    answers
}

fn answer(line: &str) -> (String, Answer) {
    let words: Vec<&str> = line.split(' ').collect();
    let answer = match words.as_slice() {
        [_, "ok"] => Answer::Ok,
        [_, "hung"] => Answer::Hung,
        [_, "errno", n] => Answer::Errno(n.parse().expect("a number")),
        [_, "signal", n] => Answer::Signal(n.parse().expect("a number")),
        [_, "exit", n] => Answer::Exit(n.parse().expect("a number")),
        _ => panic!("the prober said `{line}`"),
    };
    ((*words.first().expect("a tag")).to_owned(), answer)
}

/// A row for each call that is not in the report as often as it was refused.
pub(crate) fn report_rows(reported: &BTreeMap<String, u64>, refused: &BTreeMap<String, u64>) -> Vec<[String; 4]> {
    let times = |of: &BTreeMap<String, u64>, name: &str| of.get(name).copied().unwrap_or(0);
    let names: BTreeSet<&String> = reported.keys().chain(refused.keys()).collect();
    names
        .into_iter()
        .map(|name| (name, times(refused, name), times(reported, name)))
        .filter(|(_, expected, seen)| expected != seen)
        .map(|(name, expected, seen)| {
            [
                name.clone(),
                format!("reported: {expected}"),
                format!("reported: {seen}"),
                String::new(),
            ]
        })
        .collect()
}

/// Fails with a table if there is a row: tag, expected, inside, bare.
#[track_caller]
pub(crate) fn no_difference(what: &str, rows: &[[String; 4]]) {
    let head = ["call", "expected", "inside", "bare"].map(str::to_owned);
    let line = |row: &[String; 4]| {
        let [call, expected, inside, bare] = row;
        format!("{call:<44} {expected:<54} {inside:<42} {bare}")
    };
    let table: Vec<String> = std::iter::once(&head).chain(rows).map(line).collect();
    assert!(
        rows.is_empty(),
        "{what}: {} differences\n{}",
        rows.len(),
        table.join("\n")
    );
}
