//! A run that touches nothing of git leaves every repository that was there as it was, whatever arms its owner gave it.
//!
//! docs/decisions/0009: only what was not there before, or was linked by nothing before, is disarmed.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::claims::claims;
use crate::support::Place;

/// `repo DIR`, `submodule DIR URL NAME`, and `arm DIR`: hooks and configuration of the owner's, which are disarmed if new.
const MAKE: &str =
    "repo() { git init -q -b main $1; echo $1 > $1/file; git -C $1 add file; git -C $1 commit -qm first; }
    submodule() { git -C $1 -c protocol.file.allow=always submodule --quiet add $2 $3; git -C $1 commit -qm submodule; }
    arm() { git -C $1 config core.pager cat; hooks=$(cd $1; realpath $(git rev-parse --git-path hooks));
        mkdir -p $hooks; echo '#!/bin/sh' > $hooks/pre-commit; chmod +x $hooks/pre-commit; }
    far() { for n in $(seq 80); do mkdir -p wide/$n; done; mkdir -p far/far/far; }
    ";

/// Makes the layout, runs this, and finds nothing renamed.
#[track_caller]
fn keeps(at: &Place, layout: &str, script: &str) {
    at.host(&format!("{MAKE}{layout}"));
    at.world.settle();
    let names = "find . -name '*set-aside*'; find . -name .git | sort; find . -name config | sort; find . -path '*hooks/*' | sort";
    let before = at.host(names);
    let (seen, report) = at.reported(&["--policy", "workspace", "--", "sh", "-euc", script]);
    assert_eq!(
        (seen.whole(), &report["set_aside"], &report["not_disarmed"]),
        ((0, "", ""), &json!([]), &json!([]))
    );
    assert_eq!(at.host(names), before);
}

const NESTED: &str = "repo ../lib; repo app; submodule app ../../lib lib; arm app; arm app/lib;";

/// `evil DIR`: a repository that makes the host's git run something, as an earlier run may leave it.
const EVIL: &str = "evil() { git init -q $1; git -C $1 -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m a; \
    git -C $1 config core.fsmonitor 'touch @OUT/pwned; false'; }; link() { git update-index --add --cacheinfo 160000,$(printf %040d 1),$1; };";

