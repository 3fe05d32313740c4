//! `narrow(a, b)`: what both allow.
//!
//! Pure. LAWS, property-tested on `ResolvedPolicy::meaning`: commutative, associative, idempotent, and never wider than
//! either: whatever `decide` allows under `narrow(a, b)` it allows under `a` and under `b`. Part by part:
//! - paths: at each path the lower of the two accesses; denies: of both; what is named, by both;
//! - variables: kept where both give the same answer (`env`); names: what both match, without what either denies;
//! - bounds and time: the lower, where no bound is the highest; mode, isolation, auth, model access: the tighter;
//! - opt-outs (`unprotect`): those that both have;
//! - `image`, `key_command`: kept if equal, else none. A stranger does not choose what is downloaded or run;
//! - `model_endpoint`: if they differ there is no model access at all, since either choice would send a key or a prompt
//!   where the other did not want it;
//! - `backend`: `auto` leaves the choice to the other; of two different ones the first of native, podman, docker, which is
//!   the order of how much privilege they need;
//! - `runtime`: `default` leaves the choice to the other.
//!
//! `need` (what to do where a grant is missing) is not access and has no law: of two grants of one path, required wins.

use std::collections::BTreeSet;

use crate::grants::{Cover, Reach, normalise, normalise_denies};
use crate::names::{NamePattern, joined};
use crate::resolved::{Backend, Grant, Limits, Mode, ModelAccess, Network, ResolvedPolicy};

/// The intersection of two policies.
#[must_use]
pub fn narrow(a: &ResolvedPolicy, b: &ResolvedPolicy) -> ResolvedPolicy {
    let (model_access, model_endpoint) = model(a, b);
    let name = if a.name == b.name {
        a.name.clone()
    } else {
        format!("{} ∩ {}", a.name, b.name)
    };
    let mut out = ResolvedPolicy {
        name,
        mode: a.mode.min(b.mode),
        isolation: a.isolation.min(b.isolation),
        backend: backend(a.backend, b.backend),
        grants: Vec::new(),
        named: a.named.intersection(&b.named).cloned().collect(),
        deny: normalise_denies(a.deny.iter().chain(&b.deny).cloned().collect()),
        unprotected: unprotected(a, b),
        network: network(&a.network, &b.network),
        env: a.env.narrow(&b.env),
        max_runtime: lower(a.max_runtime, b.max_runtime),
        limits: limits(&a.limits, &b.limits),
        image: if a.image == b.image { a.image.clone() } else { None },
        runtime: a.runtime.max(b.runtime),
        model_access,
        model_endpoint,
        key_command: if a.key_command == b.key_command {
            a.key_command.clone()
        } else {
            None
        },
        auth: a.auth.min(b.auth),
        origins: b.origins.clone(),
        whys: b.whys.clone(),
        left_out: a.left_out.iter().chain(&b.left_out).cloned().collect(),
    };
    out.left_out.dedup();
    out.grants = grants(a, b, out.reach());
    origins(a, b, &mut out);
    out
}

/// `mode: inherit` protects nothing, which is an opt-out of everything.
fn unprotected(a: &ResolvedPolicy, b: &ResolvedPolicy) -> BTreeSet<String> {
    match (a.mode, b.mode) {
        (Mode::Inherit, Mode::Restricted) => b.unprotected.clone(),
        (Mode::Restricted, Mode::Inherit) => a.unprotected.clone(),
        (Mode::Restricted, Mode::Restricted) | (Mode::Inherit, Mode::Inherit) => {
            a.unprotected.intersection(&b.unprotected).cloned().collect()
        }
    }
}

/// The lower bound, where `None` is no bound.
fn lower<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

fn limits(a: &Limits, b: &Limits) -> Limits {
    Limits {
        memory_mb: lower(a.memory_mb, b.memory_mb),
        pids: lower(a.pids, b.pids),
        cpu_millis: lower(a.cpu_millis, b.cpu_millis),
        open_files: lower(a.open_files, b.open_files),
        file_size_mb: lower(a.file_size_mb, b.file_size_mb),
        disk_mb: lower(a.disk_mb, b.disk_mb),
        output_kb: lower(a.output_kb, b.output_kb),
    }
}

fn backend(a: Backend, b: Backend) -> Backend {
    match (a, b) {
        (Backend::Auto, other) | (other, Backend::Auto) => other,
        (Backend::Native | Backend::Podman | Backend::Docker, Backend::Native | Backend::Podman | Backend::Docker) => {
            a.min(b)
        }
    }
}

