//! `runs diff`, `apply` and `discard`: what a run left in a copy of its project.
//!
//! INVARIANT: names and contents come from inside a sandbox; each line is made visible before it is printed.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use glee_engine::definitions::diff::unified;
use glee_engine::project::Scene;
use glee_engine::text::visible;
use glee_engine::workspaces::apply::{self, Applied, ApplyError, judge};
use glee_engine::workspaces::{Change, FindError, Held, HoldError, Kept, Node, find};
use glee_sandbox::launch::Verdict;
use glee_sandbox::sys::path::read_file;
use serde::Serialize;

use crate::print::{self, Paint};

/// A longer text is not compared line by line.
const LONGEST: usize = 1 << 20;

fn found(given: &str, project: Option<&Path>) -> Result<(Kept, Scene), i32> {
    let scene = Scene::find(project).map_err(|error| {
        print::error(&error.to_string(), Some("name a directory"));
        1
    })?;
    let kept = find(given, &scene.project).map_err(|error: FindError| {
        print::error(&visible(&error.to_string()), Some(error.help()));
        1
    })?;
    Ok((kept, scene))
}

/// Shows what changed.
pub(crate) fn diff(given: &str, project: Option<&Path>, names: bool, json: bool) -> i32 {
    let kept = match found(given, project) {
        Ok((kept, _)) => kept,
        Err(status) => return status,
    };
    if json {
        return print::json(&kept.harvest, 0);
    }
    let mut out = list(&kept);
    if !names {
        for change in &kept.harvest.changes {
            out.push_str(&text(&kept, change));
        }
    }
    print::bytes(out.as_bytes(), 0)
}

fn list(kept: &Kept) -> String {
    let harvest = &kept.harvest;
    let mut out = String::new();
    let objects = harvest.changes.iter().filter(|change| is_object(kept, change)).count();
    let listed = harvest.changes.iter().filter(|change| !is_object(kept, change));
    let (first, rest): (Vec<&Change>, Vec<&Change>) = listed.partition(|change| executes(kept, change).is_some());
    for change in first.into_iter().chain(rest) {
        let path = shown(&harvest.known_as(change));
        let _ = write!(out, "{} {path}", change.word());
        if let Some(Node::Symlink { target }) = &change.now {
            let _ = write!(out, " -> {}", visible(&target.as_path().to_string_lossy()));
        }
        if let Some(reason) = executes(kept, change) {
            let _ = write!(out, "  {}", Paint::Doubtful.out(&format!("! {reason}")));
        }
        if change.unsettled {
            let _ = write!(
                out,
                "  {}",
                Paint::Doubtful.out("! changed in the project while the command ran")
            );
        }
        out.push('\n');
    }
    if objects > 0 {
        let _ = writeln!(out, "and {objects} in git's store of objects");
    }
    for path in &harvest.not_kept {
        let _ = writeln!(out, "{} {}", Paint::Bad.out("not kept"), visible(path));
    }
    out
}

/// Why the host would run it.
fn executes(kept: &Kept, change: &Change) -> Option<&'static str> {
    match judge(&kept.harvest, change) {
        Verdict::Executes(reason) => Some(reason),
        Verdict::Plain | Verdict::Counted => None,
    }
}

fn is_object(kept: &Kept, change: &Change) -> bool {
    judge(&kept.harvest, change) == Verdict::Counted
}

