//! `kill -9` of whoever writes a session, at a random moment.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use glee_tests::{Caller, World};
use serde_json::Value;

use crate::keeper::{keeper_in, said_by};
use crate::rounds::{all_hold, random_between, rounds};

/// A process starts in one or two milliseconds, and a message takes about as long.
const MOMENT: Duration = Duration::from_millis(12);
/// Kills in one world, so that the file stays small.
const IN_A_ROW: usize = 50;

pub(crate) fn prove(caller: Caller) {
    let claim = format!("kill -9 of a session's writer tears nothing, as {}", caller.name());
    let worlds = rounds(150, 10_000).div_ceil(IN_A_ROW);
    let counts = all_hold(&claim, worlds, |_| {
        let world = World::new(caller);
        let id = said_by(&world, &["session", "create", "codex"])?;
        let mut count = Count::default();
        for n in 0..IN_A_ROW {
            round(&world, id.trim(), n, &mut count).map_err(|why| format!("kill {n}: {why}"))?;
        }
        Ok(count)
    });
    let sum = |of: fn(&Count) -> u64| counts.iter().map(of).sum::<u64>();
    let (written, before, drafts) = (sum(|c| c.written), sum(|c| c.nothing), sum(|c| c.drafts));
    println!(
        "{claim}: {written} messages written, {before} writers killed before the first, {drafts} left a draft behind"
    );
    assert!(written > 0, "no writer ever wrote");
}

#[derive(Debug, Default)]
struct Count {
    /// Messages in the session.
    total: u64,
    /// Messages that a writer said it had written.
    written: u64,
    nothing: u64,
    drafts: u64,
}

fn round(world: &World, id: &str, n: usize, count: &mut Count) -> Result<(), String> {
    let several = if n.is_multiple_of(4) { 2 } else { 1 };
    let mut writers: Vec<Child> = (0..several).map(|_| churn(world, id)).collect();
    sleep(random_between(Duration::ZERO, MOMENT));
    for writer in &mut writers {
        writer.kill().expect("kill a writer");
        writer.wait().expect("wait for a writer");
    }
    let mut told = count.total;
    for mut writer in writers {
        let lines = BufReader::new(writer.stdout.take().expect("a pipe")).lines();
        let numbers: Vec<u64> = lines
            .map_while(Result::ok)
            .filter_map(|line| line.parse().ok())
            .collect();
        count.written += numbers.len() as u64;
        count.nothing += u64::from(numbers.is_empty());
        told = told.max(numbers.last().copied().unwrap_or(0));
    }
    let directory = world.project().join(".glee/agent_sessions");
    count.drafts += u64::from(names(&directory).iter().any(|name| name.starts_with(".draft-")));
    let there = messages(&directory.join(format!("{id}.json")))?;
    // A writer that was killed may not have come to say it.
    let most = told + several as u64;
    if !(told..=most).contains(&there) {
        return Err(format!("{told} messages were written and {there} are there"));
    }
    let after = said_by(world, &["session", "check", id])?;
    let expected = format!("{} .gitignore {id}.json\n", there + 1);
    if after != expected {
        return Err(format!("after the next start: {after:?} instead of {expected:?}"));
    }
    count.total = there + 1;
    Ok(())
}

/// How many messages the file has, read as anybody would.
fn messages(path: &Path) -> Result<u64, String> {
    let text = fs::read(path).map_err(|e| format!("the file is gone: {e}"))?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| format!("the file is torn: {e}"))?;
    let dropped = json.pointer("/dropped/count").and_then(Value::as_u64).unwrap_or(0);
    let kept = json
        .get("messages")
        .and_then(Value::as_array)
        .ok_or("there are no messages")?
        .len() as u64;
    Ok(dropped + kept)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

fn churn(world: &World, id: &str) -> Child {
    let mut command = keeper_in(world);
    command
        .args(["session", "churn", id])
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command.spawn().expect("start a writer")
}
