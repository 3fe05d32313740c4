//! Secrets in the supervisor's environment do not pass unless they are named exactly.

use glee_tests::{Attempt, Leak, Policy, attempt};

/// A variable of the caller's that holds the secret; the command prints all it has.
fn holding(name: &'static str) -> Attempt {
    attempt("env; export -p; cat /proc/self/environ", Leak::Secret).secret_env(name)
}

claims! {
    cloud_secret_does_not_pass => holding("AWS_SECRET_ACCESS_KEY"),
    forge_token_does_not_pass => holding("GITHUB_TOKEN"),
    openai_key_does_not_pass => holding("OPENAI_API_KEY"),
    anthropic_key_does_not_pass => holding("ANTHROPIC_API_KEY"),
    gemini_key_does_not_pass => holding("GEMINI_API_KEY"),
    codex_key_does_not_pass => holding("CODEX_API_KEY"),
    database_url_does_not_pass => holding("DATABASE_URL"),
    agent_socket_does_not_pass => holding("SSH_AUTH_SOCK"),
    bus_address_does_not_pass => holding("DBUS_SESSION_BUS_ADDRESS"),
    docker_host_does_not_pass => holding("DOCKER_HOST"),
    display_does_not_pass => holding("DISPLAY"),
    runtime_directory_does_not_pass => holding("XDG_RUNTIME_DIR"),
    unknown_variable_does_not_pass => holding("SOMETHING_NOBODY_LISTED"),
    lower_case_name_does_not_pass => holding("path"),
    name_that_begins_like_an_allowed_one_does_not_pass => holding("PATH_TO_SECRET"),
    name_that_begins_like_an_allowed_one_does_not_pass_under_workspace => holding("HOME_TOKEN").workspace(),
    secret_does_not_pass_under_workspace => holding("NPM_TOKEN").workspace(),
    secret_does_not_pass_without_a_policy => holding("SECRET").policy(Policy::Unstated),
    prefix_before_the_star_must_end_in_an_underscore => holding("LCSECRET")
        .yaml("extends: restricted\nenv: {allow: [PATH, HOME, 'LC*']}\n").may_refuse(),
    star_alone_is_no_name => holding("SECRET").yaml("extends: restricted\nenv: {allow: ['*']}\n").may_refuse(),
    star_in_the_middle_is_no_name => holding("A_SECRET_B").yaml("extends: restricted\nenv: {allow: ['A_*_B']}\n")
        .may_refuse(),
    star_in_front_is_no_name => holding("MY_KEY").yaml("extends: restricted\nenv: {allow: ['*_KEY']}\n").may_refuse(),
    star_after_lc_does_not_match_others => holding("LD_SECRET").yaml("extends: restricted\nenv: {allow: ['LC_*']}\n"),
    star_is_no_name_on_the_command_line => holding("SECRET").flags(&["--env", "*"]).may_refuse(),
    empty_allow_list_passes_nothing => holding("LANG").yaml("extends: restricted\nenv: {allow: []}\n"),
}
