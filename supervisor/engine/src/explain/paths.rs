//! Questions about paths: the plan decides, the policy's clauses give the words.

use std::path::Path;

use glee_policy::Source;
use glee_policy::grants::Cover;
use glee_policy::hint;
use glee_policy::resolved::{Deny, FsAccess, Grant, ResolvedPolicy};
use glee_sandbox::answer::{self, Answer, Look, OnHost, Presence, Reason, Seen, Use};
use glee_sandbox::launch::interpreter::{LEVELS, Needed, needed_by};
use glee_sandbox::plan::{MountStep, SandboxPlan};
use glee_sandbox::survey::{KEY_FILE, OF_A_HOME};
use glee_sandbox::sys::path::is_writable;

use super::{Explained, place};
use crate::denied;
use crate::grantable::grantable;
use crate::project::Scene;
use crate::run::Prepared;

/// What every sandbox has.
const SYSTEM: &str = "every sandbox shows the system's programs and libraries";
const OWN_FILES: &str = "every sandbox has this of its own";
const KERNEL: &str = "every sandbox has a /proc and a /dev of its own";
const NOTHING: &str = "no grant covers the path";

pub(super) fn explain(prepared: &Prepared, scene: &Scene, path: &Path, usage: Use) -> Explained {
    let plan = &prepared.plan;
    let found = answer::path(plan, path, usage, &OnHost);
    let wanting = (usage == Use::Execute).then(|| wanting(plan, &found)).flatten();
    let answer = wanting.as_ref().unwrap_or(&found);
    let about = About {
        policy: &prepared.selected.policy,
        plan,
        scene,
        answer,
        usage,
    };
    let kind = match usage {
        Use::Read => "fs.read",
        Use::Write => "fs.write",
        Use::Execute => "fs.exec",
    };
    let what = path.to_string_lossy().into_owned();
    let mut said = about.words(Explained::new(kind, what, answer.allowed, String::new()));
    said.enforced_by = answer.step.map(glee_sandbox::steps::Step::name);
    said.exists = match found.presence {
        Presence::There => Some(true),
        Presence::Absent => Some(false),
        Presence::AtRunTime => None,
    };
    if found.at != path {
        said.leads_to = Some(found.at.to_string_lossy().into_owned());
    }
    if let Some(starter) = &wanting {
        said.note = Some(format!(
            "it is started by `{}`, which is not allowed",
            starter.at.display()
        ));
    } else if said.note.is_none() {
        said.note = about.note().map(str::to_owned);
    }
    said
}

/// What a program needs to be started, is there outside and may not be executed inside: a script's interpreter, a loader.
fn wanting(plan: &SandboxPlan, program: &Answer) -> Option<Answer> {
    let mut needed = executable(program).then(|| needed_by(&program.at)).flatten();
    for _ in 0..LEVELS {
        let next = needed?;
        let answer = answer::path(plan, next.path(), Use::Execute, &OnHost);
        if !answer.allowed {
            return answer.on_host.then_some(answer);
        }
        needed = match next {
            Needed::Program(_) => executable(&answer).then(|| needed_by(&answer.at)).flatten(),
            Needed::Loader(_) => None,
        };
    }
    None
}

fn executable(answer: &Answer) -> bool {
    answer.allowed && answer.presence == Presence::There
}

struct About<'a> {
    policy: &'a ResolvedPolicy,
    plan: &'a SandboxPlan,
    scene: &'a Scene,
    answer: &'a Answer,
    usage: Use,
}