claims! {
    // What git itself leaves of them is for whoever goes on with it.
    fn operations_that_a_command_does_not_finish_are_kept(at) {
        let me = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.c GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.c; ";
        let layout = "repo .; git config rerere.enabled true; git checkout -q -b side; echo side > file; git commit -qam side; echo more > more; git add more; \
            git commit -qm more; git format-patch -q -2 -o ../patches; git checkout -q main; echo main > file; git commit -qam main; \
            for n in merge pick am revert; do git worktree add -q -b $n $n; done; git checkout -q side; cp -r ../patches .";
        let work = format!("{me} {{ ! git rebase -q main; test -e .git/rebase-merge/msgnum; ! git -C merge merge -q side; ! git -C pick cherry-pick main..side; \
            ! git -C am am -q -3 $PWD/patches/*; ! git -C am rebase -q main; ! git -C revert revert --no-edit side~1; git symbolic-ref refs/heads/alias refs/heads/main; \
            git bisect start -q 2>/dev/null; git tag -a -m x v1; git stash list; git -C merge rerere status; }} > /dev/null 2>&1");
        keeps(at, layout, &work);
        // And the owner's own commands.
        at.host(&format!("{me} git rebase --abort; git checkout -q main; GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' git rebase -q -i --exec true side~2"));
        keeps(at, "", &format!("{me} touch .git/rebase-merge/git-rebase-todo"));
        assert!(at.host("cat .git/rebase-merge/git-rebase-todo").contains("exec true"));
    }

    fn worktrees_without_a_place_that_a_command_makes_do_not_hold_up_the_end(at) {
        at.host(&format!("{MAKE} repo .; mkdir .git/worktrees"));
        let began = Instant::now();
        at.run("workspace", "(cd .git/worktrees; mkdir $(seq 2000)); for a in $(seq 40); do mkdir d$a; (cd d$a; mkdir $(seq 100)); done");
        assert!(began.elapsed() < Duration::from_secs(30), "it took {:?}", began.elapsed());
    }

    fn a_worktree_without_a_place_is_found_by_its_pointer_though_its_directory_is_closed(at) {
        at.host(&format!("{MAKE} repo .; repo a; repo b; mkdir .git/worktrees a/.git/worktrees b/.git/worktrees"));
        let part = "for r in . a b; do i=$((i+1)); p=$PWD/$r/.git/worktrees/x; mkdir -p $p w$i; echo gitdir: $p > w$i/.git; \
            echo ../.. > $p/commondir; echo ref: refs/heads/x > $p/HEAD; echo garbage > $p/index; \
            git init -q w$i/n; git -C w$i/n config core.fsmonitor evil; chmod 0 $r/.git/worktrees; done";
        let (_, report) = at.reported(&["--policy", "workspace", "--", "sh", "-ec", part]);
        let aside = ["w1", "w2", "w3"].map(|w| at.world.fill(&format!("@PROJECT/{w}/n/.git/config")));
        let list = report["set_aside"].as_array().expect("a list");
        for config in aside {
            assert!(list.contains(&json!(config)), "{config}: {list:?}");
        }
    }

    fn an_index_that_is_applied_arms_nothing_that_an_earlier_run_left(at) {
        let evil = at.world.fill(EVIL);
        at.host(&format!("{MAKE} repo ."));
        at.run("workspace", &format!("{evil} evil x"));
        assert_eq!(at.host("git status > /dev/null; git -C x status > /dev/null 2>&1; ls @OUT/pwned | wc -l; rm @OUT/pwned"), "1\n");
        at.reported(&["--policy", "workspace", "--workspace", "cow", "--", "sh", "-euc", &format!("{evil} link x")]);
        let seen = at.seen(["runs", "apply", "latest"]);
        assert!(seen.stderr.contains("x/.git/config"), "{}", seen.stderr);
        assert_eq!(at.host("git ls-files -s x | cut -c1-6; git status > /dev/null 2>&1; ls @OUT | grep pwned || true"), "160000\n");
    }

    fn repositories_in_a_worktree_that_is_kept_are_disarmed(at) {
        at.host(&format!("{MAKE} repo ."));
        let script = format!("{} evil d; mkdir -p a/b; evil a/b/e; echo new > new", at.world.fill(EVIL));
        let (_, report) = at.reported(&["--policy", "workspace", "--workspace", "worktree", "--", "sh", "-euc", &script]);
        let tree = report["workspace"]["path"].as_str().expect("a worktree");
        let aside = ["a/b/e", "d"].map(|dir| format!("{tree}/{dir}/.git/config"));
        assert_eq!((&report["set_aside"], &report["not_disarmed"]), (&json!(aside), &json!([])));
        assert_eq!(at.host(&format!("git -C {tree} add -A 2>/dev/null; git -C {tree} status > /dev/null; ls @OUT | grep pwned || true")), "");
    }

    fn what_another_run_made_meanwhile_was_not_there_before(at) {
        at.host(&format!("{MAKE} repo ."));
        let wait = "n=0; until [ -e go ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let first = at.shell("workspace", &format!("ln -sf config .git/COMMIT_EDITMSG; echo up; {wait}")).spawn();
        assert!(first.wait_for("up"), "the first run did not start");
        let again = "touch go; n=0; while [ -L .git/COMMIT_EDITMSG ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done; \
            [ ! -e .git/COMMIT_EDITMSG ]; ln -s config .git/COMMIT_EDITMSG";
        assert_eq!(at.run("workspace", again).status, 0);
        first.finish();
        assert_eq!(at.host("find .git -type l ! -name '*set-aside*'"), "");
    }

    fn a_directory_that_another_run_made_a_repository_meanwhile_is_none(at) {
        let wait = "n=0; until [ -e go ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let make = "mkdir -p objects refs/heads; printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = false\n' > config; \
            echo 'ref: refs/heads/main' > HEAD";
        let first = at.shell("workspace", &format!("{make}; echo up; {wait}")).spawn();
        assert!(first.wait_for("up"), "the first run did not start");
        let again = "touch go; n=0; while [ -e HEAD ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done; [ ! -e HEAD ]; \
            echo 'ref: refs/heads/main' > HEAD";
        assert_eq!(at.run("workspace", again).status, 0);
        first.finish();
        assert_eq!(at.host("ls | grep -x HEAD || true"), "");
    }

    fn a_link_of_the_owners_is_kept_though_another_run_is_at_work(at) {
        at.host(&format!("{MAKE} repo .; ln -s ../file .git/mine"));
        at.world.settle();
        let wait = "n=0; until [ -e go ] || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done";
        let first = at.shell("workspace", &format!("echo up; {wait}")).spawn();
        assert!(first.wait_for("up"), "the first run did not start");
        assert_eq!(at.run("workspace", "touch go").whole(), (0, "", ""));
        first.finish();
        assert_eq!(at.host("readlink .git/mine"), "../file\n");
    }

    fn a_repository_that_the_index_links_is_kept_however_far_it_lies(at) {
        keeps(at, "far; repo .; repo far/far/far/app; arm far/far/far/app; git add far; git commit -qm far", "true");
    }

    fn a_submodule_of_a_linked_worktree_is_kept(at) {
        let layout = "far; repo ../lib; repo .; submodule . ../lib far/far/lib; git worktree add -q far/wt;
            git -C far/wt -c protocol.file.allow=always submodule --quiet update --init; arm far/wt/far/far/lib";
        keeps(at, layout, "true");
    }

    fn a_nested_repository_with_a_submodule_is_kept(at) {
        keeps(at, NESTED, "true");
    }

    fn a_nested_repository_with_a_submodule_is_kept_when_it_is_worked_in(at) {
        let layout = format!("{NESTED} rm app/.git/hooks/pre-commit");
        let work = "cd app; echo new > new; git add new; git -c user.name=a -c user.email=a@b commit -qm new";
        keeps(at, &layout, work);
    }

    fn a_linked_worktree_beside_a_nested_repository_is_kept(at) {
        keeps(at, &format!("{NESTED} git -C app worktree add -q -b side ../wt"), "true");
    }

    fn an_ignored_clone_with_a_worktree_is_kept_in_a_superproject(at) {
        let layout = "repo ../lib; repo .; submodule . ../lib lib; arm .; arm lib; echo vendor > .gitignore;
            git add .gitignore; git commit -qm ignore; mkdir vendor; git clone -q . vendor/clone; arm vendor/clone;
            git -C vendor/clone worktree add -q -b side ../wt";
        keeps(at, layout, "true");
    }

    fn submodules_of_submodules_are_kept(at) {
        let layout = "repo ../a; repo ../b; repo ../c; repo app; repo .;
            submodule ../b $PWD/../a a; submodule ../c $PWD/../b b; submodule app $PWD/../c c; submodule . $PWD/../c c;
            git -c protocol.file.allow=always submodule --quiet update --init --recursive;
            git -C app -c protocol.file.allow=always submodule --quiet update --init --recursive;
            for dir in app app/c app/c/b app/c/b/a c c/b c/b/a; do arm $dir; done";
        keeps(at, layout, "true");
    }

    fn bare_repositories_in_a_project_are_kept(at) {
        let layout = "repo ../lib; repo .; submodule . ../lib lib; git clone -q --bare . store/one.git; arm store/one.git;
            git init -q --bare two.git; arm two.git; git -C store/one.git worktree add -q -b side ../side";
        keeps(at, layout, "true");
    }

    fn repositories_are_kept_beside_a_submodule_that_is_a_file_or_a_link_now(at) {
        let layout = format!("{NESTED} repo .; submodule . ../lib one; submodule . ../lib two; rm -r one two; echo x > one;
            ln -s ../lib two");
        keeps(at, &layout, "true");
    }

    fn repositories_are_kept_beside_a_submodule_that_is_gone(at) {
        let layout = "repo ../a; repo ../b; submodule ../b $PWD/../a a; repo .; submodule . $PWD/../b b; repo app; arm app;
            git -c protocol.file.allow=always submodule --quiet update --init --recursive; rm -r b";
        keeps(at, layout, "true");
    }

    fn repositories_far_down_are_kept_though_an_index_does_not_tell(at) {
        let layout = "repo .; far; repo far/far/far/one; arm far/far/far/one; repo ../lib; repo far/far/far/two;
            submodule far/far/far/two $PWD/../lib lib; arm far/far/far/two/lib;
            git -C far/far/far/one worktree add -q -b side ../wt; git update-index --split-index";
        keeps(at, layout, "true");
    }

    fn repositories_are_kept_in_a_repository_of_another_hash(at) {
        let layout = "git init -q --object-format=sha256 .; echo x > file; git add file; git commit -qm first;
            far; repo far/far/far/one; arm far/far/far/one; repo near; arm near";
        keeps(at, layout, "true");
    }
}
