//! Small files of a git directory by whose word git, or a prompt that shows its state, writes or runs something. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt};

/// Where the payload of an armed configuration is called from.
const ARM: &str = "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tfsmonitor = @OUT/payload\\n'";
/// The configuration that `commondir` leads to when git has written the name of the last commit there.
const ELSEWHERE: &str = "O=$(git rev-parse HEAD); mkdir -p .git/$O/objects/info; cp -r .git/refs .git/$O/; \
    echo @PROJECT/.git/objects > .git/$O/objects/info/alternates; ";

/// The script plants; then the host does this in the project, and must not run `@OUT/payload`.
fn trap(plants: &str, host: &'static str) -> Attempt {
    let leak = Leak::Seen(ran);
    let attempt = attempt(plants, leak).given(move |w| {
        w.git_init();
        w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
        w.file("@OUT/host.sh", host);
    });
    attempt.workspace()
}

fn ran(w: &World, _: &Outcome) -> Option<String> {
    after_the_host(w);
    fs::exists(w.path("@OUT/pwned"))
        .unwrap_or(false)
        .then(|| "the host ran what the sandbox had planted".into())
}

fn after_the_host(w: &World) {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    w.host_tries("cd @PROJECT; . @OUT/host.sh");
}

/// Was a file of the host's copied to where the next run reads it?
fn copied(w: &World, _: &Outcome) -> Option<String> {
    after_the_host(w);
    let found = w.host_command("grep").args(["-rl", "not-for-agents", ".git"]).output();
    let found = String::from_utf8_lossy(&found.expect("run grep").stdout).into_owned();
    (!found.is_empty()).then(|| format!("copied: {found}"))
}

fn remembered(path: &str) -> Attempt {
    let script = format!(
        "H=$(printf %040d 1); mkdir -p .git/rr-cache/$H d; touch .git/rr-cache/$H/preimage; ln -sfn @OUT d/l; ln -sfn @OUT/key k; \
        printf \"$H\\t{path}\\0\" > .git/MERGE_RR"
    );
    attempt(script, Leak::Seen(copied))
        .given(|w| {
            w.git_init();
            w.file("@OUT/key", "not-for-agents\n");
            w.file("@OUT/host.sh", "git commit -q --allow-empty -m next");
        })
        .workspace()
}

claims! {
    host_writes_no_pointer_by_a_symbolic_orig_head => trap(&format!("{ELSEWHERE} {ARM} > .git/$O/config; \
        echo 'ref: commondir' > .git/ORIG_HEAD"), "git reset -q --hard; git status"),
    host_writes_no_pointer_by_a_symbolic_stash => trap(&format!("{ELSEWHERE} {ARM} > .git/$O/config; \
        printf 'ref:\\t commondir\\n\\n' > .git/ORIG_HEAD; echo more >> readme"), "git stash; git status"),
    host_writes_no_pointer_by_a_symbolic_branch => trap(&format!("{ELSEWHERE} {ARM} > .git/$O/config; \
        mkdir -p .git/refs/heads/x; echo 'ref: commondir' > .git/refs/heads/x/y"),
        "git branch -f x/y HEAD; git update-ref refs/heads/x/y HEAD; git status"),
    host_writes_no_pointer_in_a_repository_that_came => trap("git init -q -b main sub; git -C sub -c user.name=a -c user.email=a@b.c commit -q \
        --allow-empty -m a; git add sub; cd sub; O=$(git rev-parse HEAD); mkdir -p .git/$O/objects/info; cp -r .git/refs .git/$O/; \
        echo @PROJECT/sub/.git/objects > .git/$O/objects/info/alternates; printf '[core]\\n\\tfsmonitor = @OUT/payload\\n' > .git/$O/config; \
        echo 'ref: commondir' > .git/ORIG_HEAD", "git -C sub reset -q --hard; git -C sub status"),
    prompt_expands_no_number_of_a_rebase => trap("mkdir -p .git/rebase-merge; echo '$(@OUT/payload)' > .git/rebase-merge/msgnum; \
        echo 3 > .git/rebase-merge/end; echo refs/heads/main > .git/rebase-merge/head-name",
        "bash -c 'read n < .git/rebase-merge/msgnum; PS1=$n; : \"${PS1@P}\"'"),
    prompt_expands_no_number_of_a_series_of_patches => trap("mkdir -p .git/rebase-apply; echo '$(@OUT/payload)' > .git/rebase-apply/next; \
        echo 3 > .git/rebase-apply/last",
        "bash -c 'read n < .git/rebase-apply/next; PS1=$n; : \"${PS1@P}\"'"),
    rebase_that_goes_on_runs_no_planted_command => trap("echo 1 > a; git add a; git -c user.name=a -c user.email=a@b.c commit -qm a; \
        GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git -c user.name=a -c user.email=a@b.c rebase -q -i HEAD~1; \
        echo 'exec @OUT/payload' >> .git/rebase-merge/git-rebase-todo", "git rebase --continue"),
    rebase_that_goes_on_uses_no_planted_strategy => trap("echo 1 > a; git add a; git -c user.name=a -c user.email=a@b.c commit -qm a; \
        echo 1 > b; git add b; git -c user.name=a -c user.email=a@b.c commit -qm b; \
        GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git -c user.name=a -c user.email=a@b.c rebase -q -i -f HEAD~2; \
        mkdir -p git-merge-; printf '#!/bin/sh\\n@OUT/payload\\n' > evil; chmod +x evil; \
        echo /../evil > .git/rebase-merge/strategy; git -c user.name=a -c user.email=a@b.c commit -q --allow-empty --amend -m c",
        "git -c user.name=a -c user.email=a@b.c rebase --continue"),
    commit_copies_no_file_beside_the_project => remembered("@OUT/key"),
    commit_copies_no_file_behind_a_link => remembered("d/l/key"),
    commit_copies_no_file_that_is_a_link => remembered("k"),
}
