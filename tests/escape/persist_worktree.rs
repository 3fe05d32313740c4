//! A project that is a linked worktree: its git directory lies outside and must be usable, but not as a way to run code; and
//! a repository that only pretends to be one, to get at what lies elsewhere. Under `workspace`.

use glee_tests::{Attempt, Leak, World, attempt};

/// The project becomes a worktree `wt` of the repository `@OUT/main`.
pub(crate) fn worktree(w: &World) {
    w.dir("@OUT/main");
    w.git("@OUT/main", &["-c", "init.defaultBranch=main", "init", "-q"]);
    w.file("@OUT/main/tracked", "one\n");
    w.git("@OUT/main", &["add", "tracked"]);
    w.git("@OUT/main", &["commit", "-q", "-m", "first"]);
    std::fs::remove_dir(w.path("@PROJECT")).expect("make room for the worktree");
    w.git(
        "@OUT/main",
        &["worktree", "add", "-q", "-b", "side", &w.fill("@PROJECT")],
    );
    w.file("@PROJECT/readme", "hello\n");
    let own = std::fs::read_dir(w.path("@OUT/main/.git/worktrees"))
        .expect("list")
        .flatten()
        .next()
        .expect("one worktree");
    w.define("GITDIR", own.path().display());
}

fn plant(path: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed(path)).given(worktree).workspace()
}

/// The project's `.git` is a file that a stranger wrote.
fn pretender(gitdir: &'static str, script: &'static str, leak: Leak) -> Attempt {
    attempt(script, leak).given(move |w| {
        w.file("@PROJECT/.git", &w.fill(&format!("gitdir: {gitdir}\n")));
    })
}

/// More directories than the first look has patience for, and a linked worktree behind them.
fn far(w: &World) {
    w.git_init();
    w.host_does(
        "for i in $(seq 100); do mkdir d$i; done; git commit -q --allow-empty -m first; \
        mkdir -p d50/x; git worktree add -q d50/x/wt",
    );
}

/// A linked worktree in the project itself.
fn within(path: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed(path)).given(far).workspace()
}

/// The project's own git directory lies far away in it.
fn apart(path: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed(path))
        .given(|w| w.host_does("for i in $(seq 100); do mkdir d$i; done; git init -q --separate-git-dir d100/.git ."))
        .workspace()
}

