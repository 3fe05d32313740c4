//! `run --workspace cow`: the command works on a copy, the project stays as it is, and what changed can be taken.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::claims::claims;
use crate::support::Place;

/// A repository with one commit in the project.
const REPOSITORY: &str = "
    git init -q -b main .
    git config user.name Ada; git config user.email ada@example.org
    echo one > file; mkdir dir; echo deep > dir/deep; echo run > tool; ln -s file link
    git add -A; git commit -q -m first";

/// Makes, changes, removes and replaces something of every kind.
const WORK: &str = "
    echo two >> file; echo new > new; rm -r dir; mkdir dir; echo other > dir/other
    chmod 755 tool; mkdir -p made/below; echo x > made/below/x; ln -sfn dir link";

fn cow(at: &Place, policy: &str, script: &str) -> (crate::seen::Seen, Value) {
    at.reported(&["--policy", policy, "--workspace", "cow", "--", "sh", "-euc", script])
}

/// The one result that is kept.
fn kept(at: &Place) -> PathBuf {
    let dir = at.world.path("@STATE/glee/workspaces");
    let mut found = fs::read_dir(&dir)
        .expect("results")
        .map(|entry| entry.expect("an entry").path());
    let one = found.next().expect("a result is kept");
    assert_eq!(found.next(), None, "only one");
    one
}

/// Changes the stored list, as nobody but its owner could.
fn edit(at: &Place, with: impl Fn(&mut Value)) {
    let file = kept(at).join("changes.json");
    let mut list: Value = serde_json::from_slice(&fs::read(&file).expect("the list")).expect("JSON");
    with(&mut list);
    fs::write(&file, list.to_string()).expect("write the list");
}

#[track_caller]
fn refused(at: &Place, words: &[&str]) {
    let before = at.listing();
    let seen = at.seen(["runs", "apply", "latest"]);
    assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{}", seen.stderr);
    for word in words {
        assert!(seen.stderr.contains(word), "`{word}` is missing: {}", seen.stderr);
    }
    assert_eq!(at.listing(), before, "nothing was applied");
}

