//! The policy file that was learned.
//!
//! INVARIANT: whatever a command or a file is named, it stays a quoted word or a comment of one line.

use std::fmt::Write as _;
use std::path::Path;

use glee_policy::hint::{self, Place, quoted};
use glee_policy::resolved::{FsAccess, Grant, Need};

use super::secrets::is_secret_variable;
use super::wish::Wish;
use super::{Base, Lesson, allowed_names};
use crate::text::visible;

pub(super) fn write(lesson: &Lesson, withheld: &[String], program: &str, base: Base<'_>, place: Place<'_>) -> String {
    let mut out = String::new();
    let program = visible(program);
    let _ = writeln!(out, "# What `{program}` was denied under `{}`.", visible(base.name));
    out.push_str("# Read it before you use it: a command asks for what it likes, and this only writes it down.\n");
    let _ = writeln!(out, "extends: {}", quoted(base.name));
    let _ = writeln!(
        out,
        "why: {}",
        quoted(&format!("what {program} needs besides {}", base.name))
    );
    let anyone = format!("{program} or what it starts");
    filesystem(&mut out, lesson, &anyone, base, place);
    network(&mut out, lesson, &anyone, base);
    comments(&mut out, lesson, withheld);
    out
}

fn filesystem(out: &mut String, lesson: &Lesson, anyone: &str, base: Base<'_>, place: Place<'_>) {
    if lesson.grants.is_empty() && lesson.deny.is_empty() {
        return;
    }
    out.push_str("\nfs:\n");
    for access in [FsAccess::Read, FsAccess::ReadWrite] {
        let new: Vec<_> = lesson.grants.iter().filter(|(_, given, _)| *given == access).collect();
        if new.is_empty() {
            continue;
        }
        let key = match access {
            FsAccess::Read => "read",
            FsAccess::ReadWrite => "write",
        };
        let _ = writeln!(out, "  {key}:");
        for grant in base
            .policy
            .grants
            .iter()
            .filter(|grant| grant.access == access && (grant.exists || grant.need == Need::Preferred))
        {
            kept(out, grant, base.name);
        }
        for (path, _, wish) in new {
            let written = hint::written(path, place).unwrap_or_default();
            let _ = writeln!(
                out,
                "    - {{path: {}, why: {}}}",
                quoted(&written),
                quoted(&reason(wish, anyone))
            );
        }
    }
    if lesson.deny.is_empty() {
        return;
    }
    out.push_str("  deny:\n");
    for path in &lesson.deny {
        let written = as_pattern(path, place);
        let _ = writeln!(
            out,
            "    - {{path: {}, why: \"looks like a secret\"}}",
            quoted(&written)
        );
    }
}

/// A list takes the place of the base's, so what the base has is written again.
fn kept(out: &mut String, grant: &Grant, base: &str) {
    let why = match &grant.why {
        Some(why) => format!("as in {base}: {why}"),
        None => format!("as in {base}"),
    };
    let need = match grant.need {
        Need::Required => "",
        Need::Preferred => ", need: preferred",
    };
    let _ = writeln!(
        out,
        "    - {{path: {}{need}, why: {}}}",
        quoted(&grant.written),
        quoted(&why)
    );
}

/// In `fs.deny` some characters mean more than themselves.
fn as_pattern(path: &Path, place: Place<'_>) -> String {
    let written = hint::written(path, place).unwrap_or_default();
    let mut out = String::with_capacity(written.len());
    for c in written.chars() {
        if matches!(c, '*' | '?' | '[' | ']' | '{' | '}' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn network(out: &mut String, lesson: &Lesson, anyone: &str, base: Base<'_>) {
    if lesson.hosts.is_empty() {
        return;
    }
    out.push_str("\nnetwork:\n  allow:\n");
    for name in allowed_names(base.policy) {
        let why = format!("as in {}", base.name);
        let _ = writeln!(out, "    - {{host: {}, why: {}}}", quoted(name), quoted(&why));
    }
    for (host, wish) in &lesson.hosts {
        let _ = writeln!(
            out,
            "    - {{host: {}, why: {}}}",
            quoted(host),
            quoted(&reason(wish, anyone))
        );
    }
}

/// Who wanted it, and how often. A resolver is not told who asks.
fn reason(wish: &Wish, anyone: &str) -> String {
    let programs: Vec<String> = wish.programs.iter().map(|name| visible(name)).collect();
    let who = if programs.is_empty() {
        anyone.to_owned()
    } else {
        programs.join(", ")
    };
    let times = if wish.count == 1 {
        "once".to_owned()
    } else {
        format!("{} times", wish.count)
    };
    match wish.files {
        0 | 1 => format!("{who}, {times}"),
        files => format!("{who}, {files} files in it, {times}"),
    }
}

fn comments(out: &mut String, lesson: &Lesson, withheld: &[String]) {
    if !lesson.listed.is_empty() {
        out.push_str("\n# Denied, and not proposed:\n");
    }
    for (why, what) in &lesson.listed {
        let _ = writeln!(out, "#   {why}: {}", visible(what));
    }
    if withheld.is_empty() {
        return;
    }
    out.push_str("\n# Variables that were withheld. If one is needed, add it to `env.allow` with those of the base:\n");
    let (secret, plain): (Vec<&String>, Vec<&String>) = withheld.iter().partition(|name| is_secret_variable(name));
    for (title, names) in [("", plain), ("look like secrets: ", secret)] {
        if !names.is_empty() {
            let names: Vec<String> = names.into_iter().map(|name| visible(name)).collect();
            let _ = writeln!(out, "#   {title}{}", names.join(" "));
        }
    }
}
