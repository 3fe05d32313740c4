//! What can be wrong with a policy, in its author's words, with the place and what to do.
//!
//! Pure. INVARIANT: nothing taken from a file reaches a terminal unescaped: every quoted word goes through `shown`.

use std::fmt::Write as _;

use crate::glob::GlobProblem;
use crate::injection::reason;
use crate::names::NameProblem;
use crate::origin::{Origin, Source};
pub use crate::path_problem::PathProblem;
pub use crate::text_problem::TextProblem;
use crate::text_problem::type_help;

/// The largest policy file that is read.
pub const MAX_BYTES: usize = 1 << 20;
/// The deepest nesting of lists and mappings.
pub const MAX_DEPTH: usize = 64;
/// The longest chain of `extends`.
pub const MAX_EXTENDS: usize = 8;

/// What is wrong with a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NumberProblem {
    #[error("is negative")]
    Negative,
    #[error("is zero")]
    Zero,
    #[error("is not a finite number")]
    NotFinite,
    #[error("is not a whole number")]
    NotWhole,
    #[error("is too small")]
    TooSmall,
    #[error("is too large")]
    TooLarge,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("the file is larger than {} MiB, and no more is read", MAX_BYTES >> 20)]
    TooLarge { at: Origin },
    #[error("the file is not UTF-8 text")]
    NotUtf8 { at: Origin },
    #[error("not valid YAML: {message}")]
    Syntax { at: Origin, message: String },
    #[error("nested deeper than {MAX_DEPTH} levels")]
    TooDeep { at: Origin },
    #[error("aliases expand to more than is read")]
    TooManyAliases { at: Origin },
    #[error("the key `{}` is there twice", shown(key))]
    DuplicateKey { at: Origin, key: String },
    #[error("more than one YAML document")]
    MultipleDocuments { at: Origin },
    #[error("the policy must be a mapping of keys, found {found}")]
    NotAMapping { at: Origin, found: String },
    #[error("unknown key `{}`{}", shown(key), inside_words(inside))]
    UnknownKey {
        at: Origin,
        key: String,
        inside: String,
        nearest: Option<&'static str>,
        known: &'static [&'static str],
    },
    #[error("`{}` must be {expected}, found {found}", shown(key))]
    WrongType {
        at: Origin,
        key: String,
        expected: &'static str,
        found: String,
    },
    #[error("`{}` cannot be `{}`", shown(key), shown(value))]
    UnknownWord {
        at: Origin,
        key: String,
        value: String,
        known: Vec<&'static str>,
    },
    #[error("`{}` needs the key `{field}`", shown(key))]
    MissingField {
        at: Origin,
        key: String,
        field: &'static str,
    },
    #[error("`{}`: `{}` {problem}", shown(key), shown(value))]
    BadNumber {
        at: Origin,
        key: String,
        value: String,
        problem: NumberProblem,
        range: &'static str,
    },
    #[error("`{}`: `{}` {problem}", shown(key), shown(value))]
    BadText {
        at: Origin,
        key: String,
        value: String,
        problem: TextProblem,
    },
    #[error("`unprotect`: `{}` is not protected", shown(name))]
    NotProtected { at: Origin, name: String, meant: String },
    #[error("`{}`: the path `{}` {problem}", shown(key), shown(path))]
    BadPath {
        at: Origin,
        key: String,
        path: String,
        problem: PathProblem,
    },
    #[error(
        "`{flag} {}` leads to `{}`, through a symbolic link in the project",
        shown(path),
        shown(leads_to)
    )]
    FlagLeadsOut {
        at: Origin,
        flag: String,
        path: String,
        leads_to: String,
    },
    #[error("`{}`: the pattern `{}` {problem}", shown(key), shown(pattern))]
    BadGlob {
        at: Origin,
        key: String,
        pattern: String,
        problem: GlobProblem,
    },
    #[error("`{}`: `{}` is not a name of an environment variable", shown(key), shown(name))]
    BadEnvName { at: Origin, key: String, name: String },
    #[error("`{}`: `{}` has a `*` where none may stand", shown(key), shown(name))]
    BadEnvPattern { at: Origin, key: String, name: String },
    #[error(
        "`{}`: the value of `{}` contains a NUL byte or is not UTF-8 text",
        shown(key),
        shown(name)
    )]
    BadEnvValue { at: Origin, key: String, name: String },
    #[error(
        "`{}`: `{}` {}, and never passes",
        shown(key),
        shown(name),
        reason(name.as_bytes())
    )]
    InjectionName { at: Origin, key: String, name: String },
    #[error("`{}`: `{}` {problem}", shown(key), shown(value))]
    BadName {
        at: Origin,
        key: String,
        value: String,
        problem: NameProblem,
    },
    #[error("there is no profile `{}`", shown(name))]
    UnknownProfile {
        at: Origin,
        name: String,
        nearest: Option<String>,
    },
    #[error("cannot read profile `{}` from `{}`: {problem}", shown(name), shown(file))]
    UnreadableProfile {
        at: Origin,
        name: String,
        file: String,
        problem: String,
    },
    #[error("`extends` goes in a circle: {}", chain.iter().map(|n| shown(n)).collect::<Vec<_>>().join(" → "))]
    ExtendsCycle { at: Origin, chain: Vec<String> },
    #[error("`extends` is more than {MAX_EXTENDS} profiles deep")]
    ExtendsTooDeep { at: Origin },
    #[error("the root profile does not say `{key}`")]
    Incomplete { at: Origin, key: &'static str },
    #[error(
        "`{}`: `{}` needs a home directory, and HOME is not set to an absolute path",
        shown(key),
        shown(path)
    )]
    HomeUnknown { at: Origin, key: String, path: String },
    #[error("`mode: inherit` keeps the caller's own rights and cannot enforce `{clause}`")]
    InheritCannotEnforce { at: Origin, clause: &'static str },
    #[error("`network: true` would drop the `network.deny` of {base}")]
    NetworkDenyLost { at: Origin, base: Origin },
    #[error("`{}` is denied by `{}` ({deny})", shown(asked), shown(rule))]
    DeniedByPolicy {
        at: Origin,
        asked: String,
        rule: String,
        deny: Origin,
    },
}