claims! {
    fn two_results_make_no_repository_of_the_project(at) {
        let parts = ["echo 'ref: refs/heads/main' > HEAD", "mkdir -p objects refs/heads; touch objects/k refs/heads/k; \
            printf '[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch pwned; false\"\n' > config"];
        for script in parts {
            let (_, report) = cow(at, "workspace", script);
            let seen = at.seen(["runs", "apply", report["run_id"].as_str().expect("an id")]);
            assert_eq!(seen.status, 0, "{}", seen.stderr);
        }
        assert_eq!(at.host("git status > /dev/null 2>&1 || ls"), "HEAD.set-aside\nconfig\nobjects\nrefs\n");
    }

    fn shared_changes_the_project_and_cow_does_not(at) {
        at.host(REPOSITORY);
        let before = at.listing();
        let (seen, report) = cow(at, "workspace", &format!("{WORK}; cat file new link/other"));
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "one\ntwo\nnew\nother\n"), "{}", seen.stderr);
        assert_eq!(at.listing(), before);
        let workspace = &report["workspace"];
        assert_eq!(workspace["kind"], "cow");
        assert_eq!(
            [&workspace["created"], &workspace["changed"], &workspace["deleted"]],
            [&json!(5), &json!(3), &json!(1)],
            "{workspace}"
        );
        assert_eq!(workspace["kept"], report["run_id"]);
        assert!(seen.stderr.contains("runs apply"), "{}", seen.stderr);
        let (seen, report) = at.reported(&["--policy", "workspace", "--", "sh", "-euc", WORK]);
        assert_eq!(seen.status, 0);
        assert_ne!(at.listing(), before);
        assert_eq!(report["workspace"]["kind"], "shared");
    }

    fn what_changed_is_listed_and_applied_as_it_was_in_the_copy(at) {
        at.host(REPOSITORY);
        let (_, report) = cow(at, "workspace", WORK);
        let listed: Vec<&str> = report["changed_files"].as_array().expect("a list").iter()
            .map(|row| row["path"].as_str().expect("a path")).collect();
        assert_eq!(
            listed,
            ["dir/deep", "dir/other", "file", "link", "made", "made/below", "made/below/x", "new", "tool"]
        );
        let diff = at.seen(["runs", "diff", "latest"]);
        assert_eq!(diff.status, 0);
        assert!(diff.stdout.starts_with("changed tool  ! it is executable\n"), "{}", diff.stdout);
        for part in ["deleted dir/deep\n", "created dir/other\n", "changed link -> dir\n", "+two\n", "-deep\n"] {
            assert!(diff.stdout.contains(part), "`{part}`: {}", diff.stdout);
        }
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "9 applied\n"), "{}", seen.stderr);
        assert_eq!(
            at.host("cat file new made/below/x link/other; ls dir; stat -c %a:%U tool; readlink link; git log --format=%s"),
            format!("one\ntwo\nnew\nx\nother\nother\n755:{}\ndir\nfirst\n", at.world.caller().name())
        );
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.status, 1, "what was applied whole is forgotten");
    }

    fn files_and_directories_take_each_other_s_place(at) {
        at.host("echo m > m; mkdir pk pk/sub; echo i > pk/i; echo j > pk/sub/j; ln -s m link");
        cow(at, "workspace", "rm m; mkdir m; echo x > m/init; rm -r pk; echo now > pk; rm link; mkdir link; echo l > link/l");
        let diff = at.seen(["runs", "diff", "--names", "latest"]).stdout;
        for part in ["deleted pk/i\n", "deleted pk/sub\n", "deleted pk/sub/j\n", "created m/init\n"] {
            assert!(diff.contains(part), "`{part}`: {diff}");
        }
        at.host("echo since > pk/since");
        refused(at, &["`pk`: something was put there since"]);
        at.host("rm pk/since");
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("cat m/init pk link/l"), "x\nnow\nl\n");
    }

    fn latest_is_that_of_the_project_one_is_in(at) {
        at.world.dir("@OUT/other");
        cow(at, "workspace", "echo x > x");
        let elsewhere = |arguments: &[&str]| crate::seen::Seen::of(&at.call(arguments).cwd("@OUT/other").go());
        for command in ["apply", "diff", "discard"] {
            let seen = elsewhere(&["runs", command, "latest"]);
            assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{}", seen.stderr);
        }
        let id = kept(at).file_name().expect("an id").to_string_lossy().into_owned();
        let seen = elsewhere(&["runs", "apply", &id]);
        assert!(seen.status == 1 && seen.stderr.contains("that run worked on"), "{}", seen.stderr);
        assert!(!at.project().join("x").exists());
        let seen = elsewhere(&["runs", "apply", "latest", "--json", "--project", "@PROJECT"]);
        let applied: serde_json::Value = serde_json::from_str(&seen.stdout).expect("JSON");
        assert_eq!((&applied["applied"], &applied["whole"]), (&serde_json::json!(1), &serde_json::json!(true)), "{applied}");
        assert!(at.project().join("x").exists());
    }

    fn a_commit_in_a_copy_is_taken_with_its_history(at) {
        at.host(REPOSITORY);
        let (seen, _) = cow(at, "workspace", "echo two > file; git commit -q -a -m second; git log --format=%s");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "second\nfirst\n"), "{}", seen.stderr);
        assert_eq!(at.host("git log --format=%s; git status --porcelain"), "first\n");
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("git reset -q; git log --format=%s; git status --porcelain; git fsck --strict --no-progress"), "second\nfirst\n");
    }

    fn a_linked_worktree_is_copied_with_its_git_directory(at) {
        at.host("here=$PWD; git init -q -b main ../origin; cd ../origin
            git config user.name Ada; git config user.email ada@example.org
            echo one > file; git add file; git commit -q -m first; rmdir $here; git worktree add -q -b topic $here");
        let (seen, _) = cow(at, "workspace", "echo two > file; git commit -q -a -m second; git log --format=%s");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "second\nfirst\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat file; git log --format=%s topic; git status --porcelain"), "one\nfirst\n");
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("cat file; git reset -q; git log --format=%s topic; git status --porcelain"), "two\nsecond\nfirst\n");
    }

    fn a_copy_may_be_written_under_restricted_and_nothing_else(at) {
        at.world.file("@PROJECT/file", "old\n");
        at.world.file("@OUT/file", "old\n");
        let script = format!("echo new > file; cat file; echo evil > {} || echo refused", at.world.path("@OUT/file").display());
        let (seen, report) = cow(at, "restricted", &script);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "new\nrefused\n"), "{}", seen.stderr);
        assert_eq!(report["workspace"]["changed"], 1);
        assert_eq!(at.host("cat @PROJECT/file @OUT/file"), "old\nold\n");
        let asked = ["policy", "explain", "restricted", "--path", "file", "--write"];
        assert_eq!(at.seen(asked).status, 1);
        let seen = at.seen([&asked[..], &["--with-workspace", "cow"]].concat());
        assert_eq!(seen.status, 0, "{}", seen.stdout);
        assert!(seen.stdout.contains("--workspace"), "{}", seen.stdout);
    }

    fn a_grant_outside_is_real(at) {
        at.world.file("@OUT/file", "old\n");
        let script = at.world.fill("echo new > @OUT/file");
        let flags = ["--policy", "workspace", "--workspace", "cow", "--write", "@OUT"];
        let (seen, report) = at.reported(&[&flags[..], &["--", "sh", "-c", &script]].concat());
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(at.host("cat @OUT/file"), "new\n");
        assert_eq!(report["workspace"]["kept"], Value::Null);
        assert_eq!(report["changed_files"].as_array().map(Vec::len), Some(1));
    }

    fn nothing_is_kept_of_a_run_that_changed_nothing(at) {
        at.host(REPOSITORY);
        // Opened for writing and closed, made and removed, changed and changed back.
        let (_, report) = cow(at, "workspace", ": >> file; echo x > x; rm x; chmod 700 tool; chmod 644 tool; git status -s");
        assert_eq!(report["workspace"]["kept"], Value::Null, "{report}");
        let dir = at.world.path("@STATE/glee/workspaces");
        assert_eq!(fs::read_dir(dir).map(Iterator::count).unwrap_or(0), 0);
    }

    fn a_result_can_be_forgotten(at) {
        cow(at, "workspace", "echo x > x");
        assert_eq!(at.seen(["runs", "discard", "latest"]).whole(), (0, "", ""));
        assert_eq!(at.seen(["runs", "diff", "latest"]).status, 1);
        assert!(!at.project().join("x").exists());
    }

    fn a_result_goes_with_the_report_of_its_run(at) {
        cow(at, "workspace", "echo x > x");
        kept(at);
        assert_eq!(at.seen(["runs", "prune", "--keep", "0"]).status, 0);
        assert_eq!(at.seen(["runs", "diff", "latest"]).status, 1);
    }

    fn single_paths_are_applied_by_name(at) {
        cow(at, "workspace", "mkdir -p a/b; echo 1 > a/b/one; echo 2 > a/two; echo 3 > three");
        let seen = at.seen(["runs", "apply", "latest", "a/b/one"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "3 applied\n"), "{}", seen.stderr);
        assert_eq!(at.host("find . -type f"), "./a/b/one\n");
        assert_eq!(at.seen(["runs", "apply", "latest", "nosuch"]).status, 1);
        assert_eq!(at.seen(["runs", "apply", "latest"]).stdout, "2 applied\n");
    }

    fn what_changed_since_is_a_conflict_and_nothing_is_applied(at) {
        at.host(REPOSITORY);
        for (since, word) in [
            ("echo mine > file", "it was changed since"),
            ("rm file", "it is gone"),
            ("echo mine > new", "there is something there now"),
            ("chmod 600 tool", "`tool`"),
            ("echo mine >> dir/deep", "`dir/deep`"),
        ] {
            cow(at, "workspace", WORK);
            at.host(since);
            refused(at, &["not as the run left it", word]);
            at.host("git reset -q --hard; rm -f new");
            at.seen(["runs", "discard", "latest"]);
        }
    }

    fn a_link_on_the_way_is_not_followed(at) {
        at.world.dir("@OUT/elsewhere");
        at.host("mkdir dir; echo one > dir/file");
        cow(at, "workspace", "echo two > dir/file; echo new > dir/new");
        at.host("mv dir away; ln -s @OUT/elsewhere dir");
        refused(at, &["a link, a file or a mount lies on the way"]);
        assert_eq!(at.host("ls @OUT/elsewhere"), "");
    }

    fn a_file_left_alone_where_a_directory_is_emptied_stays(at) {
        at.host("mkdir dir; echo one > dir/file");
        cow(at, "workspace", "rm -r dir");
        at.host("echo mine > dir/mine");
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert!(seen.stderr.contains("`dir` is not empty and stays"), "{}", seen.stderr);
        assert_eq!(at.host("cat dir/*"), "mine\n");
    }

    fn protected_names_are_read_only_in_a_copy_and_never_applied(at) {
        at.host(REPOSITORY);
        let (seen, _) = cow(at, "workspace", "for name in .envrc .git/hooks/pre-commit .git/config .vscode/x; do
            (echo evil > $name) 2>/dev/null && echo written; done; echo end");
        assert_eq!(seen.stdout, "end\n", "{}", seen.stderr);
        assert_eq!(at.seen(["runs", "diff", "latest"]).status, 1, "nothing is kept");
        at.world.file("@OUT/open.yml", "extends: workspace\nunprotect: ['.envrc', '.git/hooks']\n");
        let policy = at.world.fill("@OUT/open.yml");
        let (seen, _) = cow(at, &policy, "echo evil > .envrc; echo evil > .git/hooks/pre-commit; echo good > good");
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "1 applied\n"), "{}", seen.stderr);
        for name in [".envrc", ".git/hooks/pre-commit"] {
            assert!(seen.stderr.contains(&format!("`{name}` is protected")), "{}", seen.stderr);
            assert!(!at.project().join(name).exists(), "{name}");
        }
    }

    fn a_list_that_says_more_than_it_may_is_not_believed(at) {
        at.world.dir("@OUT/elsewhere");
        cow(at, "workspace", "echo '#!/bin/sh' > tool; chmod 755 tool");
        let outside = at.world.fill("../../outside/elsewhere/tool");
        edit(at, |list| {
            let mut row = list["changes"][0].clone();
            list["changes"][0]["now"]["mode"] = json!(0o6755);
            row["path"] = json!(outside);
            list["changes"].as_array_mut().expect("a list").push(row);
        });
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "1 applied\n"), "{}", seen.stderr);
        assert_eq!(at.host("stat -c %a tool; ls @OUT/elsewhere"), "755\n");
    }

    fn denied_names_are_hidden_in_a_copy(at) {
        at.world.file("@PROJECT/.env", "secret\n");
        at.world.file("@OUT/deny.yml", "extends: workspace\nfs: {deny: ['**/.env', 'later.key']}\n");
        let policy = at.world.fill("@OUT/deny.yml");
        let (seen, report) = cow(at, &policy, "cat .env || echo hidden; echo x > later.key || echo refused");
        assert_eq!(seen.stdout, "hidden\nrefused\n");
        assert_eq!(report["workspace"]["kept"], Value::Null, "{report}");
        assert_eq!(at.host("ls -A"), ".env\n");
    }

    fn what_the_host_changes_meanwhile_is_a_conflict(at) {
        at.world.file("@PROJECT/file", "one\n");
        at.host("(sleep 0.7; echo mine > file) > /dev/null 2>&1 &");
        let (seen, _) = cow(at, "workspace", "echo two > file; sleep 1.5; cat file");
        assert_eq!(seen.stdout, "two\n", "{}", seen.stderr);
        refused(at, &["it was changed while the command ran"]);
        assert_eq!(at.host("cat file"), "mine\n");
    }

    fn the_configuration_of_a_new_bare_repository_is_named_first(at) {
        let half = "mkdir -p half/objects other; echo '[core]' > half/config; echo ../half > other/commondir; echo ref: refs/heads/main > other/HEAD";
        cow(at, "workspace", &format!("git init -q --bare b2; git -C b2 config core.fsmonitor ./evil; echo x > config; {half}"));
        let diff = at.seen(["runs", "diff", "--names", "latest"]).stdout;
        let told: Vec<&str> = diff.lines().filter(|line| line.contains("tells git")).collect();
        for name in ["b2/config", "half/config", "other/commondir"] {
            assert!(told.iter().any(|line| line.contains(name)), "`{name}`: {diff}");
        }
        assert!(!told.iter().any(|line| line.contains(" config")), "{diff}");
    }

    fn a_denied_name_that_the_host_makes_meanwhile_is_covered_or_told(at) {
        at.world.dir("@PROJECT/sub");
        at.world.file("@OUT/deny.yml", "extends: workspace\nfs: {deny: ['**/.env']}\n");
        let policy = at.world.fill("@OUT/deny.yml");
        at.host("(sleep 0.7; echo secret > sub/.env) > /dev/null 2>&1 &");
        let (seen, report) = cow(at, &policy, "sleep 1.5; cat sub/.env || echo hidden");
        assert_eq!(seen.stdout, "hidden\n", "{}", seen.stderr);
        assert_eq!(report["appeared"][0]["path"], json!(at.world.fill("@PROJECT/sub/.env")), "{}", report["appeared"]);
    }

    fn what_may_be_written_is_bounded(at) {
        at.world.file("@OUT/small.yml", "extends: workspace\nlimits: {disk_mb: 4}\n");
        let policy = at.world.fill("@OUT/small.yml");
        let (seen, report) = cow(at, &policy, "head -c 3000000 /dev/zero > fits; head -c 9000000 /dev/zero > not || echo full");
        assert_eq!(seen.stdout, "full\n", "{}", seen.stderr);
        assert_eq!(report["workspace"]["kept"], report["run_id"]);
        assert_eq!(at.host("ls -A"), "");
        // A file without content counts by its length: it would be read to its end.
        at.seen(["runs", "discard", "latest"]);
        let (_, report) = cow(at, &policy, "truncate -s 100M hole; echo x > x");
        assert_eq!(report["workspace"]["not_kept"], json!(["hole"]));
        refused(at, &["not everything"]);
        assert_eq!(at.seen(["runs", "apply", "latest", "x"]).stdout, "1 applied\n");
    }

    fn locked_and_odd_names_are_kept(at) {
        let script = "mkdir closed; echo x > closed/x; chmod 0 closed/x closed; printf y > \"$(printf 'a\\n\\377')\"; mkfifo pipe";
        let (seen, report) = cow(at, "workspace", script);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!((&report["workspace"]["created"], &report["workspace"]["not_kept"]), (&json!(3), &json!([])));
        let seen = at.seen(["runs", "apply", "latest"]);
        assert_eq!(seen.stdout, "3 applied\n", "{}", seen.stderr);
        assert_eq!(at.host("stat -c %a closed; chmod 700 closed; chmod 600 closed/x; cat closed/x a*"), "0\nx\ny");
    }

    fn a_project_that_holds_our_own_state_is_refused(at) {
        let above = at.world.root().display().to_string();
        let arguments = ["run", "--policy", "workspace", "--project", &above, "--workspace", "cow", "--", "echo", "started"];
        at.is_refused(&arguments, &["keeps its own state", "XDG_STATE_HOME"]);
    }

    fn what_contains_nothing_is_refused(at) {
        at.is_refused(&["run", "--policy", "inherit", "--workspace", "cow", "--", "echo", "started"], &["--workspace cow", "mode: inherit"]);
        at.world.file("@OUT/weak.yml", "extends: restricted\nisolation: landlock\n");
        at.is_refused(&["run", "--policy", "@OUT/weak.yml", "--workspace", "cow", "--", "echo", "started"], &["--workspace cow", "landlock"]);
    }

    fn the_report_goes_to_the_project_itself(at) {
        let seen = at.seen(["run", "--policy", "workspace", "--workspace", "cow", "--report", "r.json", "--", "true"]);
        assert_eq!(seen.whole(), (0, "", ""));
        assert!(at.project().join("r.json").is_file());
    }
}

