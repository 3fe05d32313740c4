//! Links that rules go by: what they lead to is covered, and looked for again whenever something on their way is another one.
//!
//! A link at a name that a pattern matches, or on the way to one, leads what the host writes by that name to where no rule is.
//! So is a denied path that was written with a link in it. INVARIANT (bounded): `MOST` of them at a time; a link beyond is hidden
//! itself, and named as not covered. INVARIANT: nothing is remembered of where one led before.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::queue::Queue;
use super::{PATIENCE, SLICE, Warden};
use crate::launch::outcome::Appeared;
use crate::plan::{Alias, MountStep, Response, SandboxPlan};
use crate::survey::links::{self, Way};
use crate::survey::search::{BEHIND_LINKS, Behind, is_too_deep, parts_of};

const MOST: usize = 8192;

/// For which rule something is followed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// One that names a path, by its clause.
    Name(String),
    /// A pattern, by its number, and the name by which that knows the link. The base itself has none.
    Pattern(usize, PathBuf),
}

/// When something is followed: what it leads to at the start was covered by the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    First,
    Later,
}

/// Where one led when it was followed last.
#[derive(Debug, Default)]
struct Lead {
    whose: BTreeSet<Whose>,
    steps: Vec<PathBuf>,
    links: Vec<PathBuf>,
    /// What is hidden for it, with the clause.
    end: Option<(PathBuf, String)>,
    /// What patterns look into for it.
    aliases: Vec<(usize, Alias)>,
}

#[derive(Debug, Default)]
pub(super) struct Leads {
    known: BTreeMap<PathBuf, Lead>,
    by_step: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    by_end: BTreeMap<PathBuf, BTreeSet<PathBuf>>,
    /// The last parts of all steps, and of how many.
    names: BTreeMap<OsString, usize>,
    due: Queue<PathBuf>,
}

impl Leads {
    /// Can this be a name on the way of one?
    pub(super) fn concern(&self, name: &OsStr) -> bool {
        self.names.contains_key(name)
    }

    /// Something is at this path now: whatever goes by it may lead elsewhere.
    pub(super) fn touch(&mut self, path: &Path) {
        for lead in self.by_step.get(path).into_iter().flatten() {
            self.due.push(lead.clone());
        }
    }

    pub(super) fn touch_all(&mut self) {
        self.known.keys().for_each(|lead| self.due.push(lead.clone()));
    }

    /// The clause by which this is hidden: something leads to it.
    pub(super) fn hides(&self, path: &Path) -> Option<&str> {
        let lead = self.known.get(self.by_end.get(path)?.first()?)?;
        lead.end.as_ref().map(|(_, clause)| clause.as_str())
    }

    /// The links by which something is hidden.
    pub(super) fn to_end(&self, path: &Path) -> impl Iterator<Item = &PathBuf> {
        let leads = self.by_end.get(path).into_iter().flatten();
        leads
            .filter_map(|lead| self.known.get(lead))
            .flat_map(|lead| &lead.links)
    }

    /// The links by which a pattern knows something under this name.
    pub(super) fn to_name(&self, pattern: usize, relative: &Path) -> impl Iterator<Item = &PathBuf> {
        let is_it = move |(number, alias): &(usize, Alias)| *number == pattern && alias.relative == relative;
        let leads = self.known.values().filter(move |lead| lead.aliases.iter().any(is_it));
        leads.flat_map(|lead| &lead.links)
    }

    pub(super) fn lie_in(&self, dir: &Path) -> bool {
        let mut below = self.known.range(dir.to_owned()..);
        below.next().is_some_and(|(lead, _)| lead.starts_with(dir))
    }

    pub(super) fn is_idle(&self) -> bool {
        self.due.is_empty()
    }

    pub(super) fn is_late(&self) -> bool {
        self.due.waited(PATIENCE)
    }

    fn has_room(&mut self) -> bool {
        if self.known.len() >= MOST {
            let is_gone = |path: &&PathBuf| links::follow(path).links.is_empty();
            let gone: Vec<PathBuf> = self.known.keys().filter(is_gone).cloned().collect();
            for path in gone {
                self.unlink(&path);
                self.known.remove(&path);
            }
        }
        self.known.len() < MOST
    }

    /// Forgets where one led. Gives back what patterns looked into for it.
    fn unlink(&mut self, path: &Path) -> Vec<(usize, Alias)> {
        let Some(lead) = self.known.get_mut(path) else {
            return Vec::new();
        };
        for step in std::mem::take(&mut lead.steps) {
            drop_from(&mut self.by_step, &step, path);
            if let Some(name) = step.file_name()
                && let Some(count) = self.names.get_mut(name)
            {
                *count -= 1;
                if *count == 0 {
                    self.names.remove(name);
                }
            }
        }
        if let Some((end, _)) = lead.end.take() {
            drop_from(&mut self.by_end, &end, path);
        }
        lead.links.clear();
        std::mem::take(&mut lead.aliases)
    }

