//! What comes into the project beside a command: other runs at work there, worktrees and clones of the host's, and the places that its
//! remotes name. Under `workspace`.

use std::fs;

use glee_tests::{Attempt, Leak, Outcome, World, attempt, binary};

use super::persist_nested::{ARM, git_ran_code, repository};

/// The script arms something that the host's git would run.
fn trap(script: &str, leak: fn(&World, &Outcome) -> Option<String>) -> Attempt {
    attempt(format!("{ARM} {script}"), Leak::Seen(leak))
        .given(|w| {
            w.program("@OUT/payload", &w.fill("#!/bin/sh\ntouch @OUT/pwned\n"));
            w.git_init();
        })
        .workspace()
}

/// To wait for a name in the project, but not for ever.
const UNTIL: &str = "await() { for i in $(seq 200); do [ -e $1 ] && return; sleep 0.05; done; exit 7; }; set -e;";

/// Another run, begun before the script's, and after what is `earlier`. It takes back what it has done when the script's has begun (`b`), and has ended when
/// there is `over`; `done` is what it does then. The script links what that one has left.
fn overlapped(
    earlier: &'static str,
    first: &'static str,
    last: &'static str,
    end: &'static str,
    script: &str,
) -> Attempt {
    beside(git_ran_code, [earlier, first, last, end], script)
}

fn beside(
    ran: fn(&World, &Outcome) -> Option<String>,
    [earlier, first, last, end]: [&'static str; 4],
    script: &str,
) -> Attempt {
    let link = "link() { git update-index --add --cacheinfo 160000,$(printf %040d 1),$1; };";
    trap(&format!("{link} {UNTIL} touch b; await over; {script}"), ran).given(move |w| {
        w.host_does(&format!("set -e; {ARM} {earlier}"));
        w.settle();
        w.define("GLEE", binary().display());
        w.define("STATE", w.root().join("state").display());
        let inside = w.fill(&format!("{ARM} {link} {UNTIL} {first}; touch a; await b; {last}; {end}"));
        w.file("@OUT/first.sh", &inside);
        let run = "export XDG_STATE_HOME=@STATE; @GLEE run --policy workspace -- /bin/sh -c \"$(cat @OUT/first.sh)\"";
        w.host_does(&format!(
            "({run} > @OUT/first.log 2>&1 & echo $! > @OUT/first.pid; until [ -e killme ] || ! kill -0 $! 2> @OUT/null; do sleep 0.02; done;
            [ ! -e killme ] || kill -9 $!; sleep 1; touch over) > @OUT/null 2>&1 &
            for i in $(seq 200); do [ -e a ] && break; sleep 0.05; done; [ -e a ]"
        ));
    })
}

/// What another run leaves while this one is at work; if that is not left, the script makes it.
fn left(
    ran: fn(&World, &Outcome) -> Option<String>,
    earlier: &'static str,
    make: &'static str,
    is_there: &str,
) -> Attempt {
    let git = "[ ! -e .git/rebase-merge ] || git rebase --quit; rm -rf .git/rebase-merge";
    beside(
        ran,
        [earlier, make, "true", "true"],
        &format!("{is_there} || {{ {git}; {make}; }}"),
    )
    .only_started()
}

/// What a person does next whose rebase has stopped.
fn rebase_ran_code(w: &World, _: &Outcome) -> Option<String> {
    w.settle();
    let _ = w.host_command("git").args(["rebase", "--continue"]).output();
    let ran = fs::exists(w.path("@OUT/pwned")).unwrap_or(false);
    ran.then(|| "`git rebase --continue` on the host ran what the sandbox had planted".into())
}

/// The host adds a checkout while the command runs, which has the directory `.git/D` of an earlier run for it.
fn replaced(earlier: &'static str) -> Attempt {
    let script = "W=.git/worktrees/main; cp $W/HEAD $W/gitdir $W/index .git/D/; mv $W .git/old; mv .git/D $W";
    trap(script, git_ran_code)
        .given(move |w| {
            w.host_does(
                "mkdir .git/D; cp -r .git own.git; printf '[core]\\nfsmonitor=@OUT/payload\\n' >> own.git/config",
            );
            w.host_does(earlier);
            w.settle();
        })
        .meanwhile(|w| {
            w.host_does("git worktree add -q -b side @OUT/main");
            w.settle();
        })
}

