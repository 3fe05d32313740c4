//! Memories: short texts about a project, found again by their words. Nobody vouches for them.
//!
//! One SQLite file per project in the user's state directory, so that no repository can bring one along.
//! INVARIANT: whatever is read here is untrusted text; there is no way to mark a memory as trusted.

mod query;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use serde::{Deserialize, Serialize};

use crate::clock::Moment;
use crate::database::{self, DatabaseError, Form};
use crate::label::Label;
use crate::library::digest;
use crate::state;

pub use query::Query;

const FILE: &str = "memory.db";
/// The longest text of one memory, in bytes.
pub const MOST_CONTENT: usize = 64 << 10;
/// Memories of one project.
const MOST_ENTRIES: u64 = 10_000;
/// All of their texts, in bytes.
const MOST_TEXT: u64 = 32 << 20;

const FORM: Form = Form {
    mark: 0x676c_6d31,
    steps: &["
        CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            category TEXT NOT NULL CHECK (length(category) BETWEEN 1 AND 64),
            content TEXT NOT NULL CHECK (length(content) > 0),
            said_by TEXT NOT NULL CHECK (said_by IN ('user', 'agent')),
            created_at INTEGER NOT NULL CHECK (created_at >= 0),
            digest TEXT NOT NULL UNIQUE
        ) STRICT;
        CREATE INDEX memories_of_category ON memories (category, id);
        CREATE VIRTUAL TABLE words USING fts5(
            content, category, content = 'memories', content_rowid = 'id', tokenize = 'porter unicode61 remove_diacritics 2'
        );
        CREATE TRIGGER memory_added AFTER INSERT ON memories BEGIN
            INSERT INTO words (rowid, content, category) VALUES (new.id, new.content, new.category);
        END;
        CREATE TRIGGER memory_gone AFTER DELETE ON memories BEGIN
            INSERT INTO words (words, rowid, content, category) VALUES ('delete', old.id, old.content, old.category);
        END;
    "],
};

/// Who has said that something be remembered. Neither makes it true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SaidBy {
    User,
    Agent,
}

impl SaidBy {
    fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub id: i64,
    pub category: String,
    pub content: String,
    pub said_by: SaidBy,
    pub created_at: Moment,
    /// Always false: told to whoever reads the data without these words.
    pub trusted: bool,
}

/// Which memories are forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Forget {
    Ids(Vec<i64>),
    Category(Label),
}

#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    #[error("a memory of {0} bytes is too long: at most {MOST_CONTENT}")]
    TooLong(usize),
    #[error("there is nothing to remember: the text is empty")]
    Empty,
    #[error("this project's memory is full: {entries} entries with {bytes} bytes")]
    Full { entries: u64, bytes: u64 },
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

impl MemoryError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::TooLong(_) => "keep what matters, or split it",
            Self::Empty => "give the text as an argument, or on standard input with `-`",
            Self::Full { .. } => "`glee-supervisor memory forget` makes room",
            Self::Database(error) => error.help(),
        }
    }
}

/// The memories of one project.
#[derive(Debug)]
pub struct Memories {
    connection: Connection,
    path: PathBuf,
}

impl Memories {
    /// Opens them, and makes the place if it is not there yet.
    pub fn open(project: &Path) -> Result<Self, MemoryError> {
        let place = || state::project_dir(project).unwrap_or_default().join(FILE);
        let folder = state::of_project(project).map_err(|error| DatabaseError::Io { path: place(), error })?;
        Self::at(folder.path().join(FILE))
    }

    /// Opens them; `None` if nothing was ever remembered.
    pub fn find(project: &Path) -> Result<Option<Self>, MemoryError> {
        let path = state::project_dir(project).map(|dir| dir.join(FILE));
        match path.filter(|path| path.symlink_metadata().is_ok()) {
            Some(_) => Self::open(project).map(Some),
            None => Ok(None),
        }
    }

    fn at(path: PathBuf) -> Result<Self, MemoryError> {
        let connection = database::open(&path, &FORM)?;
        database::check(&connection, &path)?;
        Ok(Self { connection, path })
    }

