//! The flags of one invocation, added to a policy: the only thing that widens one.
//!
//! No syscalls; paths go through the `Host`. Only the person who typed the command fills `Flags`, never a file and never an
//! agent. A flag that a deny of the policy would make void is an error, not a silence.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use crate::anywhere::spread;
use crate::env::{EnvPattern, EnvPatternProblem};
use crate::error::{PathProblem, PolicyError};
use crate::grants::normalise;
use crate::injection::{is_injection, is_injection_prefix};
use crate::names::NamePattern;
use crate::origin::{Origin, Source};
use crate::paths::absolute;
use crate::resolve::{Host, fixed, host_path, leads_to_rules, names, replaceable_link};
use crate::resolved::{Deny, FsAccess, Grant, LeftOut, Need, Network, ResolvedPolicy};

/// What the invoking person adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flags {
    /// Relative `--read` and `--write` count from here. Absolute.
    pub cwd: PathBuf,
    pub read: Vec<OsString>,
    pub write: Vec<OsString>,
    pub net: Vec<String>,
    /// `NAME` passes, `NAME=VALUE` sets.
    pub env: Vec<OsString>,
    /// Takes the place of the policy's deadline.
    pub timeout: Option<Duration>,
}

impl Flags {
    /// No flag given.
    #[must_use]
    pub fn none(cwd: PathBuf) -> Self {
        Self {
            cwd,
            read: Vec::new(),
            write: Vec::new(),
            net: Vec::new(),
            env: Vec::new(),
            timeout: None,
        }
    }
}

/// Adds the flags. On an error the policy is unchanged.
pub fn widen(policy: &mut ResolvedPolicy, flags: &Flags, host: &dyn Host) -> Result<(), PolicyError> {
    let mut out = policy.clone();
    let mut grants = std::mem::take(&mut out.grants);
    let mut added = Vec::new();
    for path in &flags.read {
        added.push(grant(&out, flags, "--read", path, FsAccess::Read, host)?);
    }
    for path in &flags.write {
        added.push(grant(&out, flags, "--write", path, FsAccess::ReadWrite, host)?);
    }
    out.deny = spread(out.deny, &added, host.project());
    out.named.extend(names(&added));
    grants.append(&mut added);
    let (grants, replaceable) = fixed(grants);
    for grant in replaceable {
        if grant.need == Need::Preferred {
            out.left_out.push(LeftOut {
                key: grant.access.key(),
                written: grant.written,
                origin: grant.origin,
            });
            continue;
        }
        let key = match &grant.origin.source {
            Source::Flag(flag) => flag.to_string(),
            Source::Builtin(_) | Source::File(_) => grant.access.key().to_owned(),
        };
        return Err(replaceable_link(&key, grant));
    }
    out.grants = normalise(grants, out.reach());
    for name in &flags.net {
        add_name(&mut out, name)?;
    }
    for variable in &flags.env {
        add_variable(&mut out, variable)?;
    }
    if let Some(timeout) = flags.timeout {
        out.max_runtime = Some(timeout);
        out.origins.insert("max_runtime_mins".into(), Origin::flag("--timeout"));
    }
    *policy = out;
    Ok(())
}

/// Makes the project writable, because what lies there is a copy of it: `--workspace`.
pub fn widen_workspace(policy: &mut ResolvedPolicy, host: &dyn Host) -> Result<(), PolicyError> {
    let project = host.project().to_owned();
    let flags = Flags::none(project.clone());
    let mut grant = grant(
        policy,
        &flags,
        "--workspace",
        &project.into_os_string(),
        FsAccess::ReadWrite,
        host,
    )?;
    grant.why = Some("a copy of the project, which stays as it is".to_owned());
    grant.written = ".".to_owned();
    let mut grants = std::mem::take(&mut policy.grants);
    grants.push(grant);
    policy.grants = normalise(grants, policy.reach());
    Ok(())
}