/// A bare repository with a hook in the directory `$1`.
const HOOKED: &str = "hooked() { git init -q --bare $1; mkdir -p $1/hooks; printf '#!/bin/sh\\n@OUT/payload\\n' > $1/hooks/pre-receive; \
    chmod +x $1/hooks/pre-receive; };";

/// The project has a remote `m`, where the script makes something.
fn pushed(remote: &'static str, script: &str) -> Attempt {
    trap(&format!("{HOOKED} {script}"), push_ran_code).given(move |w| {
        w.host_does(remote);
        w.settle();
    })
}

/// What a person does next who shares what there is.
fn push_ran_code(w: &World, _: &Outcome) -> Option<String> {
    let _ = fs::remove_file(w.path("@OUT/pwned"));
    w.settle();
    for dir in ["@PROJECT", "@OUT/other"] {
        if w.path(dir).is_dir() {
            let push = |words: &[&str]| w.host_command("git").args(words).current_dir(w.path(dir)).output();
            let _ = push(&["push", "m", "HEAD:refs/heads/new"]);
            let _ = push(&["push"]);
        }
    }
    let ran = fs::exists(w.path("@OUT/pwned")).unwrap_or(false);
    ran.then(|| "`git push` on the host ran what the sandbox had planted".into())
}

/// What a person does next to whom `git worktree list` shows something odd.
fn repair_wrote(w: &World, _: &Outcome) -> Option<String> {
    w.settle();
    let _ = w.host_command("git").args(["worktree", "repair"]).output();
    let wrote = w.path("@OUT/victim/.git").symlink_metadata().is_ok();
    wrote.then(|| "`git worktree repair` wrote a `.git` outside".into())
}

/// The host removes entries without a worktree, in silence.
fn prune(world: &World) {
    let pruned = world.host_command("git").args(["worktree", "prune"]).output();
    let pruned = pruned.expect("run git");
    let said = String::from_utf8_lossy(&pruned.stderr).into_owned();
    assert_eq!((pruned.status.success(), said), (true, String::new()));
}

/// A worktree's part of the git directory that names another place.
fn misled(script: &str) -> Attempt {
    let made = "entry() { mkdir -p $1; echo ../.. > $1/commondir; echo 'ref: refs/heads/main' > $1/HEAD; echo @OUT/victim/.git > $1/gitdir; };";
    trap(&format!("{made} {script}"), repair_wrote)
        .given(|w| {
            w.dir("@OUT/victim");
        })
        .then(|w, _| {
            prune(w);
            assert!(!w.path("@PROJECT/.git/worktrees/x").exists());
        })
}

/// The host's git keeps the text of a file in the git directory when a conflict in it is solved.
fn remembered(file: &'static str, deny: &str) -> Attempt {
    let script = format!(
        "H=$(printf %040d 1); mkdir -p .git/rr-cache/$H; touch .git/rr-cache/$H/preimage; printf \"$H\\t{file}\\0\" >> .git/MERGE_RR"
    );
    attempt(
        script,
        Leak::Seen(|w, _| {
            let _ = w
                .host_command("git")
                .args(["commit", "--allow-empty", "-m", "mine"])
                .output();
            let found = w
                .host_command("grep")
                .args(["-r", "TOPSECRET", ".git"])
                .output()
                .expect("run grep");
            found
                .status
                .success()
                .then(|| "the host's git put a denied file where every run can read it".into())
        }),
    )
    .given(move |w| {
        w.git_init();
        w.host_does(&format!(
            "mkdir -p a; echo {file} > .git/info/exclude; echo TOPSECRET > {file}"
        ));
    })
    .yaml(&format!("extends: workspace\nfs: {{deny: ['{deny}']}}\n"))
}

