use super::*;

#[test]
fn what_could_never_be_protected_is_no_name() {
    for wrong in [
        "",
        "/",
        "/etc",
        "*",
        ".vs*",
        "..",
        "../x",
        "a/../b",
        "./.vscode",
        "a//b",
        "~",
        "~/.bashrc",
        "a\0b",
    ] {
        assert!(!is_name(wrong), "{wrong:?}");
    }
    for right in [
        ".vscode",
        ".git/hooks",
        "web/.envrc",
        "pages/[id]/.idea",
        "bin",
        "..x",
        "~x",
    ] {
        assert!(is_name(right), "{right:?}");
    }
}

#[test]
fn a_slip_of_the_pen_has_the_name_that_was_meant() {
    for (written, expected) in [
        (".vscod", ".vscode"),
        (".vscdoe", ".vscode"),
        (".VSCode", ".vscode"),
        (".gle", ".glee"),
        (".gitt", ".git"),
        (".git/hook", ".git/hooks"),
        (".git/confg", ".git/config"),
        (".envr", ".envrc"),
        ("web/app/.vscod", "web/app/.vscode"),
    ] {
        assert_eq!(meant(written).as_deref(), Some(expected), "{written}");
    }
}

#[test]
fn what_may_be_protected_somewhere_is_not_taken_for_a_slip() {
    for name in OF_GIT.iter().chain(NAMES).chain(IN_A_HOME).copied().chain([
        ".githooks",
        ".gitconfig",
        ".husky",
        ".github",
        ".vim",
        ".gdb",
        "bashrc",
        "_zshrc",
        ".git/config.lock",
        ".git/logs",
        ".config/git",
        ".config/Code",
        ".config/zsh/.zshrc",
        "vendor/lib/.git/config",
        "policies/mine.yml",
    ]) {
        assert_eq!(meant(name), None, "{name}");
    }
}
