//! Paths and variables.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::{fs, thread};

use glee_tests::{Caller, Policy, Run, World};
use serde_json::{Value, json};

use crate::ask::{Said, Use, VARIABLES, about, around, explain};
use crate::chance::{Chance, rounds, seed};
use crate::policies::Draft;
use crate::terrain;

const PROBE: &str = include_str!("probe.py");
const PYTHON: [&str; 4] = ["/usr/bin/python3", "-I", "-S", "-c"];
/// Paths per world and use.
const PATHS: usize = 16;

const SYSTEM: &[&str] = &[
    "/",
    "/bin/sh",
    "/usr",
    "/usr/bin/env",
    "/usr/lib",
    "/usr/share/doc",
    "/usr/local/bin",
    "/usr/missing",
    "/lib64",
    "/etc",
    "/etc/passwd",
    "/etc/hostname",
    "/etc/machine-id",
    "/etc/hosts",
    "/etc/fstab",
    "/etc/shells",
    "/etc/ssl/certs",
    "/etc/missing",
    "/etc/mtab",
    "/root",
    "/home",
    "/var",
    "/var/tmp",
    "/var/tmp/x",
    "/var/log",
    "/var/lib/dpkg",
    "/tmp",
    "/tmp/x/y",
    "/dev",
    "/dev/null",
    "/dev/full",
    "/dev/kmsg",
    "/dev/shm",
    "/dev/shm/x",
    "/dev/missing",
    "/dev/pts",
    "/dev/pts/new",
    "/dev/ptmx",
    "/proc",
    "/proc/meminfo",
    "/proc/kcore",
    "/proc/keys",
    "/proc/missing",
    "/proc/self/status",
    "/proc/self/exe",
    "/proc/1",
    "/proc/1/status",
    "/proc/1/environ",
    "/proc/1/mem",
    "/proc/1/maps",
    "/proc/1/cwd",
    "/proc/1/root",
    "/proc/1/root/etc/passwd",
    "/proc/1/fd",
    "/proc/1/fd/0",
    "/proc/1/exe",
    "/proc/1/task/1/environ",
    "/dev/null/",
    "/etc/passwd/",
    "/usr/bin/env/",
    "/usr/bin/env/.",
    "/usr/",
    "/proc/self/cwd",
    "/proc/self/root/etc/passwd",
    "/proc/sys/kernel/hostname",
    "/proc/mounts",
    "/sys",
    "/sys/kernel",
    "/run",
    "/opt",
    "/mnt",
    "/boot",
    "/srv",
    "/nonexistent",
    "/nonexistent/x",
];

pub(crate) fn prove(caller: Caller) {
    let (seed, count) = (seed(), rounds(12, 60));
    let mut failed = Vec::new();
    let mut asked = 0;
    for round in 0..count {
        let (questions, wrong) = one(caller, seed, round);
        asked += questions;
        failed.extend(wrong);
        // Other tests want to run too.
        thread::yield_now();
    }
    println!(
        "as {}: {asked} questions, {} disagreements (seed {seed})",
        caller.name(),
        failed.len()
    );
    assert!(failed.is_empty(), "seed {seed}:\n{}", failed.join("\n"));
    assert!(asked >= count * PATHS, "only {asked} questions were asked");
}

/// One world, one policy, one sandbox: how many questions were asked, and which were answered wrongly.
fn one(caller: Caller, seed: u64, round: usize) -> (usize, Vec<String>) {
    let mut chance = Chance::new(seed, round);
    let world = World::new(caller);
    terrain::fill(&world, &mut chance);
    let draft = Draft::random(&mut chance, caller);
    let policy = world.file("@OUT/../policy.yml", &world.fill(&draft.yaml()));
    chown(&policy, Some(caller.uid()), Some(caller.gid())).expect("give the policy to the caller");
    let places: Vec<PathBuf> = paths(&world, &mut chance);
    let command: Vec<&str> = PYTHON.into_iter().chain([PROBE]).collect();
    let mut said: Vec<(Use, PathBuf, Said)> = Vec::new();
    for usage in Use::ALL {
        let paths: Vec<PathBuf> = choose(&places, usage, &mut chance);
        let Some(answers) = explain(&world, &policy, &about(usage, &paths), &command) else {
            return refused(&world, &draft, &command);
        };
        assert_eq!(answers.len(), paths.len());
        said.extend(
            paths
                .into_iter()
                .zip(answers)
                .map(|(path, answer)| (usage, path, answer)),
        );
    }
    let mut names: Vec<&str> = VARIABLES.iter().map(|(name, _)| *name).collect();
    names.extend([
        "PATH",
        "HOME",
        "LANG",
        "USER",
        "TERM",
        "CI",
        "EMPTY",
        "NEVER_SET",
        "HTTP_PROXY",
        "BAR_",
        "LD_PRELOAD",
    ]);
    let flags: Vec<String> = names
        .iter()
        .flat_map(|name| ["--env".to_owned(), (*name).to_owned()])
        .collect();
    let env = explain(&world, &policy, &flags, &command).expect("the policy was not refused before");
    let seen = inside(&world, &draft, &said, &command);
    let mut wrong = Vec::new();
    let mut complain = |what: String, answer: &Said, happened: &str| {
        wrong.push(format!(
            "round {round}: {what}: {happened}, but said {}\n{}",
            answer.all,
            draft.yaml()
        ));
    };
    for ((usage, path, answer), happened) in said.iter().zip(&seen.paths) {
        let agrees = match (answer.allowed, answer.exists, usage) {
            (true, Some(true), _) | (true, Some(false), Use::Write) => happened == "ok",
            (true, Some(false), Use::Read | Use::Exec) => happened == "ENOENT",
            (true, None, _) => happened == "ok" || happened == "ENOENT",
            (false, _, _) => happened != "ok",
        };
        // An answer holds as far as ordinary permissions do.
        let agrees = agrees || (answer.allowed && happened == "EACCES" && is_closed_to(caller, path));
        if !agrees {
            complain(format!("{} {}", usage.name(), path.display()), answer, happened);
        }
    }
    for (name, answer) in names.iter().zip(&env) {
        let there = seen.env.iter().any(|seen| seen == name);
        if there != (answer.allowed && answer.exists == Some(true)) {
            complain(
                format!("variable {name}"),
                answer,
                if there { "it is there" } else { "it is not there" },
            );
        }
    }
    (said.len() + env.len(), wrong)
}

