//! Environment variables that make a loader, an interpreter or a tool load or run something, or lend the caller's keys.
//!
//! Pure data. They never pass into a sandbox, even where a policy allows them, and no policy and no flag may set them.
//! Sources: glibc's `unsecvars.h`, sudo's list of bad variables, KERNEL-FACTS 7, and the manuals of the tools named.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::injection_tools as tools;

/// By exact name, by group. The order within a group has no meaning.
const EXACT: &[&[&str]] = &[
    // glibc, resolver, locale, terminal
    &[
        "GCONV_PATH",
        "GETCONF_DIR",
        "GLIBC_TUNABLES",
        "HOSTALIASES",
        "LOCALDOMAIN",
        "LOCPATH",
        "NIS_PATH",
        "NLSPATH",
    ],
    &[
        "RESOLV_HOST_CONF",
        "RES_OPTIONS",
        "TZDIR",
        "PATH_LOCALE",
        "SHLIB_PATH",
        "LIBPATH",
        "AUTHSTATE",
        "KRB5_KTNAME",
    ],
    &["TERMINFO", "TERMINFO_DIRS", "TERMPATH", "TERMCAP"],
    // shells
    &[
        "BASH_ENV",
        "ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS0",
        "PS1",
        "PS2",
        "PS4",
        "PROMPT_COMMAND",
        "IFS",
        "CDPATH",
    ],
    &[
        "GLOBIGNORE",
        "FPATH",
        "NULLCMD",
        "READNULLCMD",
        "ZDOTDIR",
        "TMPPREFIX",
        "INPUTRC",
        "FCEDIT",
    ],
    // interpreters
    &[
        "NODE_OPTIONS",
        "NODE_PATH",
        "NODE_REPL_EXTERNAL_MODULE",
        "ELECTRON_RUN_AS_NODE",
        "BUN_OPTIONS",
        "YARN_PLUGINS",
    ],
    &[
        "YARN_RC_FILENAME",
        "YARN_YARN_PATH",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONHOME",
        "PYTHONINSPECT",
    ],
    &[
        "PYTHONBREAKPOINT",
        "PYTHONUSERBASE",
        "PYTHONWARNINGS",
        "PYTHONEXECUTABLE",
        "PYTHONPLATLIBDIR",
    ],
    &[
        "PYTHONPYCACHEPREFIX",
        "PERL5OPT",
        "PERL5LIB",
        "PERL5DB",
        "PERL5SHELL",
        "PERLLIB",
        "PERLIO_DEBUG",
        "PERL_MB_OPT",
    ],
    &[
        "PERL_MM_OPT",
        "RUBYOPT",
        "RUBYLIB",
        "RUBYPATH",
        "RUBYSHELL",
        "PHPRC",
        "PHP_INI_SCAN_DIR",
        "TCLLIBPATH",
    ],
    &[
        "R_PROFILE",
        "R_PROFILE_USER",
        "R_ENVIRON",
        "R_ENVIRON_USER",
        "JULIA_LOAD_PATH",
        "EMACSLOADPATH",
    ],
    &[
        "VIMINIT",
        "GVIMINIT",
        "EXINIT",
        "ERL_FLAGS",
        "ERL_AFLAGS",
        "ERL_ZFLAGS",
        "ERL_LIBS",
        "ELIXIR_ERL_OPTIONS",
    ],
    &[
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "JAVA_OPTS",
        "CLASSPATH",
        "MAVEN_OPTS",
        "MAVEN_ARGS",
    ],
    &[
        "GRADLE_OPTS",
        "SBT_OPTS",
        "ANT_OPTS",
        "ANT_ARGS",
        "DOTNET_STARTUP_HOOKS",
        "DOTNET_ADDITIONAL_DEPS",
    ],
    // programs that run other programs
    &[
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "GIT_EDITOR",
        "GIT_SEQUENCE_EDITOR",
    ],
    &[
        "GIT_ASKPASS",
        "GIT_PROXY_COMMAND",
        "GIT_EXEC_PATH",
        "GIT_TEMPLATE_DIR",
        "GIT_ALLOW_PROTOCOL",
    ],
    &[
        "EDITOR",
        "VISUAL",
        "PAGER",
        "MANPAGER",
        "BROWSER",
        "LESSOPEN",
        "LESSCLOSE",
        "HGEDITOR",
        "SVN_EDITOR",
        "SVN_SSH",
    ],
    &[
        "HGRCPATH",
        "RSYNC_RSH",
        "CVS_RSH",
        "SUDO_ASKPASS",
        "SUDO_EDITOR",
        "SSH_ASKPASS",
        "SSH_AUTH_SOCK",
    ],
    // build tools
    &[
        "RUSTC",
        "RUSTDOC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "RUSTFLAGS",
        "RUSTDOCFLAGS",
    ],
    &[
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_ENCODED_RUSTDOCFLAGS",
        "GOFLAGS",
        "MAKEFILES",
        "MAKEFLAGS",
        "GNUMAKEFLAGS",
    ],
    &["CCACHE_PREFIX", "CCACHE_COMPILER"],
    // libraries that load modules
    &[
        "OPENSSL_CONF",
        "OPENSSL_CONF_INCLUDE",
        "OPENSSL_MODULES",
        "OPENSSL_ENGINES",
        "GTK_MODULES",
        "GTK_PATH",
    ],
    &[
        "GIO_EXTRA_MODULES",
        "GDK_PIXBUF_MODULE_FILE",
        "QT_PLUGIN_PATH",
        "SASL_PATH",
    ],
];

