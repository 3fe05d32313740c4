//! The measurements' own flags: `--name value` and `--name`, nothing more.

use crate::BenchError;
use crate::machine::Pace;
use std::collections::BTreeMap;

/// One flag that a measurement knows.
#[derive(Debug, Clone, Copy)]
pub struct Flag {
    pub name: &'static str,
    /// What the value is called in `--help`; none for a switch.
    pub value: Option<&'static str>,
    pub help: &'static str,
}

pub const USER: Flag = Flag {
    name: "--user",
    value: Some("NAME"),
    help: "measure everything as this user (needs root)",
};
pub const JSON: Flag = Flag {
    name: "--json",
    value: None,
    help: "print the result as JSON",
};
pub const CHECK: Flag = Flag {
    name: "--check",
    value: None,
    help: "exit 1 when a goal is missed",
};
pub const CALM: Flag = Flag {
    name: "--calm",
    value: None,
    help: "begin each when no other process wants a CPU",
};
pub const ONLY: Flag = Flag {
    name: "--only",
    value: Some("A,B"),
    help: "measure only these",
};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Args {
    given: BTreeMap<&'static str, String>,
}

impl Args {
    /// Reads the flags in `known`. `Ok(None)` when help was asked for and has been printed.
    pub fn read(about: &str, known: &[Flag], words: impl Iterator<Item = String>) -> Result<Option<Self>, BenchError> {
        let mut args = Args::default();
        let mut words = words;
        while let Some(word) = words.next() {
            if word == "--help" || word == "-h" {
                println!("{}", help(about, known));
                return Ok(None);
            }
            let flag = known
                .iter()
                .find(|flag| flag.name == word)
                .ok_or_else(|| BenchError::Usage(format!("unknown flag `{word}`")))?;
            let value = match flag.value {
                None => String::new(),
                Some(what) => words
                    .next()
                    .ok_or_else(|| BenchError::Usage(format!("`{word}` needs a value: {what}")))?,
            };
            args.given.insert(flag.name, value);
        }
        Ok(Some(args))
    }

    pub fn has(&self, flag: Flag) -> bool {
        self.given.contains_key(flag.name)
    }

    pub fn value(&self, flag: Flag) -> Option<&str> {
        self.given.get(flag.name).map(String::as_str)
    }

    /// A count of at least one.
    pub fn count(&self, flag: Flag, default: usize) -> Result<usize, BenchError> {
        let Some(text) = self.value(flag) else {
            return Ok(default);
        };
        match text.parse() {
            Ok(0) | Err(_) => Err(BenchError::Usage(format!("`{} {text}` is not a count", flag.name))),
            Ok(count) => Ok(count),
        }
    }

    pub fn pace(&self) -> Pace {
        if self.has(CALM) { Pace::Calm } else { Pace::AtOnce }
    }

    /// Whether `--only` lets this name through.
    pub fn wants(&self, name: &str) -> bool {
        self.value(ONLY)
            .is_none_or(|only| only.split(',').any(|part| part.trim() == name))
    }
}

fn help(about: &str, known: &[Flag]) -> String {
    let mut text = format!("{about}\n");
    for flag in known {
        let left = format!("{} {}", flag.name, flag.value.unwrap_or_default());
        text.push_str(&format!("\n  {left:<18} {}", flag.help));
    }
    text
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
