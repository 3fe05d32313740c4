use super::*;
use crate::injection::{is_injection, is_injection_prefix};

fn rules(allow: &[&str], set: &[(&str, &str)]) -> EnvRules {
    let mut rules = EnvRules::nothing();
    rules.allow = allow.iter().map(|text| EnvPattern::parse(text).unwrap()).collect();
    rules.set = set
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect();
    rules
}

fn vars(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
    pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
}

#[test]
fn only_what_is_allowed_passes_and_the_rest_is_named() {
    let rules = rules(&["PATH", "LC_*"], &[("CI", "1")]);
    let (passed, withheld) = rules.apply(vars(&[
        ("PATH", "/bin"),
        ("LC_ALL", "C"),
        ("LC_", "x"),
        ("SECRET", "s"),
        ("CI", "0"),
        ("PATHX", "y"),
    ]));
    assert_eq!(passed, vars(&[("CI", "1"), ("LC_ALL", "C"), ("PATH", "/bin")]));
    assert_eq!(withheld, ["LC_", "PATHX", "SECRET"].map(OsString::from));
}

#[test]
fn injection_names_never_pass_even_if_allowed() {
    let mut all = rules(&["LD_PRELOAD", "GIT_*", "BASH_ENV"], &[]);
    let given = vars(&[
        ("LD_PRELOAD", "x"),
        ("GIT_SSH_COMMAND", "x"),
        ("GIT_AUTHOR_NAME", "ann"),
        ("BASH_ENV", "x"),
    ]);
    assert_eq!(all.apply(given.clone()).0, vars(&[("GIT_AUTHOR_NAME", "ann")]));
    all.inherit_all = true;
    assert_eq!(all.apply(given).0, vars(&[("GIT_AUTHOR_NAME", "ann")]));
    all.set.insert("LD_AUDIT".into(), "x".into());
    assert_eq!(all.apply(vars(&[])).0, vec![]);
}

