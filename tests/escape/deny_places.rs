//! `fs.deny` outside the project: what the sandbox shows is hidden, what cannot be hidden is refused by name.

use glee_tests::{Attempt, Leak, attempt};

use super::persist_worktree::worktree;

fn denying(rule: &str) -> String {
    format!("extends: restricted\nfs: {{deny: ['{rule}']}}\n")
}

/// A file that every sandbox shows, and a word that stands in it.
fn shown(rule: &str, script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).yaml(&denying(rule))
}

/// The rule hides what the sandbox needs, or what it cannot keep hidden.
fn refused(rule: &str) -> Attempt {
    attempt("cat file", Leak::Secret)
        .secret_at("@PROJECT/file")
        .yaml(&denying(rule))
        .refused()
}

/// The project is a linked worktree, and the secret lies in the git directory outside.
fn in_git_outside(base: &str, rule: &str) -> Attempt {
    attempt("cat @OUT/main/.git/info/a.pem", Leak::Secret)
        .given(worktree)
        .secret_at("@OUT/main/.git/info/a.pem")
        .yaml(&format!("extends: {base}\nfs: {{deny: ['{rule}']}}\n"))
}

fn processors() -> Leak {
    Leak::Seen(|_, o| o.says("processor").then(|| "a line of it".into()))
}

fn accounts() -> Leak {
    Leak::Seen(|_, o| o.says("nobody:").then(|| "a line of it".into()))
}

fn ran() -> Leak {
    Leak::Seen(|w, o| o.says(&w.fill("ran-@ID")).then(|| "the program ran".into()))
}

claims! {
    denied_file_of_proc_is_not_readable => shown("/proc/cpuinfo", "cat /proc/cpuinfo", processors()),
    denied_file_of_etc_is_not_readable => shown("/etc/passwd", "cat /etc/passwd", accounts()),
    files_below_a_denied_etc_are_not_readable => shown("/etc", "cat /etc/passwd; cat /etc/./passwd", accounts()),
    files_of_etc_that_a_pattern_denies_are_not_readable => shown("/etc/pass*", "cat /etc/passwd", accounts()),
    denied_program_does_not_run => shown("/usr/bin/env", "/usr/bin/env echo ran-@ID; /bin/env echo ran-@ID", ran()),
    program_that_a_pattern_denies_does_not_run => shown("/usr/bin/en[v]", "/usr/bin/env echo ran-@ID", ran()),
    denied_device_is_not_readable => shown("/dev/zero", "head -c 4 /dev/zero | od -c | sed 's/\\\\0/ran-@ID/'", ran()),
    grant_below_a_denied_directory_is_not_readable => attempt("cat @OUT/a/secret", Leak::Secret)
        .secret_at("@OUT/a/secret")
        .yaml("extends: restricted\nfs: {read: ['.', '@OUT/a'], deny: ['@OUT']}\n"),
    callers_flag_below_a_denied_directory_does_not_open_it => attempt("cat @OUT/a/secret", Leak::Secret)
        .secret_at("@OUT/a/secret").yaml("extends: restricted\nfs: {deny: ['@OUT']}\n")
        .flags(&["--read", "@OUT/a"]).refused(),

    file_of_a_git_directory_outside_that_a_pattern_denies_is_not_readable => in_git_outside("workspace", "@OUT/main/.git/info/*.pem"),
    file_of_a_git_directory_outside_that_a_pattern_above_denies_is_not_readable => in_git_outside("workspace", "@OUT/main/**/*.pem"),
    file_of_a_git_directory_outside_that_a_far_pattern_denies_is_not_readable => in_git_outside("restricted", "@OUT/**/*.pem"),
    directory_above_a_match_in_a_git_directory_outside_is_not_moved => attempt(
        "mv @OUT/main/.git/refs/deep @OUT/main/.git/refs/x", Leak::Changed("@OUT/main/.git/refs/deep")).given(worktree)
        .secret_at("@OUT/main/.git/refs/deep/a.pem").yaml("extends: workspace\nfs: {deny: ['@OUT/main/**/*.pem']}\n"),
    denied_name_in_a_git_directory_outside_is_not_made => attempt("echo evil > @OUT/main/.git/info/absent",
        Leak::Changed("@OUT/main/.git/info/absent")).given(worktree)
        .yaml("extends: workspace\nfs: {deny: ['@OUT/main/.git/info/absent']}\n"),
    denied_name_that_the_host_makes_in_a_git_directory_outside_is_hidden => attempt("cat @OUT/main/.git/info/late", Leak::Secret)
        .given(worktree).secret_at("@OUT/secret")
        .meanwhile(|w| { w.host_does("cp @OUT/secret @OUT/main/.git/info/late"); w.settle(); })
        .yaml("extends: restricted\nfs: {deny: ['@OUT/main/.git/info/late']}\n"),
    match_that_the_host_makes_in_a_git_directory_outside_is_hidden => attempt("cat @OUT/main/.git/info/late.pem", Leak::Secret)
        .given(worktree).secret_at("@OUT/secret")
        .meanwhile(|w| { w.host_does("cp @OUT/secret @OUT/main/.git/info/late.pem"); w.settle(); })
        .yaml("extends: workspace\nfs: {deny: ['@OUT/main/**/*.pem']}\n"),
    pattern_that_begins_above_every_home_is_kept => attempt("cat @OUT/a.key", Leak::Secret).secret_at("@OUT/a.key")
        .yaml("extends: restricted\nfs: {read: ['.', '@OUT'], deny: ['/[rh]o*/**/a.key']}\n"),

    deny_by_a_pattern_that_begins_above_the_system_is_refused => refused("/**/mime.types"),
    deny_by_a_short_pattern_that_begins_above_the_system_is_refused => refused("/*/mime.types"),
    deny_by_a_pattern_that_means_etc_is_refused => refused("/e*/mime.types"),
    deny_of_etc_by_a_pattern_is_refused => refused("/et*"),
    deny_by_a_pattern_that_means_proc_is_refused => refused("/p*/version"),
    deny_of_the_project_is_refused => refused("."),
    deny_of_a_parent_of_the_project_is_refused => refused(".."),
    deny_of_a_far_parent_of_the_project_is_refused => refused("@PROJECT/../.."),
    deny_of_the_project_by_a_pattern_is_refused => refused("@PROJECT/../*"),
    deny_of_everything_is_refused => refused("/"),
    deny_of_everything_by_a_pattern_is_refused => refused("/**"),
    deny_of_usr_is_refused => refused("/usr"),
    deny_of_proc_is_refused => refused("/proc"),
    deny_of_dev_is_refused => refused("/dev"),
    deny_of_a_process_is_refused => refused("/proc/self/environ"),
    deny_of_all_processes_is_refused => refused("/proc/*/environ"),
    deny_of_the_working_directory_is_refused => refused("sub").secret_at("@PROJECT/sub/file").given(|w| { w.dir("@PROJECT/.glee"); })
        .cwd("@PROJECT/sub"),
    deny_of_a_name_that_landlock_cannot_hide_later_is_refused => refused("later").yaml(
        "extends: restricted\nisolation: landlock\nfs: {deny: ['later']}\n"),
    deny_of_a_pattern_that_landlock_cannot_hide_later_is_refused => refused("later").yaml(
        "extends: restricted\nisolation: landlock\nfs: {deny: ['**/later']}\n"),
}
