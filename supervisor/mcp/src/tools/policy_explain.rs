//! `glee_policy_explain`: what a subagent's sandbox would allow, by which clause, and what would change that.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use glee_engine::explain::{Explained, Question, explain};
use glee_engine::run::{self, Options};
use glee_engine::tasks::own::to_look;
use glee_policy::Flags;
use glee_sandbox::answer::Use;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Call, Effect, Entry, Failure, apart, object};
use crate::answer;
use crate::server::Server;

/// Questions of one call.
const MOST: usize = 64;

pub(super) const ENTRY: Entry = Entry {
    name: "glee_policy_explain",
    title: "Explain the policy",
    description: "Says whether a subagent's sandbox allows reading, writing or executing a path, connecting to a host, \
        seeing a variable or a system call; by which clause, and what would change it. Nothing is run.",
    effect: Effect::Reads,
    input,
    output,
    call: |server, call| Box::pin(run(server, call)),
};

fn input() -> Value {
    let texts = |about: &str| json!({ "type": "array", "items": { "type": "string" }, "description": about });
    object(
        json!({
            "policy": { "type": "string", "description": "A profile's name; absent: the one that tasks run under" },
            "read": texts("Paths; relative ones begin at the project"),
            "write": texts("Paths"),
            "exec": texts("Paths"),
            "net": texts("HOST:PORT"),
            "env": texts("Names of variables"),
            "syscall": texts("Names of system calls"),
        }),
        &[],
    )
}

fn output() -> Value {
    let one = json!({
        "type": "object",
        "properties": {
            "kind": { "type": "string" },
            "what": { "type": "string" },
            "allowed": { "type": "boolean" },
            "clause": { "type": "string", "description": "The clause that decides" },
            "hint": { "type": ["string", "null"], "description": "The smallest change that would allow it" },
        },
        "required": ["kind", "what", "allowed", "clause"],
    });
    object(json!({ "answers": { "type": "array", "items": one } }), &["answers"])
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    policy: Option<String>,
    #[serde(default)]
    read: Vec<PathBuf>,
    #[serde(default)]
    write: Vec<PathBuf>,
    #[serde(default)]
    exec: Vec<PathBuf>,
    #[serde(default)]
    net: Vec<String>,
    #[serde(default)]
    env: Vec<String>,
    #[serde(default)]
    syscall: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Answers {
    answers: Vec<Explained>,
}

async fn run(server: Server, mut call: Call) -> Result<rmcp::model::CallToolResponse, Failure> {
    let asked: Asked = call.read()?;
    // A path would have the server read whatever file the caller names.
    if let Some(name) = &asked.policy
        && (name.contains('/') || name.ends_with(".yml") || name.ends_with(".yaml"))
    {
        return Err(Failure::told("`policy` must be the name of a profile, not a file"));
    }
    if asked.policy.is_some() && server.of_task().is_some() {
        return Err(Failure::told(
            "`policy` is not yours to choose: the answer is for your own sandbox",
        ));
    }
    let questions = questions(&asked, &server.scene().project)?;
    let policy = asked.policy;
    let answers = apart(move || answers(&server, policy, &questions)).await??;
    Ok(answer::data(&Answers { answers })?.into())
}

fn questions(asked: &Asked, project: &Path) -> Result<Vec<Question>, Failure> {
    let mut questions = Vec::new();
    for (paths, usage) in [
        (&asked.read, Use::Read),
        (&asked.write, Use::Write),
        (&asked.exec, Use::Execute),
    ] {
        questions.extend(paths.iter().map(|path| Question::Path {
            path: project.join(path),
            usage,
        }));
    }
    for target in &asked.net {
        questions.push(Question::Net(parsed(target)?));
    }
    for name in &asked.env {
        questions.push(Question::Env(parsed(name)?));
    }
    for name in &asked.syscall {
        questions.push(Question::Syscall(parsed(name)?));
    }
    if questions.is_empty() || questions.len() > MOST {
        return Err(Failure::told(format!(
            "ask from 1 to {MOST} questions, in `read`, `write`, `exec`, `net`, `env` and `syscall`"
        )));
    }
    Ok(questions)
}

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, Failure> {
    text.parse()
        .map_err(|problem: T::Err| Failure::told(problem.to_string()))
}

fn answers(server: &Server, policy: Option<String>, questions: &[Question]) -> Result<Vec<Explained>, Failure> {
    let scene = server.scene();
    let flags = Flags {
        cwd: scene.project.clone(),
        read: Vec::new(),
        write: Vec::new(),
        net: Vec::new(),
        env: Vec::new(),
        timeout: None,
    };
    let command = vec![OsString::from("/bin/sh")];
    let mut options = Options::to_look(policy, Some(scene.project.clone()), flags, command);
    let job = server.of_task().map(|task| to_look(scene, task)).transpose()?;
    let tell = if job.is_some() { seen_inside } else { |answer| answer };
    options.job = job;
    let prepared = run::prepare(&options, "explain")?;
    Ok(questions
        .iter()
        .map(|question| tell(explain(&prepared, scene, question)))
        .collect())
}

/// Without what is known of the host only: what lies there, where the clause was written, and what would change it.
fn seen_inside(answer: Explained) -> Explained {
    Explained {
        exists: answer.exists.filter(|_| answer.allowed),
        leads_to: answer.leads_to.filter(|_| answer.allowed),
        origin: None,
        note: None,
        hint: None,
        ..answer
    }
}
