//! Trust: a project's own configuration narrows; it widens only after the user has said so, until it changes.

use crate::claims::claims;
use crate::interactive::at_a_terminal;
use crate::support::Place;

const WIDE: &str = "security:\n  subagent_permissions:\n    fs:\n      read: [\".\"]\n      write: [\".\"]\n";

/// Does the project's own configuration let a run write?
fn writes(at: &Place) -> bool {
    let seen = at.seen(["run", "--", "sh", "-c", "echo x > new && echo written || echo kept"]);
    assert_eq!(seen.status, 0, "{}", seen.stderr);
    at.host("rm -f new");
    match seen.stdout.as_str() {
        "written\n" => true,
        "kept\n" => false,
        other => panic!("{other}{}", seen.stderr),
    }
}

fn status(at: &Place) -> String {
    let seen = at.seen(["trust", "status"]);
    format!("{}{}", seen.stdout, seen.stderr).to_lowercase()
}

#[track_caller]
fn succeeds(at: &Place, arguments: &[&str]) -> String {
    let seen = at.seen(arguments.iter().copied());
    assert_eq!(seen.status, 0, "{arguments:?}: {}{}", seen.stdout, seen.stderr);
    format!("{}{}", seen.stdout, seen.stderr)
}

claims! {
    fn what_is_asked_for_begins_with_writing_and_the_network_and_a_profiles_paths_are_one_line(at) {
        at.world.file(
            "@PROJECT/.glee/config.yml",
            "security:\n  subagent_permissions:\n    extends: workspace\n    network: true\n",
        );
        for (call, begins) in [(vec!["run", "--", "true"], "  - "), (vec!["trust"], "  +  ")] {
            let seen = at.seen(call);
            let asked: Vec<&str> = seen.stderr.lines().filter_map(|line| line.strip_prefix(begins)).collect();
            let first = ["fs.write `.`", "network: true"];
            assert!(asked.iter().zip(first).all(|(line, word)| line.starts_with(word)), "{}", seen.stderr);
            assert!(!seen.stderr.contains("~/.cargo") && seen.stderr.contains("policy show workspace"), "{}", seen.stderr);
        }
        let whole = at.seen(["trust", "status", "--json"]).stdout;
        assert!(whole.contains("fs.read `~/.cargo`"), "{whole}");
    }

    fn an_untrusted_configuration_does_not_widen_and_the_run_says_what_it_asked_for(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        assert!(!writes(at), "an untrusted configuration widened the run");
        let seen = at.seen(["run", "--", "true"]);
        let told = ["write", "trust"].map(|word| seen.stderr.contains(word));
        assert_eq!((seen.status, told), (0, [true, true]), "{}", seen.stderr);
        assert!(status(at).contains("not trusted") || status(at).contains("untrusted"), "{}", status(at));
    }

    fn trust_counts_until_the_file_changes(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        let shown = succeeds(at, &["trust", "--yes"]);
        assert!(shown.contains("write"), "the difference is not shown: {shown}");
        assert!(writes(at), "a trusted configuration does not count: {}", status(at));
        assert!(!status(at).contains("not trusted") && !status(at).contains("untrusted"), "{}", status(at));
        at.world.file("@PROJECT/.glee/config.yml", &format!("{WIDE}    network: true\n"));
        assert!(!writes(at), "a changed configuration still counts");
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        assert!(writes(at), "the trusted text counts again when it is back");
    }

    fn a_profile_that_changed_below_a_trusted_configuration_is_the_one_that_is_named(at) {
        at.world.file("@PROJECT/.glee/policies/base.yml", "extends: restricted\nfs: {write: [out]}\n");
        at.world.file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    extends: base\n");
        at.world.dir("@PROJECT/out");
        succeeds(at, &["trust", "--yes"]);
        at.world.file("@PROJECT/.glee/policies/base.yml", "extends: restricted\nfs: {write: [out, .]}\n");
        let seen = at.seen(["run", "--", "true"]);
        let said = at.world.fill("extends `@PROJECT/.glee/policies/base.yml` of the project, which has changed since it was trusted");
        assert!(seen.stderr.contains(&said), "{}", seen.stderr);
    }

    fn a_profile_that_was_never_trusted_has_not_changed_since_because_it_extends_one_that_was(at) {
        at.world.file("@PROJECT/.glee/policies/base.yml", "extends: restricted\nfs: {write: [\".\"]}\n");
        at.world.file("@PROJECT/.glee/policies/more.yml", "extends: base\nmax_runtime_mins: 1\n");
        succeeds(at, &["trust", "--policy", "base", "--yes"]);
        let seen = at.seen(["run", "--policy", "more", "--", "true"]);
        let said = at.world.fill("`@PROJECT/.glee/policies/more.yml` is not trusted");
        assert!(seen.stderr.contains(&said) && !seen.stderr.contains("changed"), "{}", seen.stderr);
        assert!(!status(at).contains("changed since"), "{}", status(at));
    }

    fn a_configuration_that_is_a_link_out_of_the_project_is_refused_and_nothing_of_it_is_shown(at) {
        at.host("mkdir -p @HOME/own && echo 'token: SECRET-WORDS' > @HOME/own/notes.yml");
        for (make, ask) in [
            ("mkdir .glee && ln -s @HOME/own/notes.yml .glee/config.yml", vec!["run", "--report", "@OUT/r", "--", "true"]),
            ("ln -s @HOME/own .glee && mv @HOME/own/notes.yml @HOME/own/config.yml", vec!["run", "--report", "@OUT/r", "--", "true"]),
            ("mkdir -p .glee/policies && ln -s @HOME/own/config.yml .glee/policies/x.yml", vec!["run", "--policy", "x", "--report", "@OUT/r", "--", "true"]),
            ("mkdir -p .glee/policies && ln -s @HOME/own/config.yml .glee/policies/x.yml", vec!["trust", "status"]),
            ("mkdir -p .glee/policies && ln -s @HOME/own/config.yml .glee/policies/x.yml", vec!["policy", "list"]),
            ("mkdir -p .glee/policies && ln -s @HOME/own/config.yml .glee/policies/x.yml && \
              printf 'security:\\n  subagent_permissions:\\n    extends: x\\n' > .glee/config.yml", vec!["run", "--", "true"]),
        ] {
            at.host(&format!("rm -rf .glee; {make}"));
            let seen = at.seen(ask.iter().copied());
            let shown = format!("{}{}{}", seen.stdout, seen.stderr, at.host("cat @OUT/r 2>/dev/null || true; rm -f @OUT/r"));
            assert!(!shown.contains("SECRET") && !shown.contains("token"), "{make}: {shown}");
            if ask.contains(&"run") {
                assert_eq!(seen.status, 125, "{make}: {shown}");
            }
        }
        // Within the project a link is as good as a file.
        at.host("rm -rf .glee; mkdir .glee; printf 'security:\\n  subagent_permissions:\\n    network: false\\n' > shared.yml; ln -s ../shared.yml .glee/config.yml");
        succeeds(at, &["run", "--", "true"]);
    }

    fn trust_without_a_person_and_without_yes_trusts_nothing(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        let seen = at.seen(["trust"]);
        assert!(seen.status != 0 && seen.stderr.contains("--yes"), "{seen:?}");
        assert!(!writes(at), "nobody said yes");
    }

    fn trust_asks_at_a_terminal_and_takes_only_a_yes(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        let scenario = "
for answer in 'n', '', 'yesterday', '\\x04', 'y':
    t = Terminal([*RUN[:1], 'trust']); t.see('\\\\? *(\\\\[.*\\\\])? *'); t.type(answer + '\\n'); status = t.end()
    print(repr(answer), status == 0)
";
        at_a_terminal(at, &[], scenario, "'n' False\n'' False\n'yesterday' False\n'\\x04' False\n'y' True\n");
    }

    fn untrust_takes_it_back(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        succeeds(at, &["trust", "--yes"]);
        succeeds(at, &["untrust"]);
        assert!(!writes(at), "an untrusted configuration still counts");
    }

    fn trust_stores_the_digest_in_the_users_configuration_directory_only(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        succeeds(at, &["trust", "--yes"]);
        let digest = at.host("sha256sum < .glee/config.yml | cut -c1-64");
        let stored = at.host(&format!("grep -rl {} @CONFIG | wc -l; find . -type f; ls -A $HOME", digest.trim()));
        assert_eq!(stored, "1\n./.glee/config.yml\nproject\n");
    }

    fn trust_of_one_project_does_not_count_for_another_with_the_same_file(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        at.world.file("@OUT/other/.glee/config.yml", WIDE);
        succeeds(at, &["trust", "--yes"]);
        let call = ["run", "--project", "@OUT/other", "--", "sh", "-c", "echo x > new || echo kept"];
        let seen = at.call(call).cwd("@OUT/other").go();
        assert_eq!((seen.code(), seen.out().as_str()), (Some(0), "kept\n"), "{}", seen.err());
    }

    fn a_configuration_narrows_without_trust(at) {
        at.world.file("@PROJECT/secret", "hidden\n");
        at.world.file("@PROJECT/file", "content\n");
        let narrow = "security:\n  subagent_permissions:\n    fs:\n      read: [\".\"]\n      deny: [\"secret\"]\n";
        at.world.file("@PROJECT/.glee/config.yml", narrow);
        let seen = at.seen(["run", "--", "sh", "-c", "cat file; cat secret || echo denied"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (0, "content\ndenied\n"), "{}", seen.stderr);
    }

    fn other_parts_of_the_configuration_do_not_disturb(at) {
        let other = "subagents:\n  max_concurrent: 3\nsecurity:\n  require_approval: {tools: true}\n";
        at.world.file("@PROJECT/.glee/config.yml", other);
        assert_eq!(at.seen(["run", "--", "echo", "ran"]).whole(), (0, "ran\n", ""));
    }

    fn trust_from_inside_a_sandbox_does_not_reach_the_host(at) {
        at.world.file("@PROJECT/.glee/config.yml", WIDE);
        at.host("cp @BIN supervisor");
        at.run("workspace", "XDG_CONFIG_HOME=@CONFIG ./supervisor trust || :");
        assert!(!writes(at), "a sandboxed command trusted its own configuration");
    }
}
