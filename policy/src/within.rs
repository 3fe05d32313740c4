//! A part of a policy, written for a run that has one already: it takes away, and adds nothing.
//!
//! Pure. A key that is not written stays as the run has it, where a whole file's would be the base profile's. A run with
//! `mode: inherit` has nothing that could stay: there it is the base profile's too. LAW, tested: the result is never wider
//! than the run's policy.

use crate::anywhere::spread;
use crate::error::PolicyError;
use crate::exceeds::{Excess, exceeds};
use crate::grants::normalise;
use crate::layer::Library;
use crate::narrow::narrow;
use crate::policy::{NetworkRule, Policy};
use crate::resolve::{Host, resolve};
use crate::resolved::{FsAccess, Mode, Network, ResolvedPolicy};

/// What both `part` and `run` allow, and what `part` asked for beyond `run`.
pub fn within(
    part: &Policy,
    run: &ResolvedPolicy,
    library: &dyn Library,
    host: &dyn Host,
) -> Result<(ResolvedPolicy, Vec<Excess>), PolicyError> {
    let mut asked = resolve(part, library, host)?;
    if part.extends.is_none() && run.mode == Mode::Restricted {
        fill(&mut asked, part, run);
        asked.deny = spread(asked.deny, &run.grants, host.project());
    }
    let beyond = exceeds(&asked, run);
    Ok((narrow(&asked, run), beyond))
}

/// Gives every key that was not written the run's value.
fn fill(asked: &mut ResolvedPolicy, part: &Policy, run: &ResolvedPolicy) {
    let written = |access| match access {
        FsAccess::Read => part.read.is_some(),
        FsAccess::ReadWrite => part.write.is_some(),
    };
    let own = asked.grants.iter().filter(|grant| written(grant.access));
    let others = run.grants.iter().filter(|grant| !written(grant.access));
    let grants = own.chain(others).cloned().collect();
    asked.grants = normalise(grants, asked.reach());
    if part.read.is_none() && part.write.is_none() {
        asked.named.extend(run.named.iter().cloned());
    }
    asked.deny.extend(run.deny.iter().cloned());
    match &part.network {
        None => asked.network = run.network.clone(),
        Some(rule) => match (&rule.value, &mut asked.network, &run.network) {
            (
                NetworkRule::Names { allow: None, .. },
                Network::Names { allow, .. },
                Network::Names { allow: given, .. },
            ) => {
                allow.clone_from(given);
            }
            (NetworkRule::Off | NetworkRule::Host | NetworkRule::Names { .. }, _, _) => {}
        },
    }
    if let (Network::Names { deny, .. }, Network::Names { deny: given, .. }) = (&mut asked.network, &run.network) {
        deny.extend(given.iter().cloned());
    }
    if part.env_allow.is_none() {
        asked.env.allow.clone_from(&run.env.allow);
        asked.env.inherit_all = run.env.inherit_all;
        asked.env.withheld.clone_from(&run.env.withheld);
    }
    let mut set = run.env.set.clone();
    set.extend(
        part.env_set
            .iter()
            .map(|(name, value)| (name.clone(), value.value.clone())),
    );
    asked.env.set = set;
    if part.max_runtime.is_none() {
        asked.max_runtime = run.max_runtime;
    }
    let (limits, given) = (&mut asked.limits, &run.limits);
    for (own, given, written) in [
        (&mut limits.memory_mb, given.memory_mb, part.limits.memory_mb.is_some()),
        (&mut limits.pids, given.pids, part.limits.pids.is_some()),
        (
            &mut limits.cpu_millis,
            given.cpu_millis,
            part.limits.cpu_millis.is_some(),
        ),
        (
            &mut limits.open_files,
            given.open_files,
            part.limits.open_files.is_some(),
        ),
        (
            &mut limits.file_size_mb,
            given.file_size_mb,
            part.limits.file_size_mb.is_some(),
        ),
        (&mut limits.disk_mb, given.disk_mb, part.limits.disk_mb.is_some()),
        (&mut limits.output_kb, given.output_kb, part.limits.output_kb.is_some()),
    ] {
        if !written {
            *own = given;
        }
    }
    if part.isolation.is_none() {
        asked.isolation = run.isolation;
    }
    if part.backend.is_none() {
        asked.backend = run.backend;
    }
    if part.image.is_none() {
        asked.image.clone_from(&run.image);
    }
    if part.runtime.is_none() {
        asked.runtime = run.runtime;
    }
    if part.model_access.is_none() {
        asked.model_access = run.model_access;
    }
    if part.model_endpoint.is_none() {
        asked.model_endpoint.clone_from(&run.model_endpoint);
    }
    if part.key_command.is_none() {
        asked.key_command.clone_from(&run.key_command);
    }
    if part.auth.is_none() {
        asked.auth = run.auth;
    }
    if part.unprotect.is_none() {
        asked.unprotected.clone_from(&run.unprotected);
    }
}

#[cfg(test)]
#[path = "within_tests.rs"]
mod tests;
