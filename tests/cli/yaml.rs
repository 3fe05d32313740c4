//! Errors in a policy name the file, the line and the column; nothing runs.

use crate::claims::claims;
use crate::seen::Seen;
use crate::support::Place;

/// A run under this policy is refused, and the message names `bad.yml:PLACE` and says the word.
#[track_caller]
fn is_refused_at(at: &Place, policy: &str, place: &str, word: &str) {
    at.world.file("@OUT/bad.yml", policy);
    let named = format!("@OUT/bad.yml:{place}");
    at.is_refused(
        &["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"],
        &[&named, word],
    );
    let checked = at.seen(["policy", "check", "@OUT/bad.yml"]);
    assert_ne!(checked.status, 0, "`policy check` passes what `run` refuses");
    let named = at.world.fill(&named);
    assert!(
        checked.stderr.contains(&named),
        "`{named}` is not in the message: {}",
        checked.stderr
    );
}

/// The same for a rule in the second line, which is good but cannot be enforced.
#[track_caller]
fn is_refused_by(at: &Place, policy: &str, word: &str) {
    at.world.file("@OUT/bad.yml", policy);
    let run = ["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"];
    at.is_refused(&run, &["(@OUT/bad.yml:2)", word]);
}

claims! {
    fn an_unknown_key_is_named_with_its_place(at) {
        is_refused_at(at, "fs:\n  read: [\".\"]\n  wriet: [\".\"]\n", "3:3", "`wriet`");
    }

    fn an_unknown_key_at_the_top_is_named_with_its_place(at) {
        is_refused_at(at, "mode: restricted\n\nnetwrok: true\n", "3:1", "`netwrok`");
    }

    fn a_wrong_type_is_named_with_its_place(at) {
        is_refused_at(at, "network: 7\n", "1:10", "`network`");
        is_refused_at(at, "fs:\n  read: \".\"\n", "2:9", "`fs.read`");
        is_refused_at(at, "max_runtime_mins: soon\n", "1:19", "`max_runtime_mins`");
    }

    fn a_duplicate_key_is_named_with_its_place(at) {
        is_refused_at(at, "network: false\nmode: restricted\nnetwork: true\n", "3:1", "`network`");
    }

    fn text_that_is_not_yaml_is_named_with_its_place(at) {
        is_refused_at(at, "fs:\n  read: [\".\"\nmode: restricted\n", "3:", "YAML");
        is_refused_at(at, "fs:\n\tread: []\n", "2:", "YAML");
    }

    fn a_word_that_is_none_of_the_choices_is_named_with_its_place(at) {
        is_refused_at(at, "isolation: strong\n", "1:12", "`strong`");
    }

    fn an_alias_bomb_and_deep_nesting_are_refused(at) {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
        for n in 1..12 {
            let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
            bomb += &format!("a{n}: &a{n} [{aliases}]\n");
        }
        is_refused_at(at, &bomb, "", "");
        is_refused_at(at, &format!("fs: {}{}\n", "[".repeat(5000), "]".repeat(5000)), "1:", "deep");
    }

    fn a_rule_that_cannot_be_enforced_is_named_with_its_place(at) {
        is_refused_at(at, "mode: inherit\nfs: {read: [\".\"]}\n", "2:12", "cannot enforce `fs.read`");
        is_refused_by(at, "env: {}\nnetwork: {allow: [localhost]}\n", "`localhost` leads nowhere");
        at.is_refused(&["run", "--net", "localhost", "--", "echo", "started"], &["(--net)", "`localhost` leads nowhere"]);
    }

    fn what_an_engine_cannot_do_is_named_with_the_place_of_the_rule(at) {
        if std::env::var_os("GLEE_BACKEND").is_some() {
            return;
        }
        is_refused_by(at, "mode: inherit\nbackend: podman\n", "cannot enforce `backend`");
        is_refused_by(at, "backend: podman\nimage: debian\n", "cannot use the image `debian`");
        at.world.file("@OUT/bad.yml", "env: {}\nbackend: docker\n");
        let nowhere = "unix:///nowhere/docker.sock";
        let asked = at.call(["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"]);
        let seen = Seen::of(&asked.env("DOCKER_HOST", nowhere).go());
        let place = at.world.fill("cannot enforce `backend: docker` (@OUT/bad.yml:2)");
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""));
        assert!(seen.stderr.contains(&place), "{}", seen.stderr);
        let asked = at.call(["run", "--backend", "docker", "--", "echo", "started"]);
        let seen = Seen::of(&asked.env("DOCKER_HOST", nowhere).go());
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""));
        assert!(seen.stderr.contains("cannot enforce `backend: docker` (--backend)"), "{}", seen.stderr);
    }

    fn a_file_of_more_than_a_megabyte_is_refused(at) {
        at.world.file("@OUT/bad.yml", &format!("mode: restricted\n{}", "# padding\n".repeat(110_000)));
        at.is_refused(&["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"], &["@OUT/bad.yml", "larger than 1 MiB"]);
    }

    fn a_file_that_is_not_text_is_refused(at) {
        at.host("printf 'mode: \\377\\n' > @OUT/bad.yml");
        at.is_refused(&["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"], &["@OUT/bad.yml", "UTF-8"]);
    }

    fn an_error_in_the_projects_own_configuration_is_named_with_its_place(at) {
        at.world.file("@PROJECT/.glee/config.yml", "security:\n  subagent_permissions:\n    fs:\n      raed: [\".\"]\n");
        at.is_refused(&["run", "--", "echo", "started"], &["config.yml:4:7", "`raed`"]);
    }

    fn control_characters_of_a_policy_do_not_reach_the_terminal(at) {
        at.host("printf '\"ev\\\\e[31mil\\\\u202e\": 1\\n' > @OUT/bad.yml");
        let seen = at.seen(["run", "--policy", "@OUT/bad.yml", "--", "echo", "started"]);
        assert_eq!((seen.status, seen.stdout.as_str()), (125, ""));
        assert!(!seen.stderr.contains(['\x1b', '\u{202e}']), "{:?}", seen.stderr);
    }
}
