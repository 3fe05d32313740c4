//! `trust`, `trust status` and `untrust`: shows what a project asks for, and asks.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use glee_engine::audit::{LogError, record};
use glee_engine::consent::{self, Question, Status, Want};
use glee_engine::project::Scene;
use glee_engine::run::Refusal;
use glee_engine::select::{CONFIG, SelectError};
use glee_engine::text::{columns, visible};
use glee_engine::trust::{Standing, TrustError};

use crate::args_more::{TrustArgs, TrustCommand};
use crate::print;

/// Returns the exit status: 0 if the project counts in full afterwards.
pub(crate) fn trust(arguments: &TrustArgs, project: Option<PathBuf>) -> i32 {
    let done = match &arguments.command {
        Some(_) if arguments.yes || arguments.policy.is_some() => {
            print::error(
                "`trust status` takes neither --yes nor --policy",
                Some("leave them out"),
            );
            return 2;
        }
        Some(TrustCommand::Status { json }) => status(project.as_deref(), *json),
        None => ask(arguments, project.as_deref()),
    };
    done.unwrap_or_else(|refusal| print::refusal(&refusal, 1))
}

fn ask(arguments: &TrustArgs, project: Option<&Path>) -> Result<i32, Refusal> {
    let scene = Scene::find(project)?;
    let question = match &arguments.policy {
        Some(name) => consent::profile(name, &scene)?,
        None => consent::configuration(&scene)?,
    };
    let Some(question) = question else {
        let (what, help) = nothing(arguments.policy.as_deref(), &scene);
        print::error(&what, Some(&help));
        return Ok(1);
    };
    let file = visible(&question.file.to_string_lossy());
    if question.wants.is_empty() {
        print::note(&format!(
            "`{file}` asks for nothing beyond `restricted`; it counts as it is"
        ));
        return Ok(0);
    }
    if question.standing == Standing::Trusted {
        print::note(&format!(
            "`{file}` is trusted already; it was granted:\n{}",
            wants(&question.wants).trim_end()
        ));
        return Ok(0);
    }
    print::say(&difference(&question));
    if !arguments.yes && !consents()? {
        return Ok(1);
    }
    question.agree().map_err(SelectError::from)?;
    entered(question.entered(&scene));
    print::note("trusted, until one of these files changes");
    Ok(0)
}

fn nothing(policy: Option<&str>, scene: &Scene) -> (String, String) {
    let project = visible(&scene.project.to_string_lossy());
    match policy {
        Some(name) => (
            format!("the project `{project}` has no profile `{name}` of its own"),
            "`glee-supervisor policy list` shows the profiles; those of the user and the built-in ones need no trust"
                .into(),
        ),
        None => (
            format!("there is nothing to trust in `{project}`"),
            format!(
                "`{CONFIG}` with `security: subagent_permissions:` would ask for something; --project names another place"
            ),
        ),
    }
}

/// What a yes means: the difference to `restricted`, and the files it covers.
fn difference(question: &Question) -> String {
    let again = match question.standing {
        Standing::Changed => " (it has changed since it was trusted)",
        Standing::Untrusted | Standing::Trusted => "",
    };
    let file = visible(&question.file.to_string_lossy());
    let mut text = format!(
        "`{file}`{again} asks for more than `restricted`:\n{}",
        wants(&question.wants)
    );
    text.push_str("a yes covers these files as they are now:\n");
    for (file, digest) in question.files() {
        let _ = writeln!(text, "  sha256 {digest}  {}", visible(&file.to_string_lossy()));
    }
    text
}

fn wants(wants: &[Want]) -> String {
    let rows: Vec<Vec<String>> = wants
        .iter()
        .map(|want| {
            let leads = want
                .leads_to
                .as_ref()
                .map(|path| format!(" → {path}"))
                .unwrap_or_default();
            let about = [want.origin.as_deref(), want.instead.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>();
            vec![
                "+".to_owned(),
                visible(&format!("{}{leads}", want.clause)),
                visible(&about.join("; ")),
            ]
        })
        .collect();
    columns(&rows, "  ")
}

/// A yes from a person who has seen the question.
fn consents() -> Result<bool, Refusal> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        let help = "run it on a terminal, or, having read what is asked for, with --yes";
        print::error("not trusted: nobody is here to ask", Some(help));
        return Ok(false);
    }
    print::say("trust it? [y/N] ");
    let mut answer = String::new();
    // Whoever cannot be heard has not said yes.
    let heard = std::io::stdin().lock().read_line(&mut answer).is_ok();
    let yes = heard && is_yes(&answer);
    if !yes {
        print::note("not trusted; it goes on to narrow `restricted` only");
    }
    Ok(yes)
}

