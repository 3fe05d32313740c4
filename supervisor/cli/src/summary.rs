//! The closing word on a terminal: what was refused, and what would allow it.
//!
//! INVARIANT: paths, hosts and names of programs come from inside the sandbox; each is made visible before it is printed.
//! INVARIANT: a flood of one kind hides no other kind.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use glee_engine::report::{Denial, Report, What};
use glee_engine::text::{columns, visible};
use glee_policy::{hint, injection};

use crate::print::Paint;

/// Rows before the rest is only counted.
const ROWS: usize = 10;
/// Names of variables, likewise.
const NAMES: usize = 3;
/// A longer path or name is cut in its middle.
const WIDEST: usize = 60;

/// Does somebody look at a terminal?
pub(crate) fn is_wanted() -> bool {
    std::io::stderr().is_terminal()
}

/// Says it, if somebody looks at a terminal and there is something to say.
pub(crate) fn print(report: &Report) {
    if is_wanted()
        && let Some(text) = text(report, &|paint, text| paint.err(text))
    {
        crate::print::tell(&text);
    }
}

/// `None`: nothing was refused.
fn text(report: &Report, paint: &dyn Fn(Paint, &str) -> String) -> Option<String> {
    if report.denials.is_empty() {
        return None;
    }
    // As many as there are rows in the report: how often each happened stands in it.
    let count = report.denials.len();
    let shown = chosen(&report.denials);
    let rows: Vec<Vec<String>> = shown.iter().map(|denial| row(denial, paint)).collect();
    let noun = if count == 1 { "denial" } else { "denials" };
    let unlisted = match report.denials_omitted {
        0 => String::new(),
        omitted => format!(", and {omitted} refusals that the report does not list"),
    };
    let mut text = format!(
        "{}{unlisted} · run {}\n",
        paint(Paint::Head, &format!("{count} {noun}")),
        report.run_id
    );
    text.push_str(&columns(&rows, "  "));
    let more = count - rows.len();
    if more > 0 {
        text.push_str(&format!(
            "  and {more} more: glee-supervisor runs show {}\n",
            report.run_id
        ));
    }
    text.push_str(&withheld(&report.withheld_env, paint));
    Some(text)
}

/// The first of each kind, then those that came first, in the order of the report.
fn chosen(denials: &[Denial]) -> Vec<&Denial> {
    let mut seen = BTreeSet::new();
    let (firsts, others): (Vec<_>, Vec<_>) = denials
        .iter()
        .zip(0..)
        .partition(|(denial, _)| seen.insert(kind(denial)));
    let mut taken: Vec<(&Denial, usize)> = firsts.into_iter().chain(others).take(ROWS).collect();
    taken.sort_by_key(|(_, at)| *at);
    taken.into_iter().map(|(denial, _)| denial).collect()
}

fn kind(denial: &Denial) -> &'static str {
    match denial.kind {
        "fs.read" | "fs.hidden" => "read",
        "fs.write" => "write",
        "fs.exec" => "exec",
        "network" => "net",
        "syscall" => "call",
        other => other,
    }
}

fn row(denial: &Denial, paint: &dyn Fn(Paint, &str) -> String) -> Vec<String> {
    let what = match &denial.what {
        What::Path(text) | What::Host(text) | What::Name(text) => text,
    };
    let times = if denial.count > 1 {
        format!(" ×{}", denial.count)
    } else {
        String::new()
    };
    let who = match (denial.program.as_str(), denial.pid) {
        ("", 0) => String::new(),
        (program, 0) => format!("by {}", visible(program)),
        (program, pid) => format!("by {} (pid {pid})", visible(program)),
    };
    vec![
        paint(Paint::Bad, kind(denial)),
        shorten(&visible(what)),
        format!("{who}{times}").trim_start().to_owned(),
        format!("{} {}", paint(Paint::Hint, "allow:"), visible(&denial.hint)),
    ]
}

/// The head and the tail of what is too long to read.
fn shorten(text: &str) -> String {
    let count = text.chars().count();
    if count <= WIDEST {
        return text.to_owned();
    }
    let half = WIDEST / 2 - 1;
    let (head, tail) = (text.chars().take(half), text.chars().skip(count - half));
    head.chain(['…']).chain(tail).collect()
}

