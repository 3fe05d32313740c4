//! `fs.deny`: literal paths whether they exist or not, globs, and every way around them.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// The project is writable and `.env` in it is denied by name.
fn literal(script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@PROJECT/.env")
        .yaml("extends: workspace\nfs: {deny: ['.env']}\n")
}

/// A file in a directory is denied by name.
fn nested(script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak)
        .secret_at("@PROJECT/conf/deep/key")
        .yaml("extends: workspace\nfs: {deny: ['conf/deep/key']}\n")
}

/// A denied name that does not exist yet.
fn absent(script: &'static str) -> Attempt {
    attempt(script, Leak::Changed("@PROJECT/later.key"))
        .yaml("extends: workspace\nfs: {deny: ['later.key', 'none/later.key']}\n")
        .project_unchanged()
}

/// The file lies in a directory of the caller's that is closed, and of a group that the sandbox's user is not in.
fn closed(mode: u32, deny: &str, script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@PROJECT/shared/deep/key")
        .given(move |w| {
            std::os::unix::fs::chown(w.path("@PROJECT/shared"), None, Some(OTHER_GROUP)).expect("give to a group");
            w.mode("@PROJECT/shared", mode);
        })
        .yaml(&format!("extends: workspace\nfs: {{deny: ['{deny}']}}\n"))
        .may_refuse()
}

/// The same, with more than one of them.
fn closed_over_two(base: &str) -> Attempt {
    let yaml = format!("extends: {base}\nfs: {{deny: ['**/key', '**/*.pem']}}\n");
    attempt(
        "chmod 755 shared; cat shared/deep/key shared/deep/er/x.pem",
        Leak::Secret,
    )
    .secret_at("@PROJECT/shared/deep/er/x.pem")
    .file("@PROJECT/shared/key", "")
    .secret_at("@PROJECT/shared/deep/key")
    .given(|w| {
        std::os::unix::fs::chown(w.path("@PROJECT/shared"), None, Some(OTHER_GROUP)).expect("give to a group");
        w.mode("@PROJECT/shared", 0o444);
    })
    .yaml(&yaml)
}

/// Nobody's that a test runs as.
const OTHER_GROUP: u32 = 61_234;

fn glob(pattern: &str, at: &'static str) -> Attempt {
    let yaml = format!("extends: restricted\nfs: {{deny: ['{pattern}']}}\n");
    attempt(format!("cat {at}; find . -type f -exec cat {{}} +"), Leak::Secret)
        .secret_at(at)
        .yaml(&yaml)
}

/// The host changes the project while the run is going on; then the script goes on.
fn meanwhile(host: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@OUT/secret")
        .meanwhile(move |w| {
            w.host_does(host);
            w.settle();
        })
}

/// The script does not wait for the host to be done: it looks all the time. There is a moment between the host's rename and
/// whatever covers the new file (docs/decisions/0007): what was seen in it must be named.
fn staring(host: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Seen(silent_gap))
        .secret_at("@OUT/secret")
        .meanwhile_only(move |w| w.host_does(host))
        .flags(&["--report", "@OUT/report.json"])
}

/// A match that the host makes during the run is hidden, or the report names it: no silent gap.
fn silent_gap(world: &World, outcome: &Outcome) -> Option<String> {
    let report = fs::read_to_string(world.path("@OUT/report.json")).unwrap_or_default();
    let leaked = outcome.says(world.secret()) && !report.contains("late");
    leaked.then(|| format!("a denied file was read and the report does not name it: {report}"))
}

/// A pattern that matches by the name of a link, or below one.
fn linked(pattern: &str, script: &str) -> Attempt {
    attempt(script, Leak::Secret)
        .secret_at("@PROJECT/vault/token")
        .given(|w| {
            w.dir("@PROJECT/app");
            w.link("../vault", "@PROJECT/app/secrets");
            w.link("vault/token", "@PROJECT/.env");
        })
        .yaml(&format!("extends: restricted\nfs: {{deny: ['{pattern}']}}\n"))
}