/// What was said counts, entered or not.
fn entered(result: Result<(), LogError>) {
    if let Err(error) = result {
        print::warning(&format!("this is not in the audit log: {error}"), Some(error.help()));
    }
}

fn is_yes(answer: &str) -> bool {
    matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
}

fn status(project: Option<&Path>, json: bool) -> Result<i32, Refusal> {
    let scene = Scene::find(project)?;
    let list = consent::status(&scene);
    if json {
        return Ok(print::json(&list, 0));
    }
    if list.is_empty() {
        print::note(&format!(
            "`{}` asks for nothing",
            visible(&scene.project.to_string_lossy())
        ));
        return Ok(0);
    }
    Ok(print::bytes(list.iter().map(entry).collect::<String>().as_bytes(), 0))
}

fn entry(status: &Status) -> String {
    let standing = match status.standing {
        "untrusted" => "not trusted",
        "changed" => "changed since it was trusted",
        "not needed" => "only narrows `restricted`",
        other => other,
    };
    let mut text = format!("{}: {standing}\n{}", visible(&status.file), wants(&status.wants));
    if let Some(error) = &status.error {
        let _ = writeln!(text, "{}", print::visible(error));
    }
    text
}

/// Returns the exit status.
pub(crate) fn untrust(project: Option<PathBuf>) -> i32 {
    let done = || -> Result<usize, Refusal> {
        let scene = Scene::find(project.as_deref())?;
        let count = consent::withdraw(&scene).map_err(|error: TrustError| SelectError::from(error))?;
        if count > 0 {
            entered(record::untrusted(&scene.project, count));
        }
        Ok(count)
    };
    match done() {
        Ok(0) => print::note("nothing of this project was trusted"),
        Ok(1) => print::note("1 file is no longer trusted"),
        Ok(count) => print::note(&format!("{count} files are no longer trusted")),
        Err(refusal) => return print::refusal(&refusal, 1),
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        assert!(["y", "Y\n", " yes \n", "YES"].into_iter().all(is_yes));
        assert!(
            !["", "\n", "n", "yeah", "y y", "no", "ye", "\u{202e}y"]
                .into_iter()
                .any(is_yes)
        );
    }

    #[test]
    fn what_is_asked_for_is_shown_with_its_place_and_where_it_leads() {
        let want = |clause: &str, leads: Option<&str>, origin: Option<&str>, instead: Option<&str>| Want {
            clause: clause.to_owned(),
            leads_to: leads.map(str::to_owned),
            origin: origin.map(str::to_owned),
            instead: instead.map(str::to_owned),
        };
        let list = [
            want("fs.read `data`", Some("/home/u/.ssh"), Some("config.yml:4"), None),
            want(
                "max_runtime_mins 60",
                None,
                Some("config.yml:9"),
                Some("restricted: 10"),
            ),
            want("env.set A\x1b[2K", None, None, None),
        ];
        let expected = [
            "  +  fs.read `data` → /home/u/.ssh  config.yml:4\n",
            "  +  max_runtime_mins 60            config.yml:9; restricted: 10\n",
            "  +  env.set A\\u{1b}[2K\n",
        ];
        assert_eq!(wants(&list), expected.concat());
    }

    #[test]
    fn status_says_in_words_how_a_file_stands() {
        let of = |standing| {
            entry(&Status {
                file: "f".into(),
                standing,
                wants: Vec::new(),
                error: None,
            })
        };
        assert_eq!(of("untrusted"), "f: not trusted\n");
        assert_eq!(of("trusted"), "f: trusted\n");
        assert_eq!(of("not needed"), "f: only narrows `restricted`\n");
    }
}
