//! Deny rules: which can be kept here, and what keeping them takes.
//!
//! Pure. INVARIANT: a rule that passes `check` is kept: whatever of it the sandbox shows is covered, the rest is not there.

use std::path::Path;

use glee_policy::ResolvedPolicy;
use glee_policy::glob::Glob;
use glee_policy::grants::in_private_place;
use glee_policy::resolved::{Deny, DenyTarget};

use super::LowerError;
use super::trees::Trees;
use crate::plan::{Containment, Kind, MountStep};
use crate::survey::{Hidden, Terrain};

/// Without these nothing runs.
const ESSENTIAL: &[&str] = &["/usr", "/proc", "/dev", "/dev/null"];

/// Refuses the first rule that cannot be kept.
pub(super) fn check(policy: &ResolvedPolicy, terrain: &Terrain, containment: Containment) -> Result<(), LowerError> {
    for deny in &policy.deny {
        let trouble = match containment {
            Containment::Namespaces => trouble(deny, terrain),
            Containment::Landlock => weaker(deny, policy, terrain),
            // `resolve` accepts no rule there.
            Containment::Inherit => None,
        };
        if let Some((reason, help)) = trouble {
            let clause = format!("fs.deny: {}", deny.written);
            return Err(LowerError::new(&clause, &deny.origin, &reason, help));
        }
    }
    Ok(())
}

type Trouble = Option<(String, &'static str)>;

fn trouble(deny: &Deny, terrain: &Terrain) -> Trouble {
    let hides = |path: &Path| deny.target.hides(path);
    if let Some(dir) = ESSENTIAL.iter().find(|dir| hides(Path::new(dir))) {
        let reason = format!("it hides `{dir}`, without which no program runs");
        return Some((reason, "name what lies in it, or leave the rule out"));
    }
    if hides(&terrain.project) {
        let reason = "it hides the project itself";
        return Some((reason.into(), "name what in the project must stay hidden"));
    }
    if hides(&terrain.cwd) {
        let reason = "it hides the directory in which the command would run";
        return Some((reason.into(), "call `run` from another directory of the project"));
    }
    if let Some(dir) = reaches_system(deny).filter(|_| terrain.top.is_empty()) {
        let reason = format!("it also matches in `/{dir}`, where nothing is looked for that begins above it");
        let help =
            "begin it with the name of a directory, as in `/home/**/.env`; without the first `/` it means the project";
        return Some((reason, help));
    }
    let place = deny.target.place().as_path();
    if of_a_process(place) {
        let reason = "the processes in the sandbox's `/proc` are its own, and do not exist yet";
        return Some((reason.into(), "leave it out: no other process can be seen there"));
    }
    let own = ["/proc", "/dev"].iter().any(|dir| place.starts_with(dir)) && !in_private_place(place);
    if own && matches!(deny.target, DenyTarget::Glob { .. }) {
        let reason = "the sandbox has a `/proc` and a `/dev` of its own, in which no pattern can be looked for";
        return Some((reason.into(), "name the files one by one"));
    }
    let command = &terrain.command;
    let links = command.links.iter().map(|(at, _)| at);
    let needed = std::iter::once(&command.program).chain(links).chain(&command.files);
    needed.into_iter().find(|file| hides(file)).map(|file| {
        let reason = format!("the command needs `{}`, which it hides", file.display());
        (reason, "run another command, or leave the rule out")
    })
}

/// What every sandbox shows, whatever is granted: part of the host's, or made.
const SYSTEM: &[&str] = &[
    "etc", "usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "proc", "dev",
];

/// The first of those that a pattern matches in, if it begins above them. To search them all would take longer than most commands,
/// and in what the sandbox makes nobody can.
fn reaches_system(deny: &Deny) -> Option<&'static str> {
    let DenyTarget::Glob { base, pattern } = &deny.target else {
        return None;
    };
    let glob = Glob::new(pattern).ok().filter(|_| base.as_path() == Path::new("/"))?;
    let reaches = |dir: &&&str| glob.covers(Path::new(dir)) || glob.can_match_below(Path::new(dir));
    SYSTEM.iter().find(reaches).copied()
}

