//! The command line of what looks back: `runs` and `audit`.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use clap::Subcommand;
use glee_engine::audit::Hash;
use glee_engine::clock::Moment;
use glee_engine::report::rfc3339;

use crate::args::duration;

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List the last runs, newest first; with --project those of one project
    #[command(after_help = "Example:\n  glee-supervisor runs list -n 5 --project .")]
    List {
        /// How many
        #[arg(short, long, value_name = "N", default_value = "20", value_parser = number)]
        number: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show how a run went: outcome, layers, denials with hints, connections, changed files
    #[command(after_help = "Example:\n  glee-supervisor runs show latest")]
    Show {
        /// The id of a run, the beginning of one, or `latest`
        #[arg(value_name = "ID|latest", default_value = "latest")]
        run: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the report of a run, byte for byte as it was stored
    #[command(after_help = "Example:\n  glee-supervisor runs report latest | jq .denials")]
    Report {
        /// The id of a run, the beginning of one, or `latest`
        #[arg(value_name = "ID|latest")]
        run: String,
        /// Print JSON: a report is nothing else
        #[arg(long)]
        json: bool,
    },
    /// Show what a run changed in a copy of the project (`run --workspace cow`)
    #[command(after_help = "\
What the host would run later is shown first. Text is compared with the project as it is now.

Example:
  glee-supervisor runs diff latest")]
    Diff {
        /// The id of a run, the beginning of one, or `latest`
        #[arg(value_name = "ID|latest", default_value = "latest")]
        run: String,
        /// List the names only
        #[arg(long)]
        names: bool,
        /// Print JSON
        #[arg(long, conflicts_with = "names")]
        json: bool,
    },
    /// Take what a run changed in a copy into the project
    #[command(after_help = "\
All or nothing: if one of the names is not what it was when the run ended, nothing is applied. Names
that a run could not have written in the project itself (.git/hooks, .envrc and their kin) are never
applied. What was taken whole is forgotten; the rest stays until it is discarded.

Example:
  glee-supervisor runs apply latest src/main.rs")]
    Apply {
        /// The id of a run, the beginning of one, or `latest`
        #[arg(value_name = "ID|latest")]
        run: String,
        /// Only what lies at or below these, from the project
        #[arg(value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget what a run changed in a copy
    #[command(after_help = "Example:\n  glee-supervisor runs discard latest")]
    Discard {
        /// The id of a run, the beginning of one, or `latest`
        #[arg(value_name = "ID|latest")]
        run: String,
    },
    /// Remove the reports of old runs; the audit log keeps its entries
    #[command(after_help = "\
Done by itself once in a while: 2000 runs, 90 days and 256 MiB are kept.

Example:
  glee-supervisor runs prune --keep 100 --older-than 30d")]
    Prune {
        /// Keep at most so many, the newest
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Keep none that is older: 30d, 12h
        #[arg(long, value_name = "TIME", value_parser = age)]
        older_than: Option<Duration>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Show the last entries, oldest first
    #[command(after_help = "Example:\n  glee-supervisor audit show --since 2d -n 50")]
    Show {
        /// Only those of this run: its id, or the beginning of it
        #[arg(long, value_name = "ID")]
        run: Option<String>,
        /// Only those since then: 2h, 7d, 2026-01-31 or 2026-01-31T12:00
        #[arg(long, value_name = "TIME", value_parser = since)]
        since: Option<String>,
        /// How many
        #[arg(short, long, value_name = "N", default_value = "20", value_parser = number)]
        number: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Verify that no entry and no stored report was edited, removed, moved or cut off, and say where
    #[command(after_help = "\
Exit status: 0 if the log is whole, else 1. Keep the hash it prints somewhere else, and give it
to --expect later: whoever can write your files can also write a whole new log.

Example:
  glee-supervisor audit verify")]
    Verify {
        /// The hash of an entry that must be in the log
        #[arg(long, value_name = "SHA256", value_parser = hash)]
        expect: Option<Hash>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

fn hash(text: &str) -> Result<Hash, String> {
    Hash::parse(text).ok_or_else(|| "not a SHA-256: 64 hexadecimal digits".to_owned())
}

/// How many are shown.
fn number(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("`0` would show nothing: write a number from 1".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err(format!("`{text}` is not a number: write one from 1")),
    }
}

/// How old something is. Nobody means seconds who writes `30`.
fn age(text: &str) -> Result<Duration, String> {
    if text.ends_with(|last: char| last.is_ascii_digit() || last == '.') {
        return Err(format!(
            "`{text}` has no unit: write {text}d, {text}h, {text}m or {text}s"
        ));
    }
    duration(text).map_err(|_| format!("`{text}` is not a time: write 30d, 12h, 45m or 90s"))
}

/// A time ago, or a date, as the log writes times.
fn since(text: &str) -> Result<String, String> {
    if let Some(at) = age(text).ok().and_then(|ago| SystemTime::now().checked_sub(ago)) {
        return Ok(rfc3339(at));
    }
    const FORM: &str = "0000-00-00T00:00:00.000Z";
    // What is left out of a date, as the first moment that it can mean.
    const REST: &str = "0000-01-01T00:00:00";
    let is_there = |text: &str| {
        let seconds = text.get(..REST.len()).unwrap_or(text);
        let rest = REST.get(seconds.len()..).unwrap_or_default();
        format!("{seconds}{rest}").parse::<Moment>().is_ok()
    };
    let fits = |(given, form): (char, char)| match form {
        '0' => given.is_ascii_digit(),
        _ => given == form,
    };
    if (10..=FORM.len()).contains(&text.len()) && text.chars().zip(FORM.chars()).all(fits) && is_there(text) {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{text}` is not a time: write 2h, 7d, 2026-01-31 or 2026-01-31T12:00"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_while_ago_or_a_date() {
        let date = "2026-01-31T12:00:00.000Z";
        for text in [
            date,
            "2026-01-31",
            "2026-01-31T12:00",
            "2024-02-29T2",
            "2026-01-31T12:59:59",
        ] {
            assert_eq!(since(text).as_deref(), Ok(text));
        }
        assert_eq!(since("2h").map(|at| at.len()), Ok(date.len()));
        for wrong in [
            "",
            "5",
            "yesterday",
            "2026-01",
            "2026/01/31",
            "2026-01-31T12:00:00.000Zx",
            "2026-13-01",
            "2026-02-31",
            "2025-02-29T12:00",
            "2026-11-19T25:61",
            "2026-11-19T24",
            "2026-11-19T12:00:60",
        ] {
            assert!(since(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_age_has_a_unit_and_a_number_is_not_zero() {
        assert_eq!(age("12h"), Ok(Duration::from_secs(43_200)));
        assert_eq!(age("5").unwrap_err(), "`5` has no unit: write 5d, 5h, 5m or 5s");
        for wrong in ["", "0", "1d12", "5w", "d", "-5d"] {
            assert!(age(wrong).is_err(), "{wrong}");
        }
        assert_eq!(number("1"), Ok(1));
        for wrong in ["", "0", "-1", "x"] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }
}