claims! {
    repository_that_another_run_linked_for_a_while_is_disarmed => overlapped("true",
        "mkdir -p q/w; new q/w/n; arm q/w/n; link q/w/n", "git update-index --force-remove q/w/n", "true", "link q/w/n"),
    repository_that_a_killed_run_linked_for_a_while_is_disarmed => overlapped("true",
        "mkdir -p q/w; new q/w/n; arm q/w/n; link q/w/n", "git update-index --force-remove q/w/n", "touch killme; sleep 20", "link q/w/n"),
    repository_of_an_earlier_run_that_another_linked_for_a_while_is_disarmed => overlapped("mkdir -p q/w; new q/w/n; arm q/w/n",
        "link q/w/n", "git update-index --force-remove q/w/n", "true", "link q/w/n"),
    repository_that_another_run_had_in_a_linked_place_is_disarmed => overlapped(
        "mkdir -p q/w; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),q/w/n",
        "new q/w/n; arm q/w/n", "mv q/w/n q/w/m", "true", "rm -rf q/w/n; new q/w/n; arm q/w/n").only_started(),
    repository_that_one_of_an_earlier_run_linked_for_a_while_is_disarmed => overlapped(
        "mkdir -p q; new q; mkdir q/w; new q/w/n; arm q/w/n",
        "git -C q update-index --add --cacheinfo 160000,$(printf %040d 1),w/n; link q",
        "git -C q update-index --force-remove w/n; git update-index --force-remove q", "true",
        "link q; git -C q update-index --add --cacheinfo 160000,$(printf %040d 1),w/n"),
    pointer_that_another_run_led_elsewhere_for_a_while_is_disarmed => overlapped(
        "mkdir x d; echo 'gitdir: ../d/../.git' > x/.git; git update-index --add --cacheinfo 160000,$(printf %040d 1),x",
        "mkdir -p q; new q/y; arm q/y; mkdir q/y/z; rmdir d; ln -s q/y/z d", "rm d; mkdir d", "true", "rmdir d; ln -s q/y/z d").only_started(),
    commands_that_another_run_left_to_a_rebase_are_set_aside => left(rebase_ran_code, "id commit -q --allow-empty -m two; id commit -q --allow-empty -m three",
        "GIT_SEQUENCE_EDITOR='sed -i 1s/pick/edit/' id rebase -q -i HEAD~1; echo 'exec @OUT/payload' >> .git/rebase-merge/git-rebase-todo",
        "grep -q payload .git/rebase-merge/git-rebase-todo"),
    entry_of_a_worktree_that_another_run_left_names_no_place_outside => left(repair_wrote, "mkdir -p @OUT/victim",
        "W=.git/worktrees/x; mkdir -p $W; echo ../.. > $W/commondir; echo 'ref: refs/heads/main' > $W/HEAD; echo @OUT/victim/.git > $W/gitdir",
        "[ -e .git/worktrees/x/gitdir ]"),
    new_checkout_is_not_led_elsewhere_by_an_old_directory => replaced("echo $PWD/own.git > .git/D/commondir"),
    new_checkout_is_not_told_more_by_an_old_directory => replaced("git config extensions.worktreeConfig true; \
        git config core.repositoryFormatVersion 1; echo ../.. > .git/D/commondir; \
        printf '[core]\\nfsmonitor=@OUT/payload\\n' > .git/D/config.worktree"),
    remote_in_the_tree_gets_no_repository_in_it => pushed("git init -q --bare m.git; git remote add m ./m.git; git push -q m HEAD:main",
        "hooked m.git/.git"),
    remote_that_is_not_there_yet_is_disarmed => pushed("git remote add m deep/er/m.git", "hooked deep/er/m.git"),
    remote_by_its_short_name_is_not_forestalled => pushed("mkdir deep; git init -q --bare deep/m.git; git remote add m deep/m; \
        git push -q m HEAD:main", "hooked deep/m"),
    remote_by_an_address_of_this_machine_is_disarmed => pushed("git remote add m file://@PROJECT/deep/m", "hooked deep/m/.git"),
    remote_by_another_address_is_disarmed => pushed("git remote add m https://host.invalid/m; \
        git config url.@PROJECT/deep/.pushInsteadOf https://host.invalid/", "hooked deep/m"),
    remote_of_a_branch_is_disarmed => pushed("git config branch.main.remote ./deep/m; git config branch.main.merge refs/heads/main",
        "hooked deep/m"),
    remote_does_not_become_a_link => pushed("git remote add m ./m.git", "hooked deep/evil; ln -s deep/evil m.git"),
    remote_does_not_become_a_pointer => pushed("git remote add m ./m.git", "hooked deep/evil; echo gitdir: deep/evil > m.git"),
    git_directory_gets_no_repository_in_it => pushed("git init -q @OUT/other; cd @OUT/other; git commit -q --allow-empty -m o; \
        git remote add m @PROJECT/.git", "hooked .git/.git"),
    entry_of_a_worktree_does_not_name_a_place_outside => misled("entry .git/worktrees/x"),
    entry_of_a_worktree_of_a_new_repository_does_not_name_a_place_outside =>
        misled("id init -q -b main .; id commit -q --allow-empty -m e; entry .git/worktrees/x")
        .given(|w| fs::remove_dir_all(w.path("@PROJECT/.git")).expect("remove the repository")),
    remote_that_was_a_file_does_not_become_a_pointer => pushed("git remote add m ./m.git; echo x > m.git", "hooked deep/er/e; echo gitdir: deep/er/e > m.git"),
    remote_that_was_a_pointer_is_not_led_elsewhere => pushed("mkdir deep; git init -q --bare deep/real; git remote add m ./m; echo gitdir: deep/real > m; \
        git push -q m HEAD:main", "hooked deep/e; echo gitdir: deep/e > m"),
    conflict_of_a_denied_file_is_not_remembered => remembered("secret.env", "secret.env"),
    conflict_of_a_file_that_a_pattern_denies_is_not_remembered => remembered("a/x.key", "**/*.key"),
}

