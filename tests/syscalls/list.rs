//! The list of system calls, read again and without the product's own reader.

use std::collections::BTreeMap;

const TEXT: &str = include_str!("../../sandbox-profiles/syscalls.txt");

/// What the list says about a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Allow,
    Enosys,
    Absent,
    Deny,
    Rule(&'static str),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) action: Action,
}

/// By number, for the architecture of this machine.
pub(crate) fn list() -> BTreeMap<u64, Entry> {
    let column = if cfg!(target_arch = "x86_64") { 1 } else { 2 };
    let lines = TEXT.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let entries = lines.filter_map(|line| {
        let words: Vec<&'static str> = line.split_whitespace().collect();
        let number = words.get(column).expect("a line has a number for each architecture");
        let entry = Entry {
            name: words.first().expect("a line has a name"),
            action: action(words.get(3).expect("an action")),
        };
        (*number != "-").then(|| (number.parse().expect("a number"), entry))
    });
    entries.collect()
}

fn action(word: &'static str) -> Action {
    match word {
        "allow" => Action::Allow,
        "enosys" => Action::Enosys,
        "absent" => Action::Absent,
        "deny" => Action::Deny,
        _ => Action::Rule(
            word.strip_prefix("rule:")
                .unwrap_or_else(|| panic!("`{word}` is no action")),
        ),
    }
}

/// The number of a call, if this architecture has it.
pub(crate) fn number_of(name: &str) -> Option<u64> {
    list()
        .into_iter()
        .find(|(_, entry)| entry.name == name)
        .map(|(number, _)| number)
}