claims! {
    pointer_of_a_worktree_far_in_the_project_is_not_changed => within("@PROJECT/d50/x/wt/.git",
        "echo 'gitdir: evil' > d50/x/wt/.git"),
    worktree_in_the_project_gets_no_envrc => within("@PROJECT/d50/x/wt/.envrc", "echo evil > d50/x/wt/.envrc"),
    worktree_in_the_project_gets_no_tasks => within("@PROJECT/d50/x/wt/.vscode/tasks.json",
        "mkdir d50/x/wt/.vscode; echo evil > d50/x/wt/.vscode/tasks.json"),
    worktree_in_the_project_gets_no_servers => within("@PROJECT/d50/x/wt/.mcp.json", "echo evil > d50/x/wt/.mcp.json"),
    configuration_of_a_git_directory_far_in_the_project_is_not_changed => apart("@PROJECT/d100/.git/config",
        "echo evil >> d100/.git/config"),
    hooks_of_a_git_directory_far_in_the_project_are_not_made => apart("@PROJECT/d100/.git/hooks/pre-commit",
        "mkdir -p d100/.git/hooks; echo evil > d100/.git/hooks/pre-commit"),
    repository_of_a_near_worktree_far_in_the_project_keeps_its_configuration => attempt("echo evil >> d100/main/.git/config",
        Leak::Changed("@PROJECT/d100/main/.git/config")).given(|w| w.host_does("for i in $(seq 100); do mkdir d$i; done; \
            git init -q d100/main; cd d100/main; git commit -q --allow-empty -m first; git worktree add -q ../../near"))
        .workspace(),
    hooks_of_the_main_repository_are_not_made => plant("@OUT/main/.git/hooks/post-checkout",
        "echo evil > @OUT/main/.git/hooks/post-checkout"),
    hooks_of_the_main_repository_are_not_moved_away => plant("@OUT/main/.git/hooks",
        "mv @OUT/main/.git/hooks @OUT/main/.git/x; mkdir @OUT/main/.git/hooks"),
    configuration_of_the_main_repository_is_not_changed => plant("@OUT/main/.git/config",
        "echo evil >> @OUT/main/.git/config"),
    configuration_of_the_main_repository_is_not_changed_by_git => plant("@OUT/main/.git/config",
        "git config core.fsmonitor evil"),
    configuration_of_the_main_repository_is_not_replaced => plant("@OUT/main/.git/config",
        "echo evil > @OUT/main/.git/config.lock; mv -f @OUT/main/.git/config.lock @OUT/main/.git/config"),
    pointer_to_the_common_directory_is_not_changed => plant("@GITDIR/commondir",
        "echo @PROJECT/evil > @GITDIR/commondir"),
    pointer_back_to_the_worktree_is_not_changed => plant("@GITDIR/gitdir", "echo /nowhere > @GITDIR/gitdir"),
    configuration_of_the_worktree_is_not_made => plant("@GITDIR/config.worktree", "echo evil > @GITDIR/config.worktree")
        .given(|w| { w.git("@PROJECT", &["config", "extensions.worktreeConfig", "true"]); }),
    directory_of_the_worktree_is_not_moved_away => plant("@GITDIR/commondir",
        "mv @GITDIR @GITDIR.x; mkdir @GITDIR; echo evil > @GITDIR/commondir"),
    git_file_of_the_worktree_is_not_changed => plant("@PROJECT/.git", "echo 'gitdir: evil' > .git; rm -f .git"),
    git_file_of_the_worktree_is_not_replaced => plant("@PROJECT/.git", "echo 'gitdir: evil' > x; mv -f x .git"),
    common_directory_of_the_main_repository_is_not_redirected => plant("@OUT/main/.git/commondir",
        "echo evil > @OUT/main/.git/commondir"),
    modules_of_the_main_repository_get_no_hook => plant("@OUT/main/.git/modules/m/hooks/post-checkout",
        "mkdir -p @OUT/main/.git/modules/m/hooks; echo evil > @OUT/main/.git/modules/m/hooks/post-checkout"),
    index_of_the_main_checkout_is_not_changed => plant("@OUT/main/.git/index",
        "echo evil > e; GIT_INDEX_FILE=@OUT/main/.git/index git add e"),
    index_of_the_main_checkout_is_not_replaced => plant("@OUT/main/.git/index",
        "cp @OUT/main/.git/index @OUT/main/.git/index.lock; echo evil >> @OUT/main/.git/index.lock; \
        mv -f @OUT/main/.git/index.lock @OUT/main/.git/index; rm -f @OUT/main/.git/index.lock"),
    head_of_the_main_checkout_is_not_changed => plant("@OUT/main/.git/HEAD",
        "echo 'ref: refs/heads/side' > @OUT/main/.git/HEAD"),
    head_of_the_main_checkout_is_not_changed_by_git => plant("@OUT/main/.git/HEAD",
        "git --git-dir=@OUT/main/.git symbolic-ref HEAD refs/heads/other"),
    message_of_the_main_checkout_is_no_link => plant("@OUT/main/.git/COMMIT_EDITMSG",
        "ln -sf config @OUT/main/.git/COMMIT_EDITMSG"),
    new_links_beside_the_main_checkout_are_set_aside => plant("@OUT/main/.git/FETCH_HEAD",
        "ln -s config @OUT/main/.git/FETCH_HEAD"),
    modules_of_the_main_checkout_keep_their_index => plant("@OUT/main/.git/modules/lib/index",
        "echo evil > @OUT/main/.git/modules/lib/index").given(|w| {
            w.dir("@OUT/lib");
            w.git("@OUT/lib", &["init", "-q"]);
            w.git("@OUT/lib", &["commit", "-q", "--allow-empty", "-m", "lib"]);
            let url = w.fill("@OUT/lib");
            w.git("@OUT/main", &["-c", "protocol.file.allow=always", "submodule", "add", "-q", &url, "lib"]);
        }),
    modules_of_the_worktree_get_no_hook => plant("@GITDIR/modules/m/hooks/post-checkout",
        "mkdir -p @GITDIR/modules/m/hooks; echo evil > @GITDIR/modules/m/hooks/post-checkout"),
    files_of_the_main_checkout_are_not_readable => attempt("cat @OUT/main/secret", Leak::Secret).given(worktree)
        .secret_at("@OUT/main/secret").workspace(),
    files_of_the_main_checkout_are_not_written => plant("@OUT/main/file", "echo evil > @OUT/main/file")
        .file("@OUT/main/file", "old\n"),
    restricted_cannot_write_the_main_repository => attempt("echo evil > @OUT/main/.git/refs/heads/evil; \
        echo evil > @OUT/main/.git/index",
        Leak::Changed("@OUT/main/.git/refs/heads/evil")).given(worktree),

    git_file_of_a_stranger_grants_no_directory => pretender("@OUT", "cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret").workspace(),
    git_file_of_a_stranger_grants_no_writing => pretender("@HOME/.ssh", "echo evil > @HOME/.ssh/authorized_keys",
        Leak::Changed("@HOME/.ssh/authorized_keys")).file("@HOME/.ssh/config", "").workspace(),
    git_file_of_a_stranger_grants_nothing_under_restricted => pretender("@OUT", "cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret"),
    git_file_of_a_stranger_does_not_grant_another_repository => pretender("@HOME/other/.git",
        "cat @HOME/other/.git/secret", Leak::Secret)
        .given(|w| { w.dir("@HOME/other"); w.git("@HOME/other", &["init", "-q"]); })
        .secret_at("@HOME/other/.git/secret").workspace(),
    git_file_of_a_stranger_does_not_grant_another_worktree => pretender("@OUT/main/.git/worktrees/wt",
        "cat @OUT/main/.git/worktrees/wt/secret @OUT/main/.git/secret", Leak::Secret).given(|w| {
            w.dir("@OUT/main");
            w.git("@OUT/main", &["init", "-q"]);
            w.git("@OUT/main", &["commit", "-q", "--allow-empty", "-m", "first"]);
            w.git("@OUT/main", &["worktree", "add", "-q", &w.fill("@OUT/wt")]);
            w.secret_at("@OUT/main/.git/worktrees/wt/secret");
            w.secret_at("@OUT/main/.git/secret");
        }).workspace(),
    git_directory_that_is_a_link_grants_nothing => attempt("cat .git/secret; cat @OUT/secret", Leak::Secret)
        .secret_at("@OUT/secret")
        .given(|w| { w.file("@OUT/HEAD", "ref: \
        refs/heads/main\n"); w.dir("@OUT/objects"); w.dir("@OUT/refs"); w.link("@OUT", "@PROJECT/.git"); })
        .workspace().may_refuse(),
    git_directory_that_is_a_link_is_not_written => attempt("echo evil > .git/file", Leak::Changed("@OUT/file"))
        .file("@OUT/file", "old\n")
        .given(|w| { w.file("@OUT/HEAD", "ref: \
        refs/heads/main\n"); w.dir("@OUT/objects"); w.dir("@OUT/refs"); w.link("@OUT", "@PROJECT/.git"); })
        .workspace().may_refuse(),
    common_directory_of_a_stranger_grants_nothing => attempt("cat @OUT/secret", Leak::Secret).secret_at("@OUT/secret")
        .given(|w| { w.git_init(); w.file("@PROJECT/.git/commondir", &w.fill("@OUT\n")); }).workspace().may_refuse(),
    alternates_of_a_stranger_grant_nothing => attempt("cat @OUT/secret", Leak::Secret).secret_at("@OUT/secret")
        .given(|w| { w.git_init(); w.file("@PROJECT/.git/objects/info/alternates", &w.fill("@OUT\n")); }).workspace(),
    back_pointer_of_a_stranger_grants_nothing => pretender("fake/worktrees/x",
        "cat @OUT/secret; echo evil > @OUT/file", Leak::Secret)
        .secret_at("@OUT/secret").given(|w| {
            w.file("@PROJECT/fake/worktrees/x/gitdir", &w.fill("@PROJECT/.git\n"));
            w.file("@PROJECT/fake/worktrees/x/commondir", &w.fill("@OUT\n"));
            w.file("@PROJECT/fake/worktrees/x/HEAD", "ref: refs/heads/main\n");
        }).workspace().may_refuse(),
}
