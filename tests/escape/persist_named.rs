//! Hooks and configuration that git finds because something names them: its configuration, in all its spellings, links, and
//! grants that reach into a git directory. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// A hook that the command writes to `path` would run at the host's next commit.
fn hook(path: &'static str, given: fn(&World)) -> Attempt {
    let script = format!(
        "mkdir -p $(dirname {path}); printf '#!/bin/sh\\n@OUT/payload\\n' > {path}; chmod +x {path}; \
         rm -rf x; mkdir x; cp {path} x/pre-commit"
    );
    attempt(script, Leak::Seen(git_ran_code))
        .given(repository)
        .given(given)
        .workspace()
}

/// A file of configuration that the command writes would be read by the host's next git.
fn settings(path: &'static str, given: fn(&World)) -> Attempt {
    let script = format!("printf '[core]\\nfsmonitor=@OUT/payload\\n' > {path}");
    attempt(script, Leak::Seen(git_ran_code))
        .given(repository)
        .given(given)
        .workspace()
}

fn repository(w: &World) {
    w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
    w.git_init();
}

/// Adds to a file of the host's, as the caller.
fn say(w: &World, file: &str, text: &str) {
    w.host_does(&format!("printf '{text}' >> {file}"));
}

fn git_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    for args in [&["status"][..], &["commit", "--allow-empty", "-qm", "mine"]] {
        let _ = w.host_command("git").args(args).output();
    }
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "git on the host ran what the sandbox had planted".into())
}

/// A configuration that only a variable names.
fn chosen(w: &World) {
    w.file("@OUT/chosen", "[core]\n\thooksPath = .githooks\n");
}

/// The host's git, with the variable.
fn chosen_git_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    let mut git = w.host_command("git");
    git.env("GIT_CONFIG_GLOBAL", w.path("@OUT/chosen"));
    let _ = git.args(["commit", "--allow-empty", "-qm", "mine"]).output();
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "git on the host ran what the sandbox had planted".into())
}

fn worktree(w: &World) {
    fs::remove_dir_all(w.path("@PROJECT")).expect("make room for the worktree");
    w.dir("@OUT/main/.githooks");
    w.git("@OUT/main", &["init", "-q"]);
    w.file("@OUT/main/.githooks/readme", "");
    w.git("@OUT/main", &["add", "."]);
    w.git("@OUT/main", &["commit", "-q", "-m", "first"]);
    w.git("@OUT/main", &["config", "core.hooksPath", ".githooks"]);
    w.git(
        "@OUT/main",
        &["worktree", "add", "-q", "-b", "side", &w.fill("@PROJECT")],
    );
}

/// A linked worktree in the project, of a repository elsewhere.
fn worktree_below(w: &World) {
    worktree(w);
    w.host_does("cd @OUT/main && git worktree remove --force @PROJECT && mkdir @PROJECT && git worktree add -q @PROJECT/one side");
}

/// A submodule whose name has eight parts, with hooks in its working tree.
fn submodule_far(w: &World) {
    w.host_does(
        "git init -q @OUT/lib; git -C @OUT/lib commit -q --allow-empty -m lib
         git -c protocol.file.allow=always submodule --quiet add @OUT/lib a/b/c/d/e/f/g/m; git commit -qm far
         git -C a/b/c/d/e/f/g/m config core.hooksPath .githooks",
    );
    w.settle();
}

fn git_far_ran_code(w: &World, _: &Outcome) -> Option<String> {
    commit_ran_code(w, "@PROJECT/a/b/c/d/e/f/g/m")
}

fn git_below_ran_code(w: &World, _: &Outcome) -> Option<String> {
    commit_ran_code(w, "@PROJECT/one")
}

/// The host's git, there.
fn commit_ran_code(w: &World, dir: &str) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    let mut git = w.host_command("git");
    let commit = git.args(["commit", "--allow-empty", "-qm", "mine"]);
    let _ = commit.current_dir(w.path(dir)).output();
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "git on the host ran what the sandbox had planted".into())
}

