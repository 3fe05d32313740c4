//! Variables that make a loader or an interpreter run something: they never pass, even if the policy or the caller names them.

use glee_tests::{Attempt, Leak, attempt};

/// The caller has it and says `--env NAME`.
macro_rules! by_flag {
    ($name:literal) => {
        holding($name).flags(&["--env", $name])
    };
}

/// The policy file allows it.
macro_rules! by_policy {
    ($name:literal) => {
        holding($name).yaml(concat!(
            "extends: restricted\nenv: {allow: [PATH, HOME, '",
            $name,
            "']}\n"
        ))
    };
}

/// To drop it and to refuse the run are both right.
fn holding(name: &'static str) -> Attempt {
    attempt("env; cat /proc/$$/environ", Leak::Secret)
        .secret_env(name)
        .may_refuse()
}

/// A policy file, or the command line, sets it to a value.
fn set(name: &'static str) -> Attempt {
    setting(name).yaml(&format!(
        "extends: restricted\nenv: {{allow: [PATH], set: {{{name}: 'planted/@ID'}}}}\n"
    ))
}

fn setting(name: &'static str) -> Attempt {
    attempt(
        "env | grep planted/",
        Leak::Seen(|w, o| {
            o.says(&format!("planted/{}", w.nonce()))
                .then(|| "the variable was set inside".into())
        }),
    )
    .env(name, "planted/@ID")
    .may_refuse()
}

claims! {
    ld_preload_does_not_pass => holding("LD_PRELOAD"),
    ld_preload_does_not_pass_by_flag => by_flag!("LD_PRELOAD"),
    ld_preload_does_not_pass_by_policy => by_policy!("LD_PRELOAD"),
    ld_preload_is_not_set_by_policy => set("LD_PRELOAD"),
    ld_preload_is_not_set_by_flag => setting("LD_PRELOAD").flags(&["--env", "LD_PRELOAD=planted/@ID"]),
    ld_preload_does_not_pass_by_star => holding("LD_PRELOAD").yaml("extends: restricted\nenv: {allow: ['LD_*']}\n"),
    ld_audit_does_not_pass_by_policy => by_policy!("LD_AUDIT"),
    ld_audit_is_not_set_by_policy => set("LD_AUDIT"),
    ld_library_path_does_not_pass_by_flag => by_flag!("LD_LIBRARY_PATH"),
    gconv_path_does_not_pass_by_flag => by_flag!("GCONV_PATH"),
    glibc_tunables_do_not_pass_by_policy => by_policy!("GLIBC_TUNABLES"),
    bash_env_does_not_pass_by_flag => by_flag!("BASH_ENV"),
    bash_env_is_not_set_by_policy => set("BASH_ENV"),
    env_of_sh_does_not_pass_by_policy => by_policy!("ENV"),
    exported_functions_do_not_pass => holding("BASH_FUNC_ls%%")
        .yaml("extends: restricted\nenv: {allow: ['BASH_FUNC_*']}\n"),
    prompt_command_does_not_pass_by_policy => by_policy!("PROMPT_COMMAND"),
    node_options_do_not_pass_by_flag => by_flag!("NODE_OPTIONS"),
    node_options_are_not_set_by_flag => setting("NODE_OPTIONS").flags(&["--env", "NODE_OPTIONS=planted/@ID"]),
    node_path_does_not_pass_by_policy => by_policy!("NODE_PATH"),
    pythonpath_does_not_pass_by_policy => by_policy!("PYTHONPATH"),
    pythonstartup_does_not_pass_by_flag => by_flag!("PYTHONSTARTUP"),
    pythonhome_is_not_set_by_policy => set("PYTHONHOME"),
    pythoninspect_does_not_pass_by_flag => by_flag!("PYTHONINSPECT"),
    perl5opt_does_not_pass_by_policy => by_policy!("PERL5OPT"),
    perl5lib_does_not_pass_by_flag => by_flag!("PERL5LIB"),
    rubyopt_does_not_pass_by_policy => by_policy!("RUBYOPT"),
    java_tool_options_do_not_pass_by_flag => by_flag!("JAVA_TOOL_OPTIONS"),
    git_ssh_command_does_not_pass_by_flag => by_flag!("GIT_SSH_COMMAND"),
    git_external_diff_does_not_pass_by_policy => by_policy!("GIT_EXTERNAL_DIFF"),
    git_config_count_does_not_pass_by_flag => by_flag!("GIT_CONFIG_COUNT"),
    git_config_global_is_not_set_by_policy => set("GIT_CONFIG_GLOBAL"),
    git_config_keys_do_not_pass_by_star => holding("GIT_CONFIG_VALUE_0")
        .yaml("extends: restricted\nenv: {allow: ['GIT_CONFIG_*']}\n"),
    git_exec_path_does_not_pass_by_policy => by_policy!("GIT_EXEC_PATH"),
    tar_options_do_not_pass_by_flag => by_flag!("TAR_OPTIONS"),
    ripgrep_configuration_does_not_pass_by_policy => by_policy!("RIPGREP_CONFIG_PATH"),
    options_of_less_do_not_pass_by_flag => by_flag!("LESS"),
    pager_of_a_tool_does_not_pass_by_policy => by_policy!("AWS_PAGER"),
    library_path_of_r_does_not_pass_by_flag => by_flag!("R_LIBS_USER"),
    load_path_of_guile_does_not_pass_by_star => holding("GUILE_LOAD_PATH")
        .yaml("extends: restricted\nenv: {allow: ['GUILE_*']}\n"),
    library_of_valgrind_does_not_pass_by_flag => by_flag!("VALGRIND_LIB"),
    options_of_valgrind_do_not_pass_by_star => holding("VALGRIND_OPTS")
        .yaml("extends: restricted\nenv: {allow: ['VALGRIND_*']}\n"),
    gem_path_does_not_pass_by_policy => by_policy!("GEM_PATH"),
    start_of_irb_does_not_pass_by_flag => by_flag!("IRBRC"),
    site_of_configure_does_not_pass_by_policy => by_policy!("CONFIG_SITE"),
    options_of_javac_do_not_pass_by_flag => by_flag!("JDK_JAVAC_OPTIONS"),
    switches_of_perl_tests_do_not_pass_by_flag => by_flag!("HARNESS_PERL_SWITCHES"),
    check_of_ccache_does_not_pass_by_policy => by_policy!("CCACHE_COMPILERCHECK"),
    merge_program_of_mercurial_does_not_pass_by_flag => by_flag!("HGMERGE"),
    vendor_library_of_egl_does_not_pass_by_star => holding("__EGL_VENDOR_LIBRARY_DIRS")
        .yaml("extends: restricted\nenv: {allow: ['__EGL_*']}\n"),
    rustc_wrapper_does_not_pass_by_flag => by_flag!("RUSTC_WRAPPER"),
    npm_configuration_does_not_pass_by_star => holding("npm_config_script_shell")
        .yaml("extends: restricted\nenv: {allow: ['npm_config_*']}\n"),
}
