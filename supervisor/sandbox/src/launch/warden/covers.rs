//! Which names must be covered, and covering them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use glee_policy::set_aside;

use super::tree::At;
use super::{Named, PATIENCE, Pattern, SLICE, Warden};
use crate::launch::inside::Tries;
use crate::launch::outcome::Appeared;
use crate::plan::Response;

/// Events that are remembered.
const MOST: usize = 1000;

/// Covers that one process is made for.
const AT_ONCE: usize = 64;

/// A name that has waited for so long lies where things move.
const RESTLESS: Duration = Duration::from_millis(10);

/// A directory that moves after so long has not been moving all the time.
const CALM: Duration = Duration::from_secs(1);

/// Names that could not be covered. If their directory has moved, they may be there still.
pub(super) type Failed = BTreeMap<Named, Failure>;

#[derive(Debug)]
pub(super) struct Failure {
    since: Instant,
    last: Instant,
    /// Where the directory was then.
    stamp: u64,
}

/// What is to be covered, how, and because of which clause.
type Rule = (PathBuf, Response, String);

/// A cover that is to be made.
struct Task {
    path: PathBuf,
    response: Response,
    clause: String,
    since: Instant,
    /// Which name it is for, and where its directory was.
    named: Option<(Named, u64)>,
}

impl Task {
    fn of((path, response, clause): Rule, since: Instant, named: Option<(Named, u64)>) -> Self {
        Self {
            path,
            response,
            clause,
            since,
            named,
        }
    }
}

impl Warden {
    /// Can a rule be about this name, wherever it lies?
    pub(super) fn may_concern(&self, name: &OsStr) -> bool {
        let concerns = |pattern: &Pattern| {
            let is_link_of = || pattern.search().is_open() || pattern.glob.passes(name);
            pattern.glob.can_end_in(name) || is_link_of()
        };
        let by_name = self.ends.contains(name) || set_aside::is_one(name);
        by_name || self.leads.concern(name) || self.patterns.iter().any(concerns)
    }

    /// Covers names that appeared, as many as a part of a turn allows.
    pub(super) fn cover_fresh(&mut self) {
        self.try_again();
        let end = Instant::now() + SLICE;
        let mut tasks = Vec::new();
        while tasks.len() < AT_ONCE && Instant::now() < end {
            let Some(((path, clause), since)) = self.extra.pop() else {
                break;
            };
            let rule = (path, Response::Hide, clause);
            tasks.push(Task::of(rule, since, None));
        }
        while tasks.len() < AT_ONCE && Instant::now() < end {
            let Some((path, since)) = self.due.pop() else { break };
            if path.symlink_metadata().is_ok() {
                tasks.extend(self.judge(&path).into_iter().map(|rule| Task::of(rule, since, None)));
            }
        }
        for _ in 0..self.fresh.len() {
            if tasks.len() >= AT_ONCE || Instant::now() >= end {
                break;
            }
            let Some((named, since)) = self.fresh.pop() else { break };
            match self.tree.at(named.0) {
                At::Path(_) => {}
                At::Unknown => {
                    self.fresh.push_since(named, since);
                    continue;
                }
                At::Forgotten => continue,
            }
            let stamp = self.tree.stamp(named.0);
            let paths = self.paths(named.0, &named.1);
            let mut is_there = true;
            for path in &paths {
                self.leads.touch(path);
                is_there &= self.meet_link(path);
            }
            if !is_there && self.failed.len() < MOST {
                let last = Instant::now();
                self.failed.insert(named.clone(), Failure { since, last, stamp });
            }
            let paths = paths.into_iter();
            let rules = paths.flat_map(|path| self.judge(&path));
            tasks.extend(rules.map(|rule| Task::of(rule, since, Some((named.clone(), stamp)))));
        }
        if !tasks.is_empty() {
            self.cover(tasks);
        }
    }

