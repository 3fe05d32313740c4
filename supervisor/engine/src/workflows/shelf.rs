//! Everything of a project that decides about its workflows, opened together.

use std::sync::Arc;

use super::check::{self, Crew, Limits, Plan};
use super::library::{Broken, Library, LibraryError};
use super::problem::{Problem, Told};
use crate::definitions::store::StoreError;
use crate::project::Scene;
use crate::settings::store::{self, ConfigError};

#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    #[error(transparent)]
    Library(#[from] LibraryError),
    #[error(transparent)]
    Agents(#[from] StoreError),
    #[error(transparent)]
    Config(#[from] ConfigError),
}

impl ShelfError {
    /// What the user can do about it; a fault in a file says so itself.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Library(error) => Some(error.help()),
            Self::Agents(error) => error.help(),
            Self::Config(error) => error.help(),
        }
    }

    /// Does its text begin with a place in a file, as a compiler's does?
    #[must_use]
    pub fn has_place(&self) -> bool {
        match self {
            Self::Library(_) => false,
            Self::Agents(error) => error.has_place(),
            Self::Config(error) => error.has_place(),
        }
    }
}

/// The workflows, the agents they can name, and the limits that hold.
#[derive(Debug)]
pub struct Shelf {
    pub library: Library,
    pub crew: Crew,
    pub limits: Limits,
}

impl Shelf {
    pub fn open(scene: &Scene) -> Result<Self, ShelfError> {
        Ok(Self {
            library: Library::open(&scene.project)?,
            crew: Crew::open(&scene.project)?,
            limits: Limits::of(&store::load(scene)?.settings),
        })
    }

    /// The plan of a workflow, or what is wrong with it or with what it runs.
    pub fn check(&self, name: &str) -> Result<Arc<Plan>, CheckError<'_>> {
        let entry = self.library.entry(name)?;
        let workflow = entry.found.as_ref().map_err(CheckError::Broken)?;
        Ok(check::check(&workflow.name, &self.library, &self.crew, self.limits)?)
    }
}

/// Why there is no plan.
#[derive(Debug)]
pub enum CheckError<'s> {
    Absent(LibraryError),
    /// Its own file cannot be read.
    Broken(&'s Broken),
    /// Never empty.
    Problems(Vec<Problem>),
}

impl From<LibraryError> for CheckError<'_> {
    fn from(error: LibraryError) -> Self {
        Self::Absent(error)
    }
}

impl From<Vec<Problem>> for CheckError<'_> {
    fn from(problems: Vec<Problem>) -> Self {
        Self::Problems(problems)
    }
}

impl CheckError<'_> {
    /// As programs read it.
    #[must_use]
    pub fn told(&self) -> Vec<Told> {
        match self {
            Self::Absent(error) => vec![Told {
                file: String::new(),
                line: 0,
                column: 0,
                message: error.to_string(),
                hint: error.help(),
            }],
            Self::Broken(broken) => broken.problems(),
            Self::Problems(problems) => problems.iter().map(Problem::told).collect(),
        }
    }

    /// As people read it, each problem with its line of the file.
    #[must_use]
    pub fn render(&self, library: &Library) -> String {
        match self {
            Self::Absent(error) => format!("error: {error}\nhint: {}\n", error.help()),
            Self::Broken(broken) => library.render_broken(broken),
            Self::Problems(problems) => library.render(problems),
        }
    }
}