impl PolicyError {
    /// The place the error is about.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        match self {
            Self::TooLarge { at, .. }
            | Self::NotUtf8 { at }
            | Self::Syntax { at, .. }
            | Self::TooDeep { at }
            | Self::TooManyAliases { at }
            | Self::DuplicateKey { at, .. }
            | Self::MultipleDocuments { at }
            | Self::NotAMapping { at, .. }
            | Self::UnknownKey { at, .. }
            | Self::WrongType { at, .. }
            | Self::UnknownWord { at, .. }
            | Self::MissingField { at, .. }
            | Self::BadNumber { at, .. }
            | Self::BadText { at, .. }
            | Self::NotProtected { at, .. }
            | Self::BadPath { at, .. }
            | Self::FlagLeadsOut { at, .. }
            | Self::BadGlob { at, .. }
            | Self::BadEnvName { at, .. }
            | Self::BadEnvPattern { at, .. }
            | Self::BadEnvValue { at, .. }
            | Self::InjectionName { at, .. }
            | Self::BadName { at, .. }
            | Self::UnknownProfile { at, .. }
            | Self::UnreadableProfile { at, .. }
            | Self::ExtendsCycle { at, .. }
            | Self::ExtendsTooDeep { at }
            | Self::Incomplete { at, .. }
            | Self::HomeUnknown { at, .. }
            | Self::InheritCannotEnforce { at, .. }
            | Self::NetworkDenyLost { at, .. }
            | Self::DeniedByPolicy { at, .. } => at,
        }
    }

    /// What the author can do about it.
    #[must_use]
    pub fn help(&self) -> String {
        match self {
            Self::TooLarge { .. } => "keep only the policy in this file".into(),
            Self::NotUtf8 { .. } => "save the file as UTF-8".into(),
            Self::Syntax { .. } => "check the indentation, the quotes and the brackets here".into(),
            Self::TooDeep { .. } => "a policy needs at most four levels".into(),
            Self::TooManyAliases { .. } => "write the values out instead of using `*aliases`".into(),
            Self::DuplicateKey { .. } => "keep one of the two".into(),
            Self::MultipleDocuments { .. } => "keep one document, and remove the `---` between them".into(),
            Self::NotAMapping { .. } => "start with a key, for example `mode: restricted`".into(),
            Self::UnknownKey {
                nearest: Some(nearest), ..
            } => format!("did you mean `{nearest}`?"),
            Self::UnknownKey {
                nearest: None, known, ..
            } => format!("known keys: {}", quoted(known)),
            Self::WrongType { expected, found, .. } => type_help(expected, found),
            Self::UnknownWord { known, .. } => format!("one of {}", quoted(known)),
            Self::MissingField { field, .. } => format!("add `{field}:`, or write the item as a plain string"),
            Self::BadNumber { range, .. } => format!("write {range}"),
            Self::BadText { problem, .. } => problem.help().into(),
            Self::NotProtected { meant, .. } => format!("did you mean `{}`?", shown(meant)),
            Self::BadPath { problem, .. } => problem.help().into(),
            Self::FlagLeadsOut { flag, leads_to, .. } => {
                format!("if that is meant: {flag} {}", shown(leads_to))
            }
            Self::BadGlob { problem, .. } => problem.help().into(),
            Self::BadEnvName { .. } => "letters, digits and `_`, not starting with a digit".into(),
            Self::BadEnvPattern { .. } => "a `*` may only end a name, right after a `_`: `LC_*`".into(),
            Self::BadEnvValue { .. } => "remove the NUL byte, or encode the value".into(),
            Self::InjectionName { .. } => "remove it; give the program what it needs as an argument or a file".into(),
            Self::BadName { value, problem, .. } => problem.help(value).into_owned(),
            Self::UnknownProfile {
                nearest: Some(nearest), ..
            } => format!("did you mean `{}`?", shown(nearest)),
            Self::UnknownProfile { nearest: None, .. } => "`glee-supervisor policy list` shows the profiles".into(),
            Self::UnreadableProfile { .. } => {
                "make the file, and the directories that it lies in, readable for you".into()
            }
            Self::ExtendsCycle { .. } => "remove one `extends` of the circle".into(),
            Self::ExtendsTooDeep { .. } => "merge some of the profiles".into(),
            Self::Incomplete { key, .. } => format!("add `{key}:` to the root profile"),
            Self::HomeUnknown { at, .. } if matches!(at.source, Source::Flag(_)) => {
                "set HOME, or write an absolute path".into()
            }
            Self::HomeUnknown { .. } => "set HOME, write an absolute path, or `{path: …, need: preferred}`".into(),
            Self::InheritCannotEnforce { .. } => "remove it, or use `mode: restricted`".into(),
            Self::NetworkDenyLost { .. } => "write `network: {allow: […]}`, or extend another profile".into(),
            Self::DeniedByPolicy { .. } => "use a policy without that rule, or ask for something else".into(),
        }
    }

    /// `file:line:col: error: …`, the line of `source` with a caret, and the hint.
    #[must_use]
    pub fn render(&self, source: Option<&str>) -> String {
        render(self.origin(), &self.to_string(), &self.help(), source)
    }
}