    /// Remembers a text, and returns its number. What is known already keeps the number it has.
    pub fn add(&mut self, category: &Label, content: &str, said_by: SaidBy, now: Moment) -> Result<i64, MemoryError> {
        let content = content.replace('\0', "\u{fffd}");
        if content.trim().is_empty() {
            return Err(MemoryError::Empty);
        }
        if content.len() > MOST_CONTENT {
            return Err(MemoryError::TooLong(content.len()));
        }
        let id = add(&mut self.connection, category, &content, said_by, now);
        match id.map_err(|error| DatabaseError::new(&self.path, error))? {
            Added::Id(id) => Ok(id),
            Added::Full { entries, bytes } => Err(MemoryError::Full { entries, bytes }),
        }
    }

    /// The memories that fit the words best, the best first.
    pub fn search(&self, query: &Query, category: Option<&Label>, most: u32) -> Result<Vec<Memory>, MemoryError> {
        // A smaller bm25 is a better fit. Words in the text count twice those in the category.
        let sql = "SELECT m.id, m.category, m.content, m.said_by, m.created_at
            FROM words JOIN memories AS m ON m.id = words.rowid
            WHERE words MATCH ?1 AND (?2 IS NULL OR m.category = ?2)
            ORDER BY bm25(words, 2.0, 1.0), m.id DESC LIMIT ?3";
        self.rows(sql, params![query.as_str(), category.map(Label::as_str), most])
    }

    /// The newest memories, the newest first.
    pub fn list(&self, category: Option<&Label>, most: u32) -> Result<Vec<Memory>, MemoryError> {
        let sql = "SELECT id, category, content, said_by, created_at FROM memories
            WHERE ?1 IS NULL OR category = ?1 ORDER BY id DESC LIMIT ?2";
        self.rows(sql, params![category.map(Label::as_str), most])
    }

    /// Forgets, and returns how many that were.
    pub fn forget(&mut self, what: &Forget) -> Result<usize, MemoryError> {
        let done = forget(&mut self.connection, what);
        Ok(done.map_err(|error| DatabaseError::new(&self.path, error))?)
    }

    fn rows(&self, sql: &str, parameters: &[&dyn rusqlite::ToSql]) -> Result<Vec<Memory>, MemoryError> {
        let read = || -> rusqlite::Result<Vec<Memory>> {
            self.connection.prepare(sql)?.query_map(parameters, memory)?.collect()
        };
        Ok(read().map_err(|error| DatabaseError::new(&self.path, error))?)
    }
}

enum Added {
    Id(i64),
    Full { entries: u64, bytes: u64 },
}

fn add(to: &mut Connection, category: &Label, content: &str, by: SaidBy, now: Moment) -> rusqlite::Result<Added> {
    let digest = digest(format!("{category}\0{content}").as_bytes());
    let change = to.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let known = "SELECT id FROM memories WHERE digest = ?1";
    if let Some(id) = change.query_row(known, [&digest], |row| row.get(0)).optional()? {
        return Ok(Added::Id(id));
    }
    let size = "SELECT count(*), coalesce(sum(octet_length(content)), 0) FROM memories";
    let (entries, bytes): (u64, u64) = change.query_row(size, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if entries >= MOST_ENTRIES || bytes.saturating_add(content.len() as u64) > MOST_TEXT {
        return Ok(Added::Full { entries, bytes });
    }
    let insert = "INSERT INTO memories (category, content, said_by, created_at, digest) VALUES (?1, ?2, ?3, ?4, ?5)";
    change.execute(
        insert,
        params![category.as_str(), content, by.as_str(), now.seconds(), digest],
    )?;
    let id = change.last_insert_rowid();
    change.commit()?;
    Ok(Added::Id(id))
}

fn forget(from: &mut Connection, what: &Forget) -> rusqlite::Result<usize> {
    let change = from.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let count = match what {
        Forget::Ids(ids) => {
            let mut delete = change.prepare("DELETE FROM memories WHERE id = ?1")?;
            ids.iter()
                .map(|id| delete.execute([id]))
                .sum::<rusqlite::Result<usize>>()?
        }
        Forget::Category(category) => {
            change.execute("DELETE FROM memories WHERE category = ?1", [category.as_str()])?
        }
    };
    change.commit()?;
    Ok(count)
}

fn memory(row: &Row<'_>) -> rusqlite::Result<Memory> {
    let said_by: String = row.get(3)?;
    Ok(Memory {
        id: row.get(0)?,
        category: row.get(1)?,
        content: row.get(2)?,
        said_by: if said_by == SaidBy::User.as_str() {
            SaidBy::User
        } else {
            SaidBy::Agent
        },
        created_at: Moment::from_seconds(row.get(4)?),
        trusted: false,
    })
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
