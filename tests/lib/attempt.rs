//! An attempt to break out: what is tried, under which policy, and what would be seen if it succeeded.

use std::fmt;
use std::time::Duration;

use crate::{Caller, Leak, Outcome, Policy, World};

/// For which callers the attack must succeed without the sandbox.
#[derive(Debug, Clone, Copy)]
pub enum Bare {
    Both,
    /// An ordinary user may not do this anyway.
    RootOnly,
    /// Root is not stopped by this, or needs no trick.
    UserOnly,
    /// Nobody: the reason says why the attack makes sense only inside a sandbox.
    Nobody(&'static str),
    /// Both, on a machine that has what the attack needs.
    Where(&'static str, fn() -> bool),
    RootWhere(&'static str, fn() -> bool),
}

impl Bare {
    /// Why there is no bare control for this caller; `None` if there is one.
    pub(crate) fn waived(self, caller: Caller) -> Option<&'static str> {
        match (self, caller) {
            (Self::Both, _) | (Self::RootOnly, Caller::Root) | (Self::UserOnly, Caller::User) => None,
            (Self::RootOnly | Self::RootWhere(..), Caller::User) => Some("an ordinary user may not do this bare"),
            (Self::UserOnly, Caller::Root) => Some("root needs no such trick bare"),
            (Self::Nobody(why), _) => Some(why),
            (Self::Where(lacking, present), _) | (Self::RootWhere(lacking, present), Caller::Root) => {
                (!present()).then_some(lacking)
            }
        }
    }
}

/// What must be seen of the script, so that a refusal to start is never taken for protection.
#[derive(Debug, Clone, Copy)]
pub enum Inside {
    /// It ran to its last line.
    Ended,
    /// It ran; it cannot or need not reach its end.
    Started,
}

/// What the supervisor itself must do.
#[derive(Debug, Clone, Copy)]
pub enum Refusal {
    /// It runs the command.
    No,
    /// It must refuse with 125 and run nothing.
    Yes,
    /// Both are safe: to refuse with 125, or to run the command contained.
    Maybe,
    /// It runs the command for an ordinary user, and must refuse root.
    AsRoot,
}

/// How the run comes to its end.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending {
    /// The script's own, or the supervisor's deadline.
    Natural,
    /// The supervisor (bare: the shell) gets this signal once the script has printed its `ready` mark.
    Signal(&'static str),
}

/// What a script says first if the host is to act while it runs, and how it learns that the host has acted.
const HOST_ACTS: &str = "@A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done";

pub(crate) type Step = Box<dyn Fn(&World) + Send + Sync>;
pub(crate) type Check = Box<dyn Fn(&World, &Outcome) + Send + Sync>;

/// Made by `attempt`, completed by its methods, run by `prove`.
pub struct Attempt {
    pub(crate) script: String,
    pub(crate) leak: Leak,
    pub(crate) policy: Policy,
    pub(crate) flags: Vec<&'static str>,
    pub(crate) through: Vec<&'static str>,
    pub(crate) env: Vec<(&'static str, &'static str)>,
    pub(crate) secret_env: Vec<&'static str>,
    pub(crate) given: Vec<Step>,
    pub(crate) then: Vec<Check>,
    pub(crate) bare: Bare,
    pub(crate) inside: Inside,
    pub(crate) refusal: Refusal,
    pub(crate) ending: Ending,
    pub(crate) meanwhile: Option<Step>,
    pub(crate) bare_limit: Duration,
    pub(crate) cwd: &'static str,
    pub(crate) project: Project,
}

/// What may become of the project.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Project {
    MayChange,
    StaysAsItWas,
}

/// No contained run needs this long; one that does hangs.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);

/// A shell script that tries, and what would be seen if it succeeded.
pub fn attempt(script: impl Into<String>, leak: Leak) -> Attempt {
    Attempt {
        script: script.into(),
        leak,
        policy: Policy::Named("restricted"),
        flags: Vec::new(),
        through: Vec::new(),
        env: Vec::new(),
        secret_env: Vec::new(),
        given: Vec::new(),
        then: Vec::new(),
        bare: Bare::Both,
        inside: Inside::Ended,
        refusal: Refusal::No,
        ending: Ending::Natural,
        meanwhile: None,
        bare_limit: LIMIT,
        cwd: "@PROJECT",
        project: Project::MayChange,
    }
}

impl Attempt {
    /// Under the built-in profile that may write the project.
    pub fn workspace(self) -> Self {
        self.policy(Policy::Named("workspace"))
    }