claims! {
    file_in_a_closed_directory_of_another_group_is_hidden => closed(0o444, "**/key", "chmod 755 shared; cat shared/deep/key"),
    file_in_a_shut_directory_of_another_group_is_hidden => closed(0o000, "**/key", "chmod 755 shared; cat shared/deep/key"),
    file_named_in_a_closed_directory_of_another_group_is_hidden => closed(0o444, "shared/deep/key",
        "chmod 755 shared; cat shared/deep/key"),
    match_below_a_closed_directory_of_another_group_is_hidden => closed(0o000, "shared/deep/*",
        "chmod 755 shared; cat shared/deep/key"),
    file_in_a_closed_directory_is_hidden_in_a_copy => closed(0o444, "**/key", "chmod 755 shared; cat shared/deep/key")
        .flags(&["--workspace", "cow"]),
    all_files_in_a_closed_directory_are_hidden => closed_over_two("restricted"),
    all_files_in_a_closed_directory_are_hidden_from_a_writer => closed_over_two("workspace"),
    match_below_a_link_is_hidden => linked("**/secrets/**", "cat app/secrets/token"),
    match_right_below_a_link_is_hidden => linked("**/secrets/*", "cat app/secrets/token"),
    match_below_a_link_in_place_of_a_star_is_hidden => linked("app/*/token", "cat app/secrets/token"),
    match_below_a_link_is_hidden_under_its_own_name => linked("**/secrets/**", "cat vault/token"),
    directory_that_a_matching_link_leads_to_is_hidden => linked("**/secrets", "cat app/secrets/token vault/token"),
    file_that_a_matching_link_leads_to_is_hidden => linked("**/.env", "cat .env vault/token app/secrets/token"),
    match_below_a_link_that_appears_is_hidden => linked("**/secrets/*.key",
        "@A mark ready @ID; until [ -e @PROJECT/go ]; do sleep 0.02; done; sleep 0.2; cat app/secrets/late.key")
        .secret_at("@OUT/secret").given(|w| { w.host_does("rm @PROJECT/vault/token @PROJECT/.env"); })
        .meanwhile_only(|w| {
            w.host_does("cp @OUT/secret @PROJECT/vault/late.key");
            w.settle();
        }),
    denied_file_is_not_readable => literal("cat .env; cat ./.env @PROJECT/.env"),
    denied_file_is_not_readable_under_restricted => literal("cat .env")
        .yaml("extends: restricted\nfs: {deny: ['.env']}\n"),
    denied_file_is_not_readable_through_proc => literal("cat /proc/self/root@PROJECT/.env /proc/self/cwd/.env \
        /proc/1/cwd/.env"),
    denied_file_is_not_readable_through_a_link_in_the_project => literal("cat alias")
        .given(|w| w.link(".env", "@PROJECT/alias")),
    denied_file_is_not_readable_through_a_link_made_inside => literal("ln -s .env x; cat x"),
    denied_file_cannot_be_hard_linked => literal("ln .env x; cat x"),
    denied_file_cannot_be_renamed => literal("mv .env x; cat x"),
    denied_file_cannot_be_exchanged => literal("echo > x; @A exchange .env x; cat x"),
    denied_file_is_not_uncovered_by_removal => literal("test -s .env || rm -rf .env; cat .env"),
    denied_file_is_not_uncovered_by_umount => literal("umount .env; @A umount .env; cat .env"),
    denied_file_is_not_uncovered_in_a_user_namespace => literal("unshare -Urm sh -c 'umount -l .env; cat .env'"),
    denied_file_is_not_changed => attempt("echo evil > .env; rm -f .env; echo evil > x; mv -f x .env; \
        @A truncate .env; chmod 0 .env",
        Leak::Changed("@PROJECT/.env")).secret_at("@PROJECT/.env").yaml("extends: workspace\nfs: {deny: ['.env']}\n"),
    deny_wins_over_a_grant_of_the_same_path => literal("cat .env")
        .yaml("extends: restricted\nfs: {read: ['.', '.env'], deny: ['.env']}\n"),
    deny_wins_over_a_write_grant_below => attempt("cat conf/deep/key", Leak::Secret).secret_at("@PROJECT/conf/deep/key")
        .yaml("extends: restricted\nfs: {read: ['.'], write: ['conf/deep'], deny: ['conf']}\n").may_refuse(),
    deny_holds_against_the_callers_read_flag_for_a_parent => attempt("cat @OUT/key", Leak::Secret).secret_at("@OUT/key")
        .yaml("extends: restricted\nfs: {read: ['.'], deny: ['@OUT/key']}\n").flags(&["--read", "@OUT"]),
    pattern_without_a_place_hides_in_a_tree_that_the_policy_grants => attempt("cat @OUT/a/b/.env", Leak::Secret)
        .secret_at("@OUT/a/b/.env").yaml("extends: restricted\nfs: {read: ['.', '@OUT'], deny: ['**/.env']}\n"),
    pattern_without_a_place_hides_in_a_tree_that_may_be_written => attempt("cat @OUT/a/.env; mv @OUT/a @OUT/x; \
        cat @OUT/x/.env", Leak::Secret)
        .secret_at("@OUT/a/.env").yaml("extends: workspace\nfs: {write: ['.', '@OUT'], deny: ['**/.env']}\n"),
    pattern_without_a_place_hides_in_a_tree_of_the_callers_flag => attempt("cat @OUT/a/.env", Leak::Secret)
        .secret_at("@OUT/a/.env").yaml("extends: workspace\nfs: {deny: ['**/.env']}\n").flags(&["--read", "@OUT"]),
    pattern_without_a_place_hides_a_file_that_is_granted_alone => attempt("cat @OUT/.env", Leak::Secret)
        .secret_at("@OUT/.env")
        .yaml("extends: restricted\nfs: {read: ['.', '@OUT/.env', '@OUT/other'], deny: ['**/.env']}\n")
        .given(|w| { w.file("@OUT/other", ""); }),
    pattern_without_a_place_holds_against_a_flag_for_the_file => attempt("cat @OUT/.env", Leak::Secret)
        .secret_at("@OUT/.env").yaml("extends: workspace\nfs: {deny: ['**/.env']}\n")
        .flags(&["--read", "@OUT/.env"]).may_refuse(),
    pattern_without_a_place_hides_what_appears_in_a_granted_tree =>
        meanwhile("cp @OUT/secret @OUT/a/.env", "cat @OUT/a/.env").given(|w| { w.dir("@OUT/a"); })
        .yaml("extends: restricted\nfs: {read: ['.', '@OUT/a'], deny: ['**/.env']}\n"),
    denied_directory_is_not_readable => attempt("cat secrets/a/key; ls -R secrets", Leak::Secret)
        .secret_at("@PROJECT/secrets/a/key").yaml("extends: workspace\nfs: {deny: ['secrets']}\n"),
    names_in_a_denied_directory_are_not_listed => attempt("ls -aR secrets", Leak::Secret)
        .given(|w| { w.file(&format!("@PROJECT/secrets/{}", w.secret()), ""); })
        .yaml("extends: workspace\nfs: {deny: ['secrets/']}\n"),
    denied_directory_cannot_be_renamed => attempt("mv secrets x; cat x/key", Leak::Secret)
        .secret_at("@PROJECT/secrets/key").yaml("extends: workspace\nfs: {deny: ['secrets']}\n"),
    absolute_deny_hides => attempt("cat .env", Leak::Secret).secret_at("@PROJECT/.env")
        .yaml("extends: workspace\nfs: {deny: ['@PROJECT/.env']}\n"),
    deny_in_home_hides_within_a_grant_of_home => attempt("cat ~/.ssh/id @HOME/.ssh/id", Leak::Secret)
        .secret_at("@HOME/.ssh/id")
        .yaml("extends: restricted\nfs: {read: ['~'], deny: ['~/.ssh']}\n"),
    deny_of_a_link_hides_its_target => attempt("cat conf/real", Leak::Secret).secret_at("@PROJECT/conf/real")
        .given(|w| w.link("conf/real", "@PROJECT/.env")).yaml("extends: workspace\nfs: {deny: ['.env']}\n"),

    parent_of_a_denied_file_cannot_be_moved_away => nested("mv conf/deep x; cat x/key", Leak::Secret),
    grandparent_of_a_denied_file_cannot_be_moved_away => nested("mv conf x; cat x/deep/key", Leak::Secret),
    parent_of_a_denied_file_cannot_be_exchanged => nested("mkdir x; @A exchange conf/deep x; cat x/key", Leak::Secret),
    denied_file_is_not_replaced_by_moving_its_parent => nested(
        "mv conf x; mkdir -p conf/deep; echo evil > conf/deep/key", Leak::Changed("@PROJECT/conf/deep/key")),
    parent_of_a_denied_file_cannot_be_reached_from_a_link => nested("ln -s conf/deep x; cat x/key", Leak::Secret),

    denied_name_that_does_not_exist_cannot_be_made => absent("echo evil > later.key"),
    denied_name_that_does_not_exist_cannot_be_renamed_to => absent("echo evil > x; mv x later.key; rm -f x"),
    denied_name_that_does_not_exist_cannot_be_linked_to => absent("echo evil > x; ln x later.key; ln -s x later.key; \
        rm -f x"),
    denied_name_that_does_not_exist_cannot_be_a_directory => absent("mkdir later.key"),
    denied_name_below_a_missing_directory_cannot_be_made => attempt("mkdir none; echo evil > none/later.key",
        Leak::Changed("@PROJECT/none/later.key")).yaml("extends: workspace\nfs: {deny: ['none/later.key']}\n"),
    denied_name_that_the_host_makes_later_is_hidden => meanwhile("cp @OUT/secret @PROJECT/n; \
        mv -f @PROJECT/n @PROJECT/later.key", "cat later.key")
        .yaml("extends: restricted\nfs: {read: ['.'], deny: ['later.key']}\n"),
    denied_name_that_the_host_makes_later_is_hidden_from_a_writer => meanwhile(
        "cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/later.key", "cat later.key")
        .yaml("extends: workspace\nfs: {deny: ['later.key']}\n"),
    /// An editor saves by rename, which takes mounts on the old file away.
    denied_file_that_the_host_saves_anew_stays_hidden => meanwhile(
        "cp @OUT/secret @PROJECT/.env.new; mv -f @PROJECT/.env.new @PROJECT/.env", "cat .env")
        .file("@PROJECT/.env", "old\n").yaml("extends: restricted\nfs: {read: ['.'], deny: ['.env']}\n"),
    denied_directory_that_the_host_makes_anew_stays_hidden => meanwhile(
        "rm -rf @PROJECT/secrets; mkdir @PROJECT/secrets; cp @OUT/secret @PROJECT/secrets/key", "cat secrets/key")
        .file("@PROJECT/secrets/key", "old\n").yaml("extends: restricted\nfs: {read: ['.'], deny: ['secrets']}\n"),

    glob_hides_at_the_top => glob("**/.env", "@PROJECT/.env"),
    glob_hides_one_level_down => glob("**/.env", "@PROJECT/a/.env"),
    glob_hides_five_levels_down => glob("**/.env", "@PROJECT/a/b/c/d/e/.env"),
    glob_hides_in_hidden_directories => glob("**/.env", "@PROJECT/.config/x/.env"),
    glob_hides_by_suffix => glob("**/*.pem", "@PROJECT/tls/server.pem"),
    glob_hides_within_one_directory => glob("conf/*.key", "@PROJECT/conf/a.key"),
    glob_hides_whole_directories => glob("**/secrets/**", "@PROJECT/a/secrets/b/c"),
    glob_hides_matching_directories => glob("**/private", "@PROJECT/a/private/key"),
    glob_with_a_class_hides => glob("key[0-9].txt", "@PROJECT/key7.txt"),
    glob_with_a_question_mark_hides => glob("key?.txt", "@PROJECT/key7.txt"),
    glob_hides_names_with_spaces => attempt("cat 'a b/my key.pem'", Leak::Secret).secret_at("@PROJECT/a b/my key.pem")
        .yaml("extends: restricted\nfs: {deny: ['**/*.pem']}\n"),
    glob_hides_in_node_modules => glob("**/.env", "@PROJECT/node_modules/p/.env"),
    glob_hides_among_many => attempt("cat d*/.env", Leak::Secret).secret_at("@PROJECT/d99/.env")
        .given(|w| for i in 0..99 { w.file(&format!("@PROJECT/d{i}/.env"), "no secret\n"); })
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n"),
    glob_in_a_read_grant_outside_the_project_hides => attempt("cat @OUT/x/.env", Leak::Secret).secret_at("@OUT/x/.env")
        .yaml("extends: restricted\nfs: {read: ['.', '@OUT'], deny: ['@OUT/**/.env']}\n"),
    glob_match_cannot_be_renamed => attempt("mv a/.env a/x; cat a/x; mv a b; cat b/.env b/x", Leak::Secret)
        .secret_at("@PROJECT/a/.env")
        .yaml("extends: workspace\nfs: {deny: ['**/.env']}\n"),
    glob_hides_through_links => attempt("cat alias", Leak::Secret).secret_at("@PROJECT/a/.env")
        .given(|w| w.link("a/.env", "@PROJECT/alias")).yaml("extends: restricted\nfs: {deny: ['**/.env']}\n"),
    /// Nobody can say whether it holds a match.
    directory_that_cannot_be_listed_is_hidden_whole => attempt("cat locked/.env", Leak::Secret)
        .secret_at("@PROJECT/locked/.env")
        .given(|w| w.mode("@PROJECT/locked", 0o311)).yaml("extends: restricted\nfs: {deny: ['**/.env']}\n"),
    glob_match_that_the_host_makes_later_is_no_silent_gap => attempt("cat sub/late.env", Leak::Seen(silent_gap))
        .secret_at("@OUT/secret").given(|w| { w.dir("@PROJECT/sub"); })
        .meanwhile(|w| w.host_does("cp @OUT/secret @PROJECT/sub/late.env"))
        .yaml("extends: restricted\nfs: {deny: ['**/*.env']}\n").flags(&["--report", "@OUT/report.json"]),
    glob_match_in_a_directory_that_the_host_makes_later_is_no_silent_gap => attempt("cat new/deep/late.env",
        Leak::Seen(silent_gap))
        .secret_at("@OUT/secret")
        .meanwhile(|w| w.host_does("mkdir -p @PROJECT/new/deep; cp @OUT/secret @PROJECT/new/deep/late.env"))
        .yaml("extends: restricted\nfs: {deny: ['**/*.env']}\n").flags(&["--report", "@OUT/report.json"]),
    glob_match_that_the_host_moves_in_later_is_no_silent_gap => attempt("cat in/deep/late.env", Leak::Seen(silent_gap))
        .secret_at("@OUT/secret").given(|w| { w.secret_at("@OUT/tree/deep/late.env"); })
        .meanwhile(|w| w.host_does("mv @OUT/tree @PROJECT/in"))
        .yaml("extends: restricted\nfs: {deny: ['**/*.env']}\n").flags(&["--report", "@OUT/report.json"]),

    glimpse_of_a_denied_file_that_the_host_saves_is_no_silent_gap => staring(
        "for i in 1 2 3 4 5; do cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/.late; sleep 0.05; done",
        "@A stare .late 1 @ID").file("@PROJECT/.late", "old\n").yaml("extends: restricted\nfs: {read: ['.'], deny: \
        ['.late']}\n"),
    glimpse_of_a_denied_name_that_the_host_makes_is_no_silent_gap => staring(
        "for i in 1 2 3 4 5; do cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/late.key; sleep 0.05; \
        rm -f @PROJECT/late.key; done",
        "@A stare late.key 1 @ID").yaml("extends: workspace\nfs: {deny: ['late.key']}\n"),
    glimpse_from_inside_a_directory_is_no_silent_gap => staring(
        "cp @OUT/secret @PROJECT/conf/n; mv -f @PROJECT/conf/n @PROJECT/conf/late; sleep 0.3",
        "cd conf; @A stare late 1 @ID").file("@PROJECT/conf/late", "old\n")
        .yaml("extends: restricted\nfs: {read: ['.'], deny: ['conf/late']}\n"),
    glimpse_in_a_project_that_is_churned_is_no_silent_gap => staring(
        "sleep 0.3; cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/.late; sleep 0.5",
        "@A churn . 1 @ID & @A churn . 1 @ID & @A stare .late 1 @ID; wait").file("@PROJECT/.late", "old\n")
        .yaml("extends: workspace\nfs: {deny: ['.late']}\n"),
    denied_file_is_hidden_again_after_the_project_was_churned => attempt(
        "@A churn . 0 @ID & @A churn . 0 @ID & @A mark ready @ID; until [ -e go ]; do sleep 0.05; done; wait; \
        sleep 0.5; cat .late", Leak::Secret)
        .secret_at("@OUT/secret").file("@PROJECT/.late", "old\n").meanwhile_only(|w| {
            w.settle();
            w.host_does("cp @OUT/secret @PROJECT/n; mv -f @PROJECT/n @PROJECT/.late");
        }).yaml("extends: workspace\nfs: {deny: ['.late']}\n"),
}
