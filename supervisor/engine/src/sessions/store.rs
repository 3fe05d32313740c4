//! The files of a project's sessions: found, read, extended and removed.
//!
//! INVARIANT: a session whose signatures do not match is never signed again: what somebody else wrote into it would count
//! from then on as recorded.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::chain::{Fault, Signer};
use super::id::SessionId;
use super::record::{Conversation, Message, Role, Session, Status, VERSION};
use crate::clock::Moment;
use crate::folder::Folder;
use crate::keyring::{self, Key, KeyError, KeyName};
use crate::label::Label;

/// Where the sessions of a project lie.
pub const DIRECTORY: &str = ".glee/agent_sessions";
/// A longer text is cut when it is recorded.
pub const MOST_CONTENT: usize = 1 << 20;
/// Beyond these the oldest messages are left out.
const MOST_MESSAGES: usize = 1000;
const MOST_TEXT: usize = 8 << 20;
/// Every character may be written as six.
const MOST_FILE: usize = 6 * MOST_TEXT + (4 << 20);
const ATTEMPTS: usize = 16;

/// The sessions of one project.
#[derive(Debug)]
pub struct Sessions {
    project: PathBuf,
    folder: Folder,
    key: Key,
}

/// A session as it was found, and what its signatures say of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub session: Session,
    pub fault: Option<Fault>,
}

/// A file that is there, whatever is in it.
#[derive(Debug)]
pub struct Listed {
    pub id: SessionId,
    /// When anything was last said, as far as that can be known.
    pub last: Moment,
    pub found: Result<Checked, SessionError>,
}

/// Something new that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub role: Role,
    pub content: String,
    pub run: Option<Label>,
}

/// What a run adds to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub said: Vec<Said>,
    pub status: Status,
    /// `None` leaves what was recorded before.
    pub conversation: Option<Conversation>,
}

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("there is no session `{0}` in this project")]
    Missing(SessionId),
    #[error("the session `{id}` ended {} days ago, and a session is kept for {}", .age.as_secs() / 86_400, .kept.as_secs() / 86_400)]
    Expired {
        id: SessionId,
        age: Duration,
        kept: Duration,
    },
    #[error("the session `{id}` is not continued, somebody else has changed it: {fault}")]
    Changed { id: SessionId, fault: Fault },
    #[error("the session `{id}` cannot be read: {error}")]
    Damaged { id: SessionId, error: serde_json::Error },
    #[error("the file of the session `{0}` holds the session `{1}`")]
    Misnamed(SessionId, SessionId),
    #[error("cannot use `{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error(transparent)]
    Key(#[from] KeyError),
}

impl SessionError {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> &'static str {
        match self {
            Self::Missing(_) => "`glee-supervisor sessions list` shows those there are",
            Self::Expired { .. } => "start a new session; `sessions.expiry_days` says how long they are kept",
            Self::Changed { .. } | Self::Damaged { .. } | Self::Misnamed(..) => {
                "start a new session; `glee-supervisor sessions delete` removes this one"
            }
            Self::Io { .. } => "check what lies there, and its permissions; links are not followed",
            Self::Key(error) => error.help(),
        }
    }
}

impl Sessions {
    /// Opens the place, and makes it if it is not there yet.
    pub fn open(project: &Path) -> Result<Self, SessionError> {
        let folder = Folder::make_beneath(project, Path::new(DIRECTORY)).and_then(|folder| {
            folder.ignore_in_git()?;
            Ok(folder)
        });
        Self::of(project, folder.map_err(|error| at(project, error))?)
    }

    /// Opens the place; `None` if the project has none.
    pub fn find(project: &Path) -> Result<Option<Self>, SessionError> {
        let folder = Folder::find_beneath(project, Path::new(DIRECTORY)).map_err(|error| at(project, error))?;
        folder.map(|folder| Self::of(project, folder)).transpose()
    }

    fn of(project: &Path, folder: Folder) -> Result<Self, SessionError> {
        Ok(Self {
            project: project.to_owned(),
            folder,
            key: keyring::load_or_create(KeyName::Sessions)?,
        })
    }

    /// A new session, in which nothing was said yet.
    pub fn create(&self, agent_name: Option<Label>, agent_cli: Label, now: Moment) -> Result<Session, SessionError> {
        let locked = self.folder.lock().map_err(|error| self.io(error))?;
        for _ in 0..ATTEMPTS {
            let id = SessionId::fresh().map_err(|error| self.io(error))?;
            match self.folder.stat(&id.file()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(self.io(error)),
                Ok(_) => continue,
            }
            let mut session = Session {
                session_id: id,
                agent_name,
                agent_cli,
                created_at: now,
                updated_at: now,
                status: Status::Running,
                messages: Vec::new(),
                conversation: None,
                dropped: None,
                version: VERSION,
                seal: self.key.sign("", &[]),
            };
            self.signer().seal(&mut session);
            self.put(&locked, &session)?;
            return Ok(session);
        }
        Err(self.io(io::Error::from(io::ErrorKind::AlreadyExists)))
    }

    pub fn read(&self, id: &SessionId) -> Result<Checked, SessionError> {
        let bytes = self
            .folder
            .read(&id.file(), MOST_FILE)
            .map_err(|error| self.io(error))?;
        let bytes = bytes.ok_or_else(|| SessionError::Missing(id.clone()))?;
        let session: Session =
            serde_json::from_slice(&bytes).map_err(|error| SessionError::Damaged { id: id.clone(), error })?;
        if session.session_id != *id {
            return Err(SessionError::Misnamed(id.clone(), session.session_id));
        }
        let fault = self.signer().check(&session);
        Ok(Checked { session, fault })
    }