fn model(a: &ResolvedPolicy, b: &ResolvedPolicy) -> (ModelAccess, Option<String>) {
    let both = a.model_access == ModelAccess::Auto && b.model_access == ModelAccess::Auto;
    if both && a.model_endpoint == b.model_endpoint {
        (ModelAccess::Auto, a.model_endpoint.clone())
    } else {
        (ModelAccess::None, None)
    }
}

fn grants(a: &ResolvedPolicy, b: &ResolvedPolicy, reach: Reach) -> Vec<Grant> {
    let (cover_a, cover_b) = (Cover::new(a), Cover::new(b));
    let mut out = Vec::new();
    for grant in a.grants.iter().chain(&b.grants) {
        let path = grant.path.as_path();
        let (Some(in_a), Some(in_b)) = (cover_a.access(path), cover_b.access(path)) else {
            continue;
        };
        // The words of the side that decides; where that is another path's clause, this path's own.
        let limiting = if in_a <= in_b {
            cover_a.exact(path)
        } else {
            cover_b.exact(path)
        };
        let need = grant.need.max(limiting.map_or(grant.need, |other| other.need));
        out.push(Grant {
            access: in_a.min(in_b),
            need,
            ..limiting.unwrap_or(grant).clone()
        });
    }
    normalise(out, reach)
}

fn network(a: &Network, b: &Network) -> Network {
    match (a, b) {
        (Network::Off, _) | (_, Network::Off) => Network::Off,
        (Network::Host, other) | (other, Network::Host) => names(other, other),
        (Network::Names { .. }, Network::Names { .. }) => names(a, b),
    }
}

fn names(a: &Network, b: &Network) -> Network {
    let (
        Network::Names {
            allow: allow_a,
            deny: deny_a,
        },
        Network::Names {
            allow: allow_b,
            deny: deny_b,
        },
    ) = (a, b)
    else {
        return a.clone();
    };
    let (left, right) = (patterns(allow_a), patterns(allow_b));
    let met: BTreeSet<NamePattern> = left
        .iter()
        .flat_map(|a| right.iter().filter_map(|b| a.meet(b)))
        .collect();
    let allow = widest(&met);
    if allow.is_empty() {
        return Network::Off;
    }
    Network::Names {
        allow,
        deny: deny_a.union(deny_b).cloned().collect(),
    }
}

/// What rules allow, each with its port. What cannot be read allows nothing.
pub(crate) fn patterns(texts: &BTreeSet<String>) -> Vec<NamePattern> {
    let read = texts.iter().filter_map(|text| text.parse::<NamePattern>().ok());
    read.flat_map(|pattern| pattern.allowed()).collect()
}

/// Without the patterns that lie within another.
pub(crate) fn widest(patterns: &BTreeSet<NamePattern>) -> BTreeSet<String> {
    let within = |p: &NamePattern| patterns.iter().any(|other| other != p && other.contains(p));
    let widest = patterns.iter().filter(|p| !within(p)).cloned().collect();
    joined(&widest).iter().map(ToString::to_string).collect()
}

/// Each clause keeps the place of the side whose value it has.
fn origins(a: &ResolvedPolicy, b: &ResolvedPolicy, out: &mut ResolvedPolicy) {
    let from_a = [
        ("mode", out.mode == a.mode),
        ("isolation", out.isolation == a.isolation),
        ("backend", out.backend == a.backend),
        ("network", out.network == a.network),
        ("max_runtime_mins", out.max_runtime == a.max_runtime),
        ("limits.memory_mb", out.limits.memory_mb == a.limits.memory_mb),
        ("limits.pids", out.limits.pids == a.limits.pids),
        ("limits.cpus", out.limits.cpu_millis == a.limits.cpu_millis),
        ("limits.open_files", out.limits.open_files == a.limits.open_files),
        ("limits.file_size_mb", out.limits.file_size_mb == a.limits.file_size_mb),
        ("limits.disk_mb", out.limits.disk_mb == a.limits.disk_mb),
        ("limits.output_kb", out.limits.output_kb == a.limits.output_kb),
        ("image", out.image == a.image),
        ("runtime", out.runtime == a.runtime),
        ("model_access", out.model_access == a.model_access),
        ("model_endpoint", out.model_endpoint == a.model_endpoint),
        ("key_command", out.key_command == a.key_command),
        ("auth", out.auth == a.auth),
    ];
    for (key, origin) in &a.origins {
        let scalar = from_a.iter().find(|(name, _)| name == key);
        if scalar.is_none_or(|(_, wins)| *wins) || !b.origins.contains_key(key) {
            out.origins.insert(key.clone(), origin.clone());
        }
    }
    for (key, why) in &a.whys {
        out.whys.entry(key.clone()).or_insert_with(|| why.clone());
    }
}

#[cfg(test)]
#[path = "narrow_tests.rs"]
mod tests;
