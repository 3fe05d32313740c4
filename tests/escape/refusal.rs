//! A policy that cannot be understood or enforced runs nothing: exit 125, and the command never started.

use glee_tests::{Attempt, Leak, Policy, attempt};

/// The command would print a file of the project, which every policy may read.
fn refused(yaml: &str) -> Attempt {
    attempt("cat file", Leak::Secret)
        .secret_at("@PROJECT/file")
        .yaml(yaml)
        .refused()
}

claims! {
    unknown_key_is_refused => refused("extends: restricted\nnetwrk: false\n"),
    unknown_key_below_fs_is_refused => refused("extends: restricted\nfs: {raed: ['.']}\n"),
    unknown_key_below_limits_is_refused => refused("extends: restricted\nlimits: {memory: 5}\n"),
    unknown_key_below_env_is_refused => refused("extends: restricted\nenv: {allowed: [PATH]}\n"),
    unknown_mode_is_refused => refused("mode: restrictd\n"),
    unknown_base_is_refused => refused("extends: nosuch\n"),
    unknown_isolation_is_refused => refused("extends: restricted\nisolation: none\n"),
    unknown_backend_is_refused => refused("extends: restricted\nbackend: chroot\n"),
    duplicate_key_is_refused => refused("extends: restricted\nnetwork: false\nnetwork: true\n"),
    wrong_type_of_network_is_refused => refused("extends: restricted\nnetwork: [a]\n"),
    wrong_type_of_read_is_refused => refused("extends: restricted\nfs: {read: 5}\n"),
    wrong_type_of_limit_is_refused => refused("extends: restricted\nlimits: {pids: many}\n"),
    negative_limit_is_refused => refused("extends: restricted\nlimits: {pids: -1}\n"),
    negative_time_is_refused => refused("extends: restricted\nmax_runtime_mins: -1\n"),
    broken_yaml_is_refused => refused("extends: restricted\nfs: {read: ['.'\n"),
    policy_that_is_a_list_is_refused => refused("- extends: restricted\n"),
    policy_of_two_documents_is_refused => refused("extends: restricted\n---\nmode: inherit\n"),
    alias_bomb_is_refused => refused("a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c \
        [*b,*b,*b,*b,*b,*b,*b,*b]\n\
        d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\nextends: \
        restricted\n"),
    policy_over_a_mebibyte_is_refused => refused(&format!("extends: restricted\n# {}\n", "x".repeat(1 << 20))),
    depth_is_bounded => refused(&format!("extends: restricted\nfs: {}{}\n", "[".repeat(500), "]".repeat(500))),
    base_that_extends_itself_is_refused => refused("extends: @OUT/../policy.yml\n"),
    missing_policy_is_refused => refused("").policy(Policy::Named("nosuch")),
    missing_policy_file_is_refused => refused("").policy(Policy::Named("/nowhere/policy.yml")),
    star_in_a_name_is_refused => refused("extends: restricted\nenv: {allow: ['S*']}\n"),
    broken_configuration_of_the_project_is_refused => refused("").policy(Policy::Unstated)
        .file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    netwrk: false\n"),
    timeout_that_is_no_time_is_refused => refused("extends: restricted\n").flags(&["--timeout", "soon"]),
    empty_read_list_grants_nothing => attempt("cat file", Leak::Secret).secret_at("@PROJECT/file")
        .yaml("extends: restricted\nfs: {read: []}\n").may_refuse(),
    empty_read_list_of_an_untrusted_project_grants_nothing => attempt("cat file", Leak::Secret)
        .secret_at("@PROJECT/file")
        .file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    fs: {read: []}\n")
        .policy(Policy::Unstated).may_refuse(),
    narrower_project_configuration_narrows => attempt("cat other/file", Leak::Secret).secret_at("@PROJECT/other/file")
        .file("@PROJECT/src/a", "")
        .file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    fs: {read: ['src']}\n")
        .policy(Policy::Unstated).may_refuse(),
    deny_of_an_untrusted_project_counts => attempt("cat .env", Leak::Secret).secret_at("@PROJECT/.env")
        .file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    fs: {deny: ['.env']}\n")
        .policy(Policy::Unstated),
}