    /// Takes note of where one leads now.
    fn link(&mut self, path: &Path, now: Lead) {
        let steps: BTreeSet<&PathBuf> = now.steps.iter().collect();
        for step in steps {
            self.by_step.entry(step.clone()).or_default().insert(path.to_owned());
        }
        for name in now.steps.iter().filter_map(|step| step.file_name()) {
            *self.names.entry(name.to_owned()).or_default() += 1;
        }
        if let Some((end, _)) = &now.end {
            self.by_end.entry(end.clone()).or_default().insert(path.to_owned());
        }
        self.known.insert(path.to_owned(), now);
    }
}

fn drop_from(map: &mut BTreeMap<PathBuf, BTreeSet<PathBuf>>, key: &Path, path: &Path) {
    if let Some(leads) = map.get_mut(key) {
        leads.remove(path);
        if leads.is_empty() {
            map.remove(key);
        }
    }
}

impl Warden {
    /// Those that were there when the run was planned.
    pub(super) fn first_leads(&mut self, plan: &SandboxPlan) {
        for way in &plan.ways {
            self.lead(&way.path, Whose::Name(way.clause.clone()));
        }
        let patterns = self.patterns.iter().enumerate();
        let leads = patterns.flat_map(|(number, pattern)| pattern.watch.leads.iter().map(move |lead| (number, lead)));
        let leads: Vec<_> = leads.map(|(number, lead)| (number, lead.clone())).collect();
        for (number, lead) in leads {
            self.lead(&lead.path, Whose::Pattern(number, lead.relative));
        }
        while let Some((path, _)) = self.leads.due.pop() {
            self.follow(&path, When::First);
        }
        let masks = plan.mounts.iter().filter(|step| matches!(step, MountStep::Hide { .. }));
        let masks: BTreeSet<&Path> = masks.map(MountStep::at).collect();
        let is_open = |end: &&PathBuf| !end.ancestors().any(|above| masks.contains(above));
        let open: Vec<PathBuf> = self.leads.by_end.keys().filter(is_open).cloned().collect();
        open.into_iter().for_each(|end| self.due.push(end));
    }

    /// A name that appeared: if it is a link by which a pattern can come to something, that is followed.
    /// False: it is not there any more, or not there yet.
    pub(super) fn meet_link(&mut self, path: &Path) -> bool {
        let numbers = 0..self.patterns.len();
        let found: Vec<Whose> = numbers.flat_map(|number| self.whose(number, path)).collect();
        if found.is_empty() {
            return true;
        }
        match path.symlink_metadata() {
            Ok(meta) if meta.is_symlink() => found.into_iter().for_each(|whose| self.lead(path, whose)),
            Ok(_) => {}
            Err(_) => return false,
        }
        true
    }

    fn whose(&self, number: usize, path: &Path) -> Vec<Whose> {
        let Some(pattern) = self.patterns.get(number) else {
            return Vec::new();
        };
        let search = pattern.search();
        let leads = |name: &PathBuf| pattern.glob.covers(name) || search.may_lead(path, name);
        let names = pattern.watch.names(path).filter(leads);
        names.map(|name| Whose::Pattern(number, name)).collect()
    }

    /// Follows a path from now on.
    pub(super) fn lead(&mut self, path: &Path, whose: Whose) {
        if !self.leads.known.contains_key(path) && !self.leads.has_room() {
            let clause = self.clause_of(&whose);
            self.extra.push((path.to_owned(), clause.clone()));
            return self.tell_open(path, &clause);
        }
        let lead = self.leads.known.entry(path.to_owned()).or_default();
        lead.whose.insert(whose);
        self.leads.due.push(path.to_owned());
    }

    fn clause_of(&self, whose: &Whose) -> String {
        match whose {
            Whose::Name(clause) => clause.clone(),
            Whose::Pattern(number, _) => {
                let pattern = self.patterns.get(*number);
                pattern.map(|pattern| pattern.watch.clause.clone()).unwrap_or_default()
            }
        }
    }

    /// A name by which a secret can come to where it can be read.
    fn tell_open(&mut self, path: &Path, clause: &str) {
        self.told(Appeared {
            path: path.to_owned(),
            clause: clause.to_owned(),
            covered: false,
        });
    }

