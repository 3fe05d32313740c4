//! `trust`, `trust status` and `untrust`: shows what a project asks for, and asks.

use std::fmt::Write as _;
use std::io::{BufRead, IsTerminal};
use std::path::{Path, PathBuf};

use glee_engine::audit::{LogError, record};
use glee_engine::consent::items::{self, Items};
use glee_engine::consent::{self, Kind, Question, Status, Want};
use glee_engine::project::Scene;
use glee_engine::run::Refusal;
use glee_engine::select::{CONFIG, SelectError};
use glee_engine::text::{columns, visible};
use glee_engine::trust::{Standing, TrustError};

use crate::args_more::{TrustArgs, TrustCommand};
use crate::asked::{self, Line};
use crate::print;

/// Returns the exit status: 0 if what was asked about counts in full afterwards.
pub(crate) fn trust(arguments: &TrustArgs, project: Option<PathBuf>) -> i32 {
    let done = match &arguments.command {
        Some(_) if arguments.yes || Which::of(arguments) != Which::All => {
            print::error("`trust status` takes no other flags", Some("leave them out"));
            return 2;
        }
        Some(TrustCommand::Status { json }) => status(project.as_deref(), *json),
        None => ask(arguments, project.as_deref()),
    };
    done.unwrap_or_else(|refusal| print::refusal(&refusal, 1))
}

