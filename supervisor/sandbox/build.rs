//! Writes `sandbox-profiles/syscalls.txt` as a table of constants, so that no run has to read the text.
//!
//! Believes the text: a test compares the result with what the checking parser makes of it.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let list = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../sandbox-profiles/syscalls.txt");
    println!("cargo::rerun-if-changed={}", list.display());
    let mut out = String::from("&[\n");
    for line in fs::read_to_string(&list)?.lines() {
        let (fields, reason) = line.split_once('#').unwrap_or((line, ""));
        let mut fields = fields.split_ascii_whitespace();
        let (Some(name), Some(x86_64), Some(aarch64), Some(action)) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let aarch64 = if aarch64 == "-" {
            "None".to_owned()
        } else {
            format!("Some({aarch64})")
        };
        let action = match action.strip_prefix("rule:") {
            Some(rule) => format!("Rule(Rule::{})", camel(rule)),
            None => camel(action),
        };
        let reason = reason.trim();
        writeln!(
            out,
            "Syscall {{ name: {name:?}, x86_64: {x86_64}, aarch64: {aarch64}, action: Action::{action}, reason: {reason:?} }},"
        )?;
    }
    out.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("syscalls.rs"), out)?;
    Ok(())
}

/// `send_flags_arg2` as the name of a variant.
fn camel(name: &str) -> String {
    name.split('_')
        .filter_map(|word| {
            let mut letters = word.chars();
            let first = letters.next()?;
            Some(first.to_ascii_uppercase().to_string() + letters.as_str())
        })
        .collect()
}
