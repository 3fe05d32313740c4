//! What git runs later on the host: hooks and configuration, in the project and in repositories below it. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// A repository with one commit. The script plants, cleans its own traces up, and `path` must be as before.
fn plant(path: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Changed(path))
        .given(World::git_init)
        .workspace()
        .project_unchanged()
}

/// The script plants something that makes the host's next git command run `@OUT/payload`.
fn trap(script: &'static str) -> Attempt {
    attempt(script, Leak::Seen(git_ran_code)).given(payload).workspace()
}

fn payload(w: &World) {
    w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
}

/// Does what a person does next, on the host: looks at the state of the checkout and commits.
fn git_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    for args in [
        &["status"][..],
        &["fetch", "-q", "origin"],
        &["commit", "--allow-empty", "-qm", "mine"],
        &["checkout", "-q", "-b", "new"],
    ] {
        let _ = w.host_command("git").args(args).output();
    }
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "git on the host ran what the sandbox had planted".into())
}

/// Pushes on the host, to `origin` and to what the branch has.
fn push_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    for args in [&["push", "origin", "HEAD:refs/heads/main"][..], &["push"]] {
        let _ = w.host_command("git").args(args).output();
    }
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "a push of the host's ran what the sandbox had planted".into())
}

/// The host acts while the command runs; then the command plants.
fn after_the_host(host: &'static str, script: &'static str) -> Attempt {
    attempt(script, Leak::Seen(evil_in_git))
        .given(World::git_init)
        .workspace()
        .meanwhile(move |w| {
            w.host_tries(host);
            w.settle();
        })
}

fn evil_in_git(w: &World, _: &Outcome) -> Option<String> {
    let planted = ["@PROJECT/.git/config", "@PROJECT/.git/hooks/post-checkout"].map(|p| w.path(p));
    let planted = planted
        .iter()
        .find(|p| fs::read_to_string(p).is_ok_and(|t| t.contains("evil")))?;
    Some(format!("{} was planted", planted.display()))
}

/// A repository of its own below the project.
fn nested(w: &World) {
    w.git_init();
    w.dir("@PROJECT/sub");
    w.git("@PROJECT/sub", &["init", "-q"]);
}

/// A submodule, as git lays it out.
fn submodule(w: &World) {
    w.dir("@OUT/lib");
    w.git("@OUT/lib", &["init", "-q"]);
    w.git("@OUT/lib", &["commit", "-q", "--allow-empty", "-m", "lib"]);
    w.git_init();
    w.git(
        "@PROJECT",
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "add",
            "-q",
            &w.fill("@OUT/lib"),
            "lib",
        ],
    );
    w.git("@PROJECT", &["commit", "-q", "-m", "submodule"]);
}

/// The same, and a second checkout of it elsewhere.
fn submodule_with_a_worktree(w: &World) {
    submodule(w);
    w.git(
        "@PROJECT/lib",
        &["worktree", "add", "-q", "-b", "side", &w.fill("@OUT/side")],
    );
}

