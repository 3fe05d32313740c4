//! `run --workspace worktree`: the command works on a branch of its own, and what holds nothing is removed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

const REPOSITORY: &str = "
    git init -q -b main .
    git config user.name Ada; git config user.email ada@example.org
    echo one > file; mkdir dir; echo deep > dir/deep; echo rc > .envrc; mkdir .vscode; echo {} > .vscode/settings.json
    git add -A; git commit -q -m first";

const COMMIT: &str = "echo two > file; git commit -q -a -m second";

fn worktree(at: &Place, policy: &str, script: &str) -> (Seen, Value) {
    at.reported(&[
        "--policy",
        policy,
        "--workspace",
        "worktree",
        "--",
        "sh",
        "-euc",
        script,
    ])
}

/// Branches, worktrees, and what lies beside the state directory.
fn left(at: &Place) -> String {
    at.host("git branch --format='%(refname)'; git worktree list --porcelain | grep -c ^worktree
        find .git/worktrees .git/refs/heads -mindepth 1 2>/dev/null | sort; ls -A @STATE/glee-worktrees 2>/dev/null || true")
}

const NOTHING: &str = "refs/heads/main\n1\n.git/refs/heads/main\n";

claims! {
    fn a_run_that_changes_nothing_leaves_nothing(at) {
        at.host(REPOSITORY);
        let before = at.contents();
        let (seen, report) = worktree(at, "workspace", "pwd; git status --porcelain; git branch --show-current; cat file .envrc dir/deep .vscode/settings.json");
        let branch = format!("glee/{}", report["run_id"].as_str().expect("an id"));
        let expected = format!("{}\n{branch}\none\nrc\ndeep\n{{}}\n", at.project().display());
        assert_eq!((seen.status, seen.stdout.as_str(), seen.stderr.as_str()), (0, expected.as_str(), ""));
        assert_eq!((&report["workspace"]["kind"], &report["workspace"]["branch"]), (&json!("worktree"), &Value::Null));
        assert_eq!(left(at), NOTHING);
        assert_eq!(at.contents(), before);
    }

    fn what_git_ignores_is_nothing(at) {
        at.host(&format!("{REPOSITORY}; echo target > .gitignore; git add -A; git commit -q -m ignore"));
        worktree(at, "workspace", "mkdir target; echo x > target/x; chmod 0 target");
        assert_eq!(left(at), NOTHING);
    }

    fn a_commit_is_kept_on_its_branch_and_can_be_merged(at) {
        at.host(REPOSITORY);
        let (seen, report) = worktree(at, "workspace", COMMIT);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let workspace = &report["workspace"];
        assert_eq!((&workspace["commits"], &workspace["uncommitted"]), (&json!(1), &json!(false)));
        let branch = workspace["branch"].as_str().expect("a branch");
        let path = workspace["path"].as_str().expect("a path");
        for part in ["1 commit on the branch", branch, path, "git merge", "git worktree remove"] {
            assert!(seen.stderr.contains(part), "`{part}`: {}", seen.stderr);
        }
        assert_eq!(at.host("cat file; git log --format=%s; git status --porcelain"), "one\nfirst\n");
        assert_eq!(at.host(&format!("cd {path}; cat file; git status --porcelain; git log --format=%s")), "two\nsecond\nfirst\n");
        assert_eq!(at.host(&format!("git merge -q {branch}; cat file; git worktree remove {path}; git branch -q -d {branch}; git fsck --no-progress")), "two\n");
        worktree(at, "workspace", "true");
        assert_eq!(left(at), NOTHING, "what its owner emptied is gone with the next start");
    }

    // The repository is shown beside the worktree, under a name that is nowhere afterwards.
    fn what_changed_in_the_repository_is_told_where_it_is(at) {
        at.host(REPOSITORY);
        let (seen, report) = worktree(at, "workspace", "for n in $(seq 300); do echo $n > dir/$n; done; git add -A; git commit -q -m many; git gc -q --prune=now || true");
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let rows = report["changed_files"].as_array().expect("a list");
        let paths: Vec<&str> = rows.iter().filter_map(|row| row["path"].as_str()).collect();
        let odd: Vec<&&str> = paths.iter().filter(|path| path.starts_with('/') || path.starts_with(".git/objects/")
            && !path.starts_with(".git/objects/info")).collect();
        assert_eq!((odd, rows.len() >= 300), (Vec::<&&str>::new(), true), "{paths:?}");
        let branch = format!(".git/refs/heads/{}", report["workspace"]["branch"].as_str().expect("a branch"));
        let of_git = |path: &&str| *path == branch || *path == ".git/packed-refs";
        assert!(paths.iter().any(of_git) && paths.contains(&"dir/300"), "{paths:?}");
        assert!(report["changes"]["git_objects"].as_u64() > Some(2), "{}", report["changes"]);
    }

    fn a_change_in_no_commit_is_kept(at) {
        at.host(REPOSITORY);
        for script in ["echo two > file", "echo new > new", "rm file", "git checkout -q --detach; git commit -q --allow-empty -m x", "git checkout -q -b other; git commit -q --allow-empty -m x"] {
            let (_, report) = worktree(at, "workspace", script);
            let path = report["workspace"]["path"].as_str().unwrap_or_else(|| panic!("{script}: {}", report["workspace"]));
            at.host(&format!("git worktree remove --force {path}"));
        }
        assert_eq!(at.host("git status --porcelain; cat file"), "one\n");
    }

    // Git waits for who writes there, for ever. More than the first look finds and covers.
    fn a_pipe_where_git_reads_does_not_hold_up_the_end(at) {
        at.host(REPOSITORY);
        let began = Instant::now();
        let (seen, report) = worktree(at, "workspace", "mkdir $(seq 200); for dir in $(seq 200); do mkfifo $dir/.gitignore; done");
        assert!(began.elapsed() < Duration::from_secs(120), "{:?}", began.elapsed());
        assert_eq!((seen.status, &report["workspace"]["uncommitted"]), (0, &json!(true)), "{}", seen.stderr);
    }

    fn a_pipe_in_the_git_directory_is_refused_by_name(at) {
        at.host(REPOSITORY);
        let run = ["run", "--policy", "workspace", "--workspace", "worktree", "--", "echo", "started"];
        for name in ["info/attributes", "info/exclude", "packed-refs"] {
            at.host(&format!("mkdir -p .git/info; rm -f .git/{name}"));
            let seen = at.run("workspace", &format!("mkfifo .git/{name}"));
            assert_eq!(seen.status, 0, "{}", seen.stderr);
            let began = Instant::now();
            at.is_refused(&run, &[&format!(".git/{name}"), "not a file", "remove it"]);
            assert!(began.elapsed() < Duration::from_secs(20), "{name}: {:?}", began.elapsed());
            at.host(&format!("rm .git/{name}"));
        }
        let (seen, _) = worktree(at, "workspace", "cat file");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "one\n"), "{}", seen.stderr);
    }

    fn a_pipe_in_place_of_a_branch_is_told_for_what_it_is(at) {
        at.host(REPOSITORY);
        at.host("rm .git/refs/heads/main; mkfifo .git/refs/heads/main");
        at.is_refused(&["run", "--policy", "workspace", "--workspace", "worktree", "--", "echo", "started"], &["a pipe", "find . -type p"]);
    }

    fn restricted_may_write_the_worktree_too(at) {
        at.host(REPOSITORY);
        let (seen, report) = worktree(at, "restricted", COMMIT);
        assert_eq!((seen.status, &report["workspace"]["commits"]), (0, &json!(1)), "{}", seen.stderr);
    }

    fn what_is_not_committed_is_not_in_it_and_that_is_said(at) {
        at.host(REPOSITORY);
        at.host("echo mine > file; echo mine > untracked");
        let (seen, _) = worktree(at, "workspace", "cat file; ls untracked 2>/dev/null || echo missing");
        assert_eq!(seen.stdout, "one\nmissing\n");
        assert_eq!(seen.stderr.matches("not committed").count(), 1, "{}", seen.stderr);
        assert_eq!(at.host("cat file untracked"), "mine\nmine\n");
    }

    fn a_linked_worktree_can_be_worked_on_as_well(at) {
        at.host("here=$PWD; git init -q -b main ../origin; cd ../origin
            git config user.name Ada; git config user.email ada@example.org
            echo one > file; git add file; git commit -q -m first; rmdir $here; git worktree add -q -b topic $here");
        let (seen, report) = worktree(at, "workspace", &format!("{COMMIT}; git log --format=%s"));
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "second\nfirst\n"), "{}", seen.stderr);
        let branch = report["workspace"]["branch"].as_str().expect("a branch");
        assert_eq!(at.host(&format!("git log --format=%s topic; git log --format=%s {branch}; git status --porcelain")), "first\nsecond\nfirst\n");
    }

    fn nothing_of_the_repository_runs_on_the_host(at) {
        at.host(REPOSITORY);
        at.world.dir("@OUT/ran");
        at.host("for hook in post-checkout pre-commit reference-transaction post-index-change; do
                printf '#!/bin/sh\\ntouch @OUT/ran/%s\\n' $hook > .git/hooks/$hook; chmod +x .git/hooks/$hook; done
            printf '#!/bin/sh\\ntouch @OUT/ran/monitor; exit 1\\n' > ../monitor; chmod +x ../monitor
            git config core.fsmonitor $PWD/../monitor
            git config filter.evil.smudge 'touch @OUT/ran/smudge; cat'; git config filter.evil.clean 'touch @OUT/ran/clean; cat'
            echo '* filter=evil' > .gitattributes
            git -c core.hooksPath=/dev/null -c core.fsmonitor=false add -A
            git -c core.hooksPath=/dev/null -c core.fsmonitor=false commit -q -m evil; rm -rf @OUT/ran/*");
        assert_eq!(at.host("sleep 1; touch file; git status > /dev/null; cd @OUT/ran; ls clean monitor"), "clean\nmonitor\n", "the trap works on the host");
        at.host("rm -rf @OUT/ran/*");
        let (seen, report) = worktree(at, "workspace", "cat file; echo two > file; git commit -q -a -m second || true");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "one\n"), "{}", seen.stderr);
        assert_eq!(report["workspace"]["kind"], "worktree");
        assert_eq!(at.host("ls -A @OUT/ran"), "");
    }

    fn what_is_no_working_tree_is_refused(at) {
        let run = ["run", "--policy", "workspace", "--workspace", "worktree", "--", "echo", "started"];
        at.is_refused(&run, &["is not the top of a git working tree", "--project"]);
        at.host("git init -q -b main .");
        at.is_refused(&run, &["the last commit", "must have a commit"]);
        at.host("rm -rf .git; git init -q --bare .");
        at.is_refused(&run, &["is a bare git repository"]);
        at.is_refused(&["run", "--policy", "inherit", "--workspace", "worktree", "--", "echo", "started"], &["--workspace worktree", "mode: inherit"]);
        assert_eq!(at.host("ls -A @STATE/glee-worktrees 2>/dev/null || true"), "");
    }

    fn a_link_on_the_way_to_the_state_is_the_users_own(at) {
        at.host(REPOSITORY);
        at.host("mkdir -p @STATE; ln -s @STATE @OUT/state");
        for workspace in ["cow", "worktree"] {
            let script = format!("XDG_STATE_HOME=@OUT/state @BIN run --policy workspace --workspace {workspace} -- sh -euc '{COMMIT}; cat file' 2> @OUT/said");
            assert_eq!(at.host(&script), "two\n", "{workspace}");
            assert!(at.host("cat @OUT/said").contains("take it:"), "{workspace}");
        }
        assert_eq!(at.host("cat file; XDG_STATE_HOME=@OUT/state @BIN runs diff --names latest | grep -c file"), "one\n1\n");
        at.host("mkdir -p @STATE/glee/workspaces/.draft-x; echo left > @STATE/glee/workspaces/.draft-x/content");
        at.host("XDG_STATE_HOME=@OUT/state @BIN run --policy workspace --workspace cow -- true");
        assert_eq!(at.host("ls -A @STATE/glee/workspaces | grep -c draft || true"), "0\n", "what a killed supervisor left is swept");
    }

    fn a_branch_in_the_way_is_named(at) {
        at.host(REPOSITORY);
        let run = ["run", "--policy", "workspace", "--workspace", "worktree", "--", "echo", "started"];
        at.host("git branch glee");
        at.is_refused(&run, &["has a branch `glee`"]);
        at.host("git pack-refs --all");
        at.is_refused(&run, &["has a branch `glee`", "git branch -m"]);
    }

    fn several_at_once_do_not_meet(at) {
        at.host(REPOSITORY);
        let one = format!("@BIN run --policy workspace --workspace worktree -- sh -euc '{COMMIT}' > /dev/null 2>&1");
        at.host(&format!("export XDG_STATE_HOME=@STATE; for n in 1 2 3 4; do {one} & done; wait"));
        assert_eq!(at.host("git branch --list 'glee/*' | grep -c .; git status --porcelain; cat file; git fsck --no-progress"), "4\none\n");
    }

    // What belongs to one that ends is taken away while another finds its way through the repository.
    fn worktrees_are_filled_and_looked_through_while_others_end(at) {
        at.host(REPOSITORY);
        let one = "@BIN run --policy workspace --workspace worktree -- true > @OUT/said$round.$n 2>&1";
        at.host(&format!("export XDG_STATE_HOME=@STATE; for round in 1 2 3 4; do for n in 1 2 3 4 5 6; do {one} & done; wait; done"));
        assert_eq!(at.host("cat @OUT/said*; find .git -name '*set-aside*'"), "");
    }

    // What was seen of another checkout and is gone when it is to be covered: everything is looked at anew.
    fn a_start_goes_on_when_another_checkout_is_taken_away(at) {
        at.host(REPOSITORY);
        let other = "w=.git/worktrees/other; n=0; until [ -e stop ] || [ $n -gt 2000 ]; do mkdir -p $w; echo ../.. > $w/commondir
            echo @OUT/other/.git > $w/gitdir; sleep 0.02; rm -rf $w; sleep 0.02; n=$((n+1)); done";
        let runs = "for n in $(seq 20); do @BIN run --policy workspace --report @OUT/report.json -- true || echo failed; done; touch stop";
        let said = at.host(&format!("export XDG_STATE_HOME=@STATE; ({other}) & ({runs}) 2>&1 | grep 'failed\\|cannot build' || true; wait"));
        assert_eq!(said, "");
        assert_eq!(at.host("cat @STATE/glee/audit-*.jsonl | grep -c '\"started\"'"), "20\n");
    }

    // One that ends looks at the entries that came meanwhile: these belong to others.
    fn worktrees_that_come_meanwhile_are_kept(at) {
        at.host(REPOSITORY);
        let wait = "echo up; n=0; until git worktree list | grep -q side || [ $n -gt 400 ]; do sleep 0.05; n=$((n+1)); done; echo x > x";
        let spawn = |script: &str| at.call(["run", "--policy", "workspace", "--workspace", "worktree", "--", "sh", "-euc", script]).spawn();
        let first = spawn(wait);
        assert!(first.wait_for("up"), "the first run did not start");
        let second = spawn(&format!("{wait}; sleep 2; {COMMIT}; git status"));
        assert!(second.wait_for("up"), "the second run did not start");
        at.host("git worktree add -q -b side @OUT/side");
        let ended = [first, second].map(|run| run.finish().status.code());
        assert_eq!(ended, [Some(0), Some(0)]);
        let left = at.host("find .git/worktrees -name '*set-aside*'; git worktree prune; git worktree list | grep -c .; git -C @OUT/side status --porcelain; \
            git branch --list 'glee/*' | grep -c .");
        assert_eq!(left, "4\n2\n");
    }

    fn a_directory_below_the_project_is_where_the_command_starts(at) {
        at.host(REPOSITORY);
        let script = "cd dir && @BIN run --policy workspace --project @PROJECT --workspace worktree -- pwd";
        assert_eq!(at.host(script), format!("{}/dir\n", at.project().display()));
        let script = "mkdir untracked && cd untracked && @BIN run --policy workspace --project @PROJECT --workspace worktree -- pwd 2> /dev/null";
        assert_eq!(at.host(script), format!("{}\n", at.project().display()));
    }

    fn killed_at_any_time_the_supervisor_leaves_nothing(at) {
        at.host(REPOSITORY);
        for after in ["0.02", "0.1", "0.2", "0.4", "0.8"] {
            at.host(&format!("export XDG_STATE_HOME=@STATE; @BIN run --policy workspace --workspace worktree -- sleep 5 > /dev/null 2>&1 & sleep {after}; kill -9 $!; wait $! || true"));
            // The steward needs a moment: it asks git whether anything is there.
            let mut now = String::new();
            for _ in 0..100 {
                now = left(at);
                if now == NOTHING {
                    break;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            assert_eq!(now, NOTHING, "killed after {after} s");
        }
    }

    fn a_forged_description_is_not_obeyed(at) {
        at.host(REPOSITORY);
        at.host("mkdir -p @OUT/precious @OUT/keys; echo keep > @OUT/precious/file; echo key > @OUT/keys/id
            for id in e1 01m7jzzzzzzzzzzzzzzzzzzzzy 01m7jzzzzzzzzzzzzzzzzzzzzz; do
              for own in @STATE/glee-worktrees/$id @STATE/glee/worktrees/$id; do
                mkdir -p -m 700 @STATE/glee-worktrees @STATE/glee/worktrees; mkdir -p $own/c/worktrees $own/c/refs/heads/glee; touch $own/lock
                case $id in *z) ln -s @OUT/keys $own/tree;; *) mkdir -p $own/tree;; esac
                case $id in e1) run=../../../../../../precious;; *z) run='x; echo evil > stolen; :';; *) run=$id;; esac
                case $id in *y) base='0; echo evil > @PROJECT/stolen; echo evil > stolen; echo evil > ../stolen';; *) base=0000000000000000000000000000000000000000;; esac
                printf '{\"run_id\":\"%s\",\"project\":\"@PROJECT\",\"common\":\"%s/c\",\"own\":\"%s\",\"known\":\"%s\",\"base\":\"%s\"}' \"$run\" $own @STATE/glee-worktrees/$id @STATE/glee/worktrees/$id \"$base\" > $own/plot.json
              done
            done");
        let (seen, _) = worktree(at, "workspace", "true");
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("cd @OUT; find precious keys | sort"), "keys\nkeys/id\nprecious\nprecious/file\n");
        assert_eq!(at.host("ls @STATE/glee/worktrees"), "", "what nobody of ours wrote is taken away");
    }

    fn killed_with_its_steward_it_is_swept_by_the_next_start(at) {
        at.host(REPOSITORY);
        at.host("export XDG_STATE_HOME=@STATE; setsid @BIN run --policy workspace --workspace worktree -- sh -c 'echo up; sleep 30' > @OUT/up 2>&1 & pid=$!
            for i in $(seq 200); do grep -q up @OUT/up && break; sleep 0.05; done
            kids=$(cat /proc/$pid/task/$pid/children); kill -9 $pid $kids; sleep 0.3");
        assert_ne!(left(at), NOTHING, "nobody was there to clean up");
        worktree(at, "workspace", "true");
        assert_eq!(left(at), NOTHING);
    }
}
