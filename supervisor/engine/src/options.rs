//! What a run is asked for.

use std::ffi::OsString;
use std::path::PathBuf;

use glee_policy::Flags;
use glee_policy::resolved::Backend;
use glee_sandbox::plan::{Records, Workspace};
use glee_sandbox::receipt::Wish;
use glee_sandbox::seccomp::Observe;

use crate::audit::record::Need;
use crate::tasks::job::Job;

/// What a run is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Work,
    /// Names that the command asks for are refused as ever, but by somebody who writes them down.
    Learning,
}

/// What the caller typed.
#[derive(Debug)]
pub struct Options {
    pub purpose: Purpose,
    pub policy: Option<String>,
    pub project: Option<PathBuf>,
    pub flags: Flags,
    pub report: Option<PathBuf>,
    pub receipt: Wish,
    /// Holds the key of a model's API.
    pub key_file: Option<PathBuf>,
    /// In place of the policy's own word.
    pub backend: Option<Backend>,
    /// Must the run be in the audit log?
    pub audit: Need,
    /// How much of what the command tries is looked at for the report.
    pub observe: Observe,
    /// What lies at the project's path.
    pub workspace: Workspace,
    /// Are Landlock's own records taken from the kernel's audit?
    pub records: Records,
    /// For a run that a worker has started.
    pub job: Option<Job>,
    pub command: Vec<OsString>,
}

impl Options {
    /// For a look at what a run would be: nothing of it is carried out.
    #[must_use]
    pub fn to_look(policy: Option<String>, project: Option<PathBuf>, flags: Flags, command: Vec<OsString>) -> Self {
        Self {
            purpose: Purpose::Work,
            policy,
            project,
            flags,
            report: None,
            receipt: Wish::Take,
            key_file: None,
            backend: None,
            audit: Need::Wanted,
            observe: Observe::Attempts,
            workspace: Workspace::Shared,
            records: Records::Leave,
            job: None,
            command,
        }
    }
}
