//! The values of a policy that need more than a type: paths, patterns, names, numbers, examples.
//!
//! Pure. A list item is plain text, or a mapping with the text, a `why:` and, for paths, a `need:`.

use std::time::Duration;

use crate::env::{EnvPattern, EnvPatternProblem};
use crate::error::{NumberProblem, PathProblem, PolicyError, TextProblem};
use crate::glob::{self, Glob, GlobProblem};
use crate::names::{HostPattern, NamePattern};
use crate::node::{At, fields, optional_text, text, word};
use crate::policy::{Asked, Clause, Example, PathRule};
use crate::protected;
use crate::resolved::{FsAccess, Need};
use crate::yaml::{Node, Value};

const NEEDS: &[(&str, Need)] = &[("required", Need::Required), ("preferred", Need::Preferred)];
const ACCESS: &[(&str, FsAccess)] = &[("read", FsAccess::Read), ("write", FsAccess::ReadWrite)];
const VERDICTS: &[(&str, bool)] = &[("allow", true), ("deny", false)];

/// The parts of a list item.
struct Item<'a> {
    node: &'a Node,
    why: Option<String>,
    need: Need,
}

fn items<'a>(at: &At<'_>, node: &'a Node, field: &'static str) -> Result<Vec<Item<'a>>, PolicyError> {
    let Value::List(list) = &node.value else {
        return Err(at.wrong(node, "a list"));
    };
    list.iter().map(|node| item(at, node, field)).collect()
}

fn item<'a>(at: &At<'_>, node: &'a Node, field: &'static str) -> Result<Item<'a>, PolicyError> {
    match &node.value {
        Value::Text(_) => Ok(Item {
            node,
            why: None,
            need: Need::Required,
        }),
        Value::Map(_) => {
            let known = match field {
                "path" => &["path", "why", "need"][..],
                "host" => &["host", "why"][..],
                _ => &["name", "why"][..],
            };
            let (mut value, mut why, mut need) = (None, None, Need::Required);
            for entry in fields(at.source, node, at.key, known)? {
                match entry.name {
                    "why" => why = Some(text(at, entry.node)?.to_owned()),
                    "need" => need = word(at, entry.node, NEEDS)?,
                    _ => value = Some(entry.node),
                }
            }
            match value {
                Some(node) => Ok(Item { node, why, need }),
                None => Err(PolicyError::MissingField {
                    at: at.at(node),
                    key: at.key.to_owned(),
                    field,
                }),
            }
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) => {
            Err(at.wrong(node, "text or a mapping"))
        }
    }
}