/// Of the project's repository something is said of a part, in which the command works.
fn of_a_part(w: &World, setting: &str, value: &str) {
    w.dir("@PROJECT/part");
    w.host_does(&format!("git config {setting} {value}"));
}

fn evil_in_git(w: &World, _: &Outcome) -> Option<String> {
    let text = fs::read_to_string(w.path("@PROJECT/.git/config")).unwrap_or_default();
    text.contains("evil").then(|| "the configuration was changed".into())
}

/// Git needs a moment to write it anew.
fn large_configuration(w: &World) {
    w.git_init();
    w.host_does("seq -f '# %07g' 50000 >> .git/config");
}

/// The policy "may commit, may change only src".
const SRC_AND_GIT: &str = "extends: restricted\nfs: {read: [\".\"], write: [\"src\", \".git\"]}\n";

claims! {
    hooks_of_a_repository_behind_a_link_are_not_made => hook(".githooks/pre-commit", |w| {
            w.host_does("git config core.hooksPath .githooks; mv .git @OUT/store; ln -s @OUT/store .git");
        }),
    hooks_of_a_submodule_with_a_long_name_are_not_made =>
        attempt("cd a/b/c/d/e/f/g/m; mkdir -p .githooks; cd .githooks; printf '#!/bin/sh\\n@OUT/payload\\n' > pre-commit; chmod +x pre-commit", Leak::Seen(git_far_ran_code))
        .given(|w| { w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n")); })
        .given(repository).given(submodule_far).workspace(),
    hooks_of_a_repository_around_the_tree_are_not_made => hook("hooks/pre-commit",
        |w| of_a_part(w, "core.hooksPath", "part/hooks")).cwd("@PROJECT/part"),
    hooks_of_a_repository_around_the_tree_are_not_changed => hook("check.sh", |w| {
            w.program("@PROJECT/part/check.sh", "#!/bin/sh\n");
            w.host_does("mkdir -p .git/hooks; ln -s ../../part/check.sh .git/hooks/pre-commit");
        }).cwd("@PROJECT/part"),
    settings_that_a_repository_around_the_tree_includes_are_not_made => settings("settings",
        |w| of_a_part(w, "include.path", "../part/settings")).cwd("@PROJECT/part"),
    names_that_lead_from_around_the_tree_into_it_are_not_changed => attempt("echo evil >> envrc",
        Leak::Changed("@PROJECT/part/envrc")).given(repository).file("@PROJECT/part/envrc", "")
        .given(|w| w.host_does("ln -s part/envrc .envrc")).workspace().cwd("@PROJECT/part"),
    hooks_of_a_worktree_below_that_belongs_elsewhere_are_not_made =>
        attempt("cd one/.githooks; printf '#!/bin/sh\\n@OUT/payload\\n' > pre-commit; chmod +x pre-commit",
        Leak::Seen(git_below_ran_code))
        .given(|w| { w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n")); })
        .given(worktree_below).workspace(),
    hooks_that_a_configuration_of_the_callers_choice_names_are_not_made =>
        attempt("mkdir -p .githooks; printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > .githooks/pre-commit; \
        chmod +x .githooks/pre-commit", Leak::Seen(chosen_git_ran_code)).given(repository)
        .given(chosen).workspace().env("GIT_CONFIG_GLOBAL", "@OUT/chosen"),
    hooks_that_a_chosen_configuration_of_the_machine_names_are_not_made =>
        attempt("mkdir -p .githooks; printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > .githooks/pre-commit; \
        chmod +x .githooks/pre-commit", Leak::Seen(chosen_git_ran_code)).given(repository)
        .given(chosen).workspace().env("GIT_CONFIG_SYSTEM", "@OUT/chosen"),
    hooks_that_the_environment_names_are_not_made =>
        attempt("mkdir -p .githooks; printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > .githooks/pre-commit; \
        chmod +x .githooks/pre-commit", Leak::Seen(chosen_git_ran_code)).given(repository)
        .given(chosen).workspace().env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "core.hooksPath")
        .env("GIT_CONFIG_VALUE_0", ".githooks"),
    configuration_of_the_callers_choice_is_not_changed => attempt("printf '[core]\\nhooksPath=x\\n' >> mine",
        Leak::Changed("@PROJECT/mine")).file("@PROJECT/mine", "[user]\n").workspace()
        .env("GIT_CONFIG_GLOBAL", "@PROJECT/mine"),
    hooks_in_a_directory_to_be_made => hook(".githooks/pre-commit",
        |w| say(w, ".git/config", "[core]\\n\\thooksPath = .githooks\\n")),
    hooks_named_before_a_comment => hook(".githooks/pre-commit",
        |w| say(w, ".git/config", "[core]\\n\\thooksPath = .githooks # ours\\n")),
    hooks_named_with_a_tilde => hook(".githooks/pre-commit",
        |w| say(w, ".git/config", "[core]\\n\\thooksPath = ~/project/.githooks\\n")),
    hooks_named_on_two_lines => hook(".githooks/pre-commit",
        |w| say(w, ".git/config", "[core]\\n\\thooksPath = .git\\\\\\nhooks\\n")),
    hooks_named_in_an_included_file => hook(".githooks/pre-commit", |w| {
        say(w, ".git/config", "[include]\\n\\tpath = ../a.cfg\\n");
        say(w, "a.cfg", "[core]\\n\\thooksPath = .githooks\\n");
    }),
    hooks_named_in_the_configuration_of_the_worktree => hook(".githooks/pre-commit", |w| {
        say(w, ".git/config", "[extensions]\\n\\tworktreeConfig = true\\n");
        say(w, ".git/config.worktree", "[core]\\n\\thooksPath = .githooks\\n");
    }),
    hooks_named_in_the_configuration_of_the_caller => hook(".githooks/pre-commit",
        |w| say(w, "@HOME/.gitconfig", "[core]\\n\\thooksPath = .githooks\\n")),
    hooks_beside_the_part_of_husky => hook(".husky/pre-commit", |w| {
        say(w, ".git/config", "[core]\\n\\thooksPath = .husky/_\\n");
        w.dir("@PROJECT/.husky/_");
        w.program("@PROJECT/.husky/_/pre-commit", "#!/bin/sh\nexec .husky/pre-commit\n");
        w.program("@PROJECT/.husky/pre-commit", "#!/bin/sh\n");
    }),
    hooks_in_the_project_itself => hook("pre-commit",
        |w| say(w, ".git/config", "[core]\\n\\thooksPath = @PROJECT\\n")),
    hooks_of_a_linked_worktree => hook(".githooks/pre-commit", worktree),
    hook_behind_a_link => hook("scripts/check.sh", |w| {
        w.program("@PROJECT/scripts/check.sh", "#!/bin/sh\n");
        w.link("../../scripts/check.sh", "@PROJECT/.git/hooks/pre-commit");
    }),
    hook_behind_a_link_to_nothing => hook("scripts/check.sh",
        |w| w.link("../../scripts/check.sh", "@PROJECT/.git/hooks/pre-commit")),

    configuration_in_a_file_to_be_made => settings("local.cfg",
        |w| say(w, ".git/config", "[include]\\n\\tpath = ../local.cfg\\n")),
    configuration_in_a_file_that_an_included_one_includes => settings("b.cfg", |w| {
        say(w, ".git/config", "[include]\\n\\tpath = ../a.cfg\\n");
        say(w, "a.cfg", "[include]\\n\\tpath = b.cfg\\n");
    }),
    configuration_in_a_file_of_a_condition => settings("b.cfg",
        |w| say(w, ".git/config", "[includeIf \"gitdir:**\"]\\n\\tpath = \"../b.cfg\" ; ours\\n")),
    configuration_in_a_file_named_with_a_tilde => settings("b.cfg",
        |w| say(w, ".git/config", "[include]\\n\\tpath = ~/project/b.cfg\\n")),

    settings_behind_a_link_in_a_directory => attempt("echo evil >> cl.json", Leak::Changed("@PROJECT/cl.json"))
        .file("@PROJECT/cl.json", "{}\n")
        .given(|w| { w.dir("@PROJECT/.claude"); w.link("../cl.json", "@PROJECT/.claude/settings.json"); }).workspace(),
    settings_behind_a_link_to_two_directories_to_be_made => attempt("mkdir -p no/such; echo evil > no/such/workspace.xml",
        Leak::Changed("@PROJECT/no/such/workspace.xml")).given(|w| w.link("no/such", "@PROJECT/.idea")).workspace(),
    settings_behind_a_link_to_the_project => attempt("echo evil > settings.json", Leak::Changed("@PROJECT/settings.json"))
        .given(|w| w.link(".", "@PROJECT/.claude")).workspace(),
    links_in_a_circle_do_not_stop_the_run => attempt("echo evil > .envrc", Leak::Changed("@PROJECT/.envrc"))
        .given(|w| { w.link("loop", "@PROJECT/.codex"); w.link(".codex", "@PROJECT/loop"); }).workspace(),
    pipes_for_files_do_not_stop_the_run => attempt("echo evil > .envrc", Leak::Changed("@PROJECT/.envrc")).given(|w| {
        w.git_init();
        w.host_does("mkdir -p .git/worktrees/e .git/worktrees/f; mkfifo .git/worktrees/e/gitdir .gitmodules; \
            ln -s /dev/zero .git/worktrees/f/gitdir; rm .git/index; mkfifo .git/index");
    }).workspace(),
    link_for_the_worktrees_does_not_stop_the_run => attempt("echo evil > .envrc", Leak::Changed("@PROJECT/.envrc"))
        .given(|w| { w.git_init(); w.dir("@PROJECT/w/x"); w.link("../w", "@PROJECT/.git/worktrees"); }).workspace(),

    configuration_of_a_git_directory_apart => settings("deep/store/config", |w| {
        w.dir("@PROJECT/deep");
        w.host_does("git init -q --separate-git-dir=deep/store .");
    }),
    configuration_in_a_granted_git_directory => attempt("echo evil >> .git/config", Leak::Changed("@PROJECT/.git/config"))
        .given(|w| { w.git_init(); w.dir("@PROJECT/src"); }).yaml(SRC_AND_GIT),
    hook_in_a_granted_git_directory => attempt("echo evil >> .git/hooks/post-checkout",
        Leak::Changed("@PROJECT/.git/hooks/post-checkout")).given(|w| { w.git_init(); w.dir("@PROJECT/src"); }).yaml(SRC_AND_GIT),
    configuration_in_a_git_directory_granted_by_a_flag => attempt("echo evil >> .git/config",
        Leak::Changed("@PROJECT/.git/config")).given(World::git_init).flags(&["--write", ".git"]),
    configuration_of_a_bare_repository => attempt("echo evil >> config", Leak::Changed("@PROJECT/config"))
        .given(|w| { w.git("@PROJECT", &["init", "-q", "--bare"]); }).workspace(),
    configuration_of_a_bare_repository_below_the_project => attempt("echo evil >> srv.git/config; \
        echo evil > srv.git/hooks/update", Leak::Changed("@PROJECT/srv.git/config"))
        .given(|w| { w.git("@PROJECT", &["init", "-q", "--bare", "srv.git"]); }).workspace(),

    /// git writes `config.lock` and renames it: a second name for that file would be a name for the configuration.
    configuration_that_the_host_writes_gets_no_second_name => attempt("/usr/bin/python3 -c 'if True:
        import os, stat, time
        print(\"\", flush=True); os.system(\"@A mark ready @ID\")
        end = time.time() + 15
        while time.time() < end:
            try: os.link(\".git/config.lock\", \".git/x\"); break
            except OSError: pass
            try:
                if stat.S_ISSOCK(os.lstat(\".git/config.lock\").st_mode): break
            except OSError: pass
        time.sleep(0.3)
        open(\".git/x\", \"a\").write(\"# evil\\n\")'", Leak::Seen(evil_in_git)).given(large_configuration).workspace()
        .meanwhile_only(|w| w.host_tries("for i in $(seq 200); do git config user.name host$i; [ -e .git/x ] && break; sleep 0.05; done")),
}