/// By how the name starts.
const PREFIXES: &[&str] = &[
    "LD_",
    "DYLD_",
    "_RLD",
    "LDR_",
    "MALLOC_",
    "BASH_FUNC_",
    "GIT_CONFIG",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "CARGO_ALIAS_",
    "CARGO_BUILD_",
    "CARGO_CREDENTIAL_ALIAS_",
    "CORECLR_",
    "COR_",
    "KRB5_CONFIG",
];

/// By how the name starts, whatever its case: npm and pnpm read them so.
const PREFIXES_ANY_CASE: &[&str] = &["npm_config_", "pnpm_config_"];

/// By how the name starts and ends.
const PAIRS: &[(&str, &str)] = &[
    ("CARGO_", "_RUNNER"),
    ("CARGO_", "_LINKER"),
    ("CARGO_", "_RUSTFLAGS"),
    ("CARGO_", "_RUSTDOCFLAGS"),
    ("CARGO_", "_CREDENTIAL_PROVIDER"),
    ("CARGO_", "_CREDENTIAL_PROVIDERS"),
    ("CMAKE_", "_COMPILER_LAUNCHER"),
    ("CMAKE_", "_LINKER_LAUNCHER"),
];

/// Both lists of exact names. There are many, and a policy asks for each of its own.
static KNOWN: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| {
    let tools = tools::NAMES.iter().flat_map(|line| line.split(' '));
    EXACT
        .iter()
        .flat_map(|group| group.iter().copied())
        .chain(tools)
        .map(str::as_bytes)
        .collect()
});

fn prefixes() -> impl Iterator<Item = &'static str> {
    PREFIXES.iter().chain(tools::PREFIXES).copied()
}

/// Does a variable of this name make programs load or run code, or lend the caller's keys?
#[must_use]
pub fn is_injection(name: &[u8]) -> bool {
    KNOWN.contains(name)
        || prefixes().any(|prefix| name.starts_with(prefix.as_bytes()))
        || tools::SUFFIXES.iter().any(|suffix| name.ends_with(suffix.as_bytes()))
        || PREFIXES_ANY_CASE.iter().any(|prefix| {
            name.get(..prefix.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(prefix.as_bytes()))
        })
        || PAIRS
            .iter()
            .any(|(start, end)| name.starts_with(start.as_bytes()) && name.ends_with(end.as_bytes()))
}

/// Why such a variable never passes.
#[must_use]
pub fn reason(name: &[u8]) -> &'static str {
    match name {
        b"SSH_AUTH_SOCK" => "leads to the SSH agent, which signs with the caller's keys",
        _ => "makes programs load or run code",
    }
}

/// Could only such variables match a pattern with this prefix?
#[must_use]
pub fn is_injection_prefix(prefix: &str) -> bool {
    prefixes().any(|known| prefix.starts_with(known))
        || PREFIXES_ANY_CASE.iter().any(|known| {
            prefix
                .get(..known.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(known))
        })
}