/// `file:line:col: error: …`, the line of `source` with a caret, and the hint.
#[must_use]
pub fn render(at: &Origin, message: &str, help: &str, source: Option<&str>) -> String {
    let mut out = shown(&at.source.to_string());
    if at.line > 0 {
        let _ = write!(out, ":{}:{}", at.line, at.column);
    }
    let _ = writeln!(out, ": error: {message}");
    if let Some(line) = source.and_then(|text| line_of(text, at.line)) {
        out.push_str(&excerpt(line, at.line, at.column));
    }
    let _ = write!(out, "hint: {help}");
    out
}

/// A position in `source`.
#[must_use]
pub fn place(source: &Source, line: u32, column: u32) -> Origin {
    Origin {
        source: source.clone(),
        line,
        column,
    }
}

/// A word of the user's, safe to print: control, bidi and zero-width characters escaped, shortened to 120 characters.
#[must_use]
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 120;
    let mut out = String::new();
    for (count, c) in text.chars().enumerate() {
        if count == LONGEST {
            out.push('…');
            break;
        }
        push_shown(&mut out, c);
    }
    out
}

fn push_shown(out: &mut String, c: char) {
    let invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}');
    if c.is_control() || invisible {
        out.extend(c.escape_default());
    } else {
        out.push(c);
    }
}

fn line_of(text: &str, line: u32) -> Option<&str> {
    let index = usize::try_from(line).ok()?.checked_sub(1)?;
    text.lines().nth(index)
}

/// The line, cropped around the column, with a caret below.
fn excerpt(line: &str, number: u32, column: u32) -> String {
    const BEFORE: usize = 60;
    const SHOWN: usize = 110;
    let column = usize::try_from(column).unwrap_or(1).max(1) - 1;
    let start = column.saturating_sub(BEFORE);
    let (mut text, mut caret) = (String::new(), 0);
    for (i, c) in line.chars().enumerate().skip(start).take(SHOWN) {
        if i == column {
            caret = text.chars().count();
        }
        push_shown(&mut text, if c == '\t' { ' ' } else { c });
    }
    if column >= start + text.chars().count() {
        caret = text.chars().count();
    }
    let number = number.to_string();
    let margin = " ".repeat(number.len());
    format!("{number} | {text}\n{margin} | {}^\n", " ".repeat(caret))
}

fn inside_words(inside: &str) -> String {
    if inside.is_empty() {
        String::new()
    } else {
        format!(" in `{}`", shown(inside))
    }
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