claims! {
    existing_hook_is_not_changed => plant("@PROJECT/.git/hooks/pre-commit", "echo evil >> .git/hooks/pre-commit; \
        chmod +x .git/hooks/pre-commit").given(|w| { w.program("@PROJECT/.git/hooks/pre-commit", "#!/bin/sh\n"); }),
    existing_hook_is_not_replaced => plant("@PROJECT/.git/hooks/pre-commit",
        "echo evil > x; mv -f x .git/hooks/pre-commit; \
        rm -f .git/hooks/pre-commit x").given(|w| { w.program("@PROJECT/.git/hooks/pre-commit", "#!/bin/sh\n"); }),
    existing_hook_is_not_changed_through_a_hard_link => plant("@PROJECT/.git/hooks/pre-commit",
        "ln .git/hooks/pre-commit x && echo evil > x; rm -f \
        x").given(|w| { w.program("@PROJECT/.git/hooks/pre-commit", "#!/bin/sh\n"); }),
    new_hook_is_not_made => plant("@PROJECT/.git/hooks/post-checkout", "echo evil > .git/hooks/post-checkout"),
    new_hook_is_not_linked => plant("@PROJECT/.git/hooks/post-checkout",
        "echo evil > x; ln x .git/hooks/post-checkout; ln -s ../../x .git/hooks/post-checkout; rm -f x"),
    sample_hook_is_not_renamed => plant("@PROJECT/.git/hooks/pre-commit",
        "mv .git/hooks/pre-commit.sample .git/hooks/pre-commit"),
    hook_is_not_made_where_the_directory_is_missing => plant("@PROJECT/.git/hooks/post-checkout",
        "mkdir -p .git/hooks; echo evil > .git/hooks/post-checkout")
        .given(|w| fs::remove_dir_all(w.path("@PROJECT/.git/hooks")).expect("remove the hooks")),
    directory_of_hooks_is_not_moved_away => plant("@PROJECT/.git/hooks",
        "mv .git/hooks .git/old && mkdir .git/hooks && echo evil > .git/hooks/post-checkout"),
    directory_of_hooks_is_not_exchanged => plant("@PROJECT/.git/hooks",
        "mkdir x; echo evil > x/post-checkout; @A exchange x .git/hooks; rm -rf x"),
    directory_of_hooks_is_not_replaced_by_a_link => plant("@PROJECT/.git/hooks",
        "rm -rf .git/hooks; ln -s ../x .git/hooks"),
    configuration_is_not_changed => plant("@PROJECT/.git/config",
        "printf '[core]\\n fsmonitor = evil\\n' >> .git/config"),
    configuration_is_not_replaced => plant("@PROJECT/.git/config",
        "echo evil > .git/config.lock; mv -f .git/config.lock .git/config; \
        rm -f .git/config.lock"),
    configuration_is_not_changed_by_git => plant("@PROJECT/.git/config",
        "git config core.hooksPath evil; rm -f .git/config.lock"),
    configuration_is_not_changed_through_a_hard_link => plant("@PROJECT/.git/config",
        "ln .git/config x && echo evil > x; rm -f x"),
    configuration_is_not_truncated => plant("@PROJECT/.git/config", "@A truncate .git/config; chmod 0 .git/config"),
    configuration_of_the_worktree_is_not_made => plant("@PROJECT/.git/config.worktree",
        "echo evil > .git/config.worktree")
        .given(|w| { w.git("@PROJECT", &["config", "extensions.worktreeConfig", "true"]); }),
    common_directory_is_not_redirected => plant("@PROJECT/.git/commondir", "echo ../evil > .git/commondir"),
    git_directory_is_not_moved_away => plant("@PROJECT/.git/config",
        "mv .git x && mkdir .git && echo evil > .git/config"),
    git_directory_is_not_exchanged => plant("@PROJECT/.git/config",
        "mkdir x; echo evil > x/config; @A exchange x .git; rm -rf x"),
    git_directory_is_not_removed => plant("@PROJECT/.git/hooks", "rm -rf .git/hooks .git/config; rmdir .git/hooks"),
    modules_that_exist_keep_their_hooks => plant("@PROJECT/.git/modules/lib/hooks/post-checkout",
        "echo evil > .git/modules/lib/hooks/post-checkout").given(submodule),
    modules_that_exist_keep_their_configuration => plant("@PROJECT/.git/modules/lib/config",
        "echo evil >> .git/modules/lib/config; mv .git/modules/lib .git/modules/x; \
        mv .git/modules .git/x").given(submodule),
    submodule_is_not_pointed_elsewhere => plant("@PROJECT/lib/.git",
        "echo 'gitdir: ../evil' > lib/.git; rm -f lib/.git").given(submodule),
    remote_of_old_is_not_made => attempt("mkdir -p .git/remotes; git init -q --bare x.git; \
        printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > x.git/hooks/pre-receive; chmod +x x.git/hooks/pre-receive; \
        printf 'URL: @PROJECT/x.git\\nPush: refs/heads/main\\n' > .git/remotes/origin",
        Leak::Seen(push_ran_code)).given(|w| { payload(w); w.git_init(); }).workspace(),
    branch_of_old_is_not_made => plant("@PROJECT/.git/branches/origin",
        "mkdir -p .git/branches; echo @PROJECT/evil > .git/branches/origin"),
    remote_of_old_of_a_new_repository_is_set_aside => attempt("git init -q -b main .; \
        git -c user.name=t -c user.email=t commit --allow-empty -qm x; mkdir -p .git/remotes; git init -q --bare x.git; \
        printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > x.git/hooks/pre-receive; chmod +x x.git/hooks/pre-receive; \
        printf 'URL: @PROJECT/x.git\\nPush: refs/heads/main\\n' > .git/remotes/origin",
        Leak::Seen(push_ran_code)).given(payload).workspace(),
    /// Git knows no remote whose name begins with a slash: it is the path of a repository here.
    remote_by_the_name_of_a_path_of_a_new_repository_is_set_aside => attempt("git init -q -b main .; \
        git -c user.name=t -c user.email=t commit --allow-empty -qm x; git init -q --bare x.git; \
        printf '#!/bin/sh\\ntouch @OUT/pwned\\n' > x.git/hooks/pre-receive; chmod +x x.git/hooks/pre-receive; \
        printf '[remote \"@PROJECT/x.git\"]\\n\\turl = https://example.invalid/x\\n\
        [branch \"main\"]\\n\\tremote = @PROJECT/x.git\\n\\tmerge = refs/heads/main\\n' >> .git/config",
        Leak::Seen(push_ran_code)).given(payload).workspace(),
    module_in_a_module_gets_no_hook => plant("@PROJECT/.git/modules/lib/modules/inner/hooks/post-checkout",
        "mkdir -p .git/modules/lib/modules/inner/hooks; \
        echo evil > .git/modules/lib/modules/inner/hooks/post-checkout").given(submodule),
    module_in_a_module_gets_no_configuration => plant("@PROJECT/.git/modules/lib/modules/inner/config",
        "mkdir -p .git/modules/lib/modules/inner; echo evil > .git/modules/lib/modules/inner/config").given(submodule),
    worktree_of_a_module_is_not_redirected => plant("@PROJECT/.git/modules/lib/worktrees/side/commondir",
        "echo @PROJECT/evil > .git/modules/lib/worktrees/side/commondir").given(submodule_with_a_worktree),
    worktree_of_a_module_gets_no_other_index => plant("@PROJECT/.git/modules/lib/worktrees/side/index",
        "echo evil > .git/modules/lib/worktrees/side/index").given(submodule_with_a_worktree),
    module_that_does_not_exist_gets_no_hook => plant("@PROJECT/.git/modules/new/hooks/post-checkout",
        "mkdir -p .git/modules/new/hooks; echo evil > .git/modules/new/hooks/post-checkout"),
    module_that_does_not_exist_gets_no_configuration => plant("@PROJECT/.git/modules/new/config",
        "mkdir -p .git/modules/new; echo evil > .git/modules/new/config"),
    nested_repository_keeps_its_hooks => plant("@PROJECT/sub/.git/hooks/post-checkout",
        "echo evil > sub/.git/hooks/post-checkout").given(nested),
    nested_repository_keeps_its_configuration => plant("@PROJECT/sub/.git/config", "echo evil >> sub/.git/config")
        .given(nested),
    nested_repository_is_not_moved_away => plant("@PROJECT/sub/.git/hooks/post-checkout",
        "mv sub x; mkdir -p sub/.git/hooks; echo evil > sub/.git/hooks/post-checkout").given(nested),
    /// An editor on the host rewrites the configuration by rename, which takes a mount on the old file away.
    configuration_that_the_host_rewrites_stays_protected => after_the_host("cp .git/config @OUT/c; mv @OUT/c .git/config",
        "printf '[core]\\n fsmonitor = evil\\n' >> .git/config"),
    directory_of_hooks_that_the_host_makes_anew_stays_protected => after_the_host("mv .git/hooks @OUT/h; \
        mkdir .git/hooks",
        "echo evil > .git/hooks/post-checkout"),
    directory_of_hooks_that_the_host_removes_is_not_made_anew => after_the_host("rm -rf .git/hooks",
        "mkdir .git/hooks; echo evil > .git/hooks/post-checkout"),
    git_directory_that_the_host_makes_anew_stays_protected => after_the_host("rm -rf .git; git init -q",
        "echo evil > .git/hooks/post-checkout; echo evil >> .git/config"),
    git_directory_that_the_host_makes_during_the_run_is_protected => attempt("echo evil > .git/hooks/post-checkout; \
        echo evil >> .git/config",
        Leak::Seen(evil_in_git)).workspace().meanwhile(|w| {
            w.host_does("git init -q");
            w.settle();
        }),
    /// There is a moment between the host's rename and whatever covers the new file; what was written in it must be named.
    press_on_a_configuration_that_the_host_rewrites_is_no_silent_gap => attempt("@A press .git/config evil 1 @ID",
        Leak::Seen(|w, o| {
        let report = fs::read_to_string(w.path("@OUT/report.json")).unwrap_or_default();
        (o.says("worked]]") && !report.contains(".git/config"))
        .then(|| format!("written, and not in the report: {report}"))
    })).given(World::git_init).workspace().flags(&["--report", "@OUT/report.json"])
        .meanwhile_only(|w| w.host_does("for i in 1 2 3 4 5; do cp .git/config @OUT/c; mv @OUT/c .git/config; sleep 0.05; done")),

    git_runs_no_planted_monitor => trap("git config core.fsmonitor @OUT/payload; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> .git/config")
        .given(World::git_init),
    git_runs_no_planted_hook => trap("for h in pre-commit post-commit post-checkout post-index-change; do \
        printf '#!/bin/sh\\n@OUT/payload\\n' > .git/hooks/$h; chmod +x .git/hooks/$h; done").given(World::git_init),
    git_runs_nothing_from_a_redirected_common_directory => trap("mkdir evil; cp -r .git/objects .git/refs evil/; \
        cp .git/config evil/; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> evil/config; echo ../evil > .git/commondir")
        .given(World::git_init),
    git_runs_nothing_from_a_git_directory_made_anew => trap("mv .git x; rm -rf .git; git init -q .; \
        git config core.fsmonitor @OUT/payload; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> .git/config").given(World::git_init),
    git_runs_nothing_from_a_git_file => trap("mv .git evil; git init -q evil; mv evil/.git/* evil/; \
        printf '[core]\\nworktree=..\\nfsmonitor=@OUT/payload\\n' >> evil/config; \
        rm -rf .git; echo 'gitdir: evil' > .git").given(World::git_init),
    git_runs_nothing_in_a_project_that_had_no_repository => trap("git init -q .; \
        git config core.fsmonitor @OUT/payload; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> .git/config; touch file; git add file"),
    git_runs_nothing_in_a_new_repository_though_the_supervisor_was_killed => trap("git init -q .; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> .git/config; @A mark ready @ID; sleep 20").ended_by("KILL"),
    /// A key on the line of its section, with a comment that looks like the section's end.
    git_runs_nothing_from_a_key_beside_a_section => trap("git init -q .; \
        printf '[remote \"origin\"] uploadpack = @OUT/payload #]\\n\\turl = .\\n' >> .git/config"),
    /// git looks into a repository that the index names, by the mere `git status` of whoever reviews the change.
    git_runs_nothing_from_a_repository_in_the_index => trap("git init -q sub; \
        git -C sub -c user.name=e -c user.email=e@e commit -q --allow-empty -m e; git add sub; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' >> sub/.git/config").given(World::git_init),
    git_runs_nothing_from_a_repository_in_the_index_and_elsewhere => trap("git init -q evil; \
        git -C evil -c user.name=e -c user.email=e@e commit -q --allow-empty -m e; mkdir sub; mv evil/.git store; \
        printf '[core]\\nworktree=../sub\\nfsmonitor=@OUT/payload\\n' >> store/config; echo 'gitdir: ../store' > sub/.git; git add sub")
        .given(World::git_init),
    git_runs_nothing_from_an_include => trap("printf '[include]\\npath=../evil\\n' >> .git/config; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' > evil").given(World::git_init),
    git_runs_nothing_from_an_included_file_of_the_project => trap("printf '[core]\\nfsmonitor=@OUT/payload\\n' > \
        shared.cfg")
        .given(|w| { w.git_init(); w.file("@PROJECT/shared.cfg", ""); w.git("@PROJECT", &["config", "include.path", "../shared.cfg"]); }),
    git_runs_nothing_from_a_hooks_path_in_the_project => trap("printf '#!/bin/sh\\n@OUT/payload\\n' > \
        .githooks/pre-commit; chmod +x .githooks/pre-commit")
        .given(|w| { w.git_init(); w.dir("@PROJECT/.githooks"); w.git("@PROJECT", &["config", "core.hooksPath", ".githooks"]); }),
}