    /// Follows as many as a part of a turn allows.
    pub(super) fn follow_leads(&mut self) {
        let end = Instant::now() + SLICE;
        while let Some((path, since)) = self.leads.due.pop() {
            self.beaten |= since.elapsed() >= PATIENCE;
            self.follow(&path, When::Later);
            if Instant::now() >= end {
                break;
            }
        }
    }

    fn follow(&mut self, path: &Path, when: When) {
        let Some(whose) = self.leads.known.get(path).map(|lead| lead.whose.clone()) else {
            return;
        };
        let before = self.leads.unlink(path);
        let way = links::follow(path);
        let mut now = Lead::default();
        for one in &whose {
            if self.apply((path, one), &way, when, &mut now) {
                now.whose.insert(one.clone());
            }
        }
        let is_gone = |(number, alias): &&(usize, Alias)| !now.aliases.iter().any(|(n, a)| n == number && a == alias);
        for (number, alias) in before.iter().filter(is_gone) {
            if let Some(pattern) = self.patterns.get_mut(*number) {
                pattern.watch.aliases.retain(|known| known != alias);
            }
        }
        if now.whose.is_empty() {
            self.leads.known.remove(path);
            return;
        }
        let shown = |at: &Path| self.roots.iter().any(|root| at.starts_with(root));
        let watched: Vec<PathBuf> = parts_of(&way).chain(way.end.clone()).filter(|at| shown(at)).collect();
        now.links = way.links.iter().filter(|at| shown(at)).cloned().collect();
        now.steps = way.steps.into_iter().filter(|at| shown(at)).collect();
        let end = now.end.as_ref().map(|(end, _)| end.clone());
        let end = end.filter(|_| when == When::Later);
        self.leads.link(path, now);
        for at in watched {
            self.watch_above(&at);
        }
        end.into_iter().for_each(|end| self.due.push(end));
    }

    /// What a rule makes of where something leads. False: it is nothing to this rule any more.
    fn apply(&mut self, (path, whose): (&Path, &Whose), way: &Way, when: When, now: &mut Lead) -> bool {
        match whose {
            Whose::Name(clause) => {
                let is_known = |end: &PathBuf| matches!(self.names.get(end), Some((Response::Hide, _)));
                if let Some(end) = way.end.as_ref().filter(|end| !is_known(end)) {
                    now.end = Some((end.clone(), clause.clone()));
                }
                true
            }
            Whose::Pattern(number, here) => {
                let is_base = here.as_os_str().is_empty();
                let Some(pattern) = self.patterns.get(*number) else {
                    return false;
                };
                // A base that was written with a link in it may have become a directory of its own.
                if way.links.is_empty() && (!is_base || path == pattern.watch.base) {
                    return is_base;
                }
                // In a circle, until one of its links is another one.
                let Some(end) = &way.end else { return true };
                let clause = pattern.watch.clause.clone();
                let search = pattern.search();
                match search.behind(end, here) {
                    Behind::Nothing => {
                        // Others' links and directories on its way may lead elsewhere by and by.
                        let may_turn = || way.links.len() > 1 || !way.turns.is_empty();
                        is_base || pattern.glob.covers(here) || (may_turn() && search.may_lead(path, here))
                    }
                    Behind::Open => {
                        if when == When::Later {
                            self.tell_open(path, &clause);
                        }
                        true
                    }
                    Behind::Hidden => {
                        now.end = Some((end.clone(), clause));
                        true
                    }
                    Behind::Searched if is_too_deep(path, here) || pattern.watch.aliases.len() > BEHIND_LINKS => {
                        self.extra.push((path.to_owned(), clause));
                        true
                    }
                    Behind::Searched => {
                        self.search_behind(*number, (end, here), when, now);
                        true
                    }
                }
            }
        }
    }

    /// What lies behind a link is looked for by its name.
    fn search_behind(&mut self, number: usize, (end, here): (&Path, &Path), when: When, now: &mut Lead) {
        let Some(pattern) = self.patterns.get_mut(number) else {
            return;
        };
        let alias = Alias {
            real: end.to_owned(),
            relative: here.to_owned(),
        };
        // There may be thousands: as bytes they are told apart soon.
        let is_elsewhere = |known: &Alias| known.real.as_os_str() != end.as_os_str();
        let says_more = |known: &Alias| is_elsewhere(known) || pattern.glob.adds(here, Some(&known.relative));
        let is_new = pattern.watch.aliases.iter().all(says_more);
        if is_new {
            pattern.watch.aliases.push(alias.clone());
        }
        now.aliases.push((number, alias));
        if (is_new || when == When::Later)
            && let Some(id) = self.watch(end)
        {
            self.unlisted.push(id);
        }
    }
}
