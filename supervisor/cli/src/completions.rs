//! `completions`: the script that clap writes, for both names of the program.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;

const NAME: &str = "glee-supervisor";

/// A script that completes `glee-supervisor` and `glee`.
pub(crate) fn script(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    // clap_complete 4.6 writes the labels of a name with a hyphen in two ways for bash, so that none is ever found.
    let script = String::from_utf8_lossy(&script).replace("glee__subcmd__supervisor", "glee__supervisor");
    with_second_name(shell, script)
}

/// Where a script names the program that it completes, it names the second one too.
fn with_second_name(shell: Shell, script: String) -> String {
    match shell {
        Shell::Bash => script.replace(" -o default glee-supervisor\n", " -o default glee-supervisor glee\n"),
        Shell::Zsh => script
            .replace("#compdef glee-supervisor\n", "#compdef glee-supervisor glee\n")
            .replace(
                "compdef _glee-supervisor glee-supervisor\n",
                "compdef _glee-supervisor glee-supervisor glee\n",
            ),
        Shell::Fish => script + "complete -c glee -w glee-supervisor\n",
        Shell::PowerShell => script.replace(
            "-CommandName 'glee-supervisor'",
            "-CommandName 'glee-supervisor', 'glee'",
        ),
        Shell::Elvish => {
            script + "set edit:completion:arg-completer[glee] = $edit:completion:arg-completer[glee-supervisor]\n"
        }
        // A shell that clap learns later.
        _ => script,
    }
}