/// `/proc/N/…`, which is also what `/proc/self` leads to.
fn of_a_process(path: &Path) -> bool {
    let first = path
        .strip_prefix("/proc")
        .ok()
        .and_then(|rest| rest.components().next());
    first.is_some_and(|c| c.as_os_str().as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

/// Landlock adds rights downwards: inside what it shows nothing can be hidden, whether it exists yet or not.
fn weaker(deny: &Deny, policy: &ResolvedPolicy, terrain: &Terrain) -> Trouble {
    let place = deny.target.place().as_path();
    let granted = policy.grants.iter().filter(|g| g.exists).map(|g| g.path.as_path());
    let system = terrain.system.iter().map(|s| s.path.as_path());
    let command = terrain.command.files.iter().map(|file| file.as_path());
    let mut shown = granted.chain(system).chain(command).chain([Path::new("/proc")]);
    shown
        .any(|root| root.starts_with(place) || place.starts_with(root))
        .then(|| {
            let reason = "`isolation: landlock` can only grant, not hide inside what is granted";
            (reason.into(), "use `isolation: namespaces`, or leave the rule out")
        })
}

/// What has to be covered so that these paths are hidden: themselves where the sandbox shows them, else whatever of the
/// host it shows below them.
pub(super) fn in_view(hidden: &[Hidden], trees: &Trees) -> Vec<Hidden> {
    let mut list = Vec::new();
    for hidden in hidden {
        match hidden {
            Hidden::Present { path, .. } if !is_shown(path, trees) => list.extend(below(path, &trees.steps)),
            Hidden::Absent { dir, name } if !is_shown(&dir.join(name), trees) => {}
            Hidden::Present { .. } | Hidden::Absent { .. } => list.push(hidden.clone()),
        }
    }
    list
}

fn below(path: &Path, steps: &[MountStep]) -> impl Iterator<Item = Hidden> {
    steps.iter().filter_map(move |step| match step {
        MountStep::Bind { at, kind, .. } if at.starts_with(path) => Some(Hidden::Present {
            path: at.clone(),
            kind: *kind,
        }),
        MountStep::Copy { at, .. } | MountStep::File { at, .. } if at.starts_with(path) => Some(Hidden::Present {
            path: at.clone(),
            kind: Kind::File,
        }),
        MountStep::Bind { .. }
        | MountStep::Copy { .. }
        | MountStep::File { .. }
        | MountStep::Dir { .. }
        | MountStep::Symlink { .. }
        | MountStep::Private { .. }
        | MountStep::Compose { .. }
        | MountStep::Proc { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. }
        | MountStep::Protect { .. }
        | MountStep::Hide { .. } => None,
    })
}

/// Is there anything of the host's at this path in the sandbox? Hiding what is not there has no mount point.
pub(super) fn is_shown(path: &Path, trees: &Trees) -> bool {
    // What a private place lies over cannot be seen; the place itself can.
    let lies_over =
        |place: &Path, at: &Path| place != at && place.starts_with(at) && path.starts_with(place) && path != place;
    trees.steps.iter().any(|step| match step {
        MountStep::Bind { at, .. } => path.starts_with(at) && !trees.private.iter().any(|place| lies_over(place, at)),
        MountStep::Proc { at } => path.starts_with(at) && path != at,
        MountStep::Copy { at, .. } | MountStep::File { at, .. } => path == at,
        MountStep::Dir { .. }
        | MountStep::Symlink { .. }
        | MountStep::Private { .. }
        | MountStep::Compose { .. }
        | MountStep::Devpts { .. }
        | MountStep::Pin { .. }
        | MountStep::Protect { .. }
        | MountStep::Hide { .. } => false,
    })
}
