//! What the end of another run sets aside while this one works: the rules hide it under its new name.
//!
//! INVARIANT (no state): a name tells by itself what it stands for, so whoever makes many of them fills no memory here.

use std::path::{Path, PathBuf};

use glee_policy::set_aside;

use super::Warden;
use crate::plan::Response;
use crate::survey::aside::Aside;

impl Warden {
    /// The rule for this very name, or for one that was set aside under it.
    pub(super) fn rule_of(&self, full: &Path) -> Option<&(Response, String)> {
        let stands_for = |(name, (response, _)): &(&PathBuf, &(Response, String))| {
            let below = set_aside::below(full, name);
            *response == Response::Hide && below.is_some_and(|rest| rest.as_os_str().is_empty())
        };
        let aside = || set_aside::is_in(full).then(|| self.names.iter().find(stands_for));
        let own = self.names.get(full);
        own.filter(|(response, _)| *response == Response::Hide)
            .or_else(|| aside().flatten().map(|(_, rule)| rule))
            .or(own)
    }

    /// What of the rules lies in a directory that was set aside.
    pub(super) fn look_for_aside(&mut self, dir: &Path) {
        if !set_aside::is_in(dir) {
            return;
        }
        let here =
            |way: &Path| set_aside::left(way, dir).map(|rest| dir.components().chain(rest.components()).collect());
        let names = self
            .names
            .iter()
            .filter(|(_, (response, _))| *response == Response::Hide);
        let names: Vec<PathBuf> = names.filter_map(|(name, _)| here(name)).collect();
        let bases = self.patterns.iter().filter_map(|pattern| here(&pattern.watch.base));
        let bases: Vec<PathBuf> = bases.collect();
        self.look_at(names, &bases);
    }

    /// What was set aside while changes were lost.
    pub(super) fn look_for_all_aside(&mut self) {
        let mut aside = Aside::default();
        let mut forms = |way: &Path, roots: &[PathBuf]| -> Vec<PathBuf> {
            roots.iter().flat_map(|root| aside.forms(way, root)).collect()
        };
        let names = self
            .names
            .iter()
            .filter(|(_, (response, _))| *response == Response::Hide);
        let names: Vec<PathBuf> = names.flat_map(|(name, _)| forms(name, &self.roots)).collect();
        let bases = self.patterns.iter().map(|pattern| &pattern.watch.base);
        let bases: Vec<PathBuf> = bases.flat_map(|base| forms(base, &self.roots)).collect();
        self.look_at(names, &bases);
    }
}
