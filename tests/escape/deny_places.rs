//! `fs.deny` outside the project: what the sandbox shows is hidden, what cannot be hidden is refused by name.

use glee_tests::{Attempt, Leak, attempt};

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
