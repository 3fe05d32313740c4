//! `--help` with an example on every command, `--version`, and completions.

use crate::claims::claims;

const COMMANDS: [&[&str]; 35] = [
    &["run"],
    &["doctor"],
    &["trust"],
    &["trust", "status"],
    &["untrust"],
    &["policy"],
    &["policy", "list"],
    &["policy", "show"],
    &["policy", "check"],
    &["policy", "plan"],
    &["sessions"],
    &["sessions", "list"],
    &["sessions", "show"],
    &["sessions", "delete"],
    &["sessions", "prune"],
    &["memory"],
    &["memory", "add"],
    &["memory", "search"],
    &["memory", "list"],
    &["memory", "forget"],
    &["logs"],
    &["completions"],
    &["agents"],
    &["agents", "list"],
    &["agents", "show"],
    &["agents", "create"],
    &["agents", "import"],
    &["context"],
    &["context", "preview"],
    &["config"],
    &["config", "get"],
    &["config", "set"],
    &["config", "list"],
    &["approvals", "list"],
    &["approvals", "show"],
];

claims! {
    fn the_help_of_every_command_has_an_example(at) {
        for command in COMMANDS {
            let seen = at.seen([command, &["--help"]].concat());
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{command:?}");
            let (_, example) = seen.stdout.split_once("xample").unwrap_or_default();
            let worked = format!("glee-supervisor {}", command.join(" "));
            assert!(example.contains(&worked), "the example of {command:?} does not show `{worked}`: {example}");
        }
    }

    fn the_help_of_run_names_every_flag_of_the_contract(at) {
        let help = at.seen(["run", "--help"]).stdout;
        let flags = [
            "--policy", "--timeout", "--report", "--backend", "--read", "--write", "--net", "--env", "--workspace",
            "--explain", "--no-denials", "--project",
        ];
        let missing: Vec<_> = flags.iter().filter(|flag| !help.contains(*flag)).collect();
        assert!(missing.is_empty(), "{missing:?} are not in the help");
    }

    fn the_top_help_names_every_command_on_stdout(at) {
        let seen = at.seen(["--help"]);
        assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
        let missing: Vec<_> = COMMANDS.iter().filter(|c| !seen.stdout.contains(c[0])).collect();
        assert!(missing.is_empty(), "{missing:?} are not in the help: {}", seen.stdout);
    }

    fn no_command_and_an_unknown_command_fail_on_stderr(at) {
        for call in [vec![], vec!["no-such-command"]] {
            let seen = at.seen(&call);
            assert!(seen.status != 0 && seen.stdout.is_empty() && !seen.stderr.is_empty(), "{call:?}: {seen:?}");
        }
    }

    fn the_version_is_one_line(at) {
        let seen = at.seen(["--version"]);
        assert_eq!((seen.status, seen.stderr.as_str(), seen.stdout.lines().count()), (0, "", 1));
        assert!(seen.stdout.contains(env!("CARGO_PKG_VERSION")), "{}", seen.stdout);
    }

    fn bash_completion_completes_a_command_and_a_flag(at) {
        let script = "set -e
            source <(\"$0\" completions bash)
            complete -p glee-supervisor | grep -o -- '-F [^ ]*' > /dev/null
            complete_words() {
                local name=$1
                COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMP_LINE=\"$*\" COMP_POINT=${#COMP_LINE} COMPREPLY=()
                local function=$(complete -p \"$name\" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
                \"$function\" \"$name\" \"${@: -1}\" \"${@: -2:1}\" || :
                printf '%s\\n' \"${COMPREPLY[@]}\" | sed 's/ *$//'
            }
            complete_words glee-supervisor doc
            complete_words glee-supervisor run --pol
            complete_words glee run --pol";
        at.world.file("@OUT/complete.bash", script);
        let seen = at.host("bash -c \"$(cat @OUT/complete.bash)\" @BIN");
        assert_eq!(seen, "doctor\n--policy\n--policy\n");
    }

    fn completions_for_zsh_and_fish_are_printed_for_both_names(at) {
        for (shell, both) in [
            ("zsh", "\n    compdef _glee-supervisor glee-supervisor glee\n"),
            ("fish", "\ncomplete -c glee -w glee-supervisor\n"),
        ] {
            let seen = at.seen(["completions", shell]);
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{shell}");
            let named = ["glee-supervisor", "policy", both].map(|word| seen.stdout.contains(word));
            assert_eq!(named, [true; 3], "{shell}: {}", seen.stdout);
        }
    }
}