fn withheld(names: &[String], paint: &dyn Fn(Paint, &str) -> String) -> String {
    if names.is_empty() {
        return String::new();
    }
    let listed: Vec<String> = names.iter().take(NAMES).map(|name| shorten(&visible(name))).collect();
    let more = match names.len().saturating_sub(NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let hint = paint(Paint::Hint, "allow:");
    let list = listed.join(", ");
    let advice = match names.iter().find_map(|name| hint::env(name)) {
        Some(clause) => format!("{hint} {}", visible(&clause)),
        None => {
            let reasons: BTreeSet<&str> = names.iter().map(|name| injection::reason(name.as_bytes())).collect();
            let reasons: Vec<&str> = reasons.into_iter().collect();
            format!("never passed on: it {}", reasons.join(" or "))
        }
    };
    format!("  withheld from the environment: {list}{more}  {advice}\n")
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn denial(kind: &'static str, what: What, program: &str, count: u64, hint: &str) -> Denial {
        Denial {
            kind,
            syscall: "openat".into(),
            what,
            path_hex: None,
            pid: if program.is_empty() { 0 } else { 7 },
            program: program.into(),
            rule: String::new(),
            hint: hint.into(),
            count,
        }
    }

    fn report(denials: Vec<Denial>) -> Report {
        let mut report = Report::new("01j", &[], SystemTime::UNIX_EPOCH);
        report.denials = denials;
        report
    }

    fn plain(report: &Report) -> Option<String> {
        text(report, &|_, text| text.to_owned())
    }

    #[test]
    fn rows_are_aligned_and_say_what_would_allow_it() {
        let mut report = report(vec![
            denial(
                "fs.hidden",
                What::Path("/home/me/.ssh/id".into()),
                "cat",
                1,
                "fs.read: [\"~/.ssh/id\"]",
            ),
            denial("network", What::Host("a.example:443".into()), "node", 4, "network: …"),
            denial("limit", What::Name("limits.pids".into()), "", 1, "limits: {pids: 2}"),
        ]);
        report.withheld_env = ["A", "B", "C", "D", "E"].map(str::to_owned).to_vec();
        let expected = "\
3 denials · run 01j
  read   /home/me/.ssh/id  by cat (pid 7)      allow: fs.read: [\"~/.ssh/id\"]
  net    a.example:443     by node (pid 7) ×4  allow: network: …
  limit  limits.pids                           allow: limits: {pids: 2}
  withheld from the environment: A, B, C and 2 more  allow: env: {allow: [\"A\"]}
";
        assert_eq!(plain(&report).as_deref(), Some(expected));
    }

    #[test]
    fn nothing_refused_nothing_said() {
        let mut quiet = report(Vec::new());
        quiet.withheld_env = vec!["TOKEN".into()];
        assert_eq!(plain(&quiet), None);
    }

    #[test]
    fn after_ten_rows_the_rest_is_counted() {
        let rows = (0..15).map(|n| denial("fs.read", What::Path(format!("/{n}")), "x", 1, "h"));
        let text = plain(&report(rows.collect())).unwrap();
        assert_eq!(text.lines().count(), 12);
        assert!(
            text.ends_with("  and 5 more: glee-supervisor runs show 01j\n"),
            "{text}"
        );
    }

    #[test]
    fn what_the_report_does_not_list_is_told_apart_from_its_rows() {
        let rows = (0..2).map(|n| denial("fs.read", What::Path(format!("/{n}")), "x", 5, "h"));
        let mut report = report(rows.collect());
        report.denials_omitted = 1330;
        let text = plain(&report).unwrap();
        let head = "2 denials, and 1330 refusals that the report does not list · run 01j\n";
        assert!(text.starts_with(head), "{text}");
    }

    #[test]
    fn a_flood_of_one_kind_hides_no_other() {
        let flood = (0..700).map(|n| denial("fs.read", What::Path(format!("/{n}")), "x", 1, "h"));
        let others = ["network", "fs.write", "syscall"].map(|kind| denial(kind, What::Name("z".into()), "x", 1, "h"));
        let text = plain(&report(flood.chain(others).collect())).unwrap();
        let kinds: Vec<&str> = text
            .lines()
            .skip(1)
            .take(10)
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        let expected = [&["read"; 7][..], &["net", "write", "call"]].concat();
        assert_eq!(kinds, expected, "{text}");
        assert!(
            text.ends_with("  and 693 more: glee-supervisor runs show 01j\n"),
            "{text}"
        );
    }

    #[test]
    fn nothing_from_inside_drives_the_terminal_or_breaks_the_line() {
        let evil = "/a\x1b]0;x\x07\n2 denials\u{202e}";
        let rows = vec![denial("fs.read", What::Path(evil.into()), "e\x1b[31m\r", 1, evil)];
        let text = plain(&report(rows)).unwrap();
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }

    #[test]
    fn a_long_path_keeps_its_ends() {
        let long = format!("/{}/name", "x".repeat(500));
        let text = shorten(&long);
        assert!(text.chars().count() <= WIDEST && text.ends_with("/name") && text.starts_with("/xx"));
    }
}
