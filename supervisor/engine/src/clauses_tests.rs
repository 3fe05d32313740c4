use std::path::Path;

use glee_policy::layer::NoLibrary;
use glee_policy::{Host, Walk};

use super::*;

/// A machine on which everything exists and nothing is a link.
struct Plain;

impl Host for Plain {
    fn project(&self) -> &Path {
        Path::new("/p")
    }
    fn home(&self) -> Option<&Path> {
        None
    }
    fn walk(&self, path: &Path) -> Walk {
        Walk {
            path: path.to_owned(),
            exists: !path.starts_with("/gone"),
            links: Vec::new(),
        }
    }
}

fn rows(text: &str) -> Vec<Clause> {
    let policy = glee_policy::parse(&Source::File("mine.yml".into()), text).unwrap();
    clauses(&glee_policy::resolve(&policy, &NoLibrary, &Plain).unwrap())
}

fn row(text: &str, key: &str, value: &str) -> (Option<String>, Option<String>, Option<String>) {
    let rows = rows(text);
    let found = rows.iter().find(|row| row.key == key && row.value == value);
    let found = found.unwrap_or_else(|| panic!("no {key} {value} in {rows:#?}"));
    (
        found.here.clone(),
        found.origin.as_ref().map(ToString::to_string),
        found.why.clone(),
    )
}

#[test]
fn each_clause_tells_its_meaning_here_its_place_and_its_reason() {
    let text = "fs:\n  read:\n    - {path: src, why: the sources}\n    - /gone\n  deny: ['**/.env']\nenv:\n  set: {A: b}\n\
        network: {allow: [example.org]}\nlimits: {cpus: 1.5, pids: none}\nunprotect: [.envrc]\n";
    let at = |line: u32| Some(format!("mine.yml:{line}"));
    assert_eq!(
        row(text, "fs.read", "src"),
        (Some("/p/src".into()), at(3), Some("the sources".into()))
    );
    assert_eq!(row(text, "fs.read", "/gone"), (None, at(4), None));
    let there: Vec<_> = rows(text)
        .into_iter()
        .filter(|row| row.exists == Some(false))
        .map(|row| row.value)
        .collect();
    assert_eq!(there, ["/gone"]);
    assert_eq!(
        row(text, "fs.deny", "**/.env"),
        (Some("**/.env below /gone".into()), at(5), None)
    );
    let hidden = rows(text).into_iter().filter(|row| row.key == "fs.deny");
    let hidden: Vec<_> = hidden.filter_map(|row| row.here).collect();
    assert_eq!(hidden, ["**/.env below /gone", "**/.env below /p"]);
    assert_eq!(row(text, "env.set", "A=b"), (None, at(7), None));
    assert_eq!(row(text, "network.allow", "example.org"), (None, at(8), None));
    assert_eq!(row(text, "limits.cpus", "1.5"), (None, at(9), None));
    assert_eq!(row(text, "limits.pids", "none"), (None, at(9), None));
    assert_eq!(row(text, "unprotect", ".envrc"), (None, at(10), None));
    let (_, origin, why) = row(text, "env.allow", "PATH");
    assert!(origin.is_some_and(|place| place.starts_with("built-in restricted.yml:")) && why.is_some());
    let (_, origin, _) = row(text, "mode", "restricted");
    assert!(origin.is_some_and(|place| place.starts_with("built-in restricted.yml:")));
}

#[test]
fn what_has_no_meaning_without_a_home_is_listed_as_left_out() {
    let rows = rows("extends: workspace\n");
    let left = rows
        .iter()
        .filter(|row| row.here.as_deref() == Some("left out: HOME is not set to an absolute path"));
    assert!(left.clone().count() > 10);
    assert!(left.clone().all(|row| row.value.starts_with('~')));
}
