//! `sessions list|show|delete|prune`: recorded conversations with subagents.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Subcommand;
use glee_engine::clock::Moment;
use glee_engine::project::{Scene, SceneError};
use glee_engine::sessions::{Checked, Listed, Session, SessionError, SessionId, Sessions};
use glee_engine::settings::store::{self as configuration, ConfigError};
use glee_engine::tasks::intake;
use glee_engine::text::columns;
use serde::Serialize;

use crate::print;

const DAY: u64 = 86_400;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionsCommand {
    /// List the sessions, the one last used first
    #[command(after_help = "Example:\n  glee-supervisor sessions list --json")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what was said in a session, and whether its record was changed by somebody else
    #[command(after_help = "Example:\n  glee-supervisor sessions show task-a1b2c3d4")]
    Show {
        /// The session
        id: SessionId,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete sessions
    #[command(after_help = "Example:\n  glee-supervisor sessions delete task-a1b2c3d4")]
    Delete {
        /// The sessions
        #[arg(required = true)]
        ids: Vec<SessionId>,
    },
    /// Delete the sessions that nobody has used for some days
    #[command(after_help = "Example:\n  glee-supervisor sessions prune --days 30")]
    Prune {
        /// How many days a session is kept [default: `sessions.expiry_days`, which is 7 if not set]
        #[arg(long, value_name = "DAYS")]
        days: Option<u32>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

enum Problem {
    Scene(SceneError),
    Session(SessionError),
    Config(ConfigError),
}

impl From<ConfigError> for Problem {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}

impl From<SceneError> for Problem {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        Self::Session(error)
    }
}

/// Returns the exit status.
pub(crate) fn sessions(command: SessionsCommand, project: Option<PathBuf>) -> i32 {
    let project = project.as_deref();
    let done = match command {
        SessionsCommand::List { json } => list(project, json),
        SessionsCommand::Show { id, json } => show(project, &id, json),
        SessionsCommand::Delete { ids } => delete(project, &ids),
        SessionsCommand::Prune { days, json } => prune(project, days, json),
    };
    done.unwrap_or_else(|problem| {
        match problem {
            Problem::Scene(error) => print::error(&error.to_string(), None),
            Problem::Session(error) => print::error(&error.to_string(), Some(error.help())),
            Problem::Config(error) if error.has_place() => print::note(&error.to_string()),
            Problem::Config(error) => print::error(&error.to_string(), error.help().as_deref()),
        }
        1
    })
}

fn find(project: Option<&Path>) -> Result<Option<Sessions>, Problem> {
    Ok(Sessions::find(&Scene::find(project)?.project)?)
}

/// A session in a list. Of one that cannot be read there is only the error.
#[derive(Serialize)]
struct Row {
    session_id: SessionId,
    agent_name: Option<String>,
    agent_cli: Option<String>,
    status: Option<&'static str>,
    created_at: Option<Moment>,
    updated_at: Moment,
    messages: Option<u64>,
    intact: bool,
    fault: Option<String>,
}

impl Row {
    fn new(listed: Listed) -> Self {
        let mut row = Self {
            session_id: listed.id,
            agent_name: None,
            agent_cli: None,
            status: None,
            created_at: None,
            updated_at: listed.last,
            messages: None,
            intact: false,
            fault: None,
        };
        match listed.found {
            Ok(Checked { session, fault }) => {
                row.messages = Some(session.total());
                row.agent_name = session.agent_name.map(String::from);
                row.agent_cli = Some(session.agent_cli.into());
                row.status = Some(session.status.as_str());
                row.created_at = Some(session.created_at);
                row.intact = fault.is_none();
                row.fault = fault.map(|fault| fault.to_string());
            }
            Err(error) => row.fault = Some(error.to_string()),
        }
        row
    }

    fn cells(&self) -> Vec<String> {
        let count = self.messages.map(|count| match count {
            1 => "1 message".to_owned(),
            many => format!("{many} messages"),
        });
        let agent = self.agent_name.as_ref().or(self.agent_cli.as_ref());
        vec![
            self.session_id.to_string(),
            self.updated_at.to_string(),
            agent.cloned().unwrap_or_default(),
            self.status.unwrap_or_default().to_owned(),
            count.unwrap_or_default(),
            self.fault.as_deref().map(print::visible).unwrap_or_default(),
        ]
    }
}

fn list(project: Option<&Path>, json: bool) -> Result<i32, Problem> {
    let listed = find(project)?.map_or(Ok(Vec::new()), |sessions| sessions.list())?;
    let rows: Vec<Row> = listed.into_iter().map(Row::new).collect();
    if json {
        return Ok(print::json(&rows, 0));
    }
    if rows.is_empty() {
        print::note("this project has no sessions");
    }
    let cells: Vec<Vec<String>> = rows.iter().map(Row::cells).collect();
    Ok(print::bytes(columns(&cells, "").as_bytes(), 0))
}

#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    session: Session,
    intact: bool,
    fault: Option<String>,
}

fn show(project: Option<&Path>, id: &SessionId, json: bool) -> Result<i32, Problem> {
    let sessions = find(project)?.ok_or_else(|| SessionError::Missing(id.clone()))?;
    let Checked { session, fault } = sessions.read(id)?;
    if json {
        let shown = Shown {
            session,
            intact: fault.is_none(),
            fault: fault.map(|fault| fault.to_string()),
        };
        return Ok(print::json(&shown, 0));
    }
    let agent = session.agent_name.as_ref().map(|name| format!("{name}, "));
    let record = match fault {
        None => "as it was written".to_owned(),
        Some(fault) => format!("changed by somebody else: {fault}"),
    };
    let head = [
        ("session", session.session_id.to_string()),
        ("agent", format!("{}{}", agent.unwrap_or_default(), session.agent_cli)),
        ("status", session.status.as_str().to_owned()),
        ("created", session.created_at.to_string()),
        ("updated", session.updated_at.to_string()),
        ("record", record),
    ];
    let rows: Vec<Vec<String>> = head
        .into_iter()
        .map(|(key, value)| vec![key.to_owned(), value])
        .collect();
    let mut text = columns(&rows, "");
    if let Some(dropped) = session.dropped {
        let _ = writeln!(text, "\n[{} older messages are no longer kept]", dropped.count);
    }
    for message in &session.messages {
        let _ = writeln!(text, "\n[{}] {}:", message.at, message.role.as_str());
        let _ = writeln!(text, "{}", print::visible(message.content.trim_end_matches('\n')));
    }
    Ok(print::bytes(text.as_bytes(), 0))
}

/// Fails if one of them is not there, after the others are deleted.
fn delete(project: Option<&Path>, ids: &[SessionId]) -> Result<i32, Problem> {
    let sessions = find(project)?;
    let mut status = 0;
    for id in ids {
        let deleted = match &sessions {
            Some(sessions) => sessions.delete(id)?,
            None => false,
        };
        if deleted {
            print::note(&format!("deleted `{id}`"));
        } else {
            let missing = SessionError::Missing(id.clone());
            print::error(&missing.to_string(), Some(missing.help()));
            status = 1;
        }
    }
    forget(project, sessions.as_ref())?;
    Ok(status)
}

/// What the CLIs have kept of sessions that are gone goes too.
fn forget(project: Option<&Path>, sessions: Option<&Sessions>) -> Result<(), Problem> {
    let scene = Scene::find(project)?;
    if let Some(Err(error)) = sessions.map(|sessions| glee_engine::tasks::forget(&scene.project, sessions)) {
        print::warning(&format!("what the CLIs kept of them is still there: {error}"), None);
    }
    Ok(())
}

fn prune(project: Option<&Path>, days: Option<u32>, json: bool) -> Result<i32, Problem> {
    let kept = match days {
        Some(days) => Duration::from_secs(u64::from(days) * DAY),
        None => intake::kept(&configuration::load(&Scene::find(project)?)?.settings),
    };
    let sessions = find(project)?;
    let gone = sessions
        .as_ref()
        .map_or(Ok(Vec::new()), |sessions| sessions.prune(kept, Moment::now()))?;
    forget(project, sessions.as_ref())?;
    if json {
        return Ok(print::json(&gone, 0));
    }
    match gone.len() {
        1 => print::note("deleted 1 session"),
        count => print::note(&format!("deleted {count} sessions")),
    }
    Ok(0)
}