mod memory {
    use super::*;

    #[test]
    fn directories_that_the_kernel_forgot_meanwhile_have_not_changed() {
        let at = Place::of(glee_tests::Caller::Root);
        at.host("mkdir -p a/b/c; echo 1 > a/b/c/file");
        // It forgets what nobody looks at just then, which may take more than one try.
        let forgotten = (0..20).any(|_| {
            at.host("(sleep 0.2; echo 2 > /proc/sys/vm/drop_caches) > /dev/null 2>&1 &");
            let script = "stat -c %i a/b; sleep 0.6; stat -c %i a/b; echo new > new";
            let (seen, report) = cow(&at, "workspace", script);
            let rows = report["changed_files"].as_array().expect("a list");
            let listed: Vec<&Value> = rows.iter().map(|row| &row["path"]).collect();
            assert_eq!(listed, [&json!("new")], "{}", seen.stderr);
            let numbers: Vec<&str> = seen.stdout.lines().collect();
            numbers[0] != numbers[1]
        });
        assert!(forgotten, "the kernel forgot nothing");
    }
}

/// A mount in the project is copied for root, and refused by name for others, whom the kernel does not let look under it.
mod nested {
    use super::*;

    const SCRIPT: &str = "mkdir -p @PROJECT/sub; mount -t tmpfs none @PROJECT/sub; echo one > @PROJECT/sub/file; chown -R $OWNER @PROJECT
        as_caller @BIN run --policy workspace --workspace cow -- sh -c 'cat sub/file; echo two > sub/file; cat sub/file'
        cat @PROJECT/sub/file; as_caller @BIN runs diff --names latest; as_caller @BIN runs apply latest; cat @PROJECT/sub/file";

