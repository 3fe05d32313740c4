//! `memory add|search|list|forget`: short texts about a project that are found again by their words.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Subcommand;
use glee_engine::clock::Moment;
use glee_engine::label::Label;
use glee_engine::memory::{Forget, MOST_CONTENT, Memories, Memory, MemoryError, Query, SaidBy};
use glee_engine::project::{Scene, SceneError};
use serde::Serialize;

use crate::print;

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryCommand {
    /// Remember a text about this project
    #[command(
        after_help = "Example:\n  glee-supervisor memory add --category decisions \"Tokens are rotated by the gateway\""
    )]
    Add {
        /// What it is about
        #[arg(long, value_name = "NAME", default_value = "general")]
        category: Label,
        /// The text; `-` reads standard input
        text: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Find memories by their words, the best first
    #[command(after_help = "Example:\n  glee-supervisor memory search \"how are tokens rotated?\"")]
    Search {
        /// Any text: its words are searched for
        #[arg(required = true)]
        words: Vec<String>,
        /// Only this category
        #[arg(long, value_name = "NAME")]
        category: Option<Label>,
        /// At most so many
        #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List memories, the newest first
    #[command(after_help = "Example:\n  glee-supervisor memory list --category decisions")]
    List {
        /// Only this category
        #[arg(long, value_name = "NAME")]
        category: Option<Label>,
        /// At most so many
        #[arg(long, value_name = "COUNT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget memories, by their numbers or a whole category
    #[command(after_help = "Example:\n  glee-supervisor memory forget 12 13")]
    Forget {
        /// The numbers
        #[arg(required_unless_present = "category", conflicts_with = "category")]
        ids: Vec<i64>,
        /// Everything of this category
        #[arg(long, value_name = "NAME")]
        category: Option<Label>,
    },
}

enum Problem {
    Scene(SceneError),
    Memory(MemoryError),
    Input(std::io::Error),
}

impl From<SceneError> for Problem {
    fn from(error: SceneError) -> Self {
        Self::Scene(error)
    }
}

impl From<MemoryError> for Problem {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

/// Returns the exit status.
pub(crate) fn memory(command: MemoryCommand, project: Option<PathBuf>) -> i32 {
    let project = project.as_deref();
    let done = match command {
        MemoryCommand::Add { category, text, json } => add(project, &category, text, json),
        MemoryCommand::Search {
            words,
            category,
            limit,
            json,
        } => search(project, &words.join(" "), category.as_ref(), limit, json),
        MemoryCommand::List { category, limit, json } => list(project, category.as_ref(), limit, json),
        MemoryCommand::Forget { ids, category } => forget(project, category.map_or(Forget::Ids(ids), Forget::Category)),
    };
    done.unwrap_or_else(|problem| {
        match problem {
            Problem::Scene(error) => print::error(&error.to_string(), None),
            Problem::Memory(error) => print::error(&error.to_string(), Some(error.help())),
            Problem::Input(error) => print::error(
                &format!("cannot read standard input: {error}"),
                Some("give the text in UTF-8"),
            ),
        }
        1
    })
}

#[derive(Serialize)]
struct Added {
    id: i64,
}

fn add(project: Option<&Path>, category: &Label, text: String, json: bool) -> Result<i32, Problem> {
    let scene = Scene::find(project)?;
    let text = if text == "-" { input()? } else { text };
    let id = Memories::open(&scene.project)?.add(category, &text, SaidBy::User, Moment::now())?;
    if json {
        return Ok(print::json(&Added { id }, 0));
    }
    print::note(&format!("remembered as {id}"));
    Ok(0)
}

/// One byte more than can be kept is enough to see that it is too long.
fn input() -> Result<String, Problem> {
    let mut text = String::new();
    let most = u64::try_from(MOST_CONTENT).unwrap_or(u64::MAX);
    let read = std::io::stdin().take(most.saturating_add(1)).read_to_string(&mut text);
    read.map_err(Problem::Input)?;
    Ok(text)
}

fn search(
    project: Option<&Path>,
    text: &str,
    category: Option<&Label>,
    limit: u32,
    json: bool,
) -> Result<i32, Problem> {
    let scene = Scene::find(project)?;
    let Some(query) = Query::new(text) else {
        print::error("there is no word to search for", Some("write letters or digits"));
        return Ok(1);
    };
    let found = match Memories::find(&scene.project)? {
        Some(memories) => memories.search(&query, category, limit)?,
        None => Vec::new(),
    };
    Ok(show(&found, json))
}

fn list(project: Option<&Path>, category: Option<&Label>, limit: u32, json: bool) -> Result<i32, Problem> {
    let scene = Scene::find(project)?;
    let found = match Memories::find(&scene.project)? {
        Some(memories) => memories.list(category, limit)?,
        None => Vec::new(),
    };
    Ok(show(&found, json))
}

fn show(found: &[Memory], json: bool) -> i32 {
    if json {
        return print::json(&found, 0);
    }
    if found.is_empty() {
        print::note("nothing is remembered of that");
    }
    let mut text = String::new();
    for memory in found {
        let category = print::visible(&memory.category);
        let _ = writeln!(text, "{}  {category}  {}", memory.id, memory.created_at);
        for line in memory.content.trim_end().lines() {
            let _ = writeln!(text, "    {}", print::visible(line));
        }
    }
    print::bytes(text.as_bytes(), 0)
}

fn forget(project: Option<&Path>, what: Forget) -> Result<i32, Problem> {
    let scene = Scene::find(project)?;
    let count = match Memories::find(&scene.project)? {
        Some(mut memories) => memories.forget(&what)?,
        None => 0,
    };
    let wanted = match &what {
        Forget::Ids(ids) => ids.len(),
        Forget::Category(_) => count,
    };
    print::note(&match count {
        1 => "forgot 1 memory".to_owned(),
        count => format!("forgot {count} memories"),
    });
    if count < wanted {
        let help = "`glee-supervisor memory list` shows the numbers";
        print::error("not all of these numbers are remembered", Some(help));
        return Ok(1);
    }
    Ok(0)
}