    fn cover(&mut self, tasks: Vec<Task>) {
        // A second name for a file is a way round its cover, whoever made it.
        let has_other_names = |task: &Task| {
            let meta = std::fs::symlink_metadata(&task.path);
            task.response != Response::Hold && meta.is_ok_and(|meta| meta.is_file() && meta.nlink() > 1)
        };
        let other_names: Vec<bool> = tasks.iter().map(has_other_names).collect();
        let tries = |task: &Task| match task.since.elapsed() < RESTLESS {
            true => Tries::Once,
            false => Tries::Often,
        };
        let wanted = tasks
            .iter()
            .map(|task| (task.path.as_path(), task.response, tries(task)));
        let wanted: Vec<(&Path, Response, Tries)> = wanted.collect();
        let covered = self.namespaces.cover(&wanted, Instant::now() + SLICE);
        // Without a process none was tried.
        let mut covered = covered.unwrap_or_default().into_iter();
        for (task, other_names) in tasks.into_iter().zip(other_names) {
            self.beaten |= task.since.elapsed() >= PATIENCE;
            let Some(done) = covered.next() else {
                self.put_back(task);
                continue;
            };
            if let Err(error) = &done {
                // The namespace holds no mount more.
                self.beaten |= error.raw_os_error() == Some(libc::ENOSPC);
            }
            if task.response != Response::Hold {
                self.tell(&task, done.is_ok() && !other_names);
            }
            if let (Err(_), Some((named, stamp))) = (done, task.named)
                && self.failed.len() < MOST
            {
                let (since, last) = (task.since, Instant::now());
                self.failed.insert(named, Failure { since, last, stamp });
            }
        }
    }

    fn put_back(&mut self, task: Task) {
        match task.named {
            Some((named, _)) => self.fresh.push_since(named, task.since),
            None if task.response == Response::Hide => self.extra.push_since((task.path, task.clause), task.since),
            None => self.due.push_since(task.path, task.since),
        }
    }

    /// A name whose directory moved while it was to be covered.
    fn try_again(&mut self) {
        let tree = &self.tree;
        let moved = self
            .failed
            .extract_if(.., |(dir, _), failure| tree.stamp(*dir) != failure.stamp);
        for (named, failure) in moved {
            let is_going_on = failure.last.elapsed() < CALM;
            let since = if is_going_on { failure.since } else { Instant::now() };
            self.fresh.push_since(named, since);
        }
    }

    /// Is what has this name hidden, and all that lies in it?
    pub(super) fn is_hidden(&self, full: &Path) -> bool {
        let by_name = matches!(self.rule_of(full), Some((Response::Hide, _)));
        by_name || self.leads.hides(full).is_some() || self.pattern_of(full).is_some()
    }

    fn pattern_of(&self, full: &Path) -> Option<(usize, &Pattern)> {
        let hides =
            |(_, pattern): &(usize, &Pattern)| pattern.watch.names(full).any(|name| pattern.glob.matches(&name));
        self.patterns.iter().enumerate().find(hides)
    }

    /// What is to be covered since this name is there, and the links without which nothing would hide it.
    fn judge(&self, full: &Path) -> Vec<Rule> {
        let hide = |clause: &str| (full.to_owned(), Response::Hide, clause.to_owned());
        let hold = |clause: &str, link: &PathBuf| (link.clone(), Response::Hold, clause.to_owned());
        let named = self.rule_of(full);
        if let Some((Response::Hide, clause)) = named {
            return vec![hide(clause)];
        }
        if let Some((number, pattern)) = self.pattern_of(full) {
            let clause = pattern.watch.clause.as_str();
            let own = full.strip_prefix(&pattern.watch.base);
            if own.is_ok_and(|own| pattern.glob.matches(own)) {
                return vec![hide(clause)];
            }
            let aliases = pattern
                .watch
                .aliases
                .iter()
                .filter(|alias| full.starts_with(&alias.real));
            let links = aliases.flat_map(|alias| self.leads.to_name(number, &alias.relative));
            return links.map(|link| hold(clause, link)).chain([hide(clause)]).collect();
        }
        let Some(clause) = self.leads.hides(full) else {
            let kept = named.map(|(response, clause)| (full.to_owned(), *response, clause.clone()));
            return kept.into_iter().collect();
        };
        let links = self.leads.to_end(full).filter(|link| !self.is_hidden(link));
        links.map(|link| hold(clause, link)).chain([hide(clause)]).collect()
    }

    fn tell(&mut self, task: &Task, covered: bool) {
        self.told(Appeared {
            path: task.path.clone(),
            clause: task.clause.clone(),
            covered,
        });
    }

    /// For the report.
    pub(super) fn told(&mut self, appeared: Appeared) {
        let is_told = |known: &Appeared| known.path == appeared.path && known.covered == appeared.covered;
        if self.appeared.len() < MOST && !self.appeared.iter().any(is_told) {
            self.appeared.push(appeared);
        }
    }
}
