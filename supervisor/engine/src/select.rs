//! Which policy a run gets: the named one, the project's own, or `restricted`; then the caller's flags.
//!
//! INVARIANT: text that lies in the project widens nothing beyond `restricted` unless the user trusts it as it is now, or names that very
//! file on the command line.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use glee_policy::exceeds::Excess;
use glee_policy::layer::profile;
use glee_policy::resolved::Backend;
use glee_policy::{
    Flags, Origin, Policy, PolicyError, ResolvedPolicy, Source, exceeds, narrow, widen, widen_workspace,
};

use crate::catalog::config_of;
use crate::library::{Owner, Profiles, digest, read_own, read_policy};
use crate::project::Scene;
use crate::settings::{self, SettingsError};
use crate::trust::{self, Files, Standing, TrustError};

/// The configuration of a project.
pub const CONFIG: &str = ".glee/config.yml";

/// Names that somebody could take for the configuration's.
const OTHERS: [&str; 3] = ["config.yaml", "config.json", "config"];

#[derive(Debug, thiserror::Error)]
pub enum SelectError {
    #[error("{}", .error.render(.text.as_deref()))]
    Policy {
        error: Box<PolicyError>,
        text: Option<String>,
    },
    #[error("{}", .error.render(Some(.text)))]
    Settings { error: Box<SettingsError>, text: String },
    #[error("cannot read policy `{}`: {error}", .path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("`{}` is not read: the configuration is `{CONFIG}`", .path.display())]
    OtherName { path: PathBuf },
    #[error("`{}` has no policy: there is no `security.subagent_permissions` in it", .path.display())]
    NoPolicy { path: PathBuf },
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl SelectError {
    /// What the user can do about it; a fault in a file says so itself.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Policy { .. } | Self::Settings { .. } => None,
            Self::Unreadable { error, .. } if error.kind() == ErrorKind::NotFound => Some(
                "a path counts from the working directory; `glee-supervisor policy list` shows the profiles that have a name".to_owned(),
            ),
            Self::Unreadable { error, .. } if error.kind() == ErrorKind::PermissionDenied => {
                Some("it must be readable for you, and so must the directory it is in".to_owned())
            }
            Self::Unreadable { .. } => Some("it must be a plain file, readable for you".to_owned()),
            Self::OtherName { .. } => Some("rename it, or remove it".to_owned()),
            Self::NoPolicy { .. } => Some("leave `--policy` out for `restricted`, or name a file with a policy".to_owned()),
            Self::Trust(error) => Some(error.help().to_owned()),
        }
    }
}

impl From<PolicyError> for SelectError {
    fn from(error: PolicyError) -> Self {
        // The line at fault is shown from the file it names, as that file is now.
        let text = match &error.origin().source {
            Source::Builtin(name) => glee_policy::builtin::text(name).map(str::to_owned),
            Source::File(path) => read_policy(Path::new(&**path))
                .ok()
                .map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
            Source::Flag(_) => None,
        };
        Self::Policy {
            error: Box::new(error),
            text,
        }
    }
}

impl From<SettingsError> for SelectError {
    fn from(error: SettingsError) -> Self {
        let text = match &error.origin().source {
            Source::File(path) => read_policy(Path::new(&**path)).unwrap_or_default(),
            Source::Builtin(_) | Source::Flag(_) => Vec::new(),
        };
        Self::Settings {
            error: Box::new(error),
            text: String::from_utf8_lossy(&text).into_owned(),
        }
    }
}

/// A policy ready to be lowered.
#[derive(Debug)]
pub struct Selected {
    pub policy: ResolvedPolicy,
    /// What the project asks for and does not get, because it is not trusted.
    pub withheld: Vec<Excess>,
    pub standing: Option<Standing>,
    /// The project's files whose trust decided, if the policy itself is not one of them: a person's own policy that
    /// extends a profile of the project, or a trusted one of the project whose profile has changed.
    pub extended: Vec<PathBuf>,
}