#[test]
fn the_injection_list_holds_what_the_kernel_facts_name() {
    for name in [
        "LD_PRELOAD",
        "LD_AUDIT",
        "LD_LIBRARY_PATH",
        "GLIBC_TUNABLES",
        "NODE_OPTIONS",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONINSPECT",
        "PYTHONHOME",
        "PYTHONBREAKPOINT",
        "BASH_ENV",
        "ENV",
        "BASH_FUNC_x%%",
        "SHELLOPTS",
        "PS4",
        "PROMPT_COMMAND",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "GIT_SSH_COMMAND",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG",
        "GIT_EXTERNAL_DIFF",
        "EDITOR",
        "PAGER",
        "RUSTC_WRAPPER",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
        "CARGO_BUILD_RUSTC_WRAPPER",
        "npm_config_script_shell",
        "NPM_CONFIG_PREFIX",
        "Npm_Config_x",
        "SSH_AUTH_SOCK",
        "LUA_INIT_5_4",
        "GCONV_PATH",
        "PHPRC",
        "DOTNET_STARTUP_HOOKS",
    ] {
        assert!(is_injection(name.as_bytes()), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "CARGO_HOME",
        "GIT_AUTHOR_NAME",
        "NODE_ENV",
        "npm_package_name",
        "LDFLAGS",
        "TMPDIR",
        "RUSTUP_HOME",
        "VIRTUAL_ENV",
        "JAVA_HOME",
        "GOPATH",
        "CI",
        "env",
        "PYTHONUNBUFFERED",
        "GLEE",
        "OPENAI_API_KEY",
    ] {
        assert!(!is_injection(name.as_bytes()), "{name}");
    }
    assert!(is_injection_prefix("LD_") && is_injection_prefix("NPM_CONFIG_"));
    assert!(!is_injection_prefix("GIT_") && !is_injection_prefix("LC_"));
}

#[test]
fn the_injection_list_holds_where_tools_look_for_their_parts() {
    for name in [
        "VALGRIND_LIB",
        "VALGRIND_OPTS",
        "MONO_PATH",
        "MONO_ENV_OPTIONS",
        "COMPlus_GCName",
        "DOTNET_GCName",
        "DOTNET_GCPath",
        "RUBYGEMS_GEMDEPS",
        "GEM_PATH",
        "JULIA_DEPOT_PATH",
        "JULIA_PROJECT",
        "PLTCOLLECTS",
        "GHC_ENVIRONMENT",
        "NODE_COMPILE_CACHE",
        "IRBRC",
        "CONFIG_SITE",
        "CONFIG_SHELL",
        "JDK_JAVAC_OPTIONS",
        "HARNESS_PERL_SWITCHES",
        "CCACHE_COMPILERCHECK",
        "HGMERGE",
        "SVN_MERGE",
        "R_PRINTCMD",
        "shell_escape",
        "LLVM_SYMBOLIZER_PATH",
        "VAULT_CONFIG_PATH",
        "GITPERLLIB",
        "LUAROCKS_CONFIG_5_4",
        "INTEL_LIBITTNOTIFY64",
        "__EGL_VENDOR_LIBRARY_FILENAMES",
        "pnpm_config_script_shell",
        "CARGO_REGISTRY_GLOBAL_CREDENTIAL_PROVIDERS",
        "CMAKE_CXX_LINKER_LAUNCHER",
        "PYENV_HOOK_PATH",
    ] {
        assert!(is_injection(name.as_bytes()), "{name}");
    }
    // They say where a language's own parts lie, as `JAVA_HOME` does, or choose a compiler.
    for name in [
        "GEM_HOME",
        "DOTNET_ROOT",
        "NODE_ENV",
        "MONOREPO",
        "JULIA_NUM_THREADS",
        "CC",
        "CFLAGS",
        "PNPM_HOME",
        "KUBECONFIG",
        "GH_TOKEN",
        "CARGO_TERM_COLOR",
    ] {
        assert!(!is_injection(name.as_bytes()), "{name}");
    }
}

#[test]
fn a_shell_function_and_a_broken_name_never_pass() {
    let mut all = EnvRules::nothing();
    all.inherit_all = true;
    let (passed, withheld) = all.apply(vars(&[
        ("f", "() { :; }; evil"),
        ("", "x"),
        ("a=b", "x"),
        ("ok", "1"),
        ("ok", "2"),
    ]));
    assert_eq!(passed, vars(&[("ok", "1")]));
    assert_eq!(withheld, ["", "a=b", "f"].map(OsString::from));
}

#[test]
fn under_inherit_names_that_are_not_utf8_pass() {
    use std::os::unix::ffi::OsStringExt;
    let mut all = EnvRules::nothing();
    let odd = vec![(OsString::from_vec(vec![0xff]), OsString::from_vec(vec![0xfe]))];
    assert_eq!(all.apply(odd.clone()).0, vec![]);
    all.inherit_all = true;
    assert_eq!(all.apply(odd.clone()).0, odd);
}

#[test]
fn narrowing_keeps_what_both_give() {
    let both = rules(&["LC_*", "PATH", "A"], &[("X", "1"), ("Y", "1")])
        .narrow(&rules(&["LC_ALL", "PATH"], &[("X", "1"), ("Y", "2")]));
    assert_eq!(both, rules(&["LC_ALL", "PATH"], &[("X", "1")]));
}

#[test]
fn a_value_that_one_side_sets_hides_the_callers_value_after_narrowing() {
    let both = rules(&["GH_*"], &[("GH_TOKEN", "")]).narrow(&rules(&["GH_*"], &[]));
    assert_eq!(both.fate(b"GH_TOKEN"), EnvFate::Withheld);
    assert_eq!(both.fate(b"GH_HOST"), EnvFate::Passes);
    let mut all = EnvRules::nothing();
    all.inherit_all = true;
    let both = all.narrow(&rules(&["A"], &[("B", "1")]));
    assert_eq!(both, rules(&["A"], &[]));
}
