//! What a command leaves behind does not decide what the next run may do: policies, `.glee` below, and where the caller stands.

use std::fs;

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// A trusted configuration that lets the project be written and hides one kind of file.
const DENYING: &str = "security:\n  subagent_permissions:\n    extends: workspace\n    fs:\n      deny: ['**/.env']\n";

fn trust(at: &Place) {
    let seen = at.seen(["trust", "--yes"]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
}

/// `run` without a policy, from a directory below the project.
fn from(at: &Place, dir: &str, script: &str) -> Seen {
    Seen::of(&at.call(["run", "--", "sh", "-c", script]).cwd(dir).go())
}

claims! {
    fn the_file_that_is_the_policy_cannot_be_changed_under_it(at) {
        at.world.file("@PROJECT/build.yml", "extends: workspace\n");
        at.world.file("@HOME/secret", "outside\n");
        let change = "echo 'mode: inherit' > build.yml || echo refused; mv build.yml x || echo refused; rm -f build.yml || echo refused";
        let seen = at.run("build.yml", &format!("set +e; {change}; echo ok > made"));
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "refused\nrefused\nrefused\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat build.yml made"), "extends: workspace\nok\n");
        // The same by an absolute path, and through a link.
        at.host("ln -s build.yml other.yml");
        for name in ["other.yml", "@PROJECT/build.yml"] {
            let seen = at.run(name, "set +e; echo 'mode: inherit' > build.yml; ln -sfn made other.yml; true");
            assert_eq!(seen.status, 0, "{}", seen.stderr);
            assert_eq!(at.host("cat build.yml"), "extends: workspace\n");
            if name == "other.yml" {
                assert_eq!(at.host("readlink other.yml"), "build.yml\n");
            }
        }
        let seen = at.run("build.yml", &at.world.fill("cat @HOME/secret || echo hidden"));
        assert_eq!(seen.stdout, "hidden\n");
    }

    fn a_profile_of_the_users_that_is_a_link_into_the_project_cannot_be_changed(at) {
        at.world.file("@PROJECT/dots/mine.yml", "extends: workspace\n");
        at.world.dir("@CONFIG/glee/policies");
        at.world.link("@PROJECT/dots/mine.yml", "@CONFIG/glee/policies/mine.yml");
        let seen = at.run("mine", "echo 'mode: inherit' > dots/mine.yml || echo refused; echo x > dots/other");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "refused\n"), "{}", seen.stderr);
        assert_eq!(at.host("cat dots/mine.yml"), "extends: workspace\n");
    }

    fn a_glee_directory_below_takes_nothing_out_of_the_project_around_it(at) {
        at.world.file("@PROJECT/.glee/config.yml", DENYING);
        at.world.file("@PROJECT/sub/deep/.env", "KEY=1\n");
        trust(at);
        let look = "cat .env 2>/dev/null || echo hidden";
        assert_eq!(from(at, "@PROJECT/sub/deep", look).stdout, "hidden\n");
        // Where the caller stands it cannot be made; elsewhere it can, and changes nothing.
        assert_eq!(from(at, "@PROJECT/sub/deep", "mkdir .glee 2>/dev/null || echo refused").stdout, "refused\n");
        assert_eq!(from(at, "@PROJECT", "mkdir -p sub/deep/.glee && echo made").stdout, "made\n");
        assert_eq!(from(at, "@PROJECT/sub/deep", look).stdout, "hidden\n");
        // Nor do the words of one that nobody has trusted.
        at.world.file("@PROJECT/sub/deep/.glee/config.yml", "security: {subagent_permissions: {extends: workspace}}\n");
        assert_eq!(from(at, "@PROJECT/sub/deep", look).stdout, "hidden\n");
        // A project of its own, trusted, is one.
        assert_eq!(Seen::of(&at.call(["trust", "--yes"]).cwd("@PROJECT/sub/deep").go()).status, 0);
        assert_eq!(from(at, "@PROJECT/sub/deep", look).stdout, "KEY=1\n");
    }

    fn nothing_is_planted_where_the_caller_stands(at) {
        at.world.dir("@PROJECT/.glee");
        at.world.dir("@PROJECT/sub/deep");
        let script = "git init -q . && git config core.fsmonitor 'touch @OUT/pwned; false'; echo a > .envrc
            mkdir .vscode .claude; echo x > .mcp.json; echo fine > file";
        let call = at.call(["run", "--policy", "workspace", "--", "sh", "-c", script]).cwd("@PROJECT/sub/deep");
        let seen = Seen::of(&call.go());
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        at.host("cd sub/deep; git status > /dev/null 2>&1 || true");
        assert!(!at.world.path("@OUT/pwned").exists(), "git on the host ran what the command had planted");
        let mut left: Vec<String> = fs::read_dir(at.world.path("@PROJECT/sub/deep")).expect("list")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        left.retain(|name| !name.starts_with(".git"));
        assert_eq!(left, ["file"]);
    }

    fn a_repository_does_not_choose_the_backend(at) {
        at.world.file("@PROJECT/.glee/config.yml", "security: {subagent_permissions: {backend: podman}}\n");
        let (seen, report) = at.reported(&["--", "true"]);
        assert_eq!(seen.status, 0, "{}", seen.stderr);
        assert_eq!(report["backend"], "native");
        assert!(seen.stderr.contains("backend: podman"), "{}", seen.stderr);
    }

    fn a_configuration_with_a_misspelt_key_is_refused(at) {
        for (text, words) in [
            ("securty: {subagent_permissions: {fs: {read: []}}}\n", ["unknown key `securty`", "config.yml:1:1"]),
            ("security: {subagent_permission: {fs: {read: []}}}\n", ["unknown key", "config.yml:1:12"]),
            ("security: 7\n", ["security", "config.yml:1"]),
        ] {
            at.world.file("@PROJECT/.glee/config.yml", text);
            at.is_refused(&["run", "--", "echo", "ran"], &words);
        }
        at.world.file("@PROJECT/file", "text\n");
        at.world.file("@PROJECT/.glee/config.yml", "security.subagent_permissions: {fs: {read: []}}\n");
        assert_eq!(at.seen(["run", "--", "cat", "file"]).status, 1, "the dotted spelling is the same key");
    }
}

