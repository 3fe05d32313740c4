//! `extends`: one policy on top of another.
//!
//! Pure; a `Library` supplies the text of a profile. The rule, key by key, for a file and its base:
//! - an absent key takes the base's value;
//! - a present scalar, and a present list, **replaces** the base's: an empty list grants nothing, whatever the base grants;
//! - `fs.deny` and `network.deny` **accumulate**: no file can drop what its base denies;
//! - `env.set` merges by name;
//! - `extends`, `why` and `examples` belong to their own file.
//!
//! A file that extends nothing has the base `restricted`, or with `mode: inherit` the base `inherit`.
//! INVARIANT: the name of a built-in profile always means the built-in profile.

use crate::builtin;
use crate::error::{MAX_EXTENDS, PolicyError, place};
use crate::origin::{Origin, Source};
use crate::parse::{parse, parse_tokens};
use crate::policy::{Clause, LimitRules, NetworkRule, Policy};
use crate::resolved::Mode;
use crate::suggest::nearest;

/// Where profiles come from that are not built in.
pub trait Library {
    /// The source and the text of a profile, by name.
    fn profile(&self, name: &str) -> Option<(Source, String)>;

    /// Where a profile of this name would lie that cannot be read, and why.
    fn unreadable(&self, _name: &str) -> Option<(String, String)> {
        None
    }

    /// The names it knows, for "did you mean".
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A library with nothing in it: only the built-in profiles are known.
#[derive(Debug, Clone, Copy)]
pub struct NoLibrary;

impl Library for NoLibrary {
    fn profile(&self, _name: &str) -> Option<(Source, String)> {
        None
    }
}

/// A profile by name, parsed. Built-in ones come first, without their examples.
pub fn profile(name: &str, at: &Origin, library: &dyn Library) -> Result<Policy, PolicyError> {
    if let Some(text) = builtin::rules(name) {
        let source = builtin::source(name);
        return match builtin::tokens(name) {
            Some(tokens) => parse_tokens(&source, tokens),
            None => parse(&source, text),
        };
    }
    if let Some((source, text)) = library.profile(name) {
        return parse(&source, &text);
    }
    if let Some((file, problem)) = library.unreadable(name) {
        return Err(PolicyError::UnreadableProfile {
            at: at.clone(),
            name: name.to_owned(),
            file,
            problem,
        });
    }
    let known: Vec<String> = builtin::names().map(str::to_owned).chain(library.names()).collect();
    let nearest = nearest(name, known.iter().map(String::as_str)).map(str::to_owned);
    Err(PolicyError::UnknownProfile {
        at: at.clone(),
        name: name.to_owned(),
        nearest,
    })
}

/// The policy with everything that its bases say, and no base left.
pub fn flatten(policy: &Policy, library: &dyn Library) -> Result<Policy, PolicyError> {
    let mut layers = vec![policy.clone()];
    while let Some((name, at)) = layers.last().and_then(base_of) {
        let base = profile(&name, &at, library)?;
        if layers.iter().any(|layer| layer.source == base.source) {
            let chain = layers
                .iter()
                .map(|layer| &layer.source)
                .chain([&base.source])
                .map(ToString::to_string)
                .collect();
            return Err(PolicyError::ExtendsCycle { at, chain });
        }
        if layers.len() > MAX_EXTENDS {
            return Err(PolicyError::ExtendsTooDeep { at });
        }
        layers.push(base);
    }
    let mut layers = layers.into_iter().rev();
    let Some(root) = layers.next() else {
        return Ok(policy.clone());
    };
    layers.try_fold(root, over)
}

fn base_of(policy: &Policy) -> Option<(String, Origin)> {
    match &policy.extends {
        Some(clause) => Some((clause.value.clone(), clause.origin.clone())),
        None if builtin::is_root(&policy.source) => None,
        None => {
            let inherit = policy.mode.as_ref().is_some_and(|mode| mode.value == Mode::Inherit);
            let name = if inherit { builtin::INHERIT } else { builtin::RESTRICTED };
            Some((name.to_owned(), place(&policy.source, 0, 0)))
        }
    }
}

/// `child` on top of `base`.
fn over(base: Policy, child: Policy) -> Result<Policy, PolicyError> {
    let network = network_over(base.network, child.network)?;
    Ok(Policy {
        source: child.source,
        extends: child.extends,
        why: child.why,
        mode: child.mode.or(base.mode),
        read: child.read.or(base.read),
        write: child.write.or(base.write),
        read_at: child.read_at.or(base.read_at),
        write_at: child.write_at.or(base.write_at),
        deny: base.deny.into_iter().chain(child.deny).collect(),
        network,
        env_allow: child.env_allow.or(base.env_allow),
        env_set: base.env_set.into_iter().chain(child.env_set).collect(),
        max_runtime: child.max_runtime.or(base.max_runtime),
        limits: LimitRules {
            memory_mb: child.limits.memory_mb.or(base.limits.memory_mb),
            pids: child.limits.pids.or(base.limits.pids),
            cpu_millis: child.limits.cpu_millis.or(base.limits.cpu_millis),
            open_files: child.limits.open_files.or(base.limits.open_files),
            file_size_mb: child.limits.file_size_mb.or(base.limits.file_size_mb),
            disk_mb: child.limits.disk_mb.or(base.limits.disk_mb),
            output_kb: child.limits.output_kb.or(base.limits.output_kb),
        },
        isolation: child.isolation.or(base.isolation),
        backend: child.backend.or(base.backend),
        image: child.image.or(base.image),
        runtime: child.runtime.or(base.runtime),
        model_access: child.model_access.or(base.model_access),
        model_endpoint: child.model_endpoint.or(base.model_endpoint),
        key_command: child.key_command.or(base.key_command),
        auth: child.auth.or(base.auth),
        unprotect: child.unprotect.or(base.unprotect),
        examples: child.examples,
    })
}

type Network = Option<Clause<NetworkRule>>;

fn network_over(base: Network, child: Network) -> Result<Network, PolicyError> {
    let (Some(base), Some(child)) = (&base, &child) else {
        return Ok(child.or(base));
    };
    let (base_allow, base_deny) = match &base.value {
        NetworkRule::Names { allow, deny } => (allow.clone(), deny.clone()),
        NetworkRule::Off | NetworkRule::Host => (None, Vec::new()),
    };
    let value = match &child.value {
        NetworkRule::Off => NetworkRule::Off,
        NetworkRule::Host => match base_deny.first() {
            Some(deny) => {
                return Err(PolicyError::NetworkDenyLost {
                    at: child.origin.clone(),
                    base: deny.origin.clone(),
                });
            }
            None => NetworkRule::Host,
        },
        NetworkRule::Names { allow, deny } => NetworkRule::Names {
            allow: allow.clone().or(base_allow),
            deny: base_deny.into_iter().chain(deny.iter().cloned()).collect(),
        },
    };
    Ok(Some(Clause {
        value,
        origin: child.origin.clone(),
        why: child.why.clone(),
    }))
}

#[cfg(test)]
#[path = "layer_tests.rs"]
mod tests;