/// What the user wants to be asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which<'a> {
    All,
    Configuration,
    Profile(&'a str),
    Agent(&'a str),
    Workflow(&'a str),
    Instructions,
}

impl<'a> Which<'a> {
    fn of(arguments: &'a TrustArgs) -> Self {
        let TrustArgs {
            policy,
            agent,
            workflow,
            agents_md,
            config,
            command: _,
            yes: _,
        } = arguments;
        match (policy, agent, workflow) {
            (Some(name), _, _) => Self::Profile(name),
            (None, Some(name), _) => Self::Agent(name),
            (None, None, Some(name)) => Self::Workflow(name),
            (None, None, None) if *agents_md => Self::Instructions,
            (None, None, None) if *config => Self::Configuration,
            (None, None, None) => Self::All,
        }
    }

    /// The questions, and the files that cannot be asked about.
    fn questions(self, scene: &Scene) -> Result<Items, Refusal> {
        let named = |items: Items, name: &str| -> Items {
            let file = format!("{name}.yml");
            let called = |path: &Path| path.file_name().is_some_and(|own| own == file.as_str());
            items
                .into_iter()
                .filter(|item| match item {
                    Ok(question) => called(&question.file),
                    Err(broken) => called(&broken.file),
                })
                .collect()
        };
        let one = |question: Option<Question>| question.into_iter().map(Ok).collect();
        Ok(match self {
            Self::Configuration => one(consent::configuration(scene)?),
            Self::Profile(name) => one(consent::profile(name, scene)?),
            Self::Agent(name) => named(items::agents(scene), name),
            Self::Workflow(name) => named(items::workflows(scene), name),
            Self::Instructions => items::instructions(scene),
            Self::All => {
                let mut all: Items = one(consent::configuration(scene)?);
                all.extend(items::agents(scene));
                all.extend(items::workflows(scene));
                all.extend(items::instructions(scene));
                all
            }
        })
    }

    fn nothing(self, scene: &Scene) -> (String, String) {
        let project = visible(&scene.project.to_string_lossy());
        let own = |what: &str, name: &str, list: &str| {
            let what = format!("the project `{project}` has no {what} `{}` of its own", visible(name));
            (what, format!("`glee-supervisor {list}` shows them"))
        };
        match self {
            Self::Profile(name) => {
                let (what, help) = own("profile", name, "policy list");
                (
                    what,
                    format!("{help}; those of the user and the built-in ones need no trust"),
                )
            }
            Self::Agent(name) => own("agent", name, "agents list"),
            Self::Workflow(name) => own("workflow", name, "trust status"),
            Self::Instructions => (
                format!("there is no AGENTS.md in `{project}`"),
                "--project names another place".into(),
            ),
            Self::Configuration | Self::All => (
                format!("there is nothing to trust in `{project}`"),
                format!(
                    "`{CONFIG}` with `security: subagent_permissions:` would ask for something; --project names another place"
                ),
            ),
        }
    }
}

fn ask(arguments: &TrustArgs, project: Option<&Path>) -> Result<i32, Refusal> {
    let scene = Scene::find(project)?;
    let which = Which::of(arguments);
    let items = which.questions(&scene)?;
    if items.is_empty() {
        let (what, help) = which.nothing(&scene);
        print::error(&what, Some(&help));
        return Ok(1);
    }
    let mut status = 0;
    let mut open = Vec::new();
    for item in &items {
        match item {
            Ok(question) if question.is_needed() && question.standing != Standing::Trusted => open.push(question),
            Ok(question) => print::note(&settled(question)),
            Err(broken) => {
                print::note(&format!("cannot be trusted: {}", broken.error));
                status = 1;
            }
        }
    }
    if !arguments.yes && !open.is_empty() && !somebody_is_here() {
        open.iter().for_each(|question| print::say(&difference(question)));
        let help = "run it on a terminal, or, having read what is asked for, with --yes";
        print::error("not trusted: nobody is here to ask", Some(help));
        return Ok(1);
    }
    for question in open {
        print::say(&difference(question));
        if arguments.yes || consents() {
            question.agree().map_err(SelectError::from)?;
            entered(question.entered(&scene));
            print::note("trusted, until one of these files changes");
        } else {
            print::note(refused(question.kind));
            status = 1;
        }
    }
    Ok(status)
}

fn refused(kind: Kind) -> &'static str {
    match kind {
        Kind::Configuration | Kind::Profile => "not trusted; it goes on to narrow `restricted` only",
        Kind::Agent | Kind::Workflow | Kind::Instructions => "not trusted; it goes on to be marked so",
    }
}

/// Why there is nothing to ask.
fn settled(question: &Question) -> String {
    let file = visible(&question.file.to_string_lossy());
    if !question.is_needed() {
        format!("`{file}` asks for nothing beyond `restricted`; it counts as it is")
    } else if question.wants.is_empty() {
        format!("`{file}` is trusted already")
    } else {
        let wants = wants(&question.wants);
        format!("`{file}` is trusted already; it was granted:\n{}", wants.trim_end())
    }
}

/// What a yes means: the difference to what every file has, and the files it covers.
fn difference(question: &Question) -> String {
    let again = match question.standing {
        Standing::Changed => " (it has changed since it was trusted)",
        Standing::Untrusted | Standing::Trusted => "",
    };
    let file = visible(&question.file.to_string_lossy());
    let asks = match (question.kind, question.wants.is_empty()) {
        (Kind::Configuration | Kind::Profile, _) => "asks for more than `restricted`:",
        (Kind::Agent, true) => "asks that its prompt count as instructions",
        (Kind::Agent, false) => "asks that its prompt count as instructions, and for more than the defaults:",
        (Kind::Workflow, _) => "asks that its steps count as instructions",
        (Kind::Instructions, _) => "asks to count as instructions to every agent of the project",
    };
    let mut text = format!("`{file}`{again} {asks}\n{}", wants(&question.wants));
    text.push_str("a yes covers these files as they are now:\n");
    for (file, digest) in question.files() {
        let _ = writeln!(text, "  sha256 {digest}  {}", visible(&file.to_string_lossy()));
    }
    text
}

fn wants(wants: &[Want]) -> String {
    let row = |line: Line<'_, Want>| match line {
        Line::Many { profile, count } => vec!["+".to_owned(), asked::many(count), asked::place(profile)],
        Line::One(want) => {
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
        }
    };
    let lines = asked::lines(wants, |want| want.profile.as_deref());
    columns(&lines.into_iter().map(row).collect::<Vec<_>>(), "  ")
}

fn somebody_is_here() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A yes from a person who has seen the question.
fn consents() -> bool {
    print::say("trust it? [y/N] ");
    let mut answer = String::new();
    // Whoever cannot be heard has not said yes.
    let heard = std::io::stdin().lock().read_line(&mut answer).is_ok();
    heard && is_yes(&answer)
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
    let done = || -> Result<Vec<String>, Refusal> {
        let scene = Scene::find(project.as_deref())?;
        let files = consent::withdraw(&scene).map_err(|error: TrustError| SelectError::from(error))?;
        if !files.is_empty() {
            entered(record::untrusted(&scene.project, files.len()));
        }
        Ok(files)
    };
    let files = match done() {
        Ok(files) => files,
        Err(refusal) => return print::refusal(&refusal, 1),
    };
    match files.len() {
        0 => print::note("nothing of this project was trusted"),
        1 => print::note("1 file is no longer trusted"),
        count => print::note(&format!("{count} files are no longer trusted")),
    }
    for file in files {
        print::say(&format!("  {}\n", visible(&file)));
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
            profile: None,
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
                kind: Kind::Configuration,
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