/// The difference of a text, if it is one. What git keeps for itself is not for reading.
fn text(kept: &Kept, change: &Change) -> String {
    let is_file = |node: &Option<Node>| matches!(node, None | Some(Node::File { .. }));
    let of_git = kept
        .harvest
        .known_as(change)
        .components()
        .any(|part| part.as_os_str() == ".git");
    if of_git || !is_file(&change.was) || !is_file(&change.now) {
        return String::new();
    }
    let before = match &change.was {
        Some(_) => read_file(&kept.harvest.whole(change), LONGEST).ok().and_then(as_text),
        None => Some(String::new()),
    };
    let after = match &change.now {
        Some(_) => read(kept.content(change)).and_then(as_text),
        None => Some(String::new()),
    };
    let path = shown(&kept.harvest.known_as(change));
    let (Some(before), Some(after)) = (before, after) else {
        return format!("\n{path}: not a text, or too long to be shown\n");
    };
    let name = |side: char, node: &Option<Node>| match node {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let (from, to) = (name('a', &change.was), name('b', &change.now));
    let difference = unified(&before, &after, &from, &to);
    let mut out = String::from("\n");
    for line in difference.lines() {
        let line = visible(line);
        let painted = match line.as_bytes().first() {
            Some(b'+') => Paint::Good.out(&line),
            Some(b'-') => Paint::Bad.out(&line),
            Some(_) | None => line,
        };
        out.push_str(&painted);
        out.push('\n');
    }
    out
}

fn read(from: std::io::Result<impl Read>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = u64::try_from(LONGEST).unwrap_or(u64::MAX);
    from.ok()?.take(most.saturating_add(1)).read_to_end(&mut bytes).ok()?;
    Some(bytes).filter(|bytes| bytes.len() <= LONGEST)
}

fn as_text(bytes: Vec<u8>) -> Option<String> {
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'))
}

/// Takes it into the project.
pub(crate) fn apply(given: &str, project: Option<&Path>, paths: &[PathBuf], json: bool) -> i32 {
    let (kept, scene) = match found(given, project) {
        Ok(found) => found,
        Err(status) => return status,
    };
    let of = kept.harvest.project();
    if of != scene.project {
        let (of, here) = (shown(&of), shown(&scene.project));
        let help = format!("`--project {of}` means the one that it worked on");
        print::error(&format!("that run worked on `{of}`, and this is `{here}`"), Some(&help));
        return 1;
    }
    let held = match hold(kept) {
        Ok(held) => held,
        Err(status) => return status,
    };
    let kept = held.kept();
    for change in &kept.harvest.changes {
        if let Some(reason) = executes(kept, change)
            && (paths.is_empty() || paths.iter().any(|path| kept.harvest.known_as(change).starts_with(path)))
        {
            let path = shown(&kept.harvest.known_as(change));
            print::note(&format!("`{path}`: {reason}"));
        }
    }
    let applied = match apply::apply(&held, paths, &mut waiting) {
        Ok(applied) => applied,
        Err(error) => return refuse(&error),
    };
    for path in &applied.protected {
        print::note(&format!("`{}` is protected and was not applied", shown(path)));
    }
    for path in &applied.left {
        print::note(&format!("`{}` is not empty and stays", shown(path)));
    }
    for path in &applied.stale {
        print::note(&format!(
            "`{}` was written since and stays as it is; `git reset` brings it in line",
            shown(path)
        ));
    }
    for path in &applied.aside {
        let path = shown(path);
        print::note(&format!(
            "`{path}` could make git run programs outside: it was renamed to `{path}.set-aside`"
        ));
    }
    for path in &applied.armed {
        let path = shown(path);
        let help = "remove it before you use git there";
        print::warning(
            &format!("`{path}` makes git run programs, and cannot be renamed"),
            Some(help),
        );
    }
    let run = kept.harvest.run_id.clone();
    if applied.whole {
        if let Err(error) = held.discard() {
            print::warning(&format!("cannot forget what was applied: {error}"), None);
        }
    } else {
        print::note(&format!(
            "the result is still there: glee-supervisor runs discard {run}"
        ));
    }
    if json {
        return print::json(&Taken::of(&applied), 0);
    }
    print::bytes(format!("{} applied\n", applied.applied).as_bytes(), 0)
}

/// `Applied`, as JSON.
#[derive(Serialize)]
struct Taken {
    applied: usize,
    protected: Vec<String>,
    left: Vec<String>,
    stale: Vec<String>,
    set_aside: Vec<String>,
    not_disarmed: Vec<String>,
    /// Nothing is left of the result.
    whole: bool,
}

impl Taken {
    fn of(applied: &Applied) -> Self {
        let text = |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        Self {
            applied: applied.applied,
            protected: text(&applied.protected),
            left: text(&applied.left),
            stale: text(&applied.stale),
            set_aside: text(&applied.aside),
            not_disarmed: text(&applied.armed),
            whole: applied.whole,
        }
    }
}

fn refuse(error: &ApplyError) -> i32 {
    print::error(&error.to_string(), Some(error.help()));
    if let ApplyError::Conflicts(list) = error {
        for conflict in list {
            print::note(&format!("`{}`: {}", shown(&conflict.path), conflict.why));
        }
    }
    1
}

fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy())
}

/// For this process alone.
fn hold(kept: Kept) -> Result<Held, i32> {
    kept.hold(&mut waiting).map_err(|error| {
        print::error(&error.to_string(), Some(error.help()));
        1
    })
}

fn waiting(busy: &HoldError) {
    print::note(&format!("{busy}; waiting for it"));
}

/// Forgets it.
pub(crate) fn discard(given: &str, project: Option<&Path>) -> i32 {
    let held = found(given, project).and_then(|(kept, _)| hold(kept));
    match held.map(Held::discard) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            print::error(&format!("cannot remove it: {error}"), None);
            1
        }
        Err(status) => status,
    }
}
