//! A policy on this machine: bases merged, paths absolute and free of symlinks.
//!
//! No syscalls of its own: what it must know comes from a `Host`. Relative paths count from the project, `~` is the caller's
//! home, and a pattern without a slash (`*.pem`) is anchored at the project's root: write `**/*.pem` for every depth, there
//! and in what else is granted (`anywhere`).
//! A denied symlink is denied where it leads. A path that does not exist is kept, marked so: the plan refuses or omits it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::anywhere::spread;
use crate::error::{PathProblem, PolicyError, place};
use crate::glob;
use crate::grants::{Cover, normalise};
use crate::layer::{Library, flatten};
use crate::names::NamePattern;
use crate::origin::{Origin, Source};
use crate::paths::absolute;
use crate::policy::{Clause, NetworkRule, PathRule, Policy};
use crate::resolved::{
    Deny, DenyTarget, EnvRules, FsAccess, Grant, HostPath, LeftOut, Limits, Mode, Need, Network, ResolvedPolicy,
};

/// What a policy must know of the machine.
pub trait Host {
    /// The project's directory: absolute, canonical.
    fn project(&self) -> &Path;
    /// The caller's home, if known. One that is not absolute counts as unknown.
    fn home(&self) -> Option<&Path>;
    /// Follows the symlinks of an absolute path without `..`.
    fn walk(&self, path: &Path) -> Walk;
}

/// Where a path leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Free of symlinks as far as it exists; the rest is appended.
    pub path: PathBuf,
    pub exists: bool,
    /// (where a link lies, what it says), in the order met.
    pub links: Vec<(PathBuf, PathBuf)>,
}

/// Merges the policy with its bases and resolves it on `host`.
pub fn resolve(policy: &Policy, library: &dyn Library, host: &dyn Host) -> Result<ResolvedPolicy, PolicyError> {
    let flat = flatten(policy, library)?;
    let name = match &policy.source {
        Source::Builtin(name) | Source::File(name) => name.to_string(),
        Source::Flag(name) => (*name).to_owned(),
    };
    let mut out = ResolvedPolicy::nothing(&name);
    scalars(&flat, &mut out)?;
    env(&flat, &mut out);
    out.network = network(&flat, &mut out)?;
    let mut grants = Vec::new();
    for (key, access, rules) in [
        ("fs.read", FsAccess::Read, &flat.read),
        ("fs.write", FsAccess::ReadWrite, &flat.write),
    ] {
        for rule in rules.as_ref().ok_or_else(|| incomplete(&flat, key))? {
            match grant(key, access, rule, host)? {
                Some(grant) => grants.push(grant),
                None => out.left_out.push(left_out(key, rule)),
            }
        }
    }
    let (grants, replaceable) = fixed(grants);
    for grant in replaceable {
        let key = grant.access.key();
        match grant.need {
            Need::Preferred => out.left_out.push(LeftOut {
                key,
                written: grant.written,
                origin: grant.origin,
            }),
            Need::Required => return Err(replaceable_link(key, grant)),
        }
    }
    let mut denies = Vec::new();
    for rule in &flat.deny {
        match deny(rule, host)? {
            Some(deny) => denies.push(deny),
            None => out.left_out.push(left_out("fs.deny", rule)),
        }
    }
    out.deny = spread(denies, &grants, host.project());
    out.named = names(&grants).collect();
    out.grants = normalise(grants, out.reach());
    if out.mode == Mode::Inherit {
        inherit_is_whole(&flat, &out)?;
    }
    Ok(out)
}

fn incomplete(policy: &Policy, key: &'static str) -> PolicyError {
    PolicyError::Incomplete {
        at: place(&policy.source, 0, 0),
        key,
    }
}

fn left_out(key: &'static str, rule: &PathRule) -> LeftOut {
    LeftOut {
        key,
        written: rule.written.clone(),
        origin: rule.origin.clone(),
    }
}

fn scalars(flat: &Policy, out: &mut ResolvedPolicy) -> Result<(), PolicyError> {
    macro_rules! take {
        ($key:literal, $clause:expr) => {{
            let clause = $clause.as_ref().ok_or_else(|| incomplete(flat, $key))?;
            out.origins.insert($key.to_owned(), clause.origin.clone());
            clause.value.clone()
        }};
    }
    out.mode = take!("mode", flat.mode);
    out.isolation = take!("isolation", flat.isolation);
    out.backend = take!("backend", flat.backend);
    out.max_runtime = take!("max_runtime_mins", flat.max_runtime);
    out.limits = Limits {
        memory_mb: take!("limits.memory_mb", flat.limits.memory_mb),
        pids: take!("limits.pids", flat.limits.pids),
        cpu_millis: take!("limits.cpus", flat.limits.cpu_millis),
        open_files: take!("limits.open_files", flat.limits.open_files),
        file_size_mb: take!("limits.file_size_mb", flat.limits.file_size_mb),
        disk_mb: take!("limits.disk_mb", flat.limits.disk_mb),
        output_kb: take!("limits.output_kb", flat.limits.output_kb),
    };
    out.image = take!("image", flat.image);
    out.runtime = take!("runtime", flat.runtime);
    out.key_command = take!("key_command", flat.key_command);
    out.model_access = take!("model_access", flat.model_access);
    out.model_endpoint = take!("model_endpoint", flat.model_endpoint);
    out.auth = take!("auth", flat.auth);
    for clause in flat.unprotect.iter().flatten() {
        note(out, format!("unprotect.{}", clause.value), clause);
        out.unprotected.insert(clause.value.clone());
    }
    Ok(())
}