/// What people and agents do every day has nothing set aside.
mod nothing_is_set_aside {
    use glee_tests::{Caller, Policy, Run, World, tree};

    use super::{prune, repository};

    /// The host acts while the command runs.
    fn prove(caller: Caller, given: &str, host: &str, script: &str) -> World {
        let world = World::new(caller);
        world.git_init();
        repository(&world, "@OUT/up");
        world.host_does(given);
        let script = format!("set -e; @A mark ready @ID; until [ -e go ]; do sleep 0.02; done; {script}");
        let run = Run::sandboxed(&world, Policy::Named("workspace"))
            .script(&script)
            .spawn();
        assert!(run.wait_for_mark("ready"));
        world.host_does(host);
        world.file("@PROJECT/go", "");
        let outcome = run.finish();
        assert!(outcome.left(), "{}", outcome.describe());
        let aside: Vec<_> = tree(&world.project()).into_keys().collect();
        let aside: Vec<_> = aside
            .iter()
            .filter(|at| at.to_string_lossy().contains(".set-aside"))
            .collect();
        assert!(aside.is_empty(), "{aside:?}\n{}", outcome.describe());
        world
    }

    fn clone_of_the_host(caller: Caller) {
        let up =
            "git -c protocol.file.allow=always -C @OUT/up submodule add -q @OUT/up lib; git -C @OUT/up commit -qm lib";
        let host = "git -c protocol.file.allow=always clone -q --recurse-submodules @OUT/up sub; git clone -q . near; \
            git worktree add -q -b side tree; git init -q --separate-git-dir x.git apart";
        let world = prove(caller, up, host, "true");
        for dir in ["@PROJECT/sub", "@PROJECT/sub/lib", "@PROJECT/near", "@PROJECT/tree"] {
            world.git(dir, &["status"]);
        }
        world.git("@PROJECT/sub", &["fetch", "-q", "origin"]);
        world.git("@PROJECT/near", &["pull", "-q"]);
        let upstream = world.git("@PROJECT/sub", &["rev-parse", "--abbrev-ref", "@{u}"]);
        assert!(upstream.starts_with("origin/"), "{upstream}");
    }

    fn work_of_a_command(caller: Caller) {
        let given =
            "git worktree add -q -b wt wt; git init -q --bare m.git; git remote add m ./m.git; git push -q m HEAD:main";
        let script = "g() { git -c user.name=e -c user.email=e@e \"$@\"; }; g init -q -b main sub; cd sub; echo 1 > f; g add f; g commit -qm s; cd ..; \
            g worktree add -q -b in in; g -C in commit -q --allow-empty -m in; g -C wt commit -q --allow-empty -m wt; \
            g init -q --bare later.git; g push -q ./later.git HEAD:x; g push -q m HEAD:y; g worktree add -q -b gone /tmp/gone; g worktree remove /tmp/gone";
        prove(caller, given, "true", script);
    }

    fn private_worktree(caller: Caller) {
        let world = World::new(caller);
        world.git_init();
        let run = Run::sandboxed(&world, Policy::Named("workspace")).script("set -e; git worktree add -q -b x /tmp/x");
        let outcome = run.go();
        assert!(outcome.left(), "{}", outcome.describe());
        prune(&world);
        assert_eq!(world.git("@PROJECT", &["worktree", "list"]).lines().count(), 1);
    }

    macro_rules! as_both {
        ($($name:ident => $proof:expr,)*) => {
            $(mod $name {
                #[test]
                fn as_root() {
                    $proof(glee_tests::Caller::Root);
                }

                #[test]
                fn as_user() {
                    $proof(glee_tests::Caller::User);
                }
            })*
        };
    }

    as_both! {
        of_a_clone => super::clone_of_the_host,
        of_everyday_work => super::work_of_a_command,
        that_a_pruning_would_miss => super::private_worktree,
    }
}