impl About<'_> {
    /// The clause that decided, and what would change it.
    fn words(&self, mut said: Explained) -> Explained {
        let at = self.answer.at.as_path();
        match &self.answer.reason {
            Reason::Uncontained => {
                said.clause = "mode: inherit".to_owned();
                said.from(self.policy.origins.get("mode"))
            }
            Reason::Shown => self.shown(said),
            Reason::Private => match self.session_grant() {
                Some(grant) => by_grant(said, grant),
                None => {
                    said.clause =
                        "HOME, /tmp, /var/tmp and /dev/shm are private, empty at the start and gone afterwards".into();
                    said
                }
            },
            Reason::Made => {
                said.clause = OWN_FILES.to_owned();
                said
            }
            Reason::Device | Reason::Kernel => {
                said.clause = KERNEL.to_owned();
                said
            }
            Reason::Pipe => {
                said.clause = "it is a pipe, and those take what is written also where files are read-only".to_owned();
                said
            }
            Reason::NotShown => match self.policy.denied_by(at) {
                Some(deny) => by_deny(said, deny),
                None => {
                    said.clause = NOTHING.to_owned();
                    said.hint(self.grant())
                }
            },
            Reason::Hidden { at } => self.hidden(said, at),
            Reason::HiddenLater { clause } => match self.policy.denied_by(at) {
                Some(deny) => {
                    let said = by_deny(said, deny);
                    if said.note.is_none() {
                        said.note("it is hidden as soon as it appears")
                    } else {
                        said
                    }
                }
                None => {
                    said.clause.clone_from(clause);
                    said.hint(self.grant().filter(|_| clause == OF_A_HOME))
                }
            },
            Reason::Held { at } | Reason::Protected { at } => match denied::by(self.policy, self.plan, at) {
                Some(deny) => by_deny(said, deny),
                None => self.protected(said, at),
            },
            Reason::ReadOnly => self.read_only(said),
            Reason::Rights => {
                said.clause = match self.usage {
                    Use::Execute => "nothing is executed there".to_owned(),
                    Use::Read | Use::Write => NOTHING.to_owned(),
                };
                said.hint(self.grant().filter(|_| self.usage != Use::Execute))
            }
            Reason::WrongKind { at } => {
                said.clause = wrong_kind(at);
                said
            }
            Reason::Guarded => {
                said.clause = "the first process lets nobody look into it".to_owned();
                said
            }
            Reason::Circle => {
                said.clause = "its links lead in a circle".to_owned();
                said
            }
        }
    }

    fn shown(&self, mut said: Explained) -> Explained {
        let at = self.answer.at.as_path();
        if let Some((_, grant)) = Cover::new(self.policy).at(at) {
            return by_grant(said, grant);
        }
        said.clause = if self.is_git_dir(at) {
            "the project's repository keeps its git directory there".to_owned()
        } else if at == self.plan.command.program || self.is_single_file(at) {
            "the caller named it as the command, or a script names it as its interpreter".to_owned()
        } else {
            SYSTEM.to_owned()
        };
        said
    }

    fn is_single_file(&self, at: &Path) -> bool {
        let etc_or_device = ["/etc", "/dev"].iter().any(|dir| at.starts_with(dir));
        !etc_or_device
            && self
                .plan
                .mounts
                .iter()
                .any(|step| matches!(step, MountStep::Bind { at: file, .. } if file == at))
            && OnHost.look(at) == Some(Seen::File)
    }

    fn is_git_dir(&self, at: &Path) -> bool {
        let extra = |step: &&MountStep| match step {
            MountStep::Bind { at: dir, .. } => at.starts_with(dir) && dir.join("HEAD").exists(),
            MountStep::Dir { .. }
            | MountStep::Symlink { .. }
            | MountStep::File { .. }
            | MountStep::Copy { .. }
            | MountStep::Private { .. }
            | MountStep::Compose { .. }
            | MountStep::Proc { .. }
            | MountStep::Devpts { .. }
            | MountStep::Pin { .. }
            | MountStep::Protect { .. }
            | MountStep::Hide { .. } => false,
        };
        self.plan.mounts.iter().any(|step| extra(&step))
    }

    /// A directory of `.glee` that is private because it was granted.
    fn session_grant(&self) -> Option<&Grant> {
        let at = self.answer.at.as_path();
        let ours = at.starts_with(self.scene.project.join(".glee"));
        Cover::new(self.policy).at(at).filter(|_| ours).map(|(_, grant)| grant)
    }

    fn hidden(&self, mut said: Explained, at: &Path) -> Explained {
        if let Some(deny) = denied::by(self.policy, self.plan, at) {
            return by_deny(said, deny);
        }
        said.clause = if at.starts_with("/proc") {
            "kernel files that tell or do too much are hidden in every sandbox".to_owned()
        } else if self
            .plan
            .watches
            .iter()
            .any(|watch| watch.path == at && watch.clause == KEY_FILE)
        {
            "`--key-file`: the key of a model's API stays outside".to_owned()
        } else if let Some(clause) = denied::leads_out(at) {
            clause.to_owned()
        } else {
            said.hint = self.grant();
            OF_A_HOME.to_owned()
        };
        said
    }

    fn protected(&self, mut said: Explained, at: &Path) -> Explained {
        let top = Cover::new(self.policy).at(at).map(|(_, grant)| grant.path.as_path());
        let below = top.and_then(|top| at.strip_prefix(top).ok());
        let name = below.filter(|name| !name.as_os_str().is_empty()).unwrap_or(at);
        let name = name.to_string_lossy();
        said.clause = format!("`{name}` is protected: the host would obey it later");
        if self.usage == Use::Write {
            said.hint(Some(hint::unprotect(&[&name])))
        } else {
            said.note("nothing is there, and the name is held while the command runs")
        }
    }

    fn read_only(&self, mut said: Explained) -> Explained {
        let at = self.answer.at.as_path();
        match Cover::new(self.policy).at(at) {
            Some((_, grant)) if grant.access == FsAccess::ReadWrite => {
                said = by_grant(said, grant);
                if in_glee(at, grant) {
                    return said
                        .note("a grant to write only reads inside `.glee`")
                        .hint(Some(hint::unprotect(&[".glee"])));
                }
                return said.note("you cannot write there either");
            }
            Some((_, grant)) => said = by_grant(said, grant),
            None => {
                let own = ["/etc", "/dev", "/proc"].iter().any(|dir| at.starts_with(dir)) || at == Path::new("/");
                said.clause = if own { OWN_FILES } else { SYSTEM }.to_owned();
            }
        }
        said.hint(self.grant())
    }

    /// The grant that would allow it, if one can. What the caller cannot write stays read-only all the same.
    fn grant(&self) -> Option<String> {
        let at = self.answer.at.as_path();
        if ["/proc", "/dev"].iter().any(|dir| at.starts_with(dir)) || at == Path::new("/") {
            return None;
        }
        let access = match self.usage {
            Use::Read | Use::Execute => FsAccess::Read,
            Use::Write => FsAccess::ReadWrite,
        };
        // Only what is there can be granted.
        let there = match access {
            FsAccess::Read if !self.answer.on_host => return None,
            FsAccess::Read => at,
            FsAccess::ReadWrite => at.ancestors().find(|dir| dir.exists()).unwrap_or(at),
        };
        let there = grantable(there, &self.scene.project);
        let useless = there == Path::new("/") || (access == FsAccess::ReadWrite && !is_writable(&there));
        if useless {
            None
        } else {
            hint::path(&there, access, place(self.scene))
        }
    }

    fn note(&self) -> Option<&'static str> {
        let Answer {
            allowed,
            reason,
            presence,
            on_host,
            ..
        } = self.answer;
        match (allowed, presence, reason) {
            (true, Presence::Absent, Reason::Private) if *on_host => {
                Some("a private one: what the host has there is neither shown nor changed")
            }
            (true, Presence::Absent, _) if self.usage == Use::Write => Some("nothing is there yet: it would be made"),
            (true, Presence::Absent, _) => Some("allowed, but nothing is there"),
            (true, Presence::AtRunTime, _) => Some("whether it is there depends on the processes of the run"),
            (true, Presence::There, Reason::Made) => {
                Some("it was made for the sandbox: only what is granted lies in it")
            }
            (false, _, Reason::NotShown) if *on_host => {
                Some("it is there outside; inside there is nothing at this path")
            }
            (false, _, Reason::NotShown) => Some("nothing is there; and if it were, it would not be shown"),
            (_, _, _) => None,
        }
    }
}

