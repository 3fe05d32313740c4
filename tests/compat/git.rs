//! Git in a project, in a linked worktree whose git directory lies outside it, and in a submodule.
//!
//! The repository and the author's name are made outside, as a user would have them: `.git/config` is read-only inside.

use crate::claims::claims;

/// A repository with one commit in the project.
const REPOSITORY: &str = "
    git init -q -b main .
    git config user.name Ada
    git config user.email ada@example.org
    echo one > file
    git add file
    git commit -q -m first";

/// A second repository beside the project, which is made a linked worktree of it.
const LINKED_WORKTREE: &str = "
    here=$PWD
    git init -q -b main ../origin
    cd ../origin
    git config user.name Ada
    git config user.email ada@example.org
    echo one > file
    git add file
    git commit -q -m first
    rmdir $here
    git worktree add -q -b topic $here";

/// A repository in the project with a submodule in `sub`.
const SUBMODULE: &str = "
    git init -q -b main ../library
    cd ../library
    git config user.name Ada
    git config user.email ada@example.org
    git commit -q --allow-empty -m library
    cd $OLDPWD
    git init -q -b main .
    git config user.name Ada
    git config user.email ada@example.org
    git -c protocol.file.allow=always submodule --quiet add $PWD/../library sub
    git -C sub config user.name Ada
    git -C sub config user.email ada@example.org
    git commit -q -m super";

claims! {
    fn a_link_of_an_earlier_run_leaves_the_repository_usable(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints("mkdir d sub && ln -s ../d/../.git sub/.git && echo done", "done\n");
        at.prints("echo two > file && git commit -q -a -m second && git log --format=%s", "second\nfirst\n");
    }

    fn git_commit_is_there_for_the_host_afterwards(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints("echo two > file && git commit -q -a -m second && git log --format=%an:%s", "Ada:second\nAda:first\n");
        at.finds("git log --format=%an:%s && git status --porcelain && cat file", "Ada:second\nAda:first\ntwo\n");
        at.finds("git fsck --strict --no-progress", "");
    }

    fn git_status_and_diff_show_what_changed(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints(
            "echo two > file; echo new > other; git status --porcelain; git diff --stat --format= | tail -n 1",
            " M file\n?? other\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
        );
    }

    fn git_branch_merge_and_rebase_make_history(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints(
            "git checkout -q -b topic
             echo topic > topic && git add topic && git commit -q -m topic
             git checkout -q main
             echo main > main && git add main && git commit -q -m main
             git merge -q --no-edit topic
             git log --format=%s --topo-order
             git checkout -q -b again HEAD~1 && echo 2 > again && git add again && git commit -q -m again
             git rebase -q main && git branch -q -d topic
             git log --format=%s -n 2",
            "Merge branch 'topic'\ntopic\nmain\nfirst\nagain\nMerge branch 'topic'\n",
        );
    }

    fn git_stash_puts_work_aside_and_back(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints("echo two > file; git stash -q; cat file; git stash pop -q; cat file", "one\ntwo\n");
    }

    fn git_init_in_a_subdirectory_makes_a_repository(at) {
        at.needs(&["git"]);
        at.prints(
            "mkdir new && cd new && git init -q -b main . && echo x > x && git add x
             git -c user.name=Ada -c user.email=ada@example.org commit -q -m x && git log --format=%s",
            "x\n",
        );
    }

    fn git_init_in_the_project_itself_makes_a_repository(at) {
        at.needs(&["git"]);
        at.prints(
            "git init -q -b main . && echo x > x && git add x
             git -c user.name=Ada -c user.email=ada@example.org commit -q -m x && git log --format=%s",
            "x\n",
        );
    }

    fn git_clone_of_the_project_into_tmp_works(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints(
            "git clone -q . /tmp/clone-$$ && git -C /tmp/clone-$$ log --format=%s && rm -rf /tmp/clone-$$",
            "first\n",
        );
    }

    fn git_worktree_added_inside_the_project_takes_commits(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints(
            "git worktree add -q -b topic tree
             cd tree && echo two > file && git commit -q -a -m inside && git log --format=%s
             cd .. && git worktree list --porcelain | grep -c ^worktree",
            "inside\nfirst\n2\n",
        );
        at.finds("git -C tree status --porcelain && git log --format=%s topic", "inside\nfirst\n");
    }

    fn git_commit_in_a_linked_worktree_reaches_the_repository_outside(at) {
        at.needs(&["git"]);
        at.stage(LINKED_WORKTREE);
        at.prints("echo two > file && git commit -q -a -m linked && git log --format=%s", "linked\nfirst\n");
        at.finds("git -C ../origin log --format=%s topic", "linked\nfirst\n");
    }

    fn git_in_a_linked_worktree_rebases_stashes_packs_and_removes_branches(at) {
        at.needs(&["git"]);
        at.stage(LINKED_WORKTREE);
        at.prints(
            "git checkout -q -b other && echo 2 > other && git add other && git commit -q -m other
             git checkout -q topic && echo 3 > mine && git add mine && git commit -q -m mine
             git rebase -q other && git log --format=%s
             echo 4 > mine && git stash -q && cat mine && git stash pop -q && cat mine
             git pack-refs --all && git branch -q -D other && git gc -q && git fetch -q . topic:copy && git branch",
            "mine\nother\nfirst\n3\n4\n  copy\n+ main\n* topic\n",
        );
        at.finds("git -C ../origin status --porcelain && git -C ../origin log --format=%s copy", "mine\nother\nfirst\n");
    }

    fn git_submodule_status_names_the_commit(at) {
        at.needs(&["git"]);
        at.stage(SUBMODULE);
        at.prints("git submodule status | sed 's/[0-9a-f]\\{40\\}/COMMIT/'", " COMMIT sub (heads/main)\n");
    }

    fn git_commit_in_a_submodule_works(at) {
        at.needs(&["git"]);
        at.stage(SUBMODULE);
        at.prints(
            "cd sub && echo x > x && git add x && git commit -q -m in-sub && git log --format=%s
             cd .. && git status --porcelain",
            "in-sub\nlibrary\n M sub\n",
        );
    }

    fn git_gc_and_a_packed_clone_keep_every_object(at) {
        at.needs(&["git"]);
        at.stage(REPOSITORY);
        at.prints(
            "for n in 1 2 3 4 5; do echo $n > file; git commit -q -a -m $n; done
             git gc -q && git fsck --strict --no-progress && git rev-list --all --count",
            "6\n",
        );
    }

    fn git_apply_and_patch_change_a_file(at) {
        at.needs(&["git", "patch"]);
        at.stage(REPOSITORY);
        at.prints(
            "echo two > file && git diff > /tmp/change-$$ && git checkout -q file
             git apply /tmp/change-$$ && cat file && git checkout -q file
             patch -s -p1 < /tmp/change-$$ && cat file; rm /tmp/change-$$",
            "two\ntwo\n",
        );
    }
}
