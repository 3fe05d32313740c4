//! `policy list`, `show`, `check` and `plan`, and `doctor`.

use glee_tests::Caller;
use serde_json::Value;

use crate::claims::claims;
use crate::seen::Seen;

const BUILT_IN: [&str; 3] = ["restricted", "workspace", "inherit"];

#[track_caller]
fn json(seen: &Seen) -> Value {
    assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
    serde_json::from_str(&seen.stdout).unwrap_or_else(|e| panic!("not JSON: {e}\n{}", seen.stdout))
}

claims! {
    fn policy_list_names_the_built_in_profiles(at) {
        let seen = at.seen(["policy", "list"]);
        assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
        for name in BUILT_IN {
            assert!(seen.stdout.lines().any(|l| l.split_whitespace().any(|w| w == name)), "{name}: {}", seen.stdout);
        }
        let listed = json(&at.seen(["policy", "list", "--json"])).to_string();
        for name in BUILT_IN {
            assert!(listed.contains(&format!("\"{name}\"")), "{name}: {listed}");
        }
    }

    fn policy_list_names_the_projects_and_the_users_own_profiles(at) {
        at.world.file("@PROJECT/.glee/policies/narrow.yml", "extends: restricted\nmax_runtime_mins: 1\n");
        at.world.file("@CONFIG/glee/policies/mine.yml", "extends: workspace\n");
        let seen = at.seen(["policy", "list"]);
        let names = ["narrow", "mine"].map(|name| seen.stdout.split_whitespace().any(|w| w == name));
        assert_eq!((seen.status, names), (0, [true, true]), "{}{}", seen.stdout, seen.stderr);
    }

    fn policy_show_tells_where_each_clause_comes_from(at) {
        for name in BUILT_IN {
            let seen = at.seen(["policy", "show", name]);
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{name}");
            assert!(seen.stdout.contains(name) && seen.stdout.contains("max_runtime_mins"), "{}", seen.stdout);
            json(&at.seen(["policy", "show", name, "--json"]));
        }
        let seen = at.seen(["policy", "show", "workspace"]);
        assert!(seen.stdout.contains("restricted"), "nothing comes from the base: {}", seen.stdout);
    }

    fn a_profile_that_is_no_regular_file_is_called_that(at) {
        at.host("mkdir -p .glee/policies/dir.yml @CONFIG/glee/policies/own.yml; mkfifo .glee/policies/pipe.yml; ln -s /dev/zero .glee/policies/device.yml");
        for name in ["dir", "pipe", "device", "own"] {
            for call in [vec!["policy", "show", name], vec!["run", "--policy", name, "--", "true"]] {
                let seen = at.seen(call);
                assert!(seen.status != 0 && seen.stderr.contains("not a regular file"), "{name}: {seen:?}");
                assert!(!seen.stderr.contains("did you mean"), "{name}: {seen:?}");
            }
        }
    }

    fn a_profile_to_extend_that_cannot_be_read_is_not_called_unknown(at) {
        at.host("mkdir -p .glee/policies/dir.yml @CONFIG/glee/policies; echo 'extends: restricted' > @CONFIG/glee/policies/own.yml");
        at.world.file("@OUT/of-dir.yml", "extends: dir\n");
        at.world.file("@OUT/of-own.yml", "extends: own\n");
        let run = |file: &str| at.seen(vec!["run".to_owned(), "--policy".into(), at.world.fill(file), "--".into(), "true".into()]);
        let says = |seen: &Seen, name: &str| {
            let cannot = seen.stderr.contains(&format!("cannot read profile `{name}`"));
            assert!(seen.status == 125 && cannot && !seen.stderr.contains("no profile"), "{seen:?}");
        };
        says(&run("@OUT/of-dir.yml"), "dir");
        assert_eq!(run("@OUT/of-own.yml").status, 0);
        at.world.mode("@CONFIG/glee/policies", 0o000);
        let seen = run("@OUT/of-own.yml");
        at.world.mode("@CONFIG/glee/policies", 0o755);
        match at.world.caller() {
            Caller::Root => assert_eq!(seen.status, 0, "{seen:?}"),
            Caller::User => says(&seen, "own"),
        }
    }

    fn policy_show_of_an_unknown_name_fails_and_names_it(at) {
        let seen = at.seen(["policy", "show", "nosuch"]);
        assert!(seen.status != 0 && seen.stdout.is_empty() && seen.stderr.contains("`nosuch`"), "{seen:?}");
    }

    fn policy_explain_refuses_what_is_no_name_and_says_what_was_meant(at) {
        for (flag, text, word) in [
            ("--syscall", "nosuch", "`nosuch` is not a system call"),
            ("--syscall", "", "`` is not a system call"),
            ("--syscall", "MOUNT", "did you mean `mount`?"),
            ("--syscall", "sys_mount", "did you mean `mount`?"),
            ("--env", "", "not the name of a variable"),
            ("--env", "A=B", "not the name of a variable"),
            ("--env", "A B", "not the name of a variable"),
            ("--env", "LC_*", "not the name of a variable"),
            ("--net", "a b:443", "names no host"),
        ] {
            let seen = at.seen(["policy", "explain", "restricted", flag, text]);
            assert_eq!((seen.status, seen.stdout.as_str()), (2, ""), "{flag} {text}: {}", seen.stderr);
            assert!(seen.stderr.contains(word), "{flag} {text}: {}", seen.stderr);
        }
        let seen = at.seen(["policy", "explain", "restricted", "--json", "--env", "PATH", "--syscall", "mount", "--path", "."]);
        let answers: Value = serde_json::from_str(&seen.stdout).expect("JSON");
        let counts: Vec<usize> = answers.as_array().expect("answers").iter().map(|one| one.as_object().expect("keys").len()).collect();
        assert_eq!(counts, [11; 3], "{answers}");
    }

    fn policy_explain_says_how_a_plain_file_could_be_written(at) {
        at.world.file("@PROJECT/file", "");
        let seen = at.seen(["policy", "explain", "restricted", "--path", "file", "--write"]);
        assert!(seen.stdout.contains("to allow it: fs.write: [\"file\"]"), "{}", seen.stdout);
    }

    fn a_configuration_that_is_named_as_the_policy_may_have_other_sections(at) {
        let text = "subagents:\n  max_concurrent: 2\nsecurity:\n  subagent_permissions: {extends: restricted, fs: {write: [out]}}\n";
        at.world.file("@PROJECT/.glee/config.yml", text);
        at.world.dir("@PROJECT/out");
        assert_eq!(at.run(".glee/config.yml", "echo x > out/file").whole(), (0, "", ""));
        at.world.file("@PROJECT/.glee/config.yml", "subagents:\n  max_concurrent: 2\n");
        at.is_refused(&["run", "--policy", ".glee/config.yml", "--", "echo", "ran"], &["no `security.subagent_permissions` in it"]);
    }

    fn a_leading_exclamation_mark_in_a_deny_is_no_negation(at) {
        at.world.file("@PROJECT/policy.yml", "extends: restricted\nfs:\n  deny: [\"!sub/.env\"]\n");
        let words = ["policy.yml:3:", "begins with a `!`", "`./!name` is a file of that name"];
        at.is_refused(&["run", "--policy", "policy.yml", "--", "echo", "ran"], &words);
        at.world.file("@PROJECT/policy.yml", "extends: restricted\nfs:\n  deny: [\"./!file\"]\n");
        at.world.file("@PROJECT/!file", "content\n");
        assert_eq!(at.run("./policy.yml", "cat './!file' 2> /dev/null || echo hidden").whole(), (0, "hidden\n", ""));
    }

    fn policy_check_passes_a_good_file(at) {
        let good = "extends: restricted\nfs: {read: [\".\"], write: [\"out\"], deny: [\"**/.env\"]}\nnetwork: false\n\
            env: {allow: [\"PATH\", \"LC_*\"], set: {A: b}}\nmax_runtime_mins: 0.5\nlimits: {pids: 64}\n";
        at.world.file("@OUT/good.yml", good);
        assert_eq!(at.seen(["policy", "check", "@OUT/good.yml"]).status, 0);
    }

    fn a_policy_file_extends_beside_the_prefix(at) {
        at.world.file("@OUT/e.yml", "extends: workspace\nsecurity: {subagent_permissions: {fs: {deny: [x]}}}\n");
        let seen = at.seen(["run", "--policy", "@OUT/e.yml", "--", "sh", "-c", "echo x > new && echo written"]);
        assert_eq!(seen.whole(), (0, "written\n", ""));
    }

    fn unprotect_takes_what_a_plan_protects_and_refuses_what_nothing_could_be(at) {
        for (name, hint) in [
            (".vscod", "hint: did you mean `.vscode`?"),
            ("", "names nothing"),
            ("/", "names nothing"),
            ("*", "names nothing"),
            ("../x", "names nothing"),
        ] {
            at.world.file("@OUT/u.yml", &format!("mode: restricted\nunprotect: [\"{name}\"]\n"));
            let seen = at.seen(["policy", "check", "@OUT/u.yml"]);
            assert_eq!((seen.status, seen.stdout.as_str()), (1, ""), "{name}");
            let told = [hint, "u.yml:2:13: error:"].map(|word| seen.stderr.contains(word));
            assert_eq!(told, [true; 2], "{name}: {}", seen.stderr);
        }
        at.host("git init -q @HOME");
        let plan = json(&at.seen(["policy", "plan", "workspace", "--json", "--project", "@HOME"]));
        let home = format!("{}/", at.home().display());
        let mounts = plan["mounts"].as_array().expect("mounts").iter().filter(|mount| mount["kind"] == "protect");
        let planned = mounts.filter_map(|mount| mount["at"].as_str()?.strip_prefix(&home));
        let mut names: Vec<String> = planned.map(str::to_owned).collect();
        names.extend(glee_sandbox::survey::protected_names().map(str::to_owned));
        assert!([".git/hooks", ".xprofile"].iter().all(|known| names.iter().any(|name| name == known)), "{names:?}");
        at.world.file("@OUT/u.yml", &format!("unprotect: {}\n", Value::from(names)));
        assert_eq!(at.seen(["policy", "check", "@OUT/u.yml"]).whole(), (0, "ok\n", ""));
    }

    fn policy_check_fails_for_a_file_that_is_not_there(at) {
        let seen = at.seen(["policy", "check", "@OUT/nosuch.yml"]);
        assert!(seen.status != 0 && seen.stderr.contains("nosuch.yml"), "{seen:?}");
    }

    fn policy_plan_prints_the_steps_in_order_and_executes_nothing(at) {
        at.host("mkdir -p .glee && echo x > file");
        let before = at.listing();
        for name in ["restricted", "workspace"] {
            let seen = at.seen(["policy", "plan", name]);
            assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{name}");
            let at_line = |word: &str| seen.stdout.lines().position(|l| l.to_lowercase().contains(word));
            let order = ["pivot_root", "landlock", "seccomp", "exec"].map(at_line);
            assert!(order[0].is_some() && order.is_sorted(), "{order:?}: {}", seen.stdout);
            json(&at.seen(["policy", "plan", name, "--json"]));
        }
        assert_eq!(at.seen(["policy", "plan", "restricted"]), at.seen(["policy", "plan", "restricted"]));
        assert_eq!(at.listing(), before);
    }

    fn a_profile_in_the_users_configuration_directory_is_known_by_name(at) {
        at.world.file("@CONFIG/glee/policies/mine.yml", "extends: restricted\nfs: {write: [\".\"]}\n");
        assert_eq!(at.run("mine", "echo x > new; cat new").whole(), (0, "x\n", ""));
    }

    fn a_profile_in_the_project_cannot_widen_unless_it_is_trusted(at) {
        at.world.file("@PROJECT/.glee/policies/wide.yml", "extends: restricted\nfs: {write: [\".\"]}\n");
        let seen = at.run("wide", "echo x > new || echo kept");
        assert!(seen.status == 125 || seen.stdout == "kept\n", "{seen:?}");
        assert_eq!(at.host("ls"), "");
    }

    fn what_could_be_taken_for_the_configuration_is_not_passed_over(at) {
        let words = ["is not read", "`.glee/config.yml`", "hint: rename it"];
        for name in ["config", "config.json", "config.yaml"] {
            at.host("rm -rf .glee");
            at.world.file(&format!("@PROJECT/.glee/{name}"), "security: {subagent_permissions: {network: false}}\n");
            at.is_refused(&["run", "--", "echo", "ran"], &words);
        }
        at.host("rm -rf .glee; mkdir .glee; ln -s nowhere .glee/config.yml");
        at.is_refused(&["run", "--", "echo", "ran"], &["cannot read policy `@PROJECT/.glee/config.yml`", "leads nowhere"]);
        at.host("rm .glee/config.yml; mkdir .glee/config");
        assert_eq!(at.seen(["run", "--", "echo", "ran"]).whole(), (0, "ran\n", ""));
    }

    fn doctor_finds_this_machine_able_to_sandbox(at) {
        let seen = at.seen(["doctor"]);
        assert_eq!((seen.status, seen.stderr.as_str()), (0, ""), "{}", seen.stdout);
        let text = seen.stdout.to_lowercase();
        for feature in ["landlock", "seccomp", "namespace", "cgroup"] {
            assert!(text.contains(feature), "{feature}: {}", seen.stdout);
        }
    }

    fn doctor_json_is_json(at) {
        let value = json(&at.seen(["doctor", "--json"]));
        let text = value.to_string().to_lowercase();
        for feature in ["landlock", "seccomp", "namespace", "cgroup", "remedy"] {
            assert!(text.contains(feature), "{feature}: {value}");
        }
    }

    fn doctor_prints_an_apparmor_profile(at) {
        let seen = at.seen(["doctor", "--apparmor"]);
        assert_eq!((seen.status, seen.stderr.as_str()), (0, ""));
        let has = ["profile ", "userns,", "glee-supervisor"].map(|word| seen.stdout.contains(word));
        assert_eq!(has, [true; 3], "{}", seen.stdout);
    }

    fn a_grant_below_what_is_denied_is_covered_and_the_run_starts(at) {
        at.world.file("@PROJECT/a/b/c/file", "secret\n");
        for access in ["read", "write"] {
            let policy = format!("extends: workspace\nfs: {{deny: [\"a/b\"], {access}: [\".\", \"a/b/c\"]}}\n");
            at.world.file("@OUT/policy.yml", &policy);
            let seen = at.seen(["run", "--policy", "@OUT/policy.yml", "--", "sh", "-c", "cat a/b/c/file || echo covered"]);
            assert_eq!((seen.status, seen.stdout.as_str()), (0, "covered\n"), "{access}: {}", seen.stderr);
        }
    }
}

/// Root can look into everything.
#[test]
fn profiles_that_cannot_be_looked_for_are_said_so() {
    let at = crate::support::Place::of(glee_tests::Caller::User);
    at.world
        .file("@PROJECT/.glee/policies/build.yml", "extends: restricted\n");
    at.host("chmod 000 .glee/policies");
    let place = at.world.fill("@PROJECT/.glee/policies");
    at.is_refused(
        &["run", "--policy", "build", "--", "echo", "ran"],
        &[&place, "Permission denied", "readable for you"],
    );
    let listed = at.seen(["policy", "list"]);
    assert_eq!(listed.status, 0);
    let warned = format!("cannot look for profiles in `{place}`: Permission denied");
    assert!(listed.stderr.contains(&warned), "{}", listed.stderr);
    at.host("chmod 700 .glee/policies");
    assert_eq!(at.seen(["policy", "list"]).stderr, "");
}