/// A list whose items `read` understands.
pub(crate) fn list<T>(
    at: &At<'_>,
    node: &Node,
    field: &'static str,
    read: impl Fn(&At<'_>, &Node) -> Result<T, PolicyError>,
) -> Result<Vec<Clause<T>>, PolicyError> {
    items(at, node, field)?
        .into_iter()
        .map(|item| {
            Ok(Clause {
                value: read(at, item.node)?,
                origin: at.at(item.node),
                why: item.why,
            })
        })
        .collect()
}

pub(crate) fn path_rules(at: &At<'_>, node: &Node) -> Result<Vec<PathRule>, PolicyError> {
    items(at, node, "path")?
        .into_iter()
        .map(|item| {
            let written = text(at, item.node)?;
            check_path(at, item.node, written)?;
            Ok(PathRule {
                written: written.to_owned(),
                need: item.need,
                origin: at.at(item.node),
                why: item.why,
            })
        })
        .collect()
}

fn check_path(at: &At<'_>, node: &Node, written: &str) -> Result<(), PolicyError> {
    let bad = |problem| PolicyError::BadPath {
        at: at.at(node),
        key: at.key.to_owned(),
        path: written.to_owned(),
        problem,
    };
    path_problem(written).map_or(Ok(()), |problem| Err(bad(problem)))?;
    if at.key == "fs.deny" {
        check_pattern(written).map_err(|problem| {
            let pattern = written.to_owned();
            PolicyError::BadGlob {
                at: at.at(node),
                key: at.key.to_owned(),
                pattern,
                problem,
            }
        })
    } else if written.contains('*') {
        Err(bad(PathProblem::Pattern))
    } else {
        Ok(())
    }
}

/// What is wrong with a path before anything is known of the machine.
pub(crate) fn path_problem(written: &str) -> Option<PathProblem> {
    if written.is_empty() {
        Some(PathProblem::Empty)
    } else if written.contains('\0') {
        Some(PathProblem::Nul)
    } else if written.starts_with('~') && written != "~" && !written.starts_with("~/") {
        Some(PathProblem::OtherUser)
    } else {
        None
    }
}

fn check_pattern(written: &str) -> Result<(), GlobProblem> {
    if written.starts_with('!') {
        Err(GlobProblem::Negated)
    } else if glob::is_pattern(written) {
        let (_, rest) = glob::split(written)?;
        Glob::new(rest).map(|_| ())
    } else {
        glob::unescape(written).map(|_| ())
    }
}

pub(crate) fn env_pattern(at: &At<'_>, node: &Node) -> Result<EnvPattern, PolicyError> {
    let name = text(at, node)?;
    EnvPattern::parse(name).map_err(|problem| {
        let (at, key, name) = (at.at(node), at.key.to_owned(), name.to_owned());
        match problem {
            EnvPatternProblem::Name => PolicyError::BadEnvName { at, key, name },
            EnvPatternProblem::Star => PolicyError::BadEnvPattern { at, key, name },
        }
    })
}

pub(crate) fn name_pattern(at: &At<'_>, node: &Node) -> Result<NamePattern, PolicyError> {
    let value = text(at, node)?;
    value.parse().map_err(|problem| PolicyError::BadName {
        at: at.at(node),
        key: at.key.to_owned(),
        value: value.to_owned(),
        problem,
    })
}

pub(crate) fn profile_name(at: &At<'_>, node: &Node) -> Result<String, PolicyError> {
    let name = text(at, node)?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    if name.is_empty() || name.starts_with(['.', '-']) || !name.bytes().all(plain) {
        return Err(bad_text(at, node, name, TextProblem::ProfileName));
    }
    Ok(name.to_owned())
}

/// A container image. It becomes an argument of another program, so it must not look like an option.
pub(crate) fn image(at: &At<'_>, node: &Node) -> Result<Option<String>, PolicyError> {
    match optional_text(at, node)? {
        Some(name) if name.is_empty() || name.starts_with('-') || name.contains(unfit) => {
            Err(bad_text(at, node, &name, TextProblem::Image))
        }
        image => Ok(image),
    }
}

fn unfit(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}

/// A name under `unprotect:`; a `/` at its end says nothing.
pub(crate) fn protected(at: &At<'_>, node: &Node) -> Result<String, PolicyError> {
    let written = text(at, node)?;
    let name = written.trim_end_matches('/');
    if !protected::is_name(name) {
        return Err(bad_text(at, node, written, TextProblem::Protected));
    }
    match protected::meant(name) {
        Some(meant) => Err(PolicyError::NotProtected {
            at: at.at(node),
            name: name.to_owned(),
            meant,
        }),
        None => Ok(name.to_owned()),
    }
}

/// A program and its arguments, or null.
pub(crate) fn argv(at: &At<'_>, node: &Node) -> Result<Option<Vec<String>>, PolicyError> {
    const ARGV: &str = "a list of a program and its arguments, or `null`";
    match &node.value {
        Value::Null => Ok(None),
        Value::List(words) if !words.is_empty() => words
            .iter()
            .map(|word| text(at, word).map(str::to_owned))
            .collect::<Result<Vec<String>, _>>()
            .map(Some),
        Value::List(_) => Err(PolicyError::WrongType {
            at: at.at(node),
            key: at.key.to_owned(),
            expected: ARGV,
            found: "an empty list".to_owned(),
        }),
        Value::Text(_) | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => Err(at.wrong(node, ARGV)),
    }
}

/// A base URL, to which paths are added: without user, password, query or fragment.
pub(crate) fn endpoint(at: &At<'_>, node: &Node) -> Result<Option<String>, PolicyError> {
    let Some(url) = optional_text(at, node)? else {
        return Ok(None);
    };
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let host = rest.map(|rest| rest.split('/').next().unwrap_or_default());
    match host.map(str::parse::<NamePattern>) {
        Some(Ok(name))
            if !matches!(name.host, HostPattern::Below(_)) && !url.contains(['?', '#']) && !url.contains(unfit) =>
        {
            Ok(Some(url))
        }
        Some(Ok(_) | Err(_)) | None => Err(bad_text(at, node, &url, TextProblem::Url)),
    }
}

fn bad_text(at: &At<'_>, node: &Node, value: &str, problem: TextProblem) -> PolicyError {
    PolicyError::BadText {
        at: at.at(node),
        key: at.key.to_owned(),
        value: if value.is_empty() { "\"\"" } else { value }.to_owned(),
        problem,
    }
}

/// The bounds of a whole number, and the words for them.
#[derive(Debug, Clone, Copy)]
pub struct Whole {
    pub least: u64,
    pub most: u64,
    pub range: &'static str,
}

/// A whole number, or the word `none`.
pub fn whole_number(at: &At<'_>, node: &Node, bounds: Whole) -> Result<Option<u64>, PolicyError> {
    let Some(number) = number(at, node)? else {
        return Ok(None);
    };
    // Above 2^52 a float has lost digits; every bound lies far below.
    let problem = match number_problem(number) {
        Some(problem) => problem,
        None if number.fract() != 0.0 => NumberProblem::NotWhole,
        None if number < bounds.least as f64 => NumberProblem::TooSmall,
        None if number > bounds.most.min(1 << 52) as f64 => NumberProblem::TooLarge,
        None => return Ok(Some(number as u64)),
    };
    Err(bad_number(at, node, problem, bounds.range))
}

/// A number of CPUs in thousandths. The kernel's smallest quota is 1 ms in 100 ms.
pub(crate) fn cpus(at: &At<'_>, node: &Node) -> Result<Option<u64>, PolicyError> {
    const RANGE: &str = "a number between 0.01 and 65536, or `none`";
    scaled(at, node, 1000.0, (0.01, 65536.0), RANGE)
}

/// Minutes, to the millisecond.
pub fn runtime(at: &At<'_>, node: &Node) -> Result<Option<Duration>, PolicyError> {
    const RANGE: &str = "minutes, more than 0 and at most 5256000 (ten years), or `none`";
    let millis = scaled(at, node, 60_000.0, (1.0 / 60_000.0, 5_256_000.0), RANGE)?;
    Ok(millis.map(Duration::from_millis))
}

fn scaled(
    at: &At<'_>,
    node: &Node,
    factor: f64,
    (least, most): (f64, f64),
    range: &'static str,
) -> Result<Option<u64>, PolicyError> {
    let Some(number) = number(at, node)? else {
        return Ok(None);
    };
    let problem = match number_problem(number) {
        Some(problem) => problem,
        None if number < least => NumberProblem::TooSmall,
        None if number > most => NumberProblem::TooLarge,
        None => return Ok(Some(((number * factor).round() as u64).max(1))),
    };
    Err(bad_number(at, node, problem, range))
}

fn number(at: &At<'_>, node: &Node) -> Result<Option<f64>, PolicyError> {
    match &node.value {
        Value::Int(i) => Ok(Some(*i as f64)),
        Value::Float(f) => Ok(Some(*f)),
        Value::Text(text) if text == "none" => Ok(None),
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            Err(at.wrong(node, "a number"))
        }
    }
}

