//! Writes `sandbox-profiles/syscalls.txt` as a table of constants, so that no run has to read the text, and finds out whether the C
//! library is one whose start `sys/start.rs` can take the place of.
//!
//! Believes the text: a test compares the result with what the checking parser makes of it.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

/// What the archive of the static library says of itself, if `sys/start.rs` was written for it and tested with it.
const KNOWN: &[u8] = b"GNU C Library";
const RELEASE: &[u8] = b" stable release version 2.36.";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rustc-check-cfg=cfg(own_start)");
    if is_static() && library().is_some_and(|archive| is_known(&archive)) {
        println!("cargo::rustc-cfg=own_start");
    }
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

/// A program for this machine, with the C library in it, at the place for which it was linked.
fn is_static() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    env::var("TARGET") == env::var("HOST")
        && is("CARGO_CFG_TARGET_ARCH", "x86_64")
        && is("CARGO_CFG_TARGET_ENV", "gnu")
        && flags.contains("target-feature=+crt-static")
        && flags.contains("relocation-model=static")
}

/// The archive that the linker takes.
fn library() -> Option<Vec<u8>> {
    println!("cargo::rerun-if-env-changed=CC");
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let said = Command::new(compiler).arg("-print-file-name=libc.a").output().ok()?;
    let path = String::from_utf8(said.stdout).ok()?;
    println!("cargo::rerun-if-changed={}", path.trim());
    fs::read(path.trim()).ok()
}

fn is_known(archive: &[u8]) -> bool {
    let holds = |text: &[u8]| archive.windows(text.len()).any(|window| window == text);
    holds(KNOWN) && holds(RELEASE)
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
