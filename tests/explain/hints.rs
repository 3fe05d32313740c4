//! The change that a denial proposes, made: then it is allowed.

use std::path::PathBuf;

use glee_tests::{Caller, World};

use crate::ask::{Said, Use, about, explain};
use crate::chance::{Chance, rounds, seed};
use crate::policies::Draft;
use crate::terrain;

/// Several clauses may stand in the way, one behind the other.
const CHANGES: usize = 4;
const PATHS: usize = 8;
const COMMAND: [&str; 1] = ["/bin/sh"];

pub(crate) fn prove(caller: Caller) {
    let (seed, count) = (seed(), rounds(8, 40));
    let mut followed = 0;
    for round in 0..count {
        let mut chance = Chance::new(seed, round);
        let world = World::new(caller);
        terrain::fill(&world, &mut chance);
        let draft = Draft::random(&mut chance, caller);
        let places = terrain::entries(&[&world.home(), &world.outside()]);
        for usage in [Use::Read, Use::Write] {
            let paths: Vec<PathBuf> = (0..PATHS).map(|_| places[chance.below(places.len())].clone()).collect();
            let Some(answers) = ask(&world, &draft, usage, &paths) else {
                break;
            };
            for (path, answer) in paths.iter().zip(answers) {
                followed += follow(&world, &draft, usage, path, answer).unwrap_or_else(|why| {
                    panic!("seed {seed}, round {round}, {} {}: {why}", usage.name(), path.display())
                });
            }
        }
    }
    println!("as {}: {followed} hints followed (seed {seed})", caller.name());
    assert!(followed > count, "only {followed} hints in {count} rounds");
}

fn ask(world: &World, draft: &Draft, usage: Use, paths: &[PathBuf]) -> Option<Vec<Said>> {
    let policy = world.file("@OUT/../policy.yml", &world.fill(&draft.yaml()));
    explain(world, &policy, &about(usage, paths), &COMMAND)
}

/// Follows the hints until it is allowed. Returns how many there were.
fn follow(world: &World, draft: &Draft, usage: Use, path: &PathBuf, first: Said) -> Result<usize, String> {
    let mut draft = draft.clone();
    let mut answer = first;
    for step in 0..CHANGES {
        let hint = match &answer.hint {
            Some(hint) if !answer.allowed => hint.clone(),
            Some(hint) => return Err(format!("allowed, and yet a hint: {hint}")),
            None => return Ok(step),
        };
        apply(&mut draft, world, &hint)?;
        let ask = |draft: &Draft| ask(world, draft, usage, std::slice::from_ref(path));
        let mut answers = match ask(&draft) {
            Some(answers) => answers,
            // Another grant may go through a link that could now be replaced: that is refused, and it must name what is meant.
            None => without_links(&mut draft)
                .then(|| ask(&draft))
                .flatten()
                .ok_or_else(|| format!("`{hint}` makes a policy that is refused:\n{}", draft.yaml()))?,
        };
        answer = answers.remove(0);
        if answer.allowed {
            return Ok(step + 1);
        }
    }
    Err(format!("still denied: {}\n{}", answer.all, draft.yaml()))
}

/// Takes away the grants by links in the home. False if there are none.
fn without_links(draft: &mut Draft) -> bool {
    let lists = [&mut draft.read, &mut draft.write].into_iter().flatten();
    let mut found = false;
    for list in lists {
        let before = list.len();
        list.retain(|path| !path.starts_with("~/link_"));
        found |= list.len() < before;
    }
    found
}

fn apply(draft: &mut Draft, world: &World, hint: &str) -> Result<(), String> {
    let value = |rest: &str| {
        rest.trim_start_matches(['[', '"'])
            .trim_end_matches([']', '"'])
            .to_owned()
    };
    if let Some(rest) = hint.strip_prefix("fs.read: ") {
        draft.read.get_or_insert_with(|| vec![".".to_owned()]).push(value(rest));
    } else if let Some(rest) = hint.strip_prefix("fs.write: ") {
        let base = if draft.base == "workspace" {
            vec![".".to_owned()]
        } else {
            Vec::new()
        };
        draft.write.get_or_insert(base).push(value(rest));
    } else if let Some(rest) = hint.strip_prefix("unprotect: ") {
        draft.unprotect.push(value(rest));
    } else if let Some(rest) = hint.strip_prefix("remove fs.deny ") {
        let before = draft.deny.len();
        let gone = value(rest);
        draft.deny.retain(|rule| world.fill(rule) != gone);
        if draft.deny.len() == before {
            return Err(format!("no rule is `{gone}`"));
        }
    } else {
        return Err(format!("`{hint}` is no change that could be made"));
    }
    Ok(())
}
