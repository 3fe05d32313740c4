//! The binaries' one entry point: argument parsing and printing. No policy logic.

mod agents;
mod agents_new;
mod approvals;
mod args;
mod args_agents;
mod args_config;
mod args_context;
mod args_more;
mod args_past;
mod args_policy;
mod args_tasks;
mod args_workflow;
mod args_workflow_run;
mod asked;
mod audit;
mod completions;
mod config;
mod context;
mod copies;
mod doctor;
mod endpoint;
mod explain;
mod learn;
mod logs;
mod mcp;
mod memory;
mod policy;
mod print;
mod run;
mod runs;
mod sessions;
mod stub;
mod stub_mcp;
mod subagent;
mod subagents;
mod summary;
mod tasks;
mod trust;
mod workflow;
mod workflow_dry;
mod workflow_lines;
mod workflow_past;
mod workflow_run;

use std::ffi::OsString;
use std::path::Path;

use clap::Parser;
use glee_engine::endpoint::ENDPOINT;
use glee_engine::tasks::cli::STUB;
use glee_engine::tasks::{DRIVER, WORKER, worker};

use args::{Cli, Command};
use glee_sandbox::contained;
use glee_sandbox::sys::path;

/// Parses the arguments and does what they say.
pub fn main() -> u8 {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    if std::process::id() == 1 && arguments.get(1).is_some_and(|word| word == contained::NAME) {
        contained::main();
    }
    path::keep_own_rights();
    if let Some(status) = hidden(&arguments) {
        return u8::try_from(status & 0xff).unwrap_or(1);
    }
    let cli = match Cli::plain_run(&arguments).map_or_else(|| Cli::try_parse_from(&arguments), Ok) {
        Ok(cli) => cli,
        Err(error) => return usage(&error, &arguments),
    };
    let project = cli.project;
    let status = match cli.command {
        Command::Run(arguments) => run::run(arguments, project),
        Command::Doctor(arguments) => doctor::doctor(&arguments, project),
        Command::Agents(command) => agents::agents(command, project),
        Command::Config(command) => config::config(command, project),
        Command::Context(command) => context::context(command, project),
        Command::Policy(command) => policy::policy(command, project),
        Command::Trust(arguments) => trust::trust(&arguments, project),
        Command::Untrust => trust::untrust(project),
        Command::Runs(command) => runs::runs(command, project),
        Command::Audit(command) => audit::audit(command),
        Command::Sessions(command) => sessions::sessions(command, project),
        Command::Memory(command) => memory::memory(command, project),
        Command::Logs(arguments) => logs::logs(&arguments, project),
        Command::Subagent(arguments) => subagent::subagent(arguments, project),
        Command::Subagents(arguments) => subagents::subagents(&arguments, project),
        Command::Tasks(command) => tasks::tasks(command, project),
        Command::Workflow(command) => workflow::workflow(command, project),
        Command::Approvals(command) => approvals::approvals(command, project),
        Command::Mcp(arguments) => mcp::mcp(arguments, project),
        Command::Completions { shell } => print::bytes(completions::script(shell).as_bytes(), 0),
    };
    u8::try_from(status & 0xff).unwrap_or(1)
}

/// What this program is to itself: a worker, the driver of a workflow, the server at a task's endpoint, and the stub agent.
fn hidden(arguments: &[OsString]) -> Option<i32> {
    match arguments {
        [_, word, project] if word == WORKER => Some(i32::from(worker::work(Path::new(project), None).is_err())),
        [_, word, project, patron] if word == WORKER => {
            let patron = patron.to_str().and_then(|patron| patron.parse().ok());
            Some(i32::from(worker::work(Path::new(project), patron).is_err()))
        }
        [_, word, project, run] if word == DRIVER => Some(workflow_run::drive(Path::new(project), run)),
        [_, word] if word == STUB => Some(stub::work()),
        [_, word, project, task, parent] if word == ENDPOINT => Some(endpoint::serve(project, task, parent)),
        _ => None,
    }
}

/// Help goes to stdout with status 0. A mistake in `run` is a refusal: 125, as nothing was started.
fn usage(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let printed = error.print();
    if !error.use_stderr() {
        // It was asked for, as data is.
        return match printed {
            Err(problem) if problem.kind() != std::io::ErrorKind::BrokenPipe => {
                print::error(&format!("cannot write to standard output: {problem}"), None);
                1
            }
            Ok(()) | Err(_) => 0,
        };
    }
    if names_run(arguments) { 125 } else { 2 }
}

/// Is the first word that is neither a flag nor the value of one `run`?
fn names_run(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--project" {
            words.next();
        } else if !word.as_encoded_bytes().starts_with(b"-") {
            return word == "run";
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn a_plain_run_is_read_as_in_the_whole_command_line() {
        for line in [
            "glee run -- true",
            "glee run --policy restricted -- ls -la --help",
            "glee run -- ls -- --policy x",
            "glee run --project /p --read a --read b --write c --env A=1 --report r.json --policy p -- x --project y",
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let plain = Cli::plain_run(&arguments).unwrap_or_else(|| panic!("{line}"));
            let whole = Cli::try_parse_from(&arguments).unwrap_or_else(|error| panic!("{line}: {error}"));
            assert_eq!(format!("{plain:?}"), format!("{whole:?}"), "{line}");
        }
        for line in [
            "glee",
            "glee run",
            "glee run --",
            "glee run true",
            "glee run --help",
            "glee run --help -- true",
            "glee run --no-such -- x",
            "glee run --policy",
            "glee run --policy -- true",
            "glee run --policy --help -- true",
            "glee run --policy a --policy b -- true",
            "glee run --project  -- true",
            "glee run --timeout 1s -- true",
            "glee --project p run -- true",
            "glee doctor",
        ] {
            let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            assert!(Cli::plain_run(&arguments).is_none(), "{line}");
        }
    }

    #[test]
    fn a_mistake_in_run_is_told_from_others() {
        let names = |line: &str| names_run(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(names("glee run --no-such"));
        assert!(names("glee --project run run --no-such"));
        assert!(names("glee --project=x run"));
        assert!(!names("glee --project run doctor --no-such"));
        assert!(!names("glee policy show run"));
        assert!(!names("glee --no-such"));
    }

    #[test]
    fn the_command_line_is_well_formed_and_every_help_has_an_example() {
        fn walk(command: &clap::Command, path: &str) {
            let help = command.clone().render_help().to_string();
            assert!(
                help.contains(&format!("Example:\n  {path}")) || help.contains(&format!("({path} ")),
                "{help}"
            );
            for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help") {
                walk(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        let command = Cli::command();
        command.clone().debug_assert();
        walk(&command, "glee-supervisor");
    }
}
