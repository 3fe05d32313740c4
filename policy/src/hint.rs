//! The smallest change of a policy that would allow what was refused, as one line for a person to copy.
//!
//! Pure. INVARIANT: a path in a hint, written into a policy, means the path it was made from.

use std::path::{Component, Path};

use crate::injection::is_injection;
use crate::names::WEB_PORTS;
use crate::resolved::FsAccess;

/// What a policy's paths are written against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place<'a> {
    pub project: &'a Path,
    pub home: Option<&'a Path>,
}

/// `fs.read: ["~/.config/tool"]`. `None` if no policy can name the path.
#[must_use]
pub fn path(path: &Path, access: FsAccess, place: Place<'_>) -> Option<String> {
    let written = written(path, place)?;
    Some(format!("{}: [{}]", access.key(), quoted(&written)))
}

/// The path as its author would write it: relative to the project, below `~`, or absolute.
///
/// `None` for what no policy can name: bytes that are no text, a `*`, a path that is not absolute and plain.
#[must_use]
pub fn written(path: &Path, place: Place<'_>) -> Option<String> {
    let plain = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
    let text = path.to_str().filter(|text| !text.contains(['*', '\0']))?;
    if !path.is_absolute() || !path.components().all(plain) {
        return None;
    }
    let below = |dir: &Path| path.strip_prefix(dir).ok().and_then(Path::to_str);
    if let Some(rest) = below(place.project) {
        return Some(match rest {
            "" => ".".to_owned(),
            // A name, not the home.
            rest if rest.starts_with('~') => format!("./{rest}"),
            rest => rest.to_owned(),
        });
    }
    let home = place.home.filter(|home| *home != Path::new("/"));
    Some(match home.and_then(below) {
        Some("") => "~".to_owned(),
        Some(rest) => format!("~/{rest}"),
        None => text.to_owned(),
    })
}

/// `env: {allow: ["GITHUB_TOKEN"]}`. `None` for a name that never passes.
#[must_use]
pub fn env(name: &str) -> Option<String> {
    let possible = crate::env::is_env_name(name) && !is_injection(name.as_bytes());
    possible.then(|| format!("env: {{allow: [{}]}}", quoted(name)))
}

/// `network: {allow: ["api.example.org"]}`, with the port if it is not one of the web's. `None` for port 0.
#[must_use]
pub fn network(host: &str, port: u16) -> Option<String> {
    if port == 0 {
        return None;
    }
    Some(if WEB_PORTS.contains(&port) {
        format!("network: {{allow: [{}]}}", quoted(host))
    } else {
        address(host, port)
    })
}

/// The same with its port, whatever it is: what an address needs that a name must not lead to.
#[must_use]
pub fn address(host: &str, port: u16) -> String {
    let bare = host.contains(':') && !host.starts_with('[');
    let host = if bare { format!("[{host}]") } else { host.to_owned() };
    format!("network: {{allow: [{}]}}", quoted(&format!("{host}:{port}")))
}

/// `unprotect: [".git/hooks"]`
#[must_use]
pub fn unprotect(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("unprotect: [{}]", names.join(", "))
}

/// `remove fs.deny "**/.env"`
#[must_use]
pub fn without(key: &str, written: &str) -> String {
    format!("remove {key} {}", quoted(written))
}

/// As a double-quoted scalar of YAML.
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_control() || is_invisible(c) => match u32::from(c) {
                code @ 0..=0xffff => out.push_str(&format!("\\u{code:04x}")),
                code => out.push_str(&format!("\\U{code:08x}")),
            },
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What would drive a terminal, or hide in a line.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
#[path = "hint_tests.rs"]
mod tests;
