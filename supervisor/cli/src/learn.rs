//! `policy learn`: runs a command and writes down what it was denied, as a policy.

use std::fs;
use std::path::{Path, PathBuf};

use glee_engine::learn::run::{Lesson, Manner, Taught, run as run_lesson};
use glee_engine::report::{Destination, Named};
use glee_engine::select;

use crate::args_policy::LearnArgs;
use crate::print;
use crate::run::announce;

const REFUSED: i32 = 125;

/// Returns the exit status: the command's own.
pub(crate) fn run(arguments: LearnArgs, project: Option<PathBuf>) -> i32 {
    if select::is_path(&arguments.policy) {
        print::error(
            &format!(
                "`{}` is a path, and a policy extends a profile by its name",
                arguments.policy
            ),
            Some("save the file as NAME.yml in the policies of your configuration directory, and say --policy NAME"),
        );
        return REFUSED;
    }
    if let Some(to) = arguments
        .output
        .as_deref()
        .filter(|to| !arguments.force && is_written(to))
    {
        print::error(
            &format!(
                "`--output {}`: there is a file already, and it is not empty",
                to.display()
            ),
            Some("name another file, or add --force to replace it"),
        );
        return REFUSED;
    }
    // Before the run: what the command renames or links meanwhile leads nowhere else.
    let output = arguments.output.clone();
    let named = output.as_deref().map(|to| Named {
        flag: "--output",
        to,
        project: project.as_deref(),
    });
    let destination = match named.as_ref().map(Destination::open).transpose() {
        Ok(destination) => destination,
        Err(error) => return print::refusal(&error.into(), REFUSED),
    };
    let lesson = Lesson {
        policy: arguments.policy,
        manner: if arguments.permissive {
            Manner::Permissive
        } else {
            Manner::Strict
        },
        project,
        command: arguments.command,
    };
    let Taught {
        finished,
        learned,
        rounds,
        refused,
    } = match run_lesson(lesson, &mut announce) {
        Ok(taught) => taught,
        Err(refusal) => return print::refusal(&refusal, refusal.exit_status()),
    };
    if let Some(refusal) = refused {
        print::refusal(&refusal, REFUSED);
        print::note("the command could not be run again with what was learned, which is written all the same");
    }
    let text = learned.text.as_bytes();
    let status = match destination {
        None => print::bytes(text, finished.status),
        Some(to) => match to.put(text) {
            Ok(()) => finished.status,
            Err(error) => {
                print::error(&format!("cannot write the policy: {error}"), None);
                REFUSED
            }
        },
    };
    let place = output.map_or_else(|| "above".to_owned(), |to| format!("in `{}`", to.display()));
    let runs = if rounds == 1 {
        String::new()
    } else {
        format!(" after {rounds} runs")
    };
    print::note(&format!(
        "{} proposed{runs}, {} only listed; the policy is {place}",
        counted(learned.proposed.len(), "clause"),
        counted(learned.listed, "denial")
    ));
    status
}

/// Is there a file that somebody may want to keep? A link or a pipe is for whoever opens it to judge.
fn is_written(to: &Path) -> bool {
    fs::symlink_metadata(to).is_ok_and(|meta| meta.is_file() && meta.len() > 0)
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}