    /// Is there a file of that session?
    #[must_use]
    pub fn has(&self, id: &SessionId) -> bool {
        self.folder.stat(&id.file()).is_ok()
    }

    /// As `prune`, if a look at the files says that there is anything to remove.
    pub fn expire(&self, kept: Duration, now: Moment) -> Result<(), SessionError> {
        let names = self.folder.names().map_err(|error| self.io(error))?;
        let is_old = |name: &std::ffi::OsString| {
            let modified = self.folder.modified(name).map(Moment::from);
            SessionId::of_file(name).is_some() && modified.is_ok_and(|at| at.age(now) > kept)
        };
        if names.iter().any(is_old) {
            self.prune(kept, now)?;
        }
        Ok(())
    }

    /// As `read`, for going on with it: one that is too old is refused.
    pub fn resume(&self, id: &SessionId, kept: Duration, now: Moment) -> Result<Checked, SessionError> {
        let checked = self.read(id)?;
        let age = self.last(id, Some(&checked)).age(now);
        if age > kept {
            let id = id.clone();
            return Err(SessionError::Expired { id, age, kept });
        }
        Ok(checked)
    }

    /// Adds what was said. Several processes may do so at the same time.
    pub fn append(&self, id: &SessionId, turn: Turn, now: Moment) -> Result<Session, SessionError> {
        let locked = self.folder.lock().map_err(|error| self.io(error))?;
        let Checked { mut session, fault } = self.read(id)?;
        if let Some(fault) = fault {
            let id = id.clone();
            return Err(SessionError::Changed { id, fault });
        }
        let signer = self.signer();
        for said in turn.said {
            let message = Message {
                role: said.role,
                content: cut(said.content),
                at: now,
                run: said.run,
                mac: session.seal,
            };
            signer.push(&mut session, message);
        }
        session.status = turn.status;
        session.updated_at = now;
        session.conversation = turn.conversation.or(session.conversation);
        let lengths: Vec<usize> = session.messages.iter().map(|message| message.content.len()).collect();
        Signer::drop_oldest(&mut session, surplus(&lengths));
        signer.seal(&mut session);
        self.put(&locked, &session)?;
        Ok(session)
    }

    /// Every session of the project, the one last used first.
    pub fn list(&self) -> Result<Vec<Listed>, SessionError> {
        let names = self.folder.names().map_err(|error| self.io(error))?;
        let mut list: Vec<Listed> = names
            .iter()
            .filter_map(|name| SessionId::of_file(name))
            .map(|id| {
                let found = self.read(&id);
                let last = self.last(&id, found.as_ref().ok());
                Listed { id, last, found }
            })
            .collect();
        list.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.id.cmp(&b.id)));
        Ok(list)
    }

    /// Removes a session, also one that cannot be read. False if there is none.
    pub fn delete(&self, id: &SessionId) -> Result<bool, SessionError> {
        let locked = self.folder.lock().map_err(|error| self.io(error))?;
        locked.remove(&id.file()).map_err(|error| self.io(error))
    }

    /// Removes what nobody has used for longer than `kept`. Returns what that was.
    pub fn prune(&self, kept: Duration, now: Moment) -> Result<Vec<SessionId>, SessionError> {
        let locked = self.folder.lock().map_err(|error| self.io(error))?;
        let mut gone = Vec::new();
        for listed in self.list()? {
            if listed.last.age(now) > kept && locked.remove(&listed.id.file()).map_err(|error| self.io(error))? {
                gone.push(listed.id);
            }
        }
        Ok(gone)
    }

    /// What the record says, if it is ours; else what the file system does.
    fn last(&self, id: &SessionId, checked: Option<&Checked>) -> Moment {
        let said = checked.filter(|c| c.fault.is_none()).map(|c| c.session.updated_at);
        let modified = || self.folder.modified(&id.file()).map(Moment::from);
        said.or_else(|| modified().ok())
            .unwrap_or_else(|| Moment::from_seconds(0))
    }

    fn put(&self, locked: &crate::folder::Locked<'_>, session: &Session) -> Result<(), SessionError> {
        let mut text = serde_json::to_vec_pretty(session).map_err(|error| self.io(error.into()))?;
        text.push(b'\n');
        let name = session.session_id.file();
        locked.put(&name, &text).map_err(|error| self.io(error))
    }

    fn signer(&self) -> Signer<'_> {
        Signer {
            key: &self.key,
            project: &self.project,
        }
    }

    fn io(&self, error: io::Error) -> SessionError {
        SessionError::Io {
            path: self.folder.path().to_owned(),
            error,
        }
    }
}

fn at(project: &Path, error: io::Error) -> SessionError {
    SessionError::Io {
        path: project.join(DIRECTORY),
        error,
    }
}

/// A text of bearable length. What was left out is said where it was.
fn cut(mut content: String) -> String {
    if content.len() > MOST_CONTENT {
        let end = content.floor_char_boundary(MOST_CONTENT);
        let gone = content.len() - end;
        content.truncate(end);
        content.push_str(&format!("\n[{gone} more bytes were not recorded]"));
    }
    content
}

/// How many of the oldest messages are too many. The newest one always stays.
fn surplus(lengths: &[usize]) -> usize {
    let mut text = 0;
    let fits = lengths.iter().rev().enumerate().take_while(|(n, length)| {
        text += **length;
        *n == 0 || (*n < MOST_MESSAGES && text <= MOST_TEXT)
    });
    lengths.len() - fits.count()
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
