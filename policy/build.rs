//! Reads the built-in profiles with the YAML library when this crate is built, so that no run has to.
//!
//! Only the library's part of the work is done here: what its tokens mean is decided at run time, by the same code as for
//! any other file. A profile that uses more of YAML than plain lists and mappings is left to the run time altogether.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, options};

fn main() -> Result<(), Box<dyn Error>> {
    let profiles = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../sandbox-profiles");
    println!("cargo::rerun-if-changed={}", profiles.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&profiles)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    let mut out = String::from("&[\n");
    for file in files.iter().filter(|file| file.extension().is_some_and(|e| e == "yml")) {
        println!("cargo::rerun-if-changed={}", file.display());
        let text = fs::read_to_string(file)?;
        // As `builtin::rules` cuts it.
        let rules = text.split("\nexamples:").next().unwrap_or(&text);
        if let (Some(name), Some(tokens)) = (file.file_stem().and_then(|n| n.to_str()), tokens(rules)) {
            writeln!(out, "({name:?}, &[{tokens}]),")?;
        }
    }
    out.push(']');
    fs::write(Path::new(&env::var("OUT_DIR")?).join("builtin_tokens.rs"), out)?;
    Ok(())
}

/// `None` for what is not plain, errors included: the parser of the run time has the words for them.
// The library's enum grows; what is not named here is not plain.
#[allow(clippy::wildcard_enum_match_arm)]
fn tokens(text: &str) -> Option<String> {
    let options = options! { disallow_directives: true, emit_comments: false };
    let mut out = String::new();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.ok()?;
        if event.tag().is_some() {
            return None;
        }
        let what = match event {
            Event::Scalar(text, ScalarStyle::Plain, 0, _) => format!("Word({text:?})"),
            Event::Scalar(text, _, 0, _) => format!("Quoted({text:?})"),
            Event::SequenceStart(_, 0, _) => "List".to_owned(),
            Event::MappingStart(_, 0, _) => "Map".to_owned(),
            Event::SequenceEnd | Event::MappingEnd => "End".to_owned(),
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => continue,
            _ => return None,
        };
        let (line, column) = (span.start.line(), span.start.col() + 1);
        write!(out, "Token {{ what: What::{what}, line: {line}, column: {column} }}, ").ok()?;
    }
    Some(out)
}
