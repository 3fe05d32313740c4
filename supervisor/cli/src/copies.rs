//! `runs diff`, `apply` and `discard`: what a run left in a copy of its project.
//!
//! INVARIANT: names and contents come from inside a sandbox; each line is made visible before it is printed.

use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};

use glee_engine::definitions::diff::unified;
use glee_engine::text::visible;
use glee_engine::workspaces::apply::{self, ApplyError, executes};
use glee_engine::workspaces::{Change, FindError, Kept, Node, find};

use crate::print::{self, Paint};

/// A longer text is not compared line by line.
const LONGEST: u64 = 1 << 20;

fn found(given: &str) -> Result<Kept, i32> {
    find(given).map_err(|error: FindError| {
        print::error(&error.to_string(), Some(error.help()));
        1
    })
}

/// Shows what changed.
pub(crate) fn diff(given: &str, names: bool, json: bool) -> i32 {
    let kept = match found(given) {
        Ok(kept) => kept,
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
    let marked = |change: &&Change| executes(harvest, change).is_some();
    let (first, rest): (Vec<&Change>, Vec<&Change>) = harvest.changes.iter().partition(marked);
    for change in first.into_iter().chain(rest) {
        let path = visible(&change.path().to_string_lossy());
        let _ = write!(out, "{} {path}", change.word());
        if let Some(Node::Symlink { target }) = &change.now {
            let _ = write!(out, " -> {}", visible(&target.as_path().to_string_lossy()));
        }
        if let Some(reason) = executes(harvest, change) {
            let _ = write!(out, "  {}", Paint::Doubtful.out(&format!("! {reason}")));
        }
        if change.unsettled {
            let _ = write!(out, "  {}", Paint::Doubtful.out("! changed in the project while the command ran"));
        }
        out.push('\n');
    }
    for path in &harvest.not_kept {
        let _ = writeln!(out, "{} {}", Paint::Bad.out("not kept"), visible(path));
    }
    out
}

/// The difference of a text, if it is one.
fn text(kept: &Kept, change: &Change) -> String {
    let is_file = |node: &Option<Node>| matches!(node, None | Some(Node::File { .. }));
    if !is_file(&change.was) || !is_file(&change.now) {
        return String::new();
    }
    let before = match &change.was {
        Some(_) => read(std::fs::File::open(kept.harvest.project().join(change.path()))),
        None => Some(String::new()),
    };
    let after = match &change.now {
        Some(_) => read(kept.content(change)),
        None => Some(String::new()),
    };
    let path = visible(&change.path().to_string_lossy());
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

fn read(from: std::io::Result<impl Read>) -> Option<String> {
    let mut bytes = Vec::new();
    from.ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    let short = u64::try_from(bytes.len()).is_ok_and(|length| length <= LONGEST);
    String::from_utf8(bytes).ok().filter(|text| short && !text.contains('\0'))
}

/// Takes it into the project.
pub(crate) fn apply(given: &str, paths: &[PathBuf]) -> i32 {
    let kept = match found(given) {
        Ok(kept) => kept,
        Err(status) => return status,
    };
    for change in &kept.harvest.changes {
        if let Some(reason) = executes(&kept.harvest, change)
            && (paths.is_empty() || paths.iter().any(|path| change.path().starts_with(path)))
        {
            let path = visible(&change.path().to_string_lossy());
            print::note(&format!("`{path}`: {reason}"));
        }
    }
    let applied = match apply::apply(&kept, paths) {
        Ok(applied) => applied,
        Err(error) => return refuse(&error),
    };
    for path in &applied.protected {
        print::note(&format!("`{}` is protected and was not applied", shown(path)));
    }
    for path in &applied.left {
        print::note(&format!("`{}` is not empty and stays", shown(path)));
    }
    let run = kept.harvest.run_id.clone();
    if applied.whole {
        if let Err(error) = kept.discard() {
            print::warning(&format!("cannot forget what was applied: {error}"), None);
        }
    } else {
        print::note(&format!("the result is still there: glee-supervisor runs discard {run}"));
    }
    print::bytes(format!("{} applied\n", applied.applied).as_bytes(), 0)
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

/// Forgets it.
pub(crate) fn discard(given: &str) -> i32 {
    match found(given).map(Kept::discard) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => {
            print::error(&format!("cannot remove it: {error}"), None);
            1
        }
        Err(status) => status,
    }
}
