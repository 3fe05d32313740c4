//! HOME as callers have it: usual, unset, and odd.

use std::fs;

use crate::claims::claims;
use crate::support::{Place, text};

/// With HOME set so, a restricted run starts, keeps the value, and shows nothing of the caller's real home.
fn runs_with_home(at: &Place, home: &str) {
    at.world.secret_at("@HOME/.ssh/id_ed25519");
    at.world.file("@PROJECT/file", "content\n");
    let script = "cat file; printf '%s\\n' \"$HOME\"; cat @HOME/.ssh/id_ed25519 || echo hidden";
    let seen = at
        .call(["run", "--policy", "restricted", "--", "sh", "-c", script])
        .env("HOME", home)
        .go();
    let expected = format!("content\n{}\nhidden\n", at.world.fill(home));
    assert_eq!((seen.code(), seen.out()), (Some(0), expected), "{}", seen.err());
}

claims! {
    fn home_is_private_writable_and_gone_afterwards(at) {
        at.world.secret_at("@HOME/.netrc");
        let seen = at.run("restricted", "ls -A $HOME; echo x > $HOME/new; mkdir -p $HOME/.config/app; cat $HOME/new");
        assert_eq!(seen.whole(), (0, "project\nx\n", ""));
        assert_eq!(at.host("ls -A $HOME | sort"), ".netrc\nproject\n");
        assert_eq!(at.run("restricted", "cat $HOME/new || echo gone").stdout, "gone\n");
    }

    fn home_of_its_own_is_empty_when_the_project_lies_elsewhere(at) {
        at.world.secret_at("@HOME/.netrc");
        let seen = at.shell("restricted", "ls -A $HOME; cd; touch x; ls -A").cwd("@OUT").go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "x\n", ""));
    }

    fn home_unset_does_not_stop_a_run(at) {
        at.world.file("@PROJECT/file", "content\n");
        let seen = at.shell("restricted", "cat file; cd /tmp; echo ${HOME+set}").without_env("HOME").go();
        assert_eq!(seen.code(), Some(0), "{}", seen.err());
        assert!(["content\n\n", "content\nset\n"].contains(&seen.out().as_str()), "{}", seen.out());
        let seen = at.shell("workspace", "cat file; echo x > new").without_env("HOME").go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "content\n", ""));
    }

    fn home_empty_does_not_stop_a_run(at) {
        at.world.file("@PROJECT/file", "content\n");
        let seen = at.shell("restricted", "cat file").env("HOME", "").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "content\n"), "{}", seen.err());
    }

    fn home_that_does_not_exist_does_not_stop_a_run_and_is_not_made(at) {
        runs_with_home(at, "@OUT/no/such/home");
        assert!(!at.world.path("@OUT/no").exists(), "the home was made on the host");
    }

    fn nothing_is_kept_in_a_home_that_does_not_exist(at) {
        // Root keeps it in a place of the machine's then, which is not for a test to fill.
        if at.world.caller() == glee_tests::Caller::User {
            let seen = at.shell("restricted", "echo ran").env("HOME", "@OUT/no/home").without_env("XDG_STATE_HOME").go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "ran\n"), "{}", seen.err());
            assert!(seen.err().contains("HOME not to a directory that is there"), "{}", seen.err());
        }
        assert!(!at.world.path("@OUT/no").exists(), "the home was made on the host");
    }

    fn home_that_does_not_exist_is_still_private_and_writable(at) {
        let seen = at.shell("restricted", "cd && pwd -P && echo x > y && ls").env("HOME", "@OUT/absent").go();
        let expected = format!("{}/absent\ny\n", text(&at.world.outside()));
        assert_eq!((seen.code(), seen.out(), seen.err()), (Some(0), expected, String::new()));
        assert!(!at.world.path("@OUT/absent").exists(), "the home was made on the host");
    }

    fn home_with_a_trailing_slash_works(at) {
        runs_with_home(at, "@HOME/");
    }

    fn home_that_is_relative_does_not_stop_a_run(at) {
        runs_with_home(at, "some/where");
        assert!(!at.project().join("some").exists(), "the home was made on the host");
    }

    fn home_that_is_the_root_does_not_stop_a_run_and_shows_nothing_more(at) {
        runs_with_home(at, "/");
        let script = "ls -d /root /home /var/lib /opt 2> /dev/null || :; cat /etc/shadow || echo hidden";
        let seen = at.shell("restricted", script).env("HOME", "/").go();
        assert!(seen.out().ends_with("hidden\n") && !seen.out().contains("/var/lib"), "{}", seen.out());
    }

    fn home_that_is_the_project_keeps_the_project(at) {
        at.world.file("@PROJECT/file", "content\n");
        let seen = at.shell("workspace", "cat ~/file; echo x > ~/new").env("HOME", "@PROJECT").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "content\n"), "{}", seen.err());
        assert_eq!(fs::read_to_string(at.project().join("new")).expect("the new file"), "x\n");
    }

    fn dotfiles_stay_usable_but_for_what_is_linked(at) {
        at.world.git_init();
        at.world.file("@PROJECT/bashrc", "old\n");
        at.world.file("@PROJECT/fish/config.fish", "old\n");
        at.world.dir("@HOME/.config");
        at.world.link("project/bashrc", "@HOME/.bashrc");
        at.world.link("../project/fish", "@HOME/.config/fish");
        let before = at.host("cd @PROJECT; ls -A");
        let script = "echo new > other; echo x > bashrc || echo kept; echo x > fish/config.fish || echo kept; git add -A; \
            git -c user.name=t -c user.email=t@t commit -qm second; git status --short; git show --stat --format=%s | head -1";
        let seen = at.shell("workspace", &format!("set +e; {script}")).go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "kept\nkept\nsecond\n"), "{}", seen.err());
        assert_eq!(at.host("cd @PROJECT; cat bashrc fish/config.fish other; git status --short"), "old\nold\nnew\n");
        assert_eq!(at.host("cd @PROJECT; ls -A | grep -v other"), before);
    }

    fn a_home_that_is_a_repository_has_nothing_to_add(at) {
        at.world.git_init();
        at.world.dir("@PROJECT/.config");
        at.world.link("gitconfig", "@PROJECT/.gitconfig");
        at.host("cd @PROJECT; git add -A; git commit -qm link");
        let seen = at.shell("workspace", "git status --short; git add -A; git status --short").env("HOME", "@PROJECT").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), ""), "{}", seen.err());
    }

    fn what_a_home_does_not_have_is_passed_over(at) {
        at.world.git_init();
        let script = "git status --short; git log --format=%s; \
            sh -c 'for f in .gitconfig .bashrc .profile; do [ -r ~/$f ] && . ~/$f; done; echo passed'";
        let seen = at.shell("workspace", script).env("HOME", "@PROJECT").go();
        let log = at.host("cd @PROJECT; git log --format=%s");
        assert_eq!((seen.code(), seen.out()), (Some(0), format!("{log}passed\n")), "{}", seen.err());
    }

    fn dotfiles_are_opened_by_name(at) {
        at.world.file("@PROJECT/bashrc", "old\n");
        at.world.file("@PROJECT/fish/config.fish", "old\n");
        at.world.dir("@HOME/.config");
        at.world.link("project/bashrc", "@HOME/.bashrc");
        at.world.link("../project/fish", "@HOME/.config/fish");
        for names in ["bashrc, fish", ".bashrc, fish"] {
            at.world.file("@OUT/open.yml", &format!("extends: workspace\nunprotect: [{names}]\n"));
            let seen = at.shell("@OUT/open.yml", "echo new > bashrc; echo new > fish/config.fish; cat bashrc").go();
            assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "new\n"), "{names}: {}", seen.err());
        }
    }

    fn a_configuration_of_an_editor_can_be_worked_on(at) {
        at.world.file("@HOME/.config/nvim/init.lua", "old\n");
        let seen = at.shell("workspace", "echo new > init.lua; mkdir lua agents; cat init.lua").cwd("@HOME/.config/nvim").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "new\n"), "{}", seen.err());
        at.world.dir("@OUT/.config");
        at.world.link("@PROJECT", "@OUT/.config/nvim");
        let seen = at.shell("workspace", "echo new > init.lua; mkdir lua agents; cat init.lua").env("HOME", "@OUT").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "new\n"), "{}", seen.err());
    }

    fn home_below_the_project_does_not_stop_a_run(at) {
        at.world.dir("@PROJECT/home");
        let seen = at.shell("workspace", "cd && pwd -P").env("HOME", "@PROJECT/home").go();
        let expected = format!("{}/home\n", text(&at.project()));
        assert_eq!((seen.code(), seen.out()), (Some(0), expected), "{}", seen.err());
    }

    fn home_behind_a_symlink_is_private_by_both_names(at) {
        at.world.secret_at("@HOME/.netrc");
        at.world.link("@HOME", "@OUT/home-link");
        let script = "cat $HOME/.netrc || echo hidden; cat @HOME/.netrc || echo hidden; cd && echo x > f && cat f";
        let call = at.call(["run", "--policy", "restricted", "--", "sh", "-c", script]);
        let seen = call.env("HOME", "@OUT/home-link").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "hidden\nhidden\nx\n"), "{}", seen.err());
    }

    fn an_empty_environment_does_not_stop_a_run(at) {
        let seen = at.call(["run", "--policy", "restricted", "--", "/bin/echo", "ran"]);
        let names = ["HOME", "PATH", "LANG", "TERM", "TMPDIR", "XDG_CONFIG_HOME"];
        let seen = names.iter().fold(seen, |run, name| run.without_env(name)).go();
        assert_eq!((seen.code(), seen.out().as_str(), seen.err().as_str()), (Some(0), "ran\n", ""));
    }
}

/// After `sudo` HOME is not what lies in the project: the table of users knows whose home it is.
#[test]
fn a_home_is_known_by_the_table_of_users() {
    let at = Place::of(glee_tests::Caller::Root);
    for name in [".bashrc", ".config/systemd/user/x.service", ".ssh/authorized_keys"] {
        let path = format!("/root/{name}");
        let call = [
            "policy",
            "explain",
            "workspace",
            "--project",
            "/root",
            "--path",
            &path,
            "--write",
        ];
        let seen = at.call(call).env("HOME", "@OUT").go();
        assert_eq!(seen.code(), Some(1), "{name}: {}", seen.out());
    }
}