fn grant(
    policy: &ResolvedPolicy,
    flags: &Flags,
    flag: &'static str,
    path: &OsString,
    access: FsAccess,
    host: &dyn Host,
) -> Result<Grant, PolicyError> {
    let (origin, written) = (Origin::flag(flag), path.to_string_lossy().into_owned());
    let problem = match path.as_bytes() {
        b"" => Some(PathProblem::Empty),
        bytes if bytes.contains(&0) => Some(PathProblem::Nul),
        _ => None,
    };
    if let Some(problem) = problem {
        return Err(PolicyError::BadPath {
            at: origin,
            key: flag.into(),
            path: written,
            problem,
        });
    }
    let home = host.home().filter(|home| home.is_absolute());
    let Some(path) = absolute(path, &flags.cwd, home) else {
        return Err(PolicyError::HomeUnknown {
            at: origin,
            key: flag.into(),
            path: written,
        });
    };
    let walk = host.walk(&path);
    // Typed, but not what was meant: the project has put a link under that name.
    let project = host.project();
    let through_the_project = walk.links.iter().any(|(at, _)| at.starts_with(project));
    if through_the_project && (!walk.path.starts_with(project) || leads_to_rules(&walk, access, project)) {
        return Err(PolicyError::FlagLeadsOut {
            at: origin,
            flag: flag.into(),
            path: written,
            leads_to: walk.path.to_string_lossy().into_owned(),
        });
    }
    let path = host_path(flag, &written, &origin, walk.path)?;
    let names = |deny: &&Deny| deny.names(path.as_path(), project);
    if let Some(deny) = policy
        .denied_by(path.as_path())
        .or_else(|| policy.deny.iter().find(names))
    {
        let (rule, deny) = (format!("fs.deny {}", deny.written), deny.origin.clone());
        return Err(PolicyError::DeniedByPolicy {
            at: origin,
            asked: format!("{flag} {written}"),
            rule,
            deny,
        });
    }
    let why = Some("asked for on the command line".to_owned());
    Ok(Grant {
        path,
        access,
        need: Need::Required,
        exists: walk.exists,
        written,
        links: walk.links,
        origin,
        why,
    })
}

fn add_name(policy: &mut ResolvedPolicy, text: &str) -> Result<(), PolicyError> {
    let origin = Origin::flag("--net");
    let name: NamePattern = text.parse().map_err(|problem| PolicyError::BadName {
        at: origin.clone(),
        key: "--net".into(),
        value: text.to_owned(),
        problem,
    })?;
    let (mut allow, deny) = match &policy.network {
        Network::Host => return Ok(()),
        Network::Off => Default::default(),
        Network::Names { allow, deny } => (allow.clone(), deny.clone()),
    };
    let void = |rule: &&String| rule.parse::<NamePattern>().is_ok_and(|rule| rule.contains(&name));
    if let Some(rule) = deny.iter().find(void) {
        let place = policy
            .origins
            .get(&format!("network.deny.{rule}"))
            .unwrap_or(&origin)
            .clone();
        let (asked, rule) = (format!("--net {text}"), format!("network.deny {rule}"));
        return Err(PolicyError::DeniedByPolicy {
            at: origin,
            asked,
            rule,
            deny: place,
        });
    }
    policy.origins.insert(format!("network.allow.{name}"), origin.clone());
    policy.origins.insert("network".into(), origin);
    allow.insert(name.to_string());
    policy.network = Network::Names { allow, deny };
    Ok(())
}

fn add_variable(policy: &mut ResolvedPolicy, text: &OsString) -> Result<(), PolicyError> {
    let (at, key) = (Origin::flag("--env"), "--env".to_owned());
    let mut halves = text.as_bytes().splitn(2, |b| *b == b'=');
    let name = String::from_utf8_lossy(halves.next().unwrap_or_default()).into_owned();
    let pattern = match EnvPattern::parse(&name) {
        Ok(pattern) => pattern,
        Err(EnvPatternProblem::Name) => return Err(PolicyError::BadEnvName { at, key, name }),
        Err(EnvPatternProblem::Star) => return Err(PolicyError::BadEnvPattern { at, key, name }),
    };
    let injection = match &pattern {
        EnvPattern::Exact(name) => is_injection(name.as_bytes()),
        EnvPattern::Prefix(prefix) => is_injection_prefix(prefix),
    };
    if injection {
        return Err(PolicyError::InjectionName { at, key, name });
    }
    let covered = |name: &String| pattern.matches(name.as_bytes());
    match (halves.next(), &pattern) {
        (Some(_), EnvPattern::Prefix(_)) => return Err(PolicyError::BadEnvPattern { at, key, name }),
        (Some(value), EnvPattern::Exact(_)) => match std::str::from_utf8(value) {
            Ok(value) if !value.contains('\0') => {
                policy.origins.insert(format!("env.set.{name}"), at);
                policy.env.withheld.remove(&name);
                policy.env.set.insert(name, value.to_owned());
            }
            Ok(_) | Err(_) => return Err(PolicyError::BadEnvValue { at, key, name }),
        },
        (None, _) => {
            policy.env.withheld.retain(|name| !covered(name));
            policy.env.set.retain(|name, _| !covered(name));
            policy.origins.insert(format!("env.allow.{pattern}"), at);
            policy.env.allow.insert(pattern);
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "widen_tests.rs"]
mod tests;