/// What the project says about itself.
#[derive(Debug)]
pub struct ProjectPolicy {
    pub file: PathBuf,
    /// As the project asks for it.
    pub asked: ResolvedPolicy,
    /// Everything that asking is made of.
    pub files: Files,
}

/// Reads the project's own policy, if it has one.
pub fn project_policy(scene: &Scene) -> Result<Option<ProjectPolicy>, SelectError> {
    let file = scene.project.join(CONFIG);
    let bytes = match read_own(&scene.project, &file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return not_there(file),
        Err(error) if error.kind() == ErrorKind::NotADirectory => return Ok(None),
        Err(error) => return Err(SelectError::Unreadable { path: file, error }),
    };
    let source = Source::File(file.to_string_lossy().into());
    // A misspelt key is a rule that somebody believes to hold.
    settings::read(&source, &bytes)?;
    let Some(policy) = glee_policy::parse_project_config(&source, &bytes)? else {
        return Ok(None);
    };
    from_project(scene, policy, file, &bytes).map(Some)
}

/// A rule that somebody believes to hold must not be passed over in silence.
fn not_there(file: PathBuf) -> Result<Option<ProjectPolicy>, SelectError> {
    if file.is_symlink() {
        let error = std::io::Error::other("a link that leads nowhere");
        return Err(SelectError::Unreadable { path: file, error });
    }
    let others = OTHERS.map(|name| file.with_file_name(name));
    let found = others
        .into_iter()
        .find(|path| path.symlink_metadata().is_ok_and(|meta| !meta.is_dir()));
    match found {
        Some(path) => Err(SelectError::OtherName { path }),
        None => Ok(None),
    }
}

pub(crate) fn from_project(
    scene: &Scene,
    policy: Policy,
    file: PathBuf,
    bytes: &[u8],
) -> Result<ProjectPolicy, SelectError> {
    let library = Profiles::new(&scene.project);
    let asked = glee_policy::resolve(&policy, &library, &scene.host())?;
    let mut files = library.used();
    files.insert(file.clone(), digest(bytes));
    Ok(ProjectPolicy { file, asked, files })
}

/// `restricted` on this machine.
pub fn restricted(scene: &Scene) -> Result<ResolvedPolicy, SelectError> {
    let library = Profiles::new(&scene.project);
    let policy = profile("restricted", &Origin::flag("policy"), &library)?;
    Ok(glee_policy::resolve(&policy, &library, &scene.host())?)
}

/// The policy of a run before flags.
pub fn select(name: Option<&str>, scene: &Scene) -> Result<Selected, SelectError> {
    match name {
        None => {
            let selected = match project_policy(scene)? {
                Some(project) => judge(project, scene)?,
                None => plain(restricted(scene)?)?,
            };
            within(selected, scene)
        }
        Some(name) if is_path(name) => {
            // The caller named this very file: that is the caller's own word.
            let path = PathBuf::from(name);
            let bytes = read_policy(&path).map_err(|error| SelectError::Unreadable {
                path: path.clone(),
                error,
            })?;
            let source = Source::File(name.into());
            let policy = match config_of(&path) {
                // A configuration has other sections besides its policy.
                Some(_) => {
                    settings::read(&source, &bytes)?;
                    let own = glee_policy::parse_project_config(&source, &bytes)?;
                    own.ok_or_else(|| SelectError::NoPolicy { path: path.clone() })?
                }
                None => glee_policy::parse_bytes(&source, &bytes)?,
            };
            own(scene, |library| {
                Ok(glee_policy::resolve(&policy, library, &scene.host())?)
            })
        }
        Some(name) => {
            let library = Profiles::new(&scene.project);
            match library
                .locate(name)
                .filter(|_| glee_policy::builtin::text(name).is_none())
            {
                Some((file, Owner::Project)) => {
                    let bytes = library
                        .read(&file, Owner::Project)
                        .map_err(|error| SelectError::Unreadable {
                            path: file.clone(),
                            error,
                        })?;
                    let policy = glee_policy::parse_bytes(&Source::File(file.to_string_lossy().into()), &bytes)?;
                    judge(from_project(scene, policy, file, &bytes)?, scene)
                }
                Some((file, Owner::User)) if !file.is_file() => {
                    let read = library.read(&file, Owner::User);
                    let error = read
                        .err()
                        .unwrap_or_else(|| std::io::Error::other("it changed meanwhile"));
                    Err(SelectError::Unreadable { path: file, error })
                }
                Some((_, Owner::User)) | None => own(scene, |library| {
                    let policy = profile(name, &Origin::flag("policy"), library)?;
                    Ok(glee_policy::resolve(&policy, library, &scene.host())?)
                }),
            }
        }
    }
}

