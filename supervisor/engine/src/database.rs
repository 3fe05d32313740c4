//! SQLite files of the supervisor's own, in the user's state directory.
//!
//! WAL, so that readers and one writer do not wait for each other; safe with several processes.
//! INVARIANT: a file that is damaged, newer than this program or somebody else's is left as it is, and named.

use std::fs::OpenOptions;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

/// How long another process may hold the file.
const PATIENCE: Duration = Duration::from_secs(30);

/// Before another try.
const PAUSE: Duration = Duration::from_millis(5);

/// What a database is: its mark, and how it came to be, step by step. A step that was ever released is never changed.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// SQLite's `application_id`.
    pub mark: i32,
    pub steps: &'static [&'static str],
}

#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("`{}` is damaged: {error}", .path.display())]
    Damaged { path: PathBuf, error: String },
    #[error("`{}` is not a file of this program", .path.display())]
    NotOurs { path: PathBuf },
    #[error("`{}` has form {found}, this program knows it up to {known}", .path.display())]
    Newer { path: PathBuf, found: i64, known: usize },
    #[error("`{}` is in use by another process for too long", .path.display())]
    Busy { path: PathBuf },
    #[error("cannot use `{}`: {error}", .path.display())]
    Sql { path: PathBuf, error: rusqlite::Error },
}

impl DatabaseError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound => {
                "set HOME, or XDG_STATE_HOME to a directory of your own"
            }
            Self::Io { .. } => "check the room on the disk and the permissions of the directory",
            Self::Damaged { .. } => {
                "nothing was changed: copy the file and those beside it, try `sqlite3 FILE .recover`, or move them away to begin anew"
            }
            Self::NotOurs { .. } => "see what it is, and move it away",
            Self::Newer { .. } => "use the newer version of this program that wrote it",
            Self::Busy { .. } => "try again; `fuser FILE` tells who has it",
            Self::Sql { .. } => "check the room on the disk and the permissions of the directory",
        }
    }

    /// What an error of SQLite's means for this file.
    pub(crate) fn new(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged {
                path,
                error: error.to_string(),
            },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { path },
            Some(_) | None => Self::Sql { path, error },
        }
    }
}

/// Opens a database, makes it if missing, and brings it to the newest form.
pub fn open(path: &Path, form: &Form) -> Result<Connection, DatabaseError> {
    let io = |error| DatabaseError::Io {
        path: path.to_owned(),
        error,
    };
    let sql = |error| DatabaseError::new(path, error);
    // SQLite would make it readable for everybody; the files beside it take over its mode.
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(io(error)),
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = Connection::open_with_flags(path, flags).map_err(sql)?;
    connection.busy_timeout(PATIENCE).map_err(sql)?;
    let safer = [
        (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
        (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        (DbConfig::SQLITE_DBCONFIG_DQS_DDL, false),
    ];
    for (setting, value) in safer {
        connection.set_db_config(setting, value).map_err(sql)?;
    }
    // The switch to WAL does not wait for others that make the same switch, whatever it is told.
    let begun = Instant::now();
    loop {
        match settle(&mut connection, path, form) {
            Err(DatabaseError::Busy { .. }) if begun.elapsed() < PATIENCE => thread::sleep(PAUSE),
            settled => return settled.map(|()| connection),
        }
    }
}

/// Brings the file to WAL and to the newest form. May be done again from the start.
fn settle(connection: &mut Connection, path: &Path, form: &Form) -> Result<(), DatabaseError> {
    let sql = |error| DatabaseError::new(path, error);
    look(connection, path, form)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sql)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(sql)?;
    migrate(connection, path, form)
}

/// Looks before anything is written. One look: another process may be making the file.
fn look(connection: &Connection, path: &Path, form: &Form) -> Result<usize, DatabaseError> {
    let sql = |error| DatabaseError::new(path, error);
    let look = connection.unchecked_transaction().map_err(sql)?;
    let version = ours(&look, path, form)?;
    look.finish().map_err(sql)?;
    Ok(version)
}

/// The form that the file has, if it is one of ours. Within a transaction.
fn ours(connection: &Connection, path: &Path, form: &Form) -> Result<usize, DatabaseError> {
    let sql = |error| DatabaseError::new(path, error);
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (mark, version) = (
        number("application_id").map_err(sql)?,
        number("user_version").map_err(sql)?,
    );
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(sql)?;
    let is_new = (mark, version, tables) == (0, 0, 0);
    if !is_new && mark != i64::from(form.mark) {
        let path = path.to_owned();
        return Err(DatabaseError::NotOurs { path });
    }
    match usize::try_from(version) {
        Ok(version) if version <= form.steps.len() => Ok(version),
        Ok(_) | Err(_) => Err(DatabaseError::Newer {
            path: path.to_owned(),
            found: version,
            known: form.steps.len(),
        }),
    }
}

fn migrate(connection: &mut Connection, path: &Path, form: &Form) -> Result<(), DatabaseError> {
    let sql = |error| DatabaseError::new(path, error);
    if look(connection, path, form)? == form.steps.len() {
        return Ok(());
    }
    let change = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sql)?;
    // Another process may have been faster.
    let version = ours(&change, path, form)?;
    for step in form.steps.iter().skip(version) {
        change.execute_batch(step).map_err(sql)?;
    }
    change.pragma_update(None, "application_id", form.mark).map_err(sql)?;
    let newest = i64::try_from(form.steps.len()).unwrap_or(i64::MAX);
    change.pragma_update(None, "user_version", newest).map_err(sql)?;
    change.commit().map_err(sql)
}

/// Reads the whole file and compares it with itself.
pub fn check(connection: &Connection, path: &Path) -> Result<(), DatabaseError> {
    let verdict = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
    match verdict.map_err(|error| DatabaseError::new(path, error))?.as_str() {
        "ok" => Ok(()),
        other => Err(DatabaseError::Damaged {
            path: path.to_owned(),
            error: other.to_owned(),
        }),
    }
}

#[cfg(test)]
#[path = "database_tests.rs"]
mod tests;