mod limits {
    use super::*;

    /// An ordinary user has no control group here; root has.
    #[test]
    fn a_limit_that_somebody_wrote_and_nothing_enforces_is_refused() {
        let at = Place::of(glee_tests::Caller::User);
        for (text, word) in [
            ("extends: restricted\nlimits: {cpus: 0.1}\n", "limits.cpus: 0.1"),
            (
                "extends: restricted\nisolation: landlock\nlimits: {pids: 20}\n",
                "limits.pids: 20",
            ),
            (
                "isolation: landlock\nfs: {write: ['.']}\nlimits: {disk_mb: 1}\n",
                "limits.disk_mb: 1",
            ),
            ("mode: inherit\nlimits: {disk_mb: 1}\n", "limits.disk_mb: 1"),
        ] {
            at.world.file("@OUT/p.yml", text);
            at.is_refused(
                &["run", "--policy", "@OUT/p.yml", "--", "echo", "ran"],
                &["cannot enforce", word, "p.yml:"],
            );
        }
        at.world.file(
            "@OUT/p.yml",
            "extends: restricted\nlimits: {cpus: 4096, pids: 20, memory_mb: 64}\n",
        );
        let seen = at.run("@OUT/p.yml", "echo ran");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "ran\n"), "{}", seen.stderr);
    }

    #[test]
    fn a_size_of_the_built_in_profile_is_not_said_to_be_enforced_where_nothing_is_private() {
        let at = Place::of(glee_tests::Caller::User);
        at.world
            .file("@OUT/p.yml", "extends: restricted\nisolation: landlock\n");
        let seen = at.seen(["policy", "plan", "@OUT/p.yml", "--json"]);
        let plan: serde_json::Value = serde_json::from_str(&seen.stdout).expect("the plan is JSON");
        let rows = plan["ledger"].as_array().expect("a ledger");
        let row = rows.iter().find(|row| row["clause"] == "limits.disk_mb: 2048");
        let row = row.expect("the limit is in the ledger");
        assert_eq!(row["enforced_by"], serde_json::json!([]));
        assert_eq!(row["note"], "nothing is private: not bounded");
        let seen = at.run("@OUT/p.yml", "echo ran");
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "ran\n"), "{}", seen.stderr);
    }
}