/// A `.glee` that nobody has trusted does not take what lies below it out of the project around it: anybody who can write there
/// can make one, and what the outer project's configuration denies would be open in it.
fn within(mut selected: Selected, scene: &Scene) -> Result<Selected, SelectError> {
    if selected.standing == Some(Standing::Trusted) {
        return Ok(selected);
    }
    for outer in scene.around() {
        if let Some(project) = project_policy(&outer)? {
            let name = selected.policy.name.clone();
            let outer = judge(project, &outer)?;
            selected.policy = narrow(&selected.policy, &outer.policy);
            selected.policy.name = name;
        }
    }
    Ok(selected)
}

fn plain(policy: ResolvedPolicy) -> Result<Selected, SelectError> {
    Ok(Selected {
        policy,
        withheld: Vec::new(),
        standing: None,
        extended: Vec::new(),
    })
}

/// A policy of the person's own. What it extends may be the project's: then the whole is no more than the project's word.
fn own(
    scene: &Scene,
    resolve: impl FnOnce(&Profiles) -> Result<ResolvedPolicy, SelectError>,
) -> Result<Selected, SelectError> {
    let library = Profiles::new(&scene.project);
    let asked = resolve(&library)?;
    let files = library.used();
    if files.is_empty() {
        return plain(asked);
    }
    let mut selected = weigh(asked, &files, scene)?;
    selected.extended = files.into_keys().collect();
    Ok(selected)
}

fn judge(project: ProjectPolicy, scene: &Scene) -> Result<Selected, SelectError> {
    let mut selected = weigh(project.asked, &project.files, scene)?;
    if selected.standing != Some(Standing::Trusted) {
        // The file itself may be as it was trusted, and what it extends not.
        let changed = trust::changed(&project.files)?;
        if !changed.contains(&project.file) {
            selected.extended = changed;
        }
    }
    Ok(selected)
}

/// A project's policy counts in full if it is trusted, else only as far as it narrows `restricted`.
fn weigh(asked: ResolvedPolicy, files: &Files, scene: &Scene) -> Result<Selected, SelectError> {
    let standing = trust::standing(files)?;
    let (policy, withheld) = if standing == Standing::Trusted {
        (asked, Vec::new())
    } else {
        let mut base = restricted(scene)?;
        if asked.backend != Backend::Auto {
            // Which program of the machine builds the walls, and with whose rights, is not a stranger's to say.
            base.backend = Backend::Native;
        }
        let withheld = exceeds(&asked, &base);
        let mut policy = narrow(&asked, &base);
        policy.name = asked.name;
        (policy, withheld)
    };
    Ok(Selected {
        policy,
        withheld,
        standing: Some(standing),
        extended: Vec::new(),
    })
}

/// Adds the caller's own flags.
pub fn add_flags(selected: &mut Selected, flags: &Flags, scene: &Scene) -> Result<(), SelectError> {
    Ok(widen(&mut selected.policy, flags, &scene.host())?)
}

/// What lies at the project's path is a copy, which the command may write.
pub fn add_workspace(selected: &mut Selected, scene: &Scene) -> Result<(), SelectError> {
    Ok(widen_workspace(&mut selected.policy, &scene.host())?)
}

/// Anything with a slash, or that ends like a YAML file, is a path.
#[must_use]
pub fn is_path(name: &str) -> bool {
    name.contains('/') || name.ends_with(".yml") || name.ends_with(".yaml")
}