fn note<T>(out: &mut ResolvedPolicy, key: String, clause: &Clause<T>) {
    if let Some(why) = &clause.why {
        out.whys.insert(key.clone(), why.clone());
    }
    out.origins.insert(key, clause.origin.clone());
}

/// Under `mode: inherit` an absent list is everything; elsewhere it is nothing.
fn env(flat: &Policy, out: &mut ResolvedPolicy) {
    let mut rules = EnvRules::nothing();
    rules.inherit_all = out.mode == Mode::Inherit && flat.env_allow.is_none();
    for clause in flat.env_allow.iter().flatten() {
        note(out, format!("env.allow.{}", clause.value), clause);
        rules.allow.insert(clause.value.clone());
    }
    for (name, clause) in &flat.env_set {
        note(out, format!("env.set.{name}"), clause);
        rules.set.insert(name.clone(), clause.value.clone());
    }
    out.env = rules;
}

fn network(flat: &Policy, out: &mut ResolvedPolicy) -> Result<Network, PolicyError> {
    let clause = flat.network.as_ref().ok_or_else(|| incomplete(flat, "network"))?;
    note(out, "network".to_owned(), clause);
    let (allow, deny) = match &clause.value {
        NetworkRule::Off => return Ok(Network::Off),
        NetworkRule::Host => return Ok(Network::Host),
        NetworkRule::Names { allow, deny } => (allow.as_deref().unwrap_or_default(), deny),
    };
    let mut names = |key: &str, clauses: &[Clause<NamePattern>]| -> BTreeSet<String> {
        for clause in clauses {
            note(out, format!("network.{key}.{}", clause.value), clause);
        }
        clauses.iter().map(|clause| clause.value.to_string()).collect()
    };
    let (allow, deny) = (names("allow", allow), names("deny", deny));
    // No name allowed is no network.
    Ok(if allow.is_empty() {
        Network::Off
    } else {
        Network::Names { allow, deny }
    })
}

/// `None` for a preferred rule whose `~` is unknown.
fn locate(key: &str, rule: &PathRule, written: &str, host: &dyn Host) -> Result<Option<Walk>, PolicyError> {
    let home = host.home().filter(|home| home.is_absolute());
    match (absolute(OsStr::new(written), host.project(), home), rule.need) {
        (Some(path), _) => Ok(Some(host.walk(&path))),
        (None, Need::Preferred) => Ok(None),
        (None, Need::Required) => Err(PolicyError::HomeUnknown {
            at: rule.origin.clone(),
            key: key.to_owned(),
            path: rule.written.clone(),
        }),
    }
}

pub(crate) fn host_path(key: &str, written: &str, origin: &Origin, path: PathBuf) -> Result<HostPath, PolicyError> {
    HostPath::new(path.components().collect()).ok_or_else(|| PolicyError::BadPath {
        at: origin.clone(),
        key: key.to_owned(),
        path: written.to_owned(),
        problem: PathProblem::NotAbsolute,
    })
}

/// Does a path in the project end outside it? Whoever made the link would choose what is granted.
fn leads_out(rule: &PathRule, walk: &Walk, host: &dyn Host) -> bool {
    let home = host.home().filter(|home| home.is_absolute());
    let project = host.project();
    absolute(OsStr::new(&rule.written), project, home)
        .is_some_and(|path| path.starts_with(project) && !walk.path.starts_with(project))
}

/// Does a link in the project make a grant for writing one of a hidden name there, or of the whole? Hooks, settings of editors and
/// agents, and start-up files have such names: who means one of them writes it.
pub(crate) fn leads_to_rules(walk: &Walk, access: FsAccess, project: &Path) -> bool {
    let by_link = walk.links.iter().any(|(at, _)| at.starts_with(project));
    let hidden = |inside: &Path| {
        let mut names = inside.components().map(|part| part.as_os_str().as_encoded_bytes());
        inside.as_os_str().is_empty() || names.any(|name| name.starts_with(b"."))
    };
    access == FsAccess::ReadWrite && by_link && walk.path.strip_prefix(project).is_ok_and(hidden)
}