fn number_problem(number: f64) -> Option<NumberProblem> {
    if !number.is_finite() {
        Some(NumberProblem::NotFinite)
    } else if number < 0.0 {
        Some(NumberProblem::Negative)
    } else if number == 0.0 {
        Some(NumberProblem::Zero)
    } else {
        None
    }
}

fn bad_number(at: &At<'_>, node: &Node, problem: NumberProblem, range: &'static str) -> PolicyError {
    let value = match &node.value {
        Value::Int(i) => i.to_string(),
        Value::Float(f) => f.to_string(),
        Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => node.found(),
    };
    PolicyError::BadNumber {
        at: at.at(node),
        key: at.key.to_owned(),
        value,
        problem,
        range,
    }
}

/// `{path: …, access: read|write, verdict: allow|deny}`, or `net:` or `env:` in place of `path:`.
pub(crate) fn example(at: &At<'_>, node: &Node) -> Result<Example, PolicyError> {
    let (mut asks, mut access, mut allowed) = (None, FsAccess::Read, None);
    for entry in fields(at.source, node, at.key, &["path", "net", "env", "access", "verdict"])? {
        match entry.name {
            "access" => access = word(at, entry.node, ACCESS)?,
            "verdict" => allowed = Some(word(at, entry.node, VERDICTS)?),
            kind if asks.is_none() => asks = Some((kind, entry.node)),
            _ => return Err(at.wrong(node, "one of `path`, `net` and `env`")),
        }
    }
    let missing = |field| PolicyError::MissingField {
        at: at.at(node),
        key: at.key.to_owned(),
        field,
    };
    let (kind, asked) = asks.ok_or_else(|| missing("path"))?;
    let asks = match kind {
        "net" => match name_pattern(at, asked)? {
            NamePattern {
                host: HostPattern::Below(_),
                ..
            } => return Err(at.wrong(asked, "one host, as text")),
            NamePattern { host, port } => Asked::Net {
                host: NamePattern { host, port: None }.to_string(),
                port: port.unwrap_or(443),
            },
        },
        "env" => Asked::Env(text(at, asked)?.to_owned()),
        _ => {
            check_path(at, asked, text(at, asked)?)?;
            Asked::Path {
                written: text(at, asked)?.to_owned(),
                access,
            }
        }
    };
    Ok(Example {
        asks,
        allowed: allowed.ok_or_else(|| missing("verdict"))?,
        origin: at.at(node),
    })
}