    /// Under a policy file of the invoking person's.
    pub fn yaml(self, text: &str) -> Self {
        self.policy(Policy::Yaml(text.to_owned()))
    }

    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    pub fn flags(mut self, flags: &[&'static str]) -> Self {
        self.flags.extend(flags);
        self
    }

    pub fn through(mut self, program: &[&'static str]) -> Self {
        self.through.extend(program);
        self
    }

    pub fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    /// A variable of the supervisor's environment that holds the secret.
    pub fn secret_env(mut self, name: &'static str) -> Self {
        self.secret_env.push(name);
        self
    }

    /// Prepares the host before the run.
    pub fn given(mut self, step: impl Fn(&World) + Send + Sync + 'static) -> Self {
        self.given.push(Box::new(step));
        self
    }

    pub fn secret_at(self, template: &'static str) -> Self {
        self.given(move |w| {
            w.secret_at(template);
        })
    }

    pub fn file(self, template: &'static str, content: &'static str) -> Self {
        self.given(move |w| {
            w.file(template, content);
        })
    }

    /// Also asserted of the contained run, once it has ended.
    pub fn then(mut self, check: impl Fn(&World, &Outcome) + Send + Sync + 'static) -> Self {
        self.then.push(Box::new(check));
        self
    }

    pub fn bare(mut self, bare: Bare) -> Self {
        self.bare = bare;
        self
    }

    /// The script need not reach its end.
    pub fn only_started(mut self) -> Self {
        self.inside = Inside::Started;
        self
    }

    /// The supervisor must refuse to run it.
    pub fn refused(mut self) -> Self {
        self.refusal = Refusal::Yes;
        self
    }

    /// The supervisor must run it for an ordinary user, and refuse root.
    pub fn refused_as_root(mut self) -> Self {
        self.refusal = Refusal::AsRoot;
        self
    }

    /// To refuse is as good as to contain.
    pub fn may_refuse(mut self) -> Self {
        self.refusal = Refusal::Maybe;
        self
    }

    /// Ends the supervisor by this signal when the script says `@A mark ready @ID`.
    pub fn ended_by(mut self, signal: &'static str) -> Self {
        self.ending = Ending::Signal(signal);
        self.only_started()
    }

    /// The host does this while the script runs; the script goes on afterwards (a file `go` in the project tells it).
    pub fn meanwhile(mut self, step: impl Fn(&World) + Send + Sync + 'static) -> Self {
        self.script = format!("{HOST_ACTS}\n{}", self.script);
        self.meanwhile_only(step)
    }

    /// The same, but the script does not wait: it must say `@A mark ready @ID` itself.
    pub fn meanwhile_only(mut self, step: impl Fn(&World) + Send + Sync + 'static) -> Self {
        self.meanwhile = Some(Box::new(step));
        self
    }

    /// The script does not end by itself. Bare it is given this long, then its shell is killed.
    pub fn endless(mut self, bare_limit: Duration) -> Self {
        self.bare_limit = bare_limit;
        self.only_started()
    }

    /// Bare its shell is killed after this long, by when it has done what it can do.
    pub fn bare_limit(mut self, limit: Duration) -> Self {
        self.bare_limit = limit;
        self
    }

    pub fn cwd(mut self, template: &'static str) -> Self {
        self.cwd = template;
        self
    }

    /// Contained also means: every file of the project has the name, mode, owner and content it had. No litter.
    pub fn project_unchanged(mut self) -> Self {
        self.project = Project::StaysAsItWas;
        self
    }
}

impl fmt::Debug for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attempt")
            .field("script", &self.script)
            .field("leak", &self.leak)
            .finish_non_exhaustive()
    }
}