/// Grants whose path no command can lead elsewhere, and the others: a link on the way lies in what a grant lets it write,
/// and ends outside of that. The next run would grant whatever the link then says.
pub(crate) fn fixed(grants: Vec<Grant>) -> (Vec<Grant>, Vec<Grant>) {
    let writable: Vec<PathBuf> = grants
        .iter()
        .filter(|grant| grant.access == FsAccess::ReadWrite && grant.exists)
        .map(|grant| grant.path.as_path().to_owned())
        .collect();
    let replaceable = |grant: &Grant| {
        let inside = |tree: &&PathBuf| grant.links.iter().any(|(at, _)| at.starts_with(tree));
        writable
            .iter()
            .filter(inside)
            .any(|tree| !grant.path.as_path().starts_with(tree))
    };
    let (bad, good) = grants.into_iter().partition(replaceable);
    (good, bad)
}

/// The paths that were granted.
pub(crate) fn names(grants: &[Grant]) -> impl Iterator<Item = PathBuf> {
    grants.iter().map(|grant| grant.path.as_path().to_owned())
}

pub(crate) fn replaceable_link(key: &str, grant: Grant) -> PolicyError {
    PolicyError::BadPath {
        at: grant.origin,
        key: key.to_owned(),
        path: grant.written,
        problem: PathProblem::Replaceable,
    }
}

fn grant(key: &str, access: FsAccess, rule: &PathRule, host: &dyn Host) -> Result<Option<Grant>, PolicyError> {
    let Some(walk) = locate(key, rule, &rule.written, host)? else {
        return Ok(None);
    };
    let problem = if leads_out(rule, &walk, host) {
        Some(PathProblem::LeadsOut)
    } else {
        leads_to_rules(&walk, access, host.project()).then_some(PathProblem::LeadsToRules)
    };
    if let Some(problem) = problem {
        return match rule.need {
            Need::Preferred => Ok(None),
            Need::Required => Err(PolicyError::BadPath {
                at: rule.origin.clone(),
                key: key.to_owned(),
                path: rule.written.clone(),
                problem,
            }),
        };
    }
    Ok(Some(Grant {
        path: host_path(key, &rule.written, &rule.origin, walk.path)?,
        access,
        need: rule.need,
        exists: walk.exists,
        written: rule.written.clone(),
        links: walk.links,
        origin: rule.origin.clone(),
        why: rule.why.clone(),
    }))
}

fn deny(rule: &PathRule, host: &dyn Host) -> Result<Option<Deny>, PolicyError> {
    let key = "fs.deny";
    let bad = |problem| PolicyError::BadGlob {
        at: rule.origin.clone(),
        key: key.to_owned(),
        pattern: rule.written.clone(),
        problem,
    };
    let (base, pattern) = if glob::is_pattern(&rule.written) {
        let (base, rest) = glob::split(&rule.written).map_err(bad)?;
        (base, Some(rest.trim_end_matches('/').to_owned()))
    } else {
        (glob::unescape(&rule.written).map_err(bad)?, None)
    };
    let Some(walk) = locate(key, rule, &base, host)? else {
        return Ok(None);
    };
    let home = host.home().filter(|home| home.is_absolute());
    let ways = absolute(OsStr::new(&base), host.project(), home).into_iter().collect();
    let base = host_path(key, &rule.written, &rule.origin, walk.path)?;
    let target = match pattern {
        Some(pattern) => DenyTarget::Glob { base, pattern },
        None => DenyTarget::Literal(base),
    };
    Ok(Some(Deny {
        target,
        written: rule.written.clone(),
        ways,
        origin: rule.origin.clone(),
        why: rule.why.clone(),
    }))
}

/// `mode: inherit` sets up no filesystem, no network and no isolation of its own, so it must not pretend to.
fn inherit_is_whole(flat: &Policy, out: &ResolvedPolicy) -> Result<(), PolicyError> {
    // What a built-in base says is not the author's to remove; the mode is.
    let written = |at: &&Origin| !matches!(at.source, Source::Builtin(_));
    let refuse = |clause, at: Option<&Origin>| {
        let at = at.filter(written).or(flat.mode.as_ref().map(|mode| &mode.origin));
        let at = at.cloned().unwrap_or_else(|| place(&flat.source, 0, 0));
        Err(PolicyError::InheritCannotEnforce { at, clause })
    };
    if let Some(deny) = out.deny.first() {
        return refuse("fs.deny", Some(&deny.origin));
    }
    if Cover::new(out).access(Path::new("/")) != Some(FsAccess::ReadWrite) {
        return refuse("fs", flat.write_at.as_ref());
    }
    // What may be written may be read: a list of less would say nothing.
    let everything = |rules: &Vec<PathRule>| rules.iter().any(|rule| rule.written == "/");
    if let Some(at) = flat.read_at.as_ref().filter(written)
        && !flat.read.as_ref().is_some_and(everything)
    {
        return refuse("fs.read", Some(at));
    }
    if out.network != Network::Host {
        return refuse("network", out.origins.get("network"));
    }
    match out.origins.get("isolation").filter(written) {
        Some(at) => refuse("isolation", Some(at)),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