fn in_glee(at: &Path, grant: &Grant) -> bool {
    let below = at.strip_prefix(grant.path.as_path()).unwrap_or(at);
    below.components().any(|part| part.as_os_str() == ".glee")
}

fn by_grant(mut said: Explained, grant: &Grant) -> Explained {
    said.clause = format!("{} `{}`", grant.access.key(), grant.written);
    said.why.clone_from(&grant.why);
    said.from(Some(&grant.origin))
}

fn by_deny(mut said: Explained, deny: &Deny) -> Explained {
    said.clause = format!("fs.deny `{}`", deny.written);
    said.why.clone_from(&deny.why);
    let said = said.from(Some(&deny.origin));
    match &deny.origin.source {
        // Denials add up: no policy takes back what the profile denies that it extends.
        Source::Builtin(name) => said.note(format!("no policy that extends `{name}` can allow it")),
        Source::File(_) | Source::Flag(_) => said.hint(Some(hint::without("fs.deny", &deny.written))),
    }
}

fn wrong_kind(at: &Path) -> String {
    let at_text = at.display();
    match OnHost.look(at) {
        Some(Seen::Dir) => format!("`{at_text}` is a directory"),
        Some(Seen::Socket) => format!("`{at_text}` is a socket, which nobody opens"),
        Some(Seen::Device) => format!("`{at_text}` is a device, and devices work only in /dev"),
        Some(Seen::Pipe) => format!("`{at_text}` is a pipe, and no program"),
        Some(Seen::File | Seen::Link(_)) | None => format!("`{at_text}` is a file, and cannot be used like this"),
    }
}