/// Somebody else's, and for nobody else: `/root`, usually.
fn is_closed_to(caller: Caller, path: &Path) -> bool {
    let closed = |facts: fs::Metadata| facts.uid() != caller.uid() && facts.mode() & 0o007 == 0;
    caller == Caller::User && path.ancestors().any(|at| fs::symlink_metadata(at).is_ok_and(closed))
}

/// What happened inside.
struct Seen {
    paths: Vec<String>,
    env: Vec<String>,
}

fn inside(world: &World, draft: &Draft, said: &[(Use, PathBuf, Said)], command: &[&str]) -> Seen {
    let questions: Vec<Value> = said
        .iter()
        .map(|(usage, path, answer)| json!([usage.name(), path.display().to_string(), answer.later]))
        .collect();
    let outcome = around(Run::sandboxed(world, Policy::Yaml(draft.yaml())))
        .flags(["--no-denials"])
        .raw_command(command.iter().map(Into::into))
        .stdin(Value::from(questions).to_string())
        .go();
    assert_eq!(outcome.code(), Some(0), "{}\n{}", outcome.describe(), draft.yaml());
    let all: Value = serde_json::from_str(&outcome.out()).expect("the probe prints JSON");
    let words = |key: &str| -> Vec<String> {
        let list = all[key].as_array().expect("a list");
        list.iter()
            .map(|word| word.as_str().expect("a word").to_owned())
            .collect()
    };
    let (paths, env) = (words("paths"), words("env"));
    assert_eq!(paths.len(), said.len());
    Seen { paths, env }
}

/// What `explain` refuses, `run` refuses.
fn refused(world: &World, draft: &Draft, command: &[&str]) -> (usize, Vec<String>) {
    let outcome = around(Run::sandboxed(world, Policy::Yaml(draft.yaml())))
        .raw_command(command.iter().map(Into::into))
        .stdin("[]")
        .go();
    let wrong = (outcome.code() != Some(125)).then(|| {
        format!(
            "explain refuses, run does not:\n{}\n{}",
            draft.yaml(),
            outcome.describe()
        )
    });
    (1, wrong.into_iter().collect())
}

/// Everything in the world and some of the system.
fn paths(world: &World, chance: &mut Chance) -> Vec<PathBuf> {
    let mut all = terrain::entries(&[&world.home(), &world.outside()]);
    let sure = SYSTEM.iter().map(PathBuf::from);
    let mut changed = Vec::new();
    for path in &all {
        match chance.below(8) {
            0 => changed.push(path.join("missing")),
            1 => changed.push(path.join("m1/m2/m3")),
            2 => changed.push(path.join("..")),
            3 => changed.push(path.join(chance.one(&[".env", "x.key", "b", "file", "data", ".envrc", "hooks"]))),
            4 => changed.push(path.join("../readme")),
            5 => changed.push(path.join("")),
            6 => changed.push(path.join(".")),
            _ => {}
        }
    }
    all.extend(changed);
    all.extend(sure);
    all
}

fn choose(places: &[PathBuf], usage: Use, chance: &mut Chance) -> Vec<PathBuf> {
    let mut chosen = Vec::new();
    while chosen.len() < PATHS {
        let path = &places[chance.below(places.len())];
        // Ordinary permissions are not the question.
        let executable = |meta: fs::Metadata| meta.is_dir() || meta.permissions().mode() & 0o111 != 0;
        // The link to where a process is leads to the project there, and here to somewhere else.
        let meant: PathBuf = path
            .components()
            .filter(|part| part.as_os_str() != "link_cwd")
            .collect();
        if usage == Use::Exec && !fs::metadata(meant).map_or(true, executable) {
            continue;
        }
        chosen.push(path.clone());
    }
    chosen
}