    #[test]
    fn a_mount_in_the_project_is_copied_for_root() {
        let at = Place::of(glee_tests::Caller::Root);
        let seen = at.in_mount_namespace(&SCRIPT.replace("$OWNER", "0:0"));
        assert_eq!(
            seen.stdout, "one\ntwo\none\nchanged sub/file\n1 applied\ntwo\n",
            "{}",
            seen.stderr
        );
    }

    #[test]
    fn a_mount_in_the_project_is_refused_by_name_for_a_user() {
        let at = Place::of(glee_tests::Caller::User);
        let owner = format!("{}:{}", at.world.caller().uid(), at.world.caller().gid());
        let seen = at.in_mount_namespace(&SCRIPT.replace("$OWNER", &owner));
        assert_ne!(seen.status, 0);
        assert!(seen.stderr.contains("is a mount of its own"), "{}", seen.stderr);
    }

    #[test]
    fn a_git_directory_of_another_group_is_refused_with_what_to_do() {
        let at = Place::of(glee_tests::Caller::User);
        at.host(REPOSITORY);
        std::os::unix::fs::chown(at.project().join(".git"), None, Some(54_321))
            .expect("give the directory another group");
        at.is_refused(
            &[
                "run",
                "--policy",
                "workspace",
                "--workspace",
                "cow",
                "--",
                "echo",
                "ran",
            ],
            &[".git/", "chgrp -R", "/.git`", "--workspace worktree"],
        );
        let seen = at.seen([
            "run",
            "--policy",
            "workspace",
            "--workspace",
            "worktree",
            "--",
            "cat",
            "file",
        ]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "one\n"), "{}", seen.stderr);
    }
}
